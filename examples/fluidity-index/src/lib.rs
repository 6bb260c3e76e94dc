//! How steadily the tokens of a response flow, after *Etalon: Holistic Performance Evaluation Framework for LLM Inference
//! Systems* (arXiv 2407.07000).
//!
//! Someone who reads along does not mind a fast burst, but a stall. So each token gets a deadline:
//!
//! * The first token is due at d = t₀ + D_p (`ttft_deadline_ms` after the request was sent).
//! * A token at t ≤ d meets its deadline; the next one is due at d + D_d (`tbt_deadline_ms` later). What a token is ahead of
//!   its deadline is slack for those that follow.
//! * A token at t > d has missed ⌊(t − d) / D_d⌋ + 1 deadlines: all those that passed during the stall. The next one is due
//!   at t + D_d: the clock starts anew from the late token.
//!
//! fluidity index = met / (met + missed), per request, 0 to 1.
//!
//! | metric | |
//! |---|---|
//! | `fluidity_index` | of each request, with full statistics |
//! | `fluid_request_count` | requests whose index is at least `min_fluidity` (0.9 in the paper) |
//! | `fluid_request_fraction` | their share of the valid requests |
//!
//! The paper's *fluid token generation rate* is the highest load at which 99% of the requests are fluid: raise the load
//! until `fluid_request_fraction` falls below 0.99.
//!
//! A server that sends several tokens in one chunk is judged by its chunks: when a chunk's later tokens were ready nobody
//! outside can know.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package.
pub struct FluidityPackage;

impl Package for FluidityPackage {
    const NAME: &'static str = "fluidity-index";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Metric, "fluidity")]
    }

    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        match open.entry.as_str() {
            "fluidity" => Ok(Box::new(Fluidity::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::FluidityPackage, [Metric]);

/// Options of the entry (`--plugin-opt metric/fluidity.tbt_deadline_ms=25`).
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Deadline of the first token in ms after the send; positive.
    pub ttft_deadline_ms: f64,
    /// Time from one deadline to the next in ms; positive.
    pub tbt_deadline_ms: f64,
    /// Index from which on a request counts as fluid, 0 to 1.
    pub min_fluidity: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ttft_deadline_ms: 1_000.0,
            tbt_deadline_ms: 50.0,
            min_fluidity: 0.9,
        }
    }
}

/// The family.
#[derive(Debug)]
pub struct Fluidity {
    ttft_ns: u64,
    tbt_ns: u64,
    min_fluidity: f64,
}

impl Fluidity {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options) -> Result<Self> {
        let nanoseconds = |name: &str, ms: f64| {
            let ns = (ms * 1e6).round();
            // Up to a day; the rest of the arithmetic can't overflow then.
            if (1.0..=86_400e9).contains(&ns) {
                return Ok(ns as u64);
            }
            Err(PluginError::options(format!("`{name}` is {ms} ms"))
                .with_help("give a positive time of at most a day, in ms"))
        };
        if !(0.0..=1.0).contains(&options.min_fluidity) {
            let message = format!("`min_fluidity` is {}, and must be 0 to 1", options.min_fluidity);
            return Err(PluginError::options(message));
        }
        Ok(Self {
            ttft_ns: nanoseconds("ttft_deadline_ms", options.ttft_deadline_ms)?,
            tbt_ns: nanoseconds("tbt_deadline_ms", options.tbt_deadline_ms)?,
            min_fluidity: options.min_fluidity,
        })
    }

    /// The index of a request sent at `start_ns` whose content arrived at these times; `None` without content.
    pub fn index(&self, start_ns: u64, content_ns: &[u64]) -> Option<f64> {
        let mut due_ns = start_ns.saturating_add(self.ttft_ns);
        let (mut met, mut missed) = (0_u64, 0_u64);
        for &at_ns in content_ns {
            match at_ns.checked_sub(due_ns) {
                None | Some(0) => {
                    met += 1;
                    due_ns = due_ns.saturating_add(self.tbt_ns);
                }
                Some(late_ns) => {
                    missed += late_ns / self.tbt_ns + 1;
                    due_ns = at_ns.saturating_add(self.tbt_ns);
                }
            }
        }
        let deadlines = met + missed;
        (deadlines > 0).then(|| met as f64 / deadlines as f64)
    }
}

