//! The arguments of `aiperf plugins`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Arg, ArgAction, Command, error::ErrorKind, value_parser};

use crate::failure::Failure;

/// What was asked for.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Arguments {
    pub(super) category: Option<String>,
    pub(super) name: Option<String>,
    pub(super) all: bool,
    pub(super) validate: bool,
    pub(super) registries: Vec<PathBuf>,
    pub(super) json: bool,
}

#[derive(Debug)]
pub(super) enum Asked {
    For(Arguments),
    /// The help text.
    Help(String),
}

fn command() -> Command {
    Command::new("aiperf plugins")
        .about("List, inspect and validate plugins. Listing opens no package.")
        .disable_version_flag(true)
        .arg(
            Arg::new("category")
                .value_name("CATEGORY")
                .help("Only this category, such as endpoint"),
        )
        .arg(Arg::new("name").value_name("NAME").help("All about this entry"))
        .arg(
            Arg::new("all")
                .long("all")
                .short('a')
                .action(ArgAction::SetTrue)
                .help("Every entry of every category, with its package and how it fared"),
        )
        .arg(
            Arg::new("validate")
                .long("validate")
                .short('v')
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["category", "all"])
                .help("Open every package, each in a process of its own; exit code 3 if one can't be"),
        )
        .arg(
            Arg::new("plugin-registry")
                .long("plugin-registry")
                .alias("plugin_registry")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .action(ArgAction::Append)
                .help("Registry file to read besides the built-in and installed ones; may be repeated"),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("FORM")
                .value_parser(["text", "json"])
                .default_value("text")
                .help("Form of the output"),
        )
}

/// Reads the arguments after `aiperf plugins`.
///
/// # Errors
/// When they are not as the help text says.
pub(super) fn parse(arguments: &[OsString]) -> Result<Asked, Failure> {
    let name = OsString::from("aiperf plugins");
    let found = match command().try_get_matches_from(std::iter::once(&name).chain(arguments)) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => return Ok(Asked::Help(error.to_string())),
        Err(error) => {
            let text = error.to_string();
            // The first paragraph says what is wrong; usage and more follow.
            let first = text.split("\n\n").next().unwrap_or(&text);
            let message = first.strip_prefix("error: ").unwrap_or(first).trim_end();
            return Err(Failure::usage(message).with_help("`aiperf plugins --help` says what it takes"));
        }
    };
    let text = |id: &str| found.get_one::<String>(id).cloned();
    Ok(Asked::For(Arguments {
        category: text("category"),
        name: text("name"),
        all: found.get_flag("all"),
        validate: found.get_flag("validate"),
        registries: found
            .get_many::<PathBuf>("plugin-registry")
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        json: text("output").as_deref() == Some("json"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Asked, Failure> {
        parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn all_of_them() {
        let Ok(Asked::For(arguments)) = read(&[
            "endpoint",
            "chat",
            "--plugin-registry",
            "a.yaml",
            "--plugin_registry=b.yaml",
            "--output",
            "json",
        ]) else {
            panic!("refused")
        };
        let expected = Arguments {
            category: Some("endpoint".into()),
            name: Some("chat".into()),
            registries: vec!["a.yaml".into(), "b.yaml".into()],
            json: true,
            ..Arguments::default()
        };
        assert_eq!(arguments, expected);
    }

    #[test]
    fn mistakes_are_one_message() {
        for (words, part) in [
            (&["--al"][..], "--al"),
            (&["a", "b", "c"], "'c'"),
            (&["--output", "xml"], "xml"),
            (&["--validate", "--all"], "--all"),
            (&["--plugin-registry"], "--plugin-registry"),
        ] {
            let failure = read(words).unwrap_err();
            assert!(failure.message.contains(part), "{}", failure.message);
            assert!(!failure.message.starts_with("error"), "{}", failure.message);
        }
        assert!(matches!(read(&["-h"]), Ok(Asked::Help(text)) if text.contains("--validate")));
    }
}
