//! The help text and the command-line reference, made from the flag table.

use std::fmt::Write as _;

use super::{Flag, Kind, Section, all};

/// Width of the help text in columns.
const WIDTH: usize = 100;
/// Column at which explanations start.
const INDENT: usize = 6;

/// The text of `aiperf profile --help`: the supported flags by section.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Drive an AI inference server with load and measure what comes back.\n\n\
         Usage: aiperf profile [FLAGS]\n\n\
         In flag names _ may stand for -. Values follow as --flag VALUE or --flag=VALUE.\n",
    );
    for (section, flags) in sections() {
        if section == Section::Later {
            continue;
        }
        let _ = writeln!(text, "\n{}", section.title());
        for flag in flags {
            let _ = writeln!(
                text,
                "  {}",
                [flag.names.join(" "), placeholder(flag)].join(" ").trim_end()
            );
            for line in wrapped(&explanation(flag)) {
                let _ = writeln!(text, "{:INDENT$}{line}", "");
            }
        }
    }
    text.push_str("\nOther flags of AIPerf 0.13.0 are refused by name; the command-line reference lists them.\n");
    text
}

/// The command-line reference as Markdown: the supported flags by section, then those that are refused by name.
#[must_use]
pub fn reference_markdown() -> String {
    let mut text = String::from(
        "# Command-line reference: `aiperf profile`\n\n\
         <!-- Generated from the flag table. Do not edit. -->\n\n\
         - Flag names are case-sensitive; `_` may stand for `-` (`--request_count`); there is no prefix matching.\n\
         - `--flag VALUE` or `--flag=VALUE`; a switch is `--flag`, `--flag=true` or `--flag=false`.\n\
         - A flag that takes one value may be given once. Lists take commas, the flag repeated, or both; those marked \
         *several* also take several arguments.\n\
         - `key:value` pairs: `true`, `false`, `none` and `null`, whole numbers and plain decimals are typed, all else \
         is text. A JSON object is taken as it is.\n\
         - Words and names ignore letter case, and `-` equals `_` in them. Durations are plain seconds.\n\
         - A flag that cannot take effect is an error that names it.\n",
    );
    for (section, flags) in sections() {
        let _ = writeln!(text, "\n## {}\n", section.title());
        if section == Section::Later {
            text.push_str("AIPerf 0.13.0 has these flags. They are refused by name.\n\n");
            for flag in flags {
                let names: Vec<String> = flag.spellings().map(|name| format!("`{name}`")).collect();
                let _ = writeln!(text, "- {}", names.join(", "));
            }
            continue;
        }
        text.push_str("| Flag | Value | Default | Meaning |\n|---|---|---|---|\n");
        for flag in flags {
            let names: Vec<String> = flag.names.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                names.join(" "),
                cell(&value_description(flag)),
                cell(if flag.default.is_empty() { "–" } else { flag.default }),
                cell(flag.help)
            );
        }
    }
    text
}

/// The sections in order, each with its flags.
fn sections() -> Vec<(Section, Vec<&'static Flag>)> {
    let mut sections: Vec<(Section, Vec<&'static Flag>)> = Vec::new();
    for flag in all() {
        match sections.last_mut() {
            Some((section, flags)) if *section == flag.section => flags.push(flag),
            _ => sections.push((flag.section, vec![flag])),
        }
    }
    sections
}

fn placeholder(flag: &Flag) -> String {
    let text = match flag.kind {
        Kind::Switch => "",
        Kind::Text => "TEXT",
        Kind::Path => "PATH",
        Kind::Int { .. } => "COUNT",
        Kind::Float { .. } => "NUMBER",
        Kind::Choice(words) => return words.join("|"),
        Kind::Name => "NAME",
        Kind::List { tokens: false } => "A,B,...",
        Kind::List { tokens: true } => "A B ...",
        Kind::Pairs => "KEY:VALUE ...",
        Kind::Each => "VALUE",
    };
    text.to_owned()
}

fn value_description(flag: &Flag) -> String {
    match flag.kind {
        Kind::Switch => "switch".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Path => "path".to_owned(),
        Kind::Int { min, .. } => format!("whole number from {min}"),
        Kind::Float { min, above, infinite } => {
            let bound = if above { "above" } else { "from" };
            let or_infinite = if infinite { ", or `inf`" } else { "" };
            format!("number {bound} {min}{or_infinite}")
        }
        Kind::Choice(words) => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
        Kind::Name => "plugin entry".to_owned(),
        Kind::List { tokens: false } => "list".to_owned(),
        Kind::List { tokens: true } => "list, *several*".to_owned(),
        Kind::Pairs => "`key:value` or JSON object, *several*".to_owned(),
        Kind::Each => "text, may be repeated".to_owned(),
    }
}

fn explanation(flag: &Flag) -> String {
    if flag.default.is_empty() {
        flag.help.to_owned()
    } else {
        format!("{} [default: {}]", flag.help, flag.default)
    }
}

/// Text for a table cell: a bar would end it, and an angle bracket could start an HTML tag.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The text in lines that fit the help text.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if INDENT + line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_shows_every_supported_flag_and_fits_its_width() {
        let help = help();
        for flag in all().iter().filter(|flag| flag.supported) {
            assert!(help.contains(&format!("  {}", flag.names.join(" "))), "{}", flag.id());
        }
        for line in help.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn reference_lists_every_spelling_of_every_flag() {
        let reference = reference_markdown();
        for spelling in all().iter().flat_map(Flag::spellings) {
            assert!(reference.contains(&format!("`{spelling}`")), "{spelling}");
        }
    }
}
