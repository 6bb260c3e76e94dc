//! The sub-commands of `aiperf plugins`: words that are no category.

use std::{ffi::OsString, fmt::Write as _};

use aiperf_config::ExitCode;

use super::{bench, info, install, new, pack, remove, schema, test, validate, which};
use crate::failure::Failure;

/// A sub-command.
pub(super) struct Command {
    pub(super) name: &'static str,
    summary: &'static str,
    /// What it does with the arguments after its name.
    pub(super) action: fn(&[OsString]) -> Result<ExitCode, Failure>,
}

/// Every sub-command.
pub(super) const COMMANDS: [Command; 11] = [
    command(
        "list",
        "The same as no word at all; a category may follow",
        super::list_command,
    ),
    command(
        "which",
        "Who answers to a name and why, and who else claims it",
        which::run,
    ),
    command("info", "All about a package or an entry", info::run),
    command(
        "validate",
        "Open every package, or those of a file, each in a child process",
        validate::command,
    ),
    command("new", "Write a package to begin with", new::run),
    command("test", "Run the conformance suite on a package", test::run),
    command("bench", "How long the calls of a package take", bench::run),
    command(
        "install",
        "Copy a package, from a folder or an archive, to your plugin folder",
        install::run,
    ),
    command("remove", "Remove an installed package", remove::run),
    command(
        "pack",
        "Make an archive of a package, with the digests of its libraries",
        pack::run,
    ),
    command("schema", "JSON Schema of registry files, for editors", schema::run),
];

const fn command(
    name: &'static str,
    summary: &'static str,
    action: fn(&[OsString]) -> Result<ExitCode, Failure>,
) -> Command {
    Command { name, summary, action }
}

/// The sub-command that a word names.
pub(super) fn find(word: &OsString) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| *word == *command.name)
}

/// The list for the help text.
pub(super) fn list() -> String {
    let mut text = String::from("Sub-commands, each with a --help of its own:\n");
    for command in &COMMANDS {
        let _ = writeln!(text, "  {:9} {}", command.name, command.summary);
    }
    text
}

#[cfg(test)]
mod tests {
    use aiperf_host::Role;

    use super::*;

    #[test]
    fn no_sub_command_is_a_category() {
        for command in &COMMANDS {
            assert!(Role::parse(command.name).is_none(), "{}", command.name);
            assert!(find(&command.name.into()).is_some());
        }
        assert!(find(&"endpoint".into()).is_none());
    }
}
