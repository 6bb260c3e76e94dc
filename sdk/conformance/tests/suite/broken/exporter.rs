//! An exporter of a line per record, a summary and a console text.

use aiperf_sdk::{
    Batch, Exporter, Output, Result,
    api::report::{Report, RunInfo},
    exporter::ExporterNeeds,
    fields,
};
use serde_json::{Value, json};

use super::{Fault, unique};

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("begins_anew", &["every.instances", "exporter.begin"]),
    ("climbs", &["exporter.file_names"]),
    ("device", &["exporter.file_names"]),
    ("not_announced", &["exporter.announced"]),
    (
        "needs_records",
        &[
            "exporter.file_names",
            "exporter.announced",
            "exporter.no_records",
            "exporter.console",
            "exporter.newer_report",
        ],
    ),
    (
        "needs_metrics",
        &[
            "exporter.file_names",
            "exporter.announced",
            "exporter.errors_only",
            "exporter.missing",
            "exporter.console",
        ],
    ),
    ("counts_batches", &["exporter.batch_sizes"]),
    ("writes_anew", &["exporter.batch_sizes", "exporter.deterministic"]),
    ("does_not_escape", &["exporter.odd_texts"]),
    ("says_nan", &["exporter.missing"]),
    ("latin_1", &["exporter.console"]),
    ("knows_every_field", &["exporter.newer_report"]),
    ("trusts", &["exporter.malformed"]),
    ("needs_every_column", &["exporter.unknown_columns"]),
];

pub(super) struct Broken {
    fault: String,
    batches: u64,
}

impl Broken {
    pub(super) fn new(fault: String) -> Self {
        Self { fault, batches: 0 }
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn summary_file(&self) -> &'static str {
        match self.fault.as_str() {
            "climbs" => "../summary.json",
            "device" => "nul.json",
            _ => "summary.json",
        }
    }
}

impl Exporter for Broken {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        if !self.has("trusts") {
            RunInfo::parse(info)?;
        }
        let mut files = vec!["records.jsonl".to_owned(), self.summary_file().to_owned()];
        if self.has("begins_anew") {
            files.push(format!("extra-{}.txt", unique()));
        }
        Ok(ExporterNeeds {
            columns: vec![fields::VALID.to_owned(), fields::ERROR_MESSAGE.to_owned()],
            files,
            tables: Vec::new(),
        })
    }

    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.batches += 1;
        let mut lines = String::new();
        for i in 0..batch.len {
            let error = batch.column(1).text(i);
            if self.has("needs_every_column") {
                assert!(batch.column(0).u64(i).is_some(), "a column is missing");
            }
            let mut line = json!({ "valid": batch.column(0).u64(i), "error": error }).to_string();
            if self.has("does_not_escape") {
                line = format!("{{\"error\":\"{}\"}}", error.unwrap_or_default());
            }
            lines.push_str(&line);
            lines.push('\n');
        }
        if self.has("counts_batches") {
            lines.push_str(&format!("{}\n", self.batches));
        }
        Ok(vec![Output {
            append: true,
            ..Output::file("records.jsonl", lines)
        }])
    }

    fn finish(&mut self, text: &str) -> Result<Vec<Output>> {
        if self.has("trusts") && serde_json::from_str::<Value>(text).is_err() {
            return Ok(Vec::new());
        }
        let report = Report::parse(text)?;
        if self.has("needs_records") && self.batches == 0 {
            return Err(aiperf_sdk::PluginError::failed("no records"));
        }
        if self.has("knows_every_field") && text.contains("added_later") {
            return Err(aiperf_sdk::PluginError::input("an unknown field"));
        }
        if self.has("needs_metrics")
            && let Some(phase) = report.phases.first()
        {
            assert_ne!(phase.metrics[0].spec.tag, "", "the first metric");
        }
        let metrics: Vec<Value> = report
            .phases
            .iter()
            .flat_map(|phase| &phase.metrics)
            .map(|metric| json!({ "name": metric.spec.header, "avg": metric.displayed(metric.stats.avg) }))
            .collect();
        let mut summary = json!({ "metrics": metrics });
        if self.has("writes_anew") {
            summary["number"] = unique().into();
        }
        let mut console = Output::console(5, "done\n");
        let unknown = report.phases.iter().flat_map(|phase| &phase.metrics);
        if self.has("says_nan") && unknown.clone().any(|metric| metric.stats.avg.is_none()) {
            console.data = format!("avg {}\n", f64::NAN).into_bytes();
        }
        if self.has("latin_1") {
            console.data = b"caf\xe9\n".to_vec();
        }
        let mut outputs = vec![Output::file(self.summary_file(), summary.to_string()), console];
        if self.has("not_announced") {
            outputs.push(Output::file("more.txt", "more"));
        }
        Ok(outputs)
    }
}
