//! The text of `aiperf --help`.

use std::fmt::Write as _;

use aiperf_config::PluginPlan;

use crate::{bundled, command::COMMANDS};

/// Version, installed plugin packages, commands.
pub(crate) fn text() -> String {
    let mut text = format!(
        "aiperf {}: benchmark AI inference servers, and say how far the numbers can be trusted.\n\n\
         Usage: aiperf COMMAND [ARGUMENTS]\n\nCommands:\n",
        env!("CARGO_PKG_VERSION")
    );
    for command in COMMANDS.iter().filter(|command| !command.summary.is_empty()) {
        let _ = writeln!(text, "  {:12} {}", command.name, command.summary);
    }
    text.push_str("\nOptions:\n  -h, --help   This text; after a command, what it takes.\n      --version\n");
    text.push_str("\nPlugin packages:\n");
    match bundled::host(&PluginPlan::default()) {
        Ok((host, problems)) => {
            for package in host.resolution().files().iter().flat_map(|file| file.packages()) {
                let description = package.description.as_deref().unwrap_or_default();
                let _ = writeln!(
                    text,
                    "  {:20} {:8} {description}",
                    package.name.as_str(),
                    package.version
                );
            }
            for problem in problems {
                let _ = writeln!(text, "  left out: {problem}");
            }
        }
        // Help must be had even when a registry file is broken.
        Err(failure) => {
            let _ = writeln!(text, "  {}", failure.message);
        }
    }
    text.push_str("\nTry it: aiperf profile --url mock: --streaming --request-count 100 --concurrency 4\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_commands_and_packages() {
        let text = text();
        for part in [
            "profile",
            "plugins",
            "mock-server",
            "aiperf-endpoints",
            env!("CARGO_PKG_VERSION"),
        ] {
            assert!(text.contains(part), "no {part}: {text}");
        }
        assert!(!text.contains(crate::plugins::LOAD_COMMAND), "{text}");
    }
}
