//! From the name of a package to the names in its sources.

use super::embedded::SDK;
use crate::failure::Failure;

/// Names that a crate cannot have, or that would stand for another crate in its sources.
const TAKEN: [&str; 46] = [
    "alloc",
    "as",
    "async",
    "await",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "fn",
    "for",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "serde",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "type",
    "unsafe",
    "use",
    "where",
    "while",
    "yield",
    "abstract",
    "try",
];

/// Types that are in scope everywhere.
const PRELUDE: [&str; 12] = [
    "Box", "Clone", "Copy", "Debug", "Default", "Err", "None", "Ok", "Option", "Some", "String", "Vec",
];

/// The names of a new package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// Package and crate.
    pub(super) package: String,
    /// The crate in file names, and the entry.
    pub(super) snake: String,
    /// Prefix of the types.
    pub(super) prefix: String,
}

impl Names {
    /// Derives them. `source` is the text that they will stand in: its own types are not to be named anew.
    ///
    /// # Errors
    /// When the name can't be that of a crate.
    pub(super) fn of(name: &str, source: &str) -> Result<Self, Failure> {
        let legal = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'));
        if !legal || name.len() > 64 {
            return Err(Failure::usage(format!("`{name}` can't be the name of a package"))
                .with_help("begin with a lower-case letter and go on with letters, digits, `-` or `_`: acme-latency"));
        }
        let snake = name.replace('-', "_");
        if TAKEN.contains(&snake.as_str()) || snake.starts_with("aiperf_") {
            return Err(
                Failure::usage(format!("the name `{name}` is taken by Rust or by aiperf")).with_help(format!(
                    "put your own before it: acme-{}",
                    name.trim_start_matches("aiperf-")
                )),
            );
        }
        let mut prefix: String = snake.split('_').map(capitalised).collect();
        let prelude = SDK.iter().find(|(path, _)| *path == "sdk/rust/src/prelude.rs");
        let in_scope = [source, prelude.map_or("", |(_, text)| *text)];
        if PRELUDE.contains(&prefix.as_str()) || in_scope.iter().any(|text| has_word(text, &prefix)) {
            prefix.push_str("Plugin");
        }
        Ok(Self {
            package: name.to_owned(),
            snake,
            prefix,
        })
    }
}

fn capitalised(word: &str) -> String {
    let mut rest = word.chars();
    rest.next().map_or(String::new(), |first| {
        first.to_ascii_uppercase().to_string() + rest.as_str()
    })
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_the_package() {
        for (name, snake, prefix) in [
            ("acme-latency", "acme_latency", "AcmeLatency"),
            ("a1", "a1", "A1"),
            ("x_2-y", "x_2_y", "X2Y"),
            // Would hide a type of the SDK, of the template, or of Rust.
            ("metric", "metric", "MetricPlugin"),
            ("options", "options", "OptionsPlugin"),
            ("vec", "vec", "VecPlugin"),
        ] {
            let names = Names::of(name, "pub struct Options {}").unwrap();
            assert_eq!((names.snake.as_str(), names.prefix.as_str()), (snake, prefix), "{name}");
        }
    }

    #[test]
    fn names_that_no_crate_can_have_are_refused() {
        for name in [
            "",
            "Acme",
            "1a",
            "-a",
            "a-",
            "a b",
            "ä",
            "a/b",
            "..",
            "fn",
            "serde",
            "aiperf-sdk",
            "self",
        ] {
            let failure = Names::of(name, "").unwrap_err();
            assert!(failure.help.is_some() && failure.message.contains(name), "{failure}");
        }
    }
}
