//! The flags of `aiperf profile` as one table. The parser, `--help` and the command-line reference come from it.

mod help;
mod later;
mod table;

pub use help::{help, reference_markdown};

use std::sync::LazyLock;

/// The panel of the help text that a flag stands in, in the order shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Endpoint,
    Tokenizer,
    Input,
    Conversation,
    Length,
    Load,
    Warmup,
    Goodput,
    Output,
    Service,
    Telemetry,
    Plugins,
    Later,
}

impl Section {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Endpoint => "Endpoint",
            Self::Tokenizer => "Tokenizer",
            Self::Input => "Input",
            Self::Conversation => "Conversation input",
            Self::Length => "Input and output length",
            Self::Load => "Load generator",
            Self::Warmup => "Warmup",
            Self::Goodput => "Goodput",
            Self::Output => "Output",
            Self::Service => "User interface and service",
            Self::Telemetry => "Telemetry",
            Self::Plugins => "Plugins",
            Self::Later => "Not supported yet",
        }
    }
}

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Nothing, or `=true`, `=false`.
    Switch,
    /// Any text.
    Text,
    /// A path.
    Path,
    /// A whole number from `min` to `max`.
    Int { min: u64, max: u64 },
    /// A decimal number, at least `min` (above it if `above`); `infinite` permits `inf`.
    Float { min: f64, above: bool, infinite: bool },
    /// One of these words; letter case does not matter and `-` equals `_`.
    Choice(&'static [&'static str]),
    /// A plugin entry; letter case does not matter and `-` equals `_`.
    Name,
    /// Several values: comma-separated, or the flag repeated, or with `tokens` as several tokens.
    List { tokens: bool },
    /// `key:value` pairs or a JSON object, in several tokens, or the flag repeated.
    Pairs,
    /// One value each time, the flag may be repeated.
    Each,
}

/// What of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// All.
    Open,
    /// Nothing.
    Whole,
    /// A URL without its credentials.
    Url,
    /// Headers without the values of sensitive ones.
    Header,
    /// `key:value` pairs without the values of sensitive keys.
    Pairs,
    /// `category/name.key=value` without the values of sensitive keys.
    Option,
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    /// All spellings with their dashes, the main one first.
    pub(crate) names: &'static [&'static str],
    /// The spelling that switches it off.
    pub(crate) negation: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) section: Section,
    /// What applies without the flag, for the help text; empty = nothing to say.
    pub(crate) default: &'static str,
    /// One sentence or two.
    pub(crate) help: &'static str,
    /// A comma list would be a sweep.
    pub(crate) sweepable: bool,
    pub(crate) secrecy: Secrecy,
    pub(crate) supported: bool,
}

impl Flag {
    const fn new(
        section: Section,
        names: &'static [&'static str],
        kind: Kind,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            names,
            negation: None,
            kind,
            section,
            default,
            help,
            sweepable: false,
            secrecy: Secrecy::Open,
            supported: true,
        }
    }

    const fn sweepable(mut self) -> Self {
        self.sweepable = true;
        self
    }

    const fn secrecy(mut self, secrecy: Secrecy) -> Self {
        self.secrecy = secrecy;
        self
    }

    const fn later(names: &'static [&'static str]) -> Self {
        let mut flag = Self::new(Section::Later, names, Kind::Text, "", "");
        flag.supported = false;
        flag
    }

    const fn later_negatable(names: &'static [&'static str], negation: &'static str) -> Self {
        let mut flag = Self::later(names);
        flag.negation = Some(negation);
        flag
    }

    /// Name of the setting: the main name without dashes.
    pub(crate) fn id(&self) -> &'static str {
        self.names[0].trim_start_matches('-')
    }

    /// True if the flag may be given more than once.
    pub(crate) fn repeatable(&self) -> bool {
        matches!(self.kind, Kind::List { .. } | Kind::Pairs | Kind::Each)
    }

    /// Every spelling, the negation included.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied().chain(self.negation)
    }
}

/// All flags, supported ones first.
pub(crate) fn all() -> &'static [Flag] {
    static ALL: LazyLock<Vec<Flag>> = LazyLock::new(|| table::SUPPORTED.iter().chain(later::LATER).copied().collect());
    &ALL
}

/// The flag with this spelling. `_` equals `-` after the leading dashes of a long name; letter case matters.
pub(crate) fn by_spelling(typed: &str) -> Option<(&'static Flag, &'static str)> {
    let typed = if typed.starts_with("--") {
        typed.replace('_', "-")
    } else {
        typed.to_owned()
    };
    all()
        .iter()
        .find_map(|flag| flag.spellings().find(|name| *name == typed).map(|name| (flag, name)))
}

/// The flag of a setting.
pub(crate) fn by_id(id: &str) -> Option<&'static Flag> {
    all().iter().find(|flag| flag.id() == id)
}

/// The supported spelling nearest to a mistyped one, if any is near enough to be meant.
pub(crate) fn nearest(typed: &str) -> Option<&'static str> {
    const NEAR_ENOUGH: f64 = 0.8;
    let typed = typed.replace('_', "-").to_lowercase();
    all()
        .iter()
        .flat_map(Flag::spellings)
        .filter(|name| name.starts_with("--"))
        .map(|name| (strsim::normalized_damerau_levenshtein(&typed, name), name))
        .filter(|(similarity, _)| *similarity >= NEAR_ENOUGH)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_settings_share_a_spelling() {
        let mut seen = BTreeSet::new();
        for flag in all() {
            assert!(flag.names[0].starts_with("--"), "{}", flag.id());
            for spelling in flag.spellings() {
                assert!(seen.insert(spelling), "{spelling}");
                assert_eq!(by_spelling(spelling).map(|(found, _)| found.id()), Some(flag.id()));
            }
        }
    }

    #[test]
    fn supported_flags_are_explained() {
        for flag in all().iter().filter(|flag| flag.supported) {
            assert!(!flag.help.is_empty() && flag.section != Section::Later, "{}", flag.id());
        }
    }

    #[test]
    fn nearest_is_near() {
        let cases = [
            ("--concurency", Some("--concurrency")),
            ("--request_cuont", Some("--request-count")),
            ("--Streaming", Some("--streaming")),
            ("--qqq", None),
            ("", None),
        ];
        for (typed, expected) in cases {
            assert_eq!(nearest(typed), expected, "{typed}");
        }
    }
}
