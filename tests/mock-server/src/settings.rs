//! The script of a server; query parser, flag parser, child arguments and help, all derived from the table.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::SettingsError;
use crate::failure::FailureKind;
use crate::settings_table::{Kind, Row, TABLE, switch};

/// More tokens than this in one answer are refused, wherever the number comes from.
pub(crate) const MAX_TOKENS: u64 = 1_000_000;

/// The script of a mock server. [`help`] describes each setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Name or address to listen on.
    pub host: String,
    /// Port to listen on; 0 lets the system pick one.
    pub port: u16,
    /// From the last byte of the request read to the first event.
    pub ttft: Duration,
    /// From one token to the next.
    pub itl: Duration,
    /// Spread of `ttft` and `itl` as a fraction of each, 0 to 1. The TTFT becomes `ttft * (1 + jitter * u)` and each
    /// later event moves by `itl * jitter * u`, with a `u` of its own from [-0.5, 0.5): events keep their order
    /// and do not drift. Each `u` follows from `seed`, the request's ordinal and the event's index.
    pub jitter: f64,
    /// Visible tokens of an answer to a request without a limit.
    pub tokens: u64,
    /// Reasoning tokens sent before the visible ones (chat only). A request's limit counts both.
    pub reasoning: u64,
    /// Whether usage is reported, where the request's rules ask for it.
    pub usage: bool,
    /// Wait between the last token and the end of a stream (finish reason, usage, `[DONE]`).
    pub done_delay: Duration,
    /// Share of generation requests that fail, 0 to 1, drawn by `seed` and ordinal.
    pub error_rate: f64,
    /// How a failing request fails.
    pub error_kind: FailureKind,
    /// Status of failures of kind [`FailureKind::Status`], 400 to 599.
    pub error_status: u16,
    /// Generation requests accepted per second; the rest get 429. One second's worth may come at once. `None`: no limit.
    pub rate_limit: Option<f64>,
    /// Seed of jitter, failures and texts.
    pub seed: u64,
    /// The model listed by `/v1/models`; any name is served.
    pub model: String,
    /// Spin this long before an event is due instead of sleeping until then: events leave closer to their time, for the
    /// price of a core. At most 1 ms.
    pub spin: Duration,
    /// Serving threads, each with a listener of its own on the same port, 1 to 64.
    pub threads: usize,
    /// One line of JSON per generation request goes here, a [`LogRecord`](crate::LogRecord), within 0.1 s of its end.
    pub log: Option<PathBuf>,
    /// Stop when standard input ends, and leave the interrupt signal to the parent that holds the other end.
    pub exit_with_stdin: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 0,
            ttft: Duration::ZERO,
            itl: Duration::ZERO,
            jitter: 0.0,
            tokens: 16,
            reasoning: 0,
            usage: true,
            done_delay: Duration::ZERO,
            error_rate: 0.0,
            error_kind: FailureKind::Status,
            error_status: 503,
            rate_limit: None,
            seed: 0,
            model: "mock".to_owned(),
            spin: Duration::ZERO,
            threads: 1,
            log: None,
            exit_with_stdin: false,
        }
    }
}

