//! Where results go: one directory and the file names in it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How much is written for each request. Each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportLevel {
    /// Nothing.
    Summary,
    /// One line of metrics.
    Records,
    /// One line of metrics and one with request and response bodies.
    Raw,
}

/// Endings that may stand on an export prefix and are taken off it, longest match first.
const PREFIX_ENDINGS: [&str; 14] = [
    "_server_metrics.parquet",
    "_network_latency.jsonl",
    "_server_metrics.jsonl",
    "_server_metrics.json",
    "_gpu_telemetry.jsonl",
    "_server_metrics.csv",
    "_timeslices.json",
    "_timeslices.csv",
    "_console.txt",
    "_raw.jsonl",
    ".parquet",
    ".jsonl",
    ".json",
    ".csv",
];

/// Where results go. The methods give the path of each file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactPlan {
    /// The directory, resolved: as given, or `artifacts/<model>-openai-<endpoint>-<load>`.
    pub dir: PathBuf,
    /// Base of the export names without directories and known endings; `None` = the default names.
    pub prefix: Option<String>,
    /// How much is written for each request.
    pub level: ExportLevel,
    /// Records carry what happened on their connection.
    pub http_trace: bool,
}

impl ArtifactPlan {
    /// Directory under which runs without an explicit directory get one of their own.
    pub const DEFAULT_ROOT: &'static str = "artifacts";

    /// The base of export names that a typed prefix stands for: directories dropped, one known ending stripped.
    /// `None` if nothing is left of it.
    #[must_use]
    pub fn prefix_base(typed: &str) -> Option<String> {
        let name = typed.rsplit('/').next().unwrap_or(typed);
        let base = PREFIX_ENDINGS
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(name);
        (!matches!(base, "" | "." | "..")).then(|| base.to_owned())
    }

    /// Summary as JSON.
    #[must_use]
    pub fn summary_json(&self) -> PathBuf {
        self.named("profile_export_aiperf.json", ".json")
    }

    /// Summary as CSV.
    #[must_use]
    pub fn summary_csv(&self) -> PathBuf {
        self.named("profile_export_aiperf.csv", ".csv")
    }

    /// One line per request.
    #[must_use]
    pub fn records_jsonl(&self) -> PathBuf {
        self.named("profile_export.jsonl", ".jsonl")
    }

    /// One line per request with bodies.
    #[must_use]
    pub fn raw_jsonl(&self) -> PathBuf {
        self.named("profile_export_raw.jsonl", "_raw.jsonl")
    }

    /// Time slices as JSON.
    #[must_use]
    pub fn timeslices_json(&self) -> PathBuf {
        self.named("profile_export_aiperf_timeslices.json", "_timeslices.json")
    }

    /// Time slices as CSV.
    #[must_use]
    pub fn timeslices_csv(&self) -> PathBuf {
        self.named("profile_export_aiperf_timeslices.csv", "_timeslices.csv")
    }

    /// The tables shown on the console.
    #[must_use]
    pub fn console_txt(&self) -> PathBuf {
        self.named("profile_export_console.txt", "_console.txt")
    }

    /// GPU samples.
    #[must_use]
    pub fn gpu_telemetry_jsonl(&self) -> PathBuf {
        self.named("gpu_telemetry_export.jsonl", "_gpu_telemetry.jsonl")
    }

    /// Server metrics; `extension` is `json`, `csv`, `jsonl` or `parquet`.
    #[must_use]
    pub fn server_metrics(&self, extension: &str) -> PathBuf {
        self.named(
            &format!("server_metrics_export.{extension}"),
            &format!("_server_metrics.{extension}"),
        )
    }

    /// Round-trip time samples.
    #[must_use]
    pub fn network_latency_jsonl(&self) -> PathBuf {
        self.named("profile_export_network_latency.jsonl", "_network_latency.jsonl")
    }

    /// Accuracy grades, one line per request.
    #[must_use]
    pub fn accuracy_jsonl(&self) -> PathBuf {
        self.named("accuracy_export.jsonl", "_accuracy.jsonl")
    }

    /// Accuracy results; takes no prefix.
    #[must_use]
    pub fn accuracy_results_csv(&self) -> PathBuf {
        self.dir.join("accuracy_results.csv")
    }

    /// Generated payloads; takes no prefix.
    #[must_use]
    pub fn inputs_json(&self) -> PathBuf {
        self.dir.join("inputs.json")
    }