impl Metric for Fluidity {
    fn describe(&self) -> Result<MetricFamily> {
        let larger = flags::STREAMING | flags::LARGER_IS_BETTER;
        Ok(MetricFamily {
            needs: [fields::VALID, fields::START, fields::CONTENT].map(String::from).into(),
            derive_needs: vec!["fluid_request_count".into()],
            metrics: vec![
                MetricSpec {
                    flags: larger | flags::REAL,
                    ..MetricSpec::new("fluidity_index", "Fluidity Index", "ratio", MetricKind::Record)
                },
                MetricSpec {
                    flags: larger | flags::INTEGER | flags::NOT_PER_RECORD,
                    ..MetricSpec::new("fluid_request_count", "Fluid Requests", "requests", MetricKind::Sum)
                },
                MetricSpec {
                    flags: larger,
                    ..MetricSpec::new(
                        "fluid_request_fraction",
                        "Fluid Request Fraction",
                        "ratio",
                        MetricKind::Derived,
                    )
                },
            ],
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let (valid, start, content) = (batch.column(0), batch.column(1), batch.column(2));
        let index = |i| {
            let counts = valid.u64(i) == Some(1);
            counts
                .then(|| self.index(start.u64(i)?, content.u64_list(i)?))
                .flatten()
        };
        let indices: Vec<Option<f64>> = (0..batch.len).map(index).collect();
        let fluid = indices
            .iter()
            .map(|index| index.map(|index| u64::from(index >= self.min_fluidity)));
        Ok(vec![Column::f64s(indices.iter().copied()), Column::u64s(fluid)])
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let fluid = window.totals.first().and_then(|total| total.sum);
        let fraction = fluid
            .filter(|_| window.valid > 0)
            .map(|fluid| fluid / window.valid as f64);
        Ok(vec![fraction])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing::{self, Batches};

    /// First token due after 100 ns, each further one 10 ns later.
    fn fluidity() -> Fluidity {
        Fluidity {
            ttft_ns: 100,
            tbt_ns: 10,
            min_fluidity: 0.9,
        }
    }

    #[test]
    fn indices_worked_out_by_hand() {
        for (content, expected, why) in [
            (&[100, 110, 120][..], Some(1.0), "each at its deadline"),
            (&[50, 60, 120], Some(1.0), "slack carries over: the third is due at 120"),
            (&[101], Some(0.0), "one nanosecond late"),
            (&[101, 111], Some(0.5), "the next is due 10 after the late one"),
            (&[101, 112], Some(0.0), "and 11 after it is late again"),
            (
                &[100, 110, 145, 155],
                Some(0.5),
                "met 100, 110, 155; missed 120, 130, 140",
            ),
            (&[100, 120], Some(1.0 / 3.0), "late by a whole interval: two missed"),
            (&[50, 50, 50, 131], Some(0.75), "slack is gone: due at 130"),
            (&[], None, "no content"),
        ] {
            assert_eq!(fluidity().index(0, content), expected, "{why}");
            let moved: Vec<u64> = content.iter().map(|at| at + 1_000).collect();
            assert_eq!(fluidity().index(1_000, &moved), expected, "{why}, later");
        }
    }

    #[test]
    fn only_valid_records_with_content_count() {
        let records = Batches::of(5)
            .u64(fields::VALID, [1, 1, 0, 1, 1])
            .u64(fields::START, [0, 1_000, 0, 0, 0])
            .u64_lists(
                fields::CONTENT,
                [
                    Some(vec![100, 110]),
                    Some(vec![1_101, 1_111]),
                    Some(vec![100]),
                    None,
                    Some(vec![]),
                ],
            );
        let computed = testing::compute(&fluidity(), &records).unwrap();
        assert_eq!(computed.f64("fluidity_index"), [Some(1.0), Some(0.5), None, None, None]);
        assert_eq!(
            computed.u64("fluid_request_count"),
            [Some(1), Some(0), None, None, None]
        );
    }

    #[test]
    fn the_fraction_is_of_valid_requests() {
        let fraction = |valid, fluid: &[f64]| {
            let totals = [("fluid_request_count", testing::total(fluid))];
            let derived = testing::derive(&fluidity(), testing::window(valid, 3, Some(1)), &totals).unwrap();
            derived.get("fluid_request_fraction").copied()
        };
        assert_eq!(fraction(4, &[1.0, 0.0, 1.0]), Some(0.5));
        assert_eq!(fraction(0, &[]), None);
        assert_eq!(fraction(2, &[]), None, "missing is not 0");
    }

    #[test]
    fn wrong_options_are_refused() {
        for (options, part) in [
            (r#"{"tbt_deadline_ms": 0}"#, "tbt_deadline_ms"),
            (r#"{"ttft_deadline_ms": -5}"#, "ttft_deadline_ms"),
            (r#"{"ttft_deadline_ms": 1e300}"#, "ttft_deadline_ms"),
            (r#"{"min_fluidity": 1.5}"#, "min_fluidity"),
            (r#"{"tbt_deadline": 5}"#, "tbt_deadline"),
        ] {
            let error = FluidityPackage::metric(testing::open("fluidity", options))
                .err()
                .unwrap();
            assert!(error.message.contains(part), "{error}");
        }
        let right = testing::open("fluidity", r#"{"tbt_deadline_ms": 20}"#);
        assert!(FluidityPackage::metric(right).is_ok());
    }
}