impl Settings {
    /// Reads `ttft=20&itl=5`, with or without a leading `mock:` and `?`, percent-encoded as in any URL.
    ///
    /// # Errors
    /// An unknown key, an unusable value, or a key given twice.
    pub fn from_query(query: &str) -> Result<Self, SettingsError> {
        let query = query.strip_prefix("mock:").unwrap_or(query);
        let query = query.strip_prefix('?').unwrap_or(query);
        let mut draft = Draft::default();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            draft.set(find(&key)?, &value)?;
        }
        Ok(draft.settings)
    }

    /// Reads `--ttft 20`, `--ttft-ms=20` and `ttft=20`; a switch such as `--exit-with-stdin` needs no value.
    /// The arguments do not include the program's name.
    ///
    /// # Errors
    /// An unknown key, an unusable or missing value, or a key given twice.
    pub fn from_args(args: impl Iterator<Item = String>) -> Result<Self, SettingsError> {
        let mut args = args.peekable();
        let mut draft = Draft::default();
        while let Some(arg) = args.next() {
            let (flag, bare) = match arg.strip_prefix("--") {
                Some(flag) => (flag, true),
                None => (arg.as_str(), false),
            };
            if let Some((key, value)) = flag.split_once('=') {
                draft.set(find(key)?, value)?;
                continue;
            }
            if !bare {
                return Err(unknown(flag));
            }
            let row = find(flag)?;
            let value = match row.kind {
                Kind::Switch => args.next_if(|next| switch(next).is_some()).or(Some("true".to_owned())),
                Kind::Value(_) => args.next(),
            };
            let Some(value) = value else {
                return Err(SettingsError::MissingValue {
                    key: row.key,
                    expected: row.kind.expected().to_owned(),
                });
            };
            draft.set(row, &value)?;
        }
        Ok(draft.settings)
    }

    /// The arguments from which [`Settings::from_args`] makes these settings again, for a child process.
    ///
    /// A log path that is not UTF-8 cannot be an argument of this form and is left out.
    #[must_use]
    pub fn to_args(&self) -> Vec<String> {
        TABLE
            .iter()
            .filter_map(|row| (row.get)(self).map(|value| format!("--{}={value}", flag(row.key))))
            .collect()
    }
}

/// One line per setting: flag, what it accepts, what it does, default.
#[must_use]
pub fn help() -> String {
    let defaults = Settings::default();
    let mut help = String::new();
    for row in &TABLE {
        let default = (row.get)(&defaults).map_or(String::new(), |value| format!(" [default: {value}]"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            help,
            "  --{:<16} {} ({}){default}",
            flag(row.key),
            row.help,
            row.kind.expected()
        );
    }
    help
}

/// Settings under construction, with the rows already given.
#[derive(Default)]
struct Draft {
    settings: Settings,
    given: Vec<&'static str>,
}

impl Draft {
    fn set(&mut self, row: &'static Row, value: &str) -> Result<(), SettingsError> {
        if self.given.contains(&row.key) {
            return Err(SettingsError::Duplicate { key: row.key });
        }
        self.given.push(row.key);
        (row.set)(&mut self.settings, value).ok_or_else(|| SettingsError::BadValue {
            key: row.key,
            value: value.to_owned(),
            expected: row.kind.expected().to_owned(),
        })
    }
}

fn find(key: &str) -> Result<&'static Row, SettingsError> {
    let name = key.replace('-', "_");
    TABLE
        .iter()
        .find(|row| row.key == name || row.alias == Some(&name))
        .ok_or_else(|| unknown(key))
}

fn unknown(key: &str) -> SettingsError {
    let known: Vec<_> = TABLE.iter().map(|row| row.key).collect();
    SettingsError::Unknown {
        key: key.to_owned(),
        known: known.join(", "),
    }
}

