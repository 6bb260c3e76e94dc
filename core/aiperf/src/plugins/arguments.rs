//! The arguments of `aiperf plugins`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, error::ErrorKind, value_parser};

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
        .about("List, write, test and install plugins. Listing opens no package.")
        .after_help(super::commands::list())
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
        .arg(registry_argument())
        .arg(output_argument())
}

/// The arguments of a command, or its help text.
#[derive(Debug)]
pub(super) enum Words {
    For(ArgMatches),
    Help(String),
}

impl Words {
    /// Reads the arguments after the words that name the command.
    ///
    /// # Errors
    /// When they are not as the help text says.
    pub(super) fn read(command: Command, arguments: &[OsString]) -> Result<Self, Failure> {
        let name = command.get_name().to_owned();
        let command = command.disable_version_flag(true).bin_name(name.clone());
        let first = OsString::from(&name);
        match command.try_get_matches_from(std::iter::once(&first).chain(arguments)) {
            Ok(found) => Ok(Self::For(found)),
            Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(Self::Help(error.to_string())),
            Err(error) => {
                let text = error.to_string();
                // The first paragraph says what is wrong; usage and more follow.
                let first = text.split("\n\n").next().unwrap_or(&text);
                let message = first.strip_prefix("error: ").unwrap_or(first).trim_end();
                Err(Failure::usage(message).with_help(format!("`{name} --help` says what it takes")))
            }
        }
    }

    fn matches(&self) -> Option<&ArgMatches> {
        match self {
            Self::For(found) => Some(found),
            Self::Help(_) => None,
        }
    }

    /// A text argument, if given.
    pub(super) fn optional(&self, id: &str) -> Option<String> {
        self.matches()?.get_one::<String>(id).cloned()
    }

    /// A text argument that is always there.
    pub(super) fn text(&self, id: &str) -> String {
        self.optional(id).unwrap_or_default()
    }

    /// A path argument, if given.
    pub(super) fn path(&self, id: &str) -> Option<PathBuf> {
        self.matches()?.get_one::<PathBuf>(id).cloned()
    }

    /// A number argument, if given.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        self.matches()?.get_one::<u64>(id).copied()
    }

    /// Whether a switch was given.
    pub(super) fn switch(&self, id: &str) -> bool {
        self.matches().is_some_and(|found| found.get_flag(id))
    }

    /// The values of an argument that may be repeated.
    pub(super) fn all(&self, id: &str) -> Vec<String> {
        let found = self.matches().and_then(|found| found.get_many(id));
        found.into_iter().flatten().cloned().collect()
    }

    /// The files of `--plugin-registry`.
    pub(super) fn registries(&self) -> Vec<PathBuf> {
        let found = self.matches().and_then(|found| found.get_many("plugin-registry"));
        found.into_iter().flatten().cloned().collect()
    }

    /// Whether `--output json` was asked for.
    pub(super) fn json(&self) -> bool {
        self.text("output") == "json"
    }
}

/// `--plugin-registry`.
pub(super) fn registry_argument() -> Arg {
    Arg::new("plugin-registry")
        .long("plugin-registry")
        .alias("plugin_registry")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .action(ArgAction::Append)
        .help("Registry file to read besides the built-in and installed ones; may be repeated")
}

/// `--output`.
pub(super) fn output_argument() -> Arg {
    Arg::new("output")
        .long("output")
        .value_name("FORM")
        .value_parser(["text", "json"])
        .default_value("text")
        .help("Form of the output")
}

/// Reads the arguments after `aiperf plugins`.
///
/// # Errors
/// When they are not as the help text says.
pub(super) fn parse(arguments: &[OsString]) -> Result<Asked, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return Ok(Asked::Help(text)),
        found => found,
    };
    Ok(Asked::For(Arguments {
        category: words.optional("category"),
        name: words.optional("name"),
        all: words.switch("all"),
        validate: words.switch("validate"),
        registries: words.registries(),
        json: words.json(),
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
