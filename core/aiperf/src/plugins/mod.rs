//! `aiperf plugins`: what is registered, who wins each name and why, and whether packages load.
//!
//! Listing reads registry files, and for one entry the record in its library's file. No package is opened: a broken one
//! disturbs nothing. Validating and testing open each in a process of its own, so that not even a crash does.
//!
//! * [`commands`]: the sub-commands. [`arguments`]: what the command line says. [`subject`]: which package it means.
//! * [`list`], [`detail`], [`which`], [`info`], with [`view`] and [`columns`]: what is registered.
//! * [`validate`], [`test`], [`bench`], with [`child`] and [`suite`]: what opens packages.
//! * [`new`]: a package to begin with. [`install`], [`remove`], [`pack`], with [`contents`], [`digest`] and [`archive`]:
//!   packages as folders and files.
//! * [`schema`]: registry files for editors.

mod archive;
mod arguments;
mod bench;
mod child;
mod columns;
mod commands;
mod contents;
mod detail;
mod digest;
mod info;
mod install;
mod list;
mod new;
mod pack;
mod remove;
mod schema;
mod subject;
mod suite;
mod test;
mod validate;
mod view;
mod which;

pub(crate) use suite::{TEST_COMMAND, run as test_entry};
pub(crate) use validate::{LOAD_COMMAND, load};

use std::ffi::OsString;

use aiperf_config::ExitCode;
use aiperf_host::Role;

use crate::{failure::Failure, stdout};
use arguments::Asked;
use view::View;

/// Lists, inspects or validates plugins.
///
/// # Errors
/// When a registry file that was named is broken, or nothing has the category or the name.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    match arguments.split_first() {
        Some((first, rest)) => match commands::find(first) {
            Some(command) => (command.action)(rest),
            None => list_command(arguments),
        },
        None => list_command(arguments),
    }
}

/// The listings of the original.
fn list_command(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let arguments = match arguments::parse(arguments)? {
        Asked::Help(text) => {
            stdout::print(&text)?;
            return Ok(ExitCode::Ok);
        }
        Asked::For(arguments) => arguments,
    };
    let category = arguments.category.as_deref().map(role).transpose()?;
    let host = subject::host(&arguments.registries)?;
    if arguments.validate {
        return validate::run(host.resolution(), &arguments.registries, None, arguments.json);
    }
    let mut view = View::new(host.resolution());
    if let Some(role) = category {
        view.keep_role(role);
    }
    let text = match (category, &arguments.name) {
        (Some(role), Some(name)) => {
            let details = detail::details(host.resolution(), role, name)?;
            if arguments.json {
                json(&details)?
            } else {
                detail::text(&details)
            }
        }
        _ if arguments.json => json(&view)?,
        (Some(role), None) => list::category(&view, role),
        (None, _) if arguments.all => list::entries(&view),
        (None, _) => list::overview(&view),
    };
    stdout::print(&text)?;
    Ok(ExitCode::Ok)
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Failure::usage(error.to_string()))
}

fn role(text: &str) -> Result<Role, Failure> {
    Role::parse(text).ok_or_else(|| {
        let names: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
        let words = commands::COMMANDS.iter().map(|command| command.name);
        let near = aiperf_host::near(text, names.iter().copied().chain(words));
        let hint = match near.as_slice() {
            [] => String::new(),
            near => format!("did you mean {}? ", near.join(" or ")),
        };
        Failure::usage(format!("there is no plugin category `{text}`"))
            .with_help(format!("{hint}categories are: {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_ignore_case_and_know_the_originals_names() {
        for text in ["endpoint", "Endpoint", "timing-strategy", "record_observer"] {
            assert!(role(text).is_ok(), "{text}");
        }
        let failure = role("endpoints").unwrap_err();
        assert_eq!(failure.code, ExitCode::Failed);
        let text = failure.to_string();
        assert!(
            text.contains("did you mean endpoint?") && text.contains("gpu_collector"),
            "{text}"
        );
    }
}
