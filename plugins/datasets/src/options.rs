//! What the core passes to every dataset. The entries of this package have no options of their own.

use aiperf_sdk::{
    PluginError, Result,
    package::{NoOptions, Open},
};

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
pub(crate) struct Normal {
    /// Mean; not negative.
    pub(crate) mean: f64,
    /// Standard deviation; 0 always gives the mean.
    #[serde(default)]
    pub(crate) stddev: f64,
}

/// What the core passes, as far as it matters here.
#[derive(Debug, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    /// Conversations to generate.
    pub(crate) entries: u32,
    /// Tokens of a generated prompt.
    pub(crate) isl: Normal,
    /// Limit on output tokens; `None` sets none. Files: for rows without one.
    pub(crate) osl: Option<Normal>,
    /// Turns of a generated conversation.
    pub(crate) turns: Normal,
    /// Think time before each generated turn but the first, in ms.
    pub(crate) turn_delay_ms: Normal,
    /// Factor on the think time.
    pub(crate) turn_delay_ratio: f64,
    /// The run has a seed: sessions without an id are numbered. Else they get random ids.
    pub(crate) seeded: bool,
    /// The endpoint sends the system message of a conversation.
    pub(crate) supports_system_message: bool,
}

impl Default for Options {
    fn default() -> Self {
        let constant = |mean| Normal { mean, stddev: 0.0 };
        Self {
            entries: 100,
            isl: constant(550.0),
            osl: None,
            turns: constant(1.0),
            turn_delay_ms: constant(0.0),
            turn_delay_ratio: 1.0,
            seeded: true,
            supports_system_message: true,
        }
    }
}

/// Largest mean and deviation: a prompt of a billion tokens is a slip of the pen.
const MAX: f64 = 1e9;

impl Options {
    /// Reads and checks them.
    pub(crate) fn of(open: &Open) -> Result<Self> {
        let NoOptions {} = open.options()?;
        let options: Self = open.core()?;
        let distributions = [
            ("isl", Some(options.isl)),
            ("osl", options.osl),
            ("turns", Some(options.turns)),
            ("turn_delay_ms", Some(options.turn_delay_ms)),
        ];
        let normals = distributions
            .iter()
            .filter_map(|(name, normal)| normal.map(|normal| (name, normal)))
            .flat_map(|(name, normal)| {
                [
                    (format!("{name}.mean"), normal.mean),
                    (format!("{name}.stddev"), normal.stddev),
                ]
            });
        let ratio = ("turn_delay_ratio".to_owned(), options.turn_delay_ratio);
        for (name, value) in normals.chain([ratio]) {
            if !(0.0..=MAX).contains(&value) {
                return Err(PluginError::options(format!(
                    "`{name}` must lie between 0 and {MAX}, not {value}"
                )));
            }
        }
        Ok(options)
    }
}
