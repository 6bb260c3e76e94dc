//! A load to measure: so many streams at once, or so many requests per second.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What the client is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Load {
    /// Concurrent streams, each followed by the next.
    Streams(u32),
    /// Requests per second, evenly spaced.
    Constant(f64),
    /// Requests per second on average, with exponentially distributed gaps.
    Poisson(f64),
}

impl Load {
    /// Requests per second, if that is what it is about.
    pub(crate) fn rate(self) -> Option<f64> {
        match self {
            Self::Streams(_) => None,
            Self::Constant(rate) | Self::Poisson(rate) => Some(rate),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Streams(streams) => write!(f, "{streams} streams"),
            Self::Constant(rate) => write!(f, "{rate} requests/s"),
            Self::Poisson(rate) => write!(f, "{rate} requests/s, poisson"),
        }
    }
}

/// As `--rates` lists them: `1000` or `poisson:1000`.
impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (make, number): (fn(f64) -> Self, &str) = match text.strip_prefix("poisson:") {
            Some(number) => (Self::Poisson, number),
            None => (Self::Constant, text),
        };
        number
            .parse()
            .ok()
            .filter(|rate| (1.0..=100_000.0).contains(rate))
            .map(make)
            .ok_or_else(|| format!("{text} is no rate: write requests per second, 1 to 100000, or poisson:RATE"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        for (text, expected) in [
            ("1000", Some(Load::Constant(1000.0))),
            ("2.5", Some(Load::Constant(2.5))),
            ("poisson:200", Some(Load::Poisson(200.0))),
            ("0", None),
            ("poisson:", None),
            ("gamma:3", None),
            ("NaN", None),
            ("1e9", None),
        ] {
            assert_eq!(text.parse::<Load>().ok(), expected, "{text}");
        }
    }
}