    /// Response texts; takes no prefix.
    #[must_use]
    pub fn outputs_json(&self) -> PathBuf {
        self.dir.join("outputs.json")
    }

    /// List of the phases and their files; takes no prefix.
    #[must_use]
    pub fn phase_manifest_json(&self) -> PathBuf {
        self.dir.join("phase_manifest.json")
    }

    /// Directory of the files of single phases.
    #[must_use]
    pub fn phases_dir(&self) -> PathBuf {
        self.dir.join("phases")
    }

    /// The log.
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.dir.join("logs").join("aiperf.log")
    }

    /// The marker that is written last.
    #[must_use]
    pub fn ready_marker(&self) -> PathBuf {
        self.dir.join(".aiperf_results_ready.json")
    }

    fn named(&self, default: &str, ending: &str) -> PathBuf {
        match &self.prefix {
            Some(prefix) => self.dir.join(format!("{prefix}{ending}")),
            None => self.dir.join(Path::new(default)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(prefix: Option<&str>) -> ArtifactPlan {
        ArtifactPlan {
            dir: PathBuf::from("d"),
            prefix: prefix.map(str::to_owned),
            level: ExportLevel::Records,
            http_trace: false,
        }
    }

    #[test]
    fn known_endings_and_directories_leave_the_prefix() {
        let cases = [
            ("foo", Some("foo")),
            ("foo.json", Some("foo")),
            ("foo.jsonl", Some("foo")),
            ("foo_raw.jsonl", Some("foo")),
            ("foo_server_metrics.parquet", Some("foo")),
            ("foo_timeslices.csv", Some("foo")),
            ("foo_console.txt", Some("foo")),
            ("foo_gpu_telemetry.jsonl", Some("foo")),
            ("foo_network_latency.jsonl", Some("foo")),
            ("foo.txt", Some("foo.txt")),
            ("foo.json.json", Some("foo.json")),
            ("a/b/foo.csv", Some("foo")),
            ("../foo", Some("foo")),
            ("..", None),
            ("", None),
            (".json", None),
            ("a/", None),
        ];
        for (typed, expected) in cases {
            assert_eq!(ArtifactPlan::prefix_base(typed).as_deref(), expected, "{typed}");
        }
    }

    #[test]
    fn file_names_follow_the_prefix() {
        let (default, foo) = (plan(None), plan(Some("foo")));
        type FileOf = fn(&ArtifactPlan) -> PathBuf;
        let cases: [(FileOf, &str, &str); 12] = [
            (ArtifactPlan::summary_json, "d/profile_export_aiperf.json", "d/foo.json"),
            (ArtifactPlan::summary_csv, "d/profile_export_aiperf.csv", "d/foo.csv"),
            (ArtifactPlan::records_jsonl, "d/profile_export.jsonl", "d/foo.jsonl"),
            (ArtifactPlan::raw_jsonl, "d/profile_export_raw.jsonl", "d/foo_raw.jsonl"),
            (
                ArtifactPlan::timeslices_json,
                "d/profile_export_aiperf_timeslices.json",
                "d/foo_timeslices.json",
            ),
            (
                ArtifactPlan::timeslices_csv,
                "d/profile_export_aiperf_timeslices.csv",
                "d/foo_timeslices.csv",
            ),
            (
                ArtifactPlan::console_txt,
                "d/profile_export_console.txt",
                "d/foo_console.txt",
            ),
            (
                ArtifactPlan::gpu_telemetry_jsonl,
                "d/gpu_telemetry_export.jsonl",
                "d/foo_gpu_telemetry.jsonl",
            ),
            (
                |a| a.server_metrics("csv"),
                "d/server_metrics_export.csv",
                "d/foo_server_metrics.csv",
            ),
            (
                ArtifactPlan::network_latency_jsonl,
                "d/profile_export_network_latency.jsonl",
                "d/foo_network_latency.jsonl",
            ),
            (ArtifactPlan::inputs_json, "d/inputs.json", "d/inputs.json"),
            (ArtifactPlan::log_file, "d/logs/aiperf.log", "d/logs/aiperf.log"),
        ];
        for (path, without, with) in cases {
            assert_eq!(path(&default), Path::new(without));
            assert_eq!(path(&foo), Path::new(with));
        }
    }
}