fn flag(key: &str) -> String {
    key.replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn args(args: &[&str]) -> Result<Settings, SettingsError> {
        Settings::from_args(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn query_forms() {
        let expected = Settings {
            ttft: Duration::from_millis(20),
            itl: Duration::from_micros(2500),
            tokens: 8,
            log: Some("/a b/c".into()),
            usage: false,
            ..Settings::default()
        };
        for query in [
            "mock:?ttft=20&itl=2.5&tokens=8&log=/a%20b/c&usage=false",
            "?ttft_ms=20&itl-ms=2.5&tokens=8&log=%2Fa+b%2Fc&usage=false",
            "ttft=20.0&itl=2.5&tokens=8&log=/a+b/c&usage=false",
        ] {
            assert_eq!(Settings::from_query(query), Ok(expected.clone()), "{query}");
        }
        for query in ["", "mock:", "mock:?", "?"] {
            assert_eq!(Settings::from_query(query), Ok(Settings::default()), "{query}");
        }
    }

    #[test]
    fn argument_forms() {
        let expected = Settings {
            ttft: Duration::from_millis(20),
            exit_with_stdin: true,
            error_kind: FailureKind::Reset,
            ..Settings::default()
        };
        for given in [
            &["--ttft-ms", "20", "--exit-with-stdin", "--error-kind", "reset"][..],
            &["--ttft=20", "--exit-with-stdin=true", "error_kind=reset"],
            &["ttft=20", "--exit-with-stdin", "true", "--error_kind=reset"],
            &["--error-kind", "reset", "--ttft", "20", "--exit-with-stdin"],
        ] {
            assert_eq!(args(given), Ok(expected.clone()), "{given:?}");
        }
    }

    #[test]
    fn refusals_name_the_key() {
        let bad = |key, value: &str, expected: &str| SettingsError::BadValue {
            key,
            value: value.to_owned(),
            expected: expected.to_owned(),
        };
        for (query, error) in [
            ("ttft=fast", bad("ttft", "fast", "milliseconds, 0 to 3600000")),
            ("ttft_ms=-1", bad("ttft", "-1", "milliseconds, 0 to 3600000")),
            ("itl=NaN", bad("itl", "NaN", "milliseconds, 0 to 3600000")),
            ("itl=", bad("itl", "", "milliseconds, 0 to 3600000")),
            ("jitter=1.5", bad("jitter", "1.5", "a fraction, 0 to 1")),
            (
                "tokens=1000001",
                bad("tokens", "1000001", "a number of tokens, 0 to 1000000"),
            ),
            (
                "error_status=200",
                bad("error_status", "200", "an HTTP status, 400 to 599"),
            ),
            (
                "error_kind=x",
                bad("error_kind", "x", "status, object, event, garbage or reset"),
            ),
            (
                "rate_limit=0",
                bad("rate_limit", "0", "requests per second, above 0 up to 1000000"),
            ),
            ("usage=maybe", bad("usage", "maybe", "true or false")),
            ("spin=0.5", bad("spin", "0.5", "microseconds, 0 to 1000")),
            ("threads=0", bad("threads", "0", "a number of threads, 1 to 64")),
            ("ttft=1&ttft_ms=1", SettingsError::Duplicate { key: "ttft" }),
        ] {
            assert_eq!(Settings::from_query(query), Err(error), "{query}");
        }
        let Err(SettingsError::Unknown { key, known }) = Settings::from_query("tftt=3") else {
            panic!("an unknown key is refused")
        };
        assert_eq!(key, "tftt");
        assert!(known.starts_with("host, port, ttft, itl,"), "{known}");
        assert!(matches!(
            args(&["--itl"]),
            Err(SettingsError::MissingValue { key: "itl", .. })
        ));
        assert!(matches!(args(&["fast"]), Err(SettingsError::Unknown { .. })));
    }

    #[test]
    fn help_has_each_setting_once() {
        let help = help();
        for row in &TABLE {
            let line = format!("  --{} ", flag(row.key));
            assert_eq!(help.matches(&line).count(), 1, "{line}");
        }
        assert!(help.contains("[default: 127.0.0.1]"));
    }

    proptest! {
        #[test]
        fn arguments_round_trip(
            ttft in 0u64..3_600_000_000_000, itl in 0u64..3_600_000_000_000, jitter in 0.0f64..=1.0,
            rate in proptest::option::of(1e-3f64..1e6), seed: u64, usage: bool, spin in 0u64..=1000,
            model in "[^\\x00]{1,12}", log in proptest::option::of("[^\\x00]{1,12}"),
        ) {
            let settings = Settings {
                ttft: Duration::from_nanos(ttft), itl: Duration::from_nanos(itl), jitter, rate_limit: rate, seed, usage,
                spin: Duration::from_micros(spin),
                model, log: log.map(Into::into), ..Settings::default()
            };
            prop_assert_eq!(Settings::from_args(settings.to_args().into_iter()), Ok(settings));
        }
    }
}
