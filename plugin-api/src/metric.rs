//! Metrics: families of values computed from records, in batches. Pure: statistics, windows, slices, curves and
//! error-adjusted twins are the core's work.

use crate::{
    Result,
    column::{Batch, Column},
    error::PluginError,
};

contract_enum! {
    /// What a metric's values are.
    pub enum MetricKind: u8 {
        /// One value per record; the core gives the full statistics.
        Record = 0,
        /// A list per record, pooled over all records; the core gives the full statistics.
        List = 1,
        /// One value per record; only the sum is reported.
        Sum = 2,
        /// One value per record; only the minimum is reported.
        Min = 3,
        /// One value per record; only the maximum is reported.
        Max = 4,
        /// One value per window, from [`Metric::derive`].
        Derived = 5,
        /// [`Column::Intervals`]; the core builds the time-weighted curve.
        Interval = 6,
        /// [`Column::Steps`]; the core builds the time-weighted curve.
        Steps = 7,
    } else Derived
}

contract_enum! {
    /// Which records a metric looks at.
    pub enum Population: u8 {
        /// Valid records.
        Valid = 0,
        /// Error records.
        Errors = 1,
        /// All records.
        All = 2,
    } else Valid
}

/// Facts about a metric that decide where it shows up. Bits of [`MetricSpec::flags`].
pub mod flags {
    /// Only in streaming runs.
    pub const STREAMING: u64 = 1;
    /// Only where the endpoint produces tokens.
    pub const PRODUCES_TOKENS: u64 = 1 << 1;
    /// Only where the endpoint tokenizes its input.
    pub const TOKENIZES_INPUT: u64 = 1 << 2;
    /// Only with service level objectives.
    pub const GOODPUT: u64 = 1 << 3;
    /// Never among the metrics of a single record.
    pub const NOT_PER_RECORD: u64 = 1 << 4;
    /// Internal: hidden unless asked for.
    pub const INTERNAL: u64 = 1 << 5;
    /// Experimental: hidden unless asked for.
    pub const EXPERIMENTAL: u64 = 1 << 6;
    /// Gets an error-adjusted twin.
    pub const ERROR_ADJUSTED: u64 = 1 << 7;
    /// Larger is better.
    pub const LARGER_IS_BETTER: u64 = 1 << 8;
    /// About errors: never in the main console table.
    pub const ERROR_ONLY: u64 = 1 << 9;
    /// Dropped when token counts come from the server.
    pub const NO_SERVER_COUNTS: u64 = 1 << 10;
    /// Only for audio inputs.
    pub const AUDIO: u64 = 1 << 11;
    /// Only for image inputs.
    pub const IMAGE: u64 = 1 << 12;
    /// Only where the endpoint produces video.
    pub const VIDEO: u64 = 1 << 13;
    /// Only in fixed-schedule profiling.
    pub const FIXED_SCHEDULE: u64 = 1 << 14;
    /// Dropped in accuracy mode.
    pub const NO_ACCURACY: u64 = 1 << 15;
    /// Values are whole numbers in their native unit.
    pub const INTEGER: u64 = 1 << 16;
    /// Values of a record are real numbers in the display unit even where no conversion happens.
    pub const REAL: u64 = 1 << 17;
}

contract! {
    /// One metric.
    pub struct MetricSpec / MetricSpecAbi {
        /// Tag: lower case, digits and `_`; unique over all families of a run.
        pub tag: String,
        /// Header in tables and CSV, without unit.
        pub header: String,
        /// Short header, or empty.
        pub short_header: String,
        /// Native unit: that of the values (`ns`, `tokens`, `requests`, `ratio`, `%`, `tokens/sec`, …).
        pub unit: String,
        /// Unit in reports; empty means the native one.
        pub display_unit: String,
        /// What the values are.
        pub kind: MetricKind,
        /// Which records count.
        pub population: Population,
        /// Console group: `default`, `none`, `usage`, `effective`, `active`, …
        pub group: String,
        /// Order in its group; `None` comes last.
        pub order: Option<i32>,
        /// Bits of [`flags`].
        pub flags: u64,
    }

    /// The metrics of one entry and what they need.
    pub struct MetricFamily / MetricFamilyAbi {
        /// Record columns, or tags of other families' per-record metrics, in the order in which batches bring them.
        pub needs: Vec<String>,
        /// Tags whose totals [`Metric::derive`] wants. `TAG.p99` (or another statistic of the report) asks for that
        /// statistic; it comes as [`Total::value`].
        pub derive_needs: Vec<String>,
        /// The metrics. [`Metric::record`] returns one column for each that isn't derived, in this order; `derive` one
        /// value for each that is.
        pub metrics: Vec<MetricSpec>,
    }

    /// Totals of a metric over a window, in native units. What does not exist is `None`.
    #[derive(Default)]
    pub struct Total / TotalAbi {
        /// Values that went in.
        pub count: u64,
        /// Their sum.
        pub sum: Option<f64>,
        /// Smallest.
        pub min: Option<f64>,
        /// Largest.
        pub max: Option<f64>,
        /// The value, for sum, min, max and derived metrics; the mean for record metrics.
        pub value: Option<f64>,
    }

    /// What `derive` works from.
    pub struct Window / WindowAbi {
        /// Start of the observation window, ns on the wall clock.
        pub start_ns: u64,
        /// End of it.
        pub end_ns: u64,
        /// Its length; for several phases the sum of theirs. `None` where it is not positive.
        pub duration_ns: Option<u64>,
        /// Valid records in it.
        pub valid: u64,
        /// Error records in it.
        pub errors: u64,
        /// Totals in the order of [`MetricFamily::derive_needs`].
        pub totals: Vec<Total>,
        /// Other facts of the run as a JSON object; empty if none. Keys, each present only where known: `concurrency`
        /// (number), `network_rtt_ns` (number), `gpu`: object by vendor (`nvidia`, `amd`) of `power_w` (sum over devices of
        /// mean power), `energy_j` (sum of deltas), `span_s` (time between first and last reading).
        pub facts: String,
    }
}

/// A metric family.
pub trait Metric: Send + Sync {
    /// The metrics, given the options the family was opened with.
    ///
    /// # Errors
    /// When an option is wrong.
    fn describe(&self) -> Result<MetricFamily>;

    /// Values of each record of a batch: one column per metric that isn't derived. Results must not depend on how records
    /// are cut into batches.
    ///
    /// # Errors
    /// Fails the run, or skips the batch, as the registry says.
    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>>;

    /// Values of derived metrics over a window; `None` where it can't be computed.
    ///
    /// # Errors
    /// As [`Metric::record`].
    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let _ = window;
        Err(PluginError::unsupported("derive"))
    }
}

impl MetricSpec {
    /// A metric of valid records in the group `default`, reported in its native unit, without flags. Set what differs:
    /// `MetricSpec { group: "none".into(), ..MetricSpec::new(…) }`.
    pub fn new(tag: impl Into<String>, header: impl Into<String>, unit: impl Into<String>, kind: MetricKind) -> Self {
        Self {
            tag: tag.into(),
            header: header.into(),
            short_header: String::new(),
            unit: unit.into(),
            display_unit: String::new(),
            kind,
            population: Population::Valid,
            group: "default".into(),
            order: None,
            flags: 0,
        }
    }

    /// The unit of reports.
    pub fn reported_unit(&self) -> &str {
        if self.display_unit.is_empty() {
            &self.unit
        } else {
            &self.display_unit
        }
    }

    /// All bits of `flag` are set.
    pub fn is(&self, flag: u64) -> bool {
        self.flags & flag == flag
    }
}
