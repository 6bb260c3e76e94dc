//! {{description}}
//!
//! The time that a request took per output token.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package: its entries, and how each is opened.
pub struct {{type}}Package;

impl Package for {{type}}Package {
    const NAME: &'static str = "{{name}}";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Metric, "{{entry}}")]
    }

    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        match open.entry.as_str() {
            "{{entry}}" => Ok(Box::new({{type}}::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::{{type}}Package, [Metric]);

/// Options: `--plugin-opt metric/{{entry}}.min_tokens=2`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Requests with fewer output tokens have no value; at least 1.
    pub min_tokens: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { min_tokens: 1 }
    }
}

/// The family.
#[derive(Debug)]
pub struct {{type}} {
    options: Options,
}

impl {{type}} {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options) -> Result<Self> {
        if options.min_tokens == 0 {
            return Err(PluginError::options(
                "`min_tokens` is 0, and must be at least 1",
            ));
        }
        Ok(Self { options })
    }
}

impl Metric for {{type}} {
    fn describe(&self) -> Result<MetricFamily> {
        Ok(MetricFamily {
            // Columns come in this order.
            needs: [
                fields::VALID,
                fields::START,
                fields::END,
                fields::OUTPUT_TOKENS,
            ]
            .map(String::from)
            .into(),
            derive_needs: Vec::new(),
            metrics: vec![MetricSpec {
                display_unit: "ms".into(),
                flags: flags::PRODUCES_TOKENS,
                ..MetricSpec::new(
                    "{{entry}}_time_per_token",
                    "Time per Token",
                    "ns",
                    MetricKind::Record,
                )
            }],
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let [valid, start, end, tokens] = [0, 1, 2, 3].map(|index| batch.column(index));
        // What can't be computed is missing, never 0.
        let value = |i| {
            let tokens = tokens
                .u64(i)
                .filter(|&tokens| tokens >= self.options.min_tokens)?;
            let took_ns = end.u64(i)?.checked_sub(start.u64(i)?)?;
            (valid.u64(i) == Some(1)).then_some(took_ns as f64 / tokens as f64)
        };
        Ok(vec![Column::f64s((0..batch.len).map(value))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing::{self, Batches};

    fn metric(options: &str) -> Result<Box<dyn Metric>> {
        {{type}}Package::metric(testing::open("{{entry}}", options))
    }

    #[test]
    fn values_per_record() {
        let records = Batches::of(4)
            .u64(fields::VALID, [1, 1, 1, 0])
            .u64(fields::START, [100, 100, 100, 100])
            .u64(fields::END, [Some(160), Some(130), None, Some(160)])
            .u64(fields::OUTPUT_TOKENS, [4, 1, 4, 4]);
        let computed =
            testing::compute(&*metric(r#"{"min_tokens": 2}"#).unwrap(), &records).unwrap();
        assert_eq!(
            computed.f64("{{entry}}_time_per_token"),
            [Some(15.0), None, None, None]
        );
    }

    #[test]
    fn wrong_options_are_refused() {
        for options in [r#"{"min_tokens": 0}"#, r#"{"min_token": 2}"#] {
            assert!(metric(options).is_err(), "{options}");
        }
    }
}
