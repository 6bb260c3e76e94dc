//! `aiperf plugins pack`: the digests of the libraries, written into the registry file.

use std::{ffi::OsString, fs, path::PathBuf};

use aiperf_config::ExitCode;
use aiperf_host::registry::{RegistryFile, Source};
use clap::{Arg, Command};

use super::{arguments::Words, digest, subject};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins pack")
        .about("Write the digests of the libraries that are there into the registry file, ready to be handed on.")
        .arg(
            Arg::new("folder")
                .value_name("FOLDER|FILE")
                .default_value(".")
                .help("The package: its registry file, or the folder of it"),
        )
}

/// Writes the digests.
///
/// # Errors
/// When the registry file is broken, or declares another digest than a file has.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let (file, text) = read(&words.text("folder"))?;
    let filled = digest::fill(&file, &text)?;
    if filled.text != text {
        fs::write(file.source.file(), &filled.text)
            .map_err(|error| Failure::usage(format!("{} can't be written: {error}", file.source)))?;
    }
    let mut told = String::new();
    for path in &filled.written {
        told.push_str(&format!("{}: digest of {path} written\n", file.source));
    }
    for left in &filled.left {
        told.push_str(&format!("{}: write this digest by hand: {left}\n", file.source));
    }
    if told.is_empty() {
        told = format!("{}: every library that is there has its digest\n", file.source);
    }
    stdout::print(&told)?;
    Ok(if filled.left.is_empty() {
        ExitCode::Ok
    } else {
        ExitCode::Failed
    })
}

/// Reads the registry file that a word means, with its text.
///
/// # Errors
/// When there is none, or it is broken.
pub(super) fn read(word: &str) -> Result<(RegistryFile, String), Failure> {
    let path = subject::registry_file(word).unwrap_or_else(|| PathBuf::from(word));
    let unreadable = |error| {
        Failure::usage(format!("{} can't be read: {error}", path.display()))
            .with_help("name a registry file, or a folder with a registry.yaml in it")
    };
    let path = path.canonicalize().map_err(unreadable)?;
    let text = fs::read_to_string(&path).map_err(unreadable)?;
    let file = RegistryFile::parse(&text, Source::CommandLine(path))?;
    Ok((file, text))
}
