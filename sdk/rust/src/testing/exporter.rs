//! A run of an exporter: facts of a run, records, a report, and what comes out.

use std::collections::BTreeMap;

use aiperf_plugin_api::{
    Exporter, MetricSpec, Output, PluginError, Result,
    report::{ArtifactNames, Credits, MetricResult, PhaseReport, Report, RunInfo, Stats},
};

use super::Batches;

/// A finished run of one profiling phase with these metrics, whose requests all succeeded. Change what matters to the test.
///
/// ```
/// use aiperf_sdk::{prelude::*, report::Stats, testing};
///
/// let latency = MetricSpec { display_unit: "ms".into(), ..MetricSpec::new("latency", "Latency", "ns", MetricKind::Record) };
/// let stats = Stats { avg: Some(2.5e6), ..Stats::default() };
/// let report = testing::report(vec![testing::result(latency, 1e-6, stats)]);
/// let metric = &report.phases[0].metrics[0];
/// assert_eq!(metric.displayed(metric.stats.avg), Some(2.5));
/// ```
pub fn report(metrics: Vec<MetricResult>) -> Report {
    Report {
        info: RunInfo {
            schema_version: aiperf_plugin_api::report::SCHEMA_VERSION.to_owned(),
            tool_version: "0.1.0".to_owned(),
            benchmark_id: "0123456789abcdef".to_owned(),
            cli_command: "aiperf profile --model test-model".to_owned(),
            random_seed: None,
            input_config: serde_json::Value::Object(serde_json::Map::new()),
            endpoint_type: "chat".to_owned(),
            metrics_title: "LLM Metrics".to_owned(),
            artifacts: ArtifactNames {
                json: "profile_export_aiperf.json".to_owned(),
                csv: "profile_export_aiperf.csv".to_owned(),
                records: Some("profile_export.jsonl".to_owned()),
                raw: None,
                gpu: Some("gpu_telemetry_export.jsonl".to_owned()),
                console: "profile_export_console.txt".to_owned(),
            },
            catalogue: metrics
                .iter()
                .map(|metric| aiperf_plugin_api::report::CatalogueEntry {
                    spec: metric.spec.clone(),
                    factor: metric.factor,
                })
                .collect(),
            console_width: 140,
            http_trace: false,
        },
        phases: vec![PhaseReport {
            name: "profiling".to_owned(),
            kind: "profiling".to_owned(),
            index: 0,
            profiling_index: Some(0),
            start_wall_ns: 1_767_225_600_000_000_000,
            end_wall_ns: 1_767_225_601_500_000_000,
            credits: Credits {
                issued: 3,
                completed: 3,
                failed: 0,
                cancelled: Vec::new(),
            },
            metrics,
            errors: Vec::new(),
            slices: Vec::new(),
        }],
        was_cancelled: false,
        is_complete: true,
        incomplete_reason: None,
        packages: Vec::new(),
        warnings: Vec::new(),
        validity: None,
        sections: serde_json::Map::new(),
    }
}

/// A metric of a report: `factor` takes its native unit to the unit of reports.
pub fn result(spec: MetricSpec, factor: f64, stats: Stats) -> MetricResult {
    MetricResult {
        spec,
        factor,
        stats,
        precision: None,
    }
}

/// What an exporter left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outputs {
    files: BTreeMap<String, Vec<u8>>,
    console: Vec<(i32, String)>,
}

impl Outputs {
    /// Names of the files.
    pub fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    /// A file as text; `None` if it was not written or is no UTF-8.
    pub fn file(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(name)?).ok()
    }

    /// What goes to the console, in order.
    pub fn console(&self) -> String {
        self.console.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn take(&mut self, output: Output, announced: &[String]) -> Result<()> {
        let Output {
            file,
            order,
            append,
            data,
        } = output;
        if file.is_empty() {
            let text = String::from_utf8(data).map_err(|_| PluginError::failed("console output that is not UTF-8"))?;
            let at = self.console.partition_point(|(other, _)| *other <= order);
            self.console.insert(at, (order, text));
            return Ok(());
        }
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !file.split('/').all(plain) || file.contains(['\\', ':']) {
            return Err(PluginError::failed(format!(
                "`{file}` does not stay in the artifact folder"
            )));
        }
        if !announced.contains(&file) {
            return Err(PluginError::failed(format!("`{file}` was not announced in `files`")));
        }
        let content = self.files.entry(file).or_default();
        if !append {
            content.clear();
        }
        content.extend(data);
        Ok(())
    }
}

/// Runs an exporter: `begin`, the records in batches of at most `size` if it wants any, `finish`.
///
/// ```
/// use aiperf_sdk::{prelude::*, report::{Report, RunInfo}, testing};
///
/// struct Count;
/// impl Exporter for Count {
///     fn begin(&mut self, _info: &str) -> Result<ExporterNeeds> {
///         Ok(ExporterNeeds { files: vec!["count.txt".into()], ..ExporterNeeds::default() })
///     }
///     fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
///         let phases = Report::parse(report)?.phases.len();
///         Ok(vec![Output::file("count.txt", phases.to_string()), Output::console(0, "counted\n")])
///     }
/// }
///
/// let outputs = testing::export(&mut Count, &testing::report(Vec::new()), &testing::Batches::of(0), 256)?;
/// assert_eq!(outputs.file("count.txt"), Some("1"));
/// assert_eq!(outputs.console(), "counted\n");
/// # Ok::<(), PluginError>(())
/// ```
///
/// # Errors
/// Those of the exporter; a file that it did not announce or whose name leads elsewhere; console output that is no text.
pub fn export(exporter: &mut dyn Exporter, report: &Report, records: &Batches, size: usize) -> Result<Outputs> {
    let json = |text: serde_json::Result<String>| text.map_err(|error| PluginError::failed(error.to_string()));
    let needs = exporter.begin(&json(serde_json::to_string(&report.info))?)?;
    let mut outputs = Outputs::default();
    if !needs.columns.is_empty() {
        records.cut(size, &needs.columns, |batch| {
            for output in exporter.write(batch)? {
                outputs.take(output, &needs.files)?;
            }
            Ok(())
        })?;
    }
    for output in exporter.finish(&json(serde_json::to_string(report))?)? {
        outputs.take(output, &needs.files)?;
    }
    Ok(outputs)
}
