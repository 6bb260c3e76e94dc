//! Exporters: records as they complete, and the report at the end. The core writes what they return.

use crate::{Result, column::Batch, error::PluginError};

contract! {
    /// Records that aren't requests.
    pub struct TableNeeds / TableNeedsAbi {
        /// The table: `gpu`, `server_metrics`, `network_latency`, `progress`.
        pub table: String,
        /// Its columns by name, in the order in which batches bring them.
        pub columns: Vec<String>,
    }

    /// What an exporter wants.
    #[derive(Default)]
    pub struct ExporterNeeds / ExporterNeedsAbi {
        /// Record columns by name, and per-record metrics by tag, in the order in which batches bring them; empty: no
        /// records. `metrics.*` stands for every per-record metric of the run, in the order of the run's catalogue.
        pub columns: Vec<String>,
        /// Files it will write, relative names, so that the core can empty them ahead.
        pub files: Vec<String>,
        /// Tables besides that of requests.
        #[serde(default)]
        pub tables: Vec<TableNeeds>,
    }

    /// Bytes to write.
    pub struct Output / OutputAbi {
        /// A file, relative to the artifact folder; empty for the console.
        pub file: String,
        /// Place on the console among other exporters, ascending.
        pub order: i32,
        /// Append to the file instead of replacing it.
        pub append: bool,
        /// What to write. Console output is UTF-8.
        pub data: Vec<u8>,
    }
}

impl Output {
    /// A file, relative to the artifact folder, that replaces an earlier one.
    pub fn file(name: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            file: name.into(),
            order: 0,
            append: false,
            data: data.into(),
        }
    }

    /// Text on the console, among that of other exporters in ascending `order`.
    pub fn console(order: i32, text: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            order,
            append: false,
            data: text.into().into_bytes(),
        }
    }
}

/// An exporter.
pub trait Exporter: Send {
    /// Says what it wants. `info` is JSON: the run's facts and the catalogue of metrics (see the records crate's report
    /// model).
    ///
    /// # Errors
    /// When an option is wrong.
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds>;

    /// Records that have completed.
    ///
    /// # Errors
    /// Fails the run, or skips the batch, as the registry says.
    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        let _ = batch;
        Err(PluginError::unsupported("write"))
    }

    /// Records of a table that was asked for.
    ///
    /// # Errors
    /// As [`Exporter::write`].
    fn write_table(&mut self, table: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        let _ = batch;
        Err(PluginError::unsupported(&format!("write_table({table})")))
    }

    /// The end. `report` is versioned JSON with unrounded numbers.
    ///
    /// # Errors
    /// As [`Exporter::write`].
    fn finish(&mut self, report: &str) -> Result<Vec<Output>>;
}
