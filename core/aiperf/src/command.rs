//! The commands: a table, and which of them a word means.

use std::ffi::OsString;

use aiperf_config::ExitCode;
use aiperf_host::near;

use crate::{calibrate, components, failure::Failure, help, mock, plugins, profile, stdout};

/// What a command does with the arguments after its name.
type Action = fn(&[OsString]) -> Result<ExitCode, Failure>;

/// A command of this program.
pub(crate) struct Command {
    /// The word.
    pub(crate) name: &'static str,
    /// For the list of commands; empty for one that only this program itself calls.
    pub(crate) summary: &'static str,
    action: Action,
}

/// Every command.
pub(crate) const COMMANDS: [Command; 7] = [
    Command {
        name: "profile",
        summary: "Run a benchmark.",
        action: profile::run,
    },
    Command {
        name: "plugins",
        summary: "List, write, test and install plugins.",
        action: plugins::run,
    },
    Command {
        name: "calibrate",
        summary: "Measure how true the measurements are on this machine.",
        action: calibrate::run,
    },
    Command {
        name: "mock-server",
        summary: "Serve scripted answers, to try things out without a model.",
        action: mock::serve,
    },
    Command {
        name: components::COMMAND,
        summary: "",
        action: components::work,
    },
    Command {
        name: plugins::LOAD_COMMAND,
        summary: "",
        action: plugins::load,
    },
    Command {
        name: plugins::TEST_COMMAND,
        summary: "",
        action: plugins::test_entry,
    },
];

/// Commands of AIPerf 0.13.0 that are not here yet.
const LATER: [&str; 11] = [
    "config",
    "validate",
    "analyze-trace",
    "analyze",
    "synthesize",
    "plot",
    "chat",
    "speed-bench-report",
    "proxy",
    "service",
    "kube",
];

/// Runs the command that the arguments name.
///
/// # Errors
/// When there is no such command, or it fails.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let Some((first, rest)) = arguments.split_first() else {
        stdout::print(&help::text())?;
        return Ok(ExitCode::Ok);
    };
    match first.to_string_lossy().as_ref() {
        "--help" | "-h" => stdout::print(&help::text())?,
        "--version" => stdout::print(concat!(env!("CARGO_PKG_VERSION"), "\n"))?,
        word => return (find(word)?.action)(rest),
    }
    Ok(ExitCode::Ok)
}

/// The command with this name.
fn find(word: &str) -> Result<&'static Command, Failure> {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == word) {
        return Ok(command);
    }
    let names = || COMMANDS.iter().filter(|command| !command.summary.is_empty());
    let listed: Vec<&str> = names().map(|command| command.name).collect();
    if LATER.contains(&word) || word == "--install-completion" {
        return Err(Failure::usage(format!("`aiperf {word}` is not supported yet"))
            .with_help(format!("commands that are: {}", listed.join(", "))));
    }
    let what = if word.starts_with('-') { "option" } else { "command" };
    let failure = Failure::usage(format!("there is no {what} `{word}`"));
    let found = near(word, listed.iter().copied().chain(LATER));
    Err(failure.with_help(if found.is_empty() {
        format!("commands are: {}; `aiperf --help` says more", listed.join(", "))
    } else {
        format!(
            "did you mean {}? Commands are: {}",
            found.join(" or "),
            listed.join(", ")
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(word: &str) -> String {
        let Err(failure) = find(word) else {
            panic!("{word} is taken")
        };
        assert_eq!(failure.code, ExitCode::Failed);
        failure.to_string()
    }

    #[test]
    fn commands_are_found_by_name() {
        for command in &COMMANDS {
            assert_eq!(find(command.name).ok().map(|found| found.name), Some(command.name));
        }
    }

    #[test]
    fn commands_of_the_original_are_refused_by_name() {
        for word in LATER.into_iter().chain(["--install-completion"]) {
            assert!(refused(word).contains(&format!("`aiperf {word}` is not supported yet")));
        }
    }

    #[test]
    fn mistyped_words_get_a_hint() {
        for (word, hint) in [
            ("profil", "did you mean profile"),
            ("Plugins", "did you mean plugins"),
            ("mock_server", "did you mean mock-server"),
            ("qqqq", "commands are: profile"),
            ("--profile", "did you mean profile"),
        ] {
            let message = refused(word);
            assert!(message.contains(hint) && message.contains(word), "{word}: {message}");
            assert!(!message.contains("__"), "{message}");
        }
    }
}
