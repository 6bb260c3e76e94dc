//! What the package registers and how its entries open.

use aiperf_sdk::{
    Category, Entry, Exporter, Package, PluginError, Result,
    api::report::{Report, RunInfo},
    package::{NoOptions, Open},
};

use crate::{
    console::Console, gpu_telemetry_jsonl_writer::GpuTelemetryJsonlWriter, raw_record_writer::RawRecordWriter,
    record_export::RecordExport, summary_csv::SummaryCsv, summary_json::SummaryJson,
};

/// The package.
pub struct BuiltIn;

impl Package for BuiltIn {
    const NAME: &'static str = "aiperf-exporters";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        [
            "console",
            "json",
            "csv",
            "record_export",
            "raw_record_writer",
            "gpu_telemetry_jsonl_writer",
        ]
        .map(|name| Entry::new(Category::Exporter, name))
        .to_vec()
    }

    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        // What they need stands in the run's facts.
        let NoOptions {} = open.options()?;
        Ok(match open.entry.as_str() {
            "console" => Box::new(Console),
            "json" => Box::new(SummaryJson),
            "csv" => Box::new(SummaryCsv),
            "record_export" => Box::<RecordExport>::default(),
            "raw_record_writer" => Box::<RawRecordWriter>::default(),
            "gpu_telemetry_jsonl_writer" => Box::<GpuTelemetryJsonlWriter>::default(),
            _ => return Err(open.unknown()),
        })
    }
}

/// Reads what `begin` is given.
pub(crate) fn read_info(info: &str) -> Result<RunInfo> {
    serde_json::from_str(info).map_err(|error| PluginError::input(format!("the facts of the run: {error}")))
}

/// Reads what `finish` is given.
pub(crate) fn read_report(report: &str) -> Result<Report> {
    serde_json::from_str(report).map_err(|error| PluginError::input(format!("the report: {error}")))
}
