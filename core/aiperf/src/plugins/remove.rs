//! `aiperf plugins remove`: an installed package goes.

use std::{
    ffi::OsString,
    fs,
    path::{Component, PathBuf},
};

use aiperf_config::ExitCode;
use aiperf_host::{Name, registry::RegistryFile};
use clap::{Arg, Command};
use serde::Serialize;

use super::arguments::{Words, output_argument};
use super::install::{Installation, installed, plugin_folder};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins remove")
        .about("Remove an installed package: its folder in your plugin folder.")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .required(true)
                .help("Name of the package, or of its folder"),
        )
        .arg(output_argument())
}

/// What was done, as JSON.
#[derive(Serialize)]
struct Removed {
    folder: PathBuf,
    packages: Vec<Installation>,
}

/// Removes.
///
/// # Errors
/// When no such package is installed.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let name = words.text("name");
    let wanted = Name::parse(&name).ok_or_else(|| Failure::usage(format!("`{name}` is not the name of a package")))?;
    let folder = plugin_folder()?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let installed = installed()?;
    // The folder of the package that stands directly in the plugin folder.
    let own = |file: &RegistryFile| {
        let relative = file.source.file().strip_prefix(&folder).ok()?;
        let mut parts = relative.components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(first)), Some(_)) => Some(folder.join(first)),
            _ => None,
        }
    };
    let declares = installed.iter().find(|file| file.package(&wanted).is_some());
    let target = match declares {
        Some(file) => own(file).ok_or_else(|| {
            Failure::usage(format!("{} declares {name} and has no folder of its own", file.source))
                .with_help("remove that file by hand")
        })?,
        // One whose registry file is broken is found by its folder.
        None => Some(folder.join(&name)).filter(|path| path.is_dir()).ok_or_else(|| {
            let names: Vec<&str> = installed
                .iter()
                .flat_map(|file| file.packages())
                .map(|package| package.name.as_str())
                .collect();
            Failure::usage(format!("no package `{name}` is installed")).with_help(match names.as_slice() {
                [] => format!("nothing is installed in {}", folder.display()),
                names => format!("installed are: {}", names.join(", ")),
            })
        })?,
    };
    let gone: Vec<Installation> = installed
        .iter()
        .filter(|file| file.source.file().starts_with(&target))
        .flat_map(Installation::of)
        .collect();
    // Of a link only the link goes.
    let removed = if target.is_symlink() {
        fs::remove_file(&target)
    } else {
        fs::remove_dir_all(&target)
    };
    removed.map_err(|error| Failure::usage(format!("{} can't be removed: {error}", target.display())))?;
    let text = if words.json() {
        super::json(&Removed {
            folder: target,
            packages: gone,
        })?
    } else {
        let what = if gone.is_empty() {
            name
        } else {
            Installation::list(&gone)
        };
        format!("Removed {what}: {}\n", target.display())
    };
    stdout::print(&text)?;
    Ok(ExitCode::Ok)
}
