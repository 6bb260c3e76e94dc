//! What exporters are told: the facts of a run at its begin, the report at its end. Both cross as JSON; these types are its
//! schema. Numbers are unrounded and in native units; multiply by [`MetricResult::factor`] for the display unit.

pub mod gpu;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{MetricSpec, PluginError, Result, validity::Validity};

/// Version of this schema.
pub const SCHEMA_VERSION: &str = "1.0";

/// Given to `begin`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`SCHEMA_VERSION`].
    pub schema_version: String,
    /// Version of this tool.
    pub tool_version: String,
    /// Identity of the run, hexadecimal.
    pub benchmark_id: String,
    /// The command line, secrets removed.
    pub cli_command: String,
    /// Seed of the run, if it was set.
    pub random_seed: Option<u64>,
    /// Settings that were given explicitly, secrets removed, in the shape of the configuration file.
    pub input_config: Value,
    /// Name of the endpoint entry.
    pub endpoint_type: String,
    /// Title of the endpoint's tables (`LLM Metrics`).
    pub metrics_title: String,
    /// Names for the artifacts of this run.
    pub artifacts: ArtifactNames,
    /// Every metric of the run, in the order in which it is computed.
    pub catalogue: Vec<CatalogueEntry>,
    /// Width for console tables written to a file, in columns.
    pub console_width: u16,
    /// Records are to carry what happened on their connection ([`fields::HTTP_TRACE`](crate::fields::HTTP_TRACE)).
    #[serde(default)]
    pub http_trace: bool,
}

impl RunInfo {
    /// Reads what [`Exporter::begin`](crate::Exporter::begin) is given.
    ///
    /// # Errors
    /// When the text has another shape.
    pub fn parse(info: &str) -> Result<Self> {
        serde_json::from_str(info).map_err(|error| PluginError::input(format!("the run's facts: {error}")))
    }
}

impl Report {
    /// Reads what [`Exporter::finish`](crate::Exporter::finish) is given.
    ///
    /// # Errors
    /// When the text has another shape.
    pub fn parse(report: &str) -> Result<Self> {
        serde_json::from_str(report).map_err(|error| PluginError::input(format!("the run's report: {error}")))
    }
}

impl MetricResult {
    /// A statistic in the unit of reports ([`MetricSpec::reported_unit`]).
    pub fn displayed(&self, stat: Option<f64>) -> Option<f64> {
        stat.map(|value| value * self.factor)
    }
}

/// File names, relative to the artifact folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactNames {
    /// Summary JSON.
    pub json: String,
    /// Summary CSV.
    pub csv: String,
    /// One record per line; `None` when the export level says no.
    pub records: Option<String>,
    /// One record with its request and its responses per line; `None` when the export level says no.
    #[serde(default)]
    pub raw: Option<String>,
    /// One GPU reading per line; `None` when the run reads none.
    #[serde(default)]
    pub gpu: Option<String>,
    /// Console tables as text.
    pub console: String,
}

/// A metric of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// The metric.
    pub spec: MetricSpec,
    /// From the native to the display unit.
    pub factor: f64,
}

/// Given to `finish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was given to `begin`.
    pub info: RunInfo,
    /// The phases, in order.
    pub phases: Vec<PhaseReport>,
    /// The run was cut short by the user.
    pub was_cancelled: bool,
    /// Every phase came to its planned end.
    pub is_complete: bool,
    /// Why not.
    pub incomplete_reason: Option<String>,
    /// Packages that the run used.
    pub packages: Vec<PackageUse>,
    /// Warnings worth a line at the end.
    pub warnings: Vec<String>,
    /// How far the figures can be trusted; `None` if that was not judged.
    #[serde(default)]
    pub validity: Option<Validity>,
    /// What side channels collected, by name ([`gpu`], `server_metrics`, `network_latency`, `spec_decode`, `branches`,
    /// `dataset`), each in a shape of its own;
    /// that of `gpu` is [`gpu::GpuSection`].
    #[serde(default)]
    pub sections: serde_json::Map<String, Value>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Name.
    pub name: String,
    /// `warmup` or `profiling`.
    pub kind: String,
    /// Position among all phases.
    pub index: u32,
    /// Position among profiling phases.
    pub profiling_index: Option<u32>,
    /// When it began to issue credits, ns since the epoch.
    pub start_wall_ns: u64,
    /// When its last credit had returned, ns since the epoch.
    pub end_wall_ns: u64,
    /// Credits and what became of them.
    pub credits: Credits,
    /// Metrics that have values, in the order of the catalogue, error-adjusted twins behind their originals.
    pub metrics: Vec<MetricResult>,
    /// Errors, grouped by code, type and message.
    pub errors: Vec<ErrorGroup>,
    /// The phase cut into slices of equal width, if asked for.
    #[serde(default)]
    pub slices: Vec<SliceReport>,
}

/// Metrics of the records that started within one slice of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceReport {
    /// Start, ns since the epoch.
    pub start_wall_ns: u64,
    /// End, ns since the epoch.
    pub end_wall_ns: u64,
    /// It has its full width; the last one may be cut short.
    pub is_complete: bool,
    /// Its metrics.
    pub metrics: Vec<MetricResult>,
}

/// Every credit ends exactly once: `issued = completed + failed + Σ cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Credits {
    /// Issued.
    pub issued: u64,
    /// Ended with a valid response.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Cancelled, by reason (`grace_period`, `interrupt`).
    pub cancelled: Vec<(String, u64)>,
}

/// One metric over one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricResult {
    /// The metric.
    pub spec: MetricSpec,
    /// From the native to the display unit.
    pub factor: f64,
    /// Its statistics in native units.
    pub stats: Stats,
    /// How precise they are, where they are not exact.
    pub precision: Option<String>,
}

/// Statistics. Aggregates and derived metrics have `avg` alone. What does not exist is `None`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// Mean, or the value.
    pub avg: Option<f64>,
    /// 1st percentile.
    pub p1: Option<f64>,
    /// 5th percentile.
    pub p5: Option<f64>,
    /// 10th percentile.
    pub p10: Option<f64>,
    /// 25th percentile.
    pub p25: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Population standard deviation.
    pub std: Option<f64>,
    /// Values that went in.
    pub count: Option<u64>,
    /// Their sum.
    pub sum: Option<f64>,
}

/// Errors alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorGroup {
    /// Code, where they have one.
    pub code: Option<u16>,
    /// Type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Message.
    pub message: String,
    /// How many.
    pub count: u64,
}

/// A package that the run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageUse {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// `bundled`, `native` or `wasm`.
    pub form: String,
    /// SHA-256 of the file, for packages that have one.
    pub sha256: Option<String>,
    /// Entries used, as `category/name`.
    pub entries: Vec<String>,
    /// Entries of other packages that these shadow, as `category/name (package)`.
    pub shadowed: Vec<String>,
    /// What the user let it do beyond computing (`http:HOST:PORT`, `secrets`).
    #[serde(default)]
    pub granted: Vec<String>,
    /// Calls into the package.
    pub calls: u64,
    /// Time spent in it, ns.
    pub time_ns: u64,
    /// Failures that were skipped.
    pub skipped: u64,
}
