//! `aiperf plugins info`: all about a package or an entry.

use std::ffi::OsString;

use aiperf_config::ExitCode;
use aiperf_host::{Name, Role};
use clap::{Arg, Command};

use super::{
    arguments::{Words, output_argument, registry_argument},
    detail, json, list, subject,
    view::View,
};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins info")
        .about("All about a package, or about the entries of a name.")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .required(true)
                .help("A package, an entry, an alias, or the tag of a metric"),
        )
        .arg(registry_argument())
        .arg(output_argument())
}

/// Tells.
///
/// # Errors
/// When nothing has the name.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let name = words.text("name");
    let host = subject::host(&words.registries())?;
    let resolution = host.resolution();
    let mut view = View::new(resolution);
    let key = Name::parse(&name);
    let is_it = |text: &str| Name::parse(text).is_some() && Name::parse(text) == key;
    view.packages.retain(|package| is_it(&package.name));
    view.entries.retain(|entry| is_it(&entry.package));
    let text = if view.packages.is_empty() {
        let found = Role::ALL
            .into_iter()
            .filter_map(|role| detail::details(resolution, role, &name).ok());
        let details: Vec<_> = found.flatten().collect();
        match details.as_slice() {
            [] => return Err(subject::unknown("package or entry", &name, resolution)),
            details if words.json() => json(&details)?,
            details => detail::text(details),
        }
    } else if words.json() {
        json(&view)?
    } else {
        let mut text = list::package(&view);
        for entry in view.entries.iter().filter(|entry| !entry.options.is_empty()) {
            text.push_str(&format!("\n  options of {}/{}:\n", entry.category, entry.name));
            for option in &entry.options {
                text.push_str(&format!("    {}\n", detail::option_line(option)));
            }
        }
        text
    };
    stdout::print(&text)?;
    Ok(ExitCode::Ok)
}
