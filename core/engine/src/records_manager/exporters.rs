//! Exporters in use: what they want, and where what they return goes.

use std::collections::{BTreeMap, HashMap};

use aiperf_host::ExporterHandle;
use aiperf_plugin_api::{Batch, Column, ColumnRef, Exporter, Output, PluginError, exporter::ExporterNeeds};

use super::{
    artifacts::{ArtifactError, Artifacts},
    gpu::SourceLabel,
};
use crate::{
    columns::FieldColumn,
    gpu::table,
    message::{GpuReadings, RecordBatch},
};

/// Stands for every per-record metric of the run.
pub const ALL_METRICS: &str = "metrics.*";

/// An exporter that has begun.
pub struct ExporterInUse {
    /// The plugin.
    pub handle: ExporterHandle,
    /// What it wants.
    pub needs: ExporterNeeds,
    /// A failure skips it instead of ending the run.
    pub skip_on_error: bool,
}

/// What an exporter or its files did wrong.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The exporter failed.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// Its output can't be written.
    #[error("{exporter}: {source}")]
    Artifact {
        /// The exporter.
        exporter: String,
        /// What is wrong.
        source: ArtifactError,
    },
}

impl ExportError {
    /// The exporter is at fault; else the disk is.
    pub fn is_plugin(&self) -> bool {
        match self {
            Self::Plugin(_) => true,
            Self::Artifact { source, .. } => matches!(source, ArtifactError::Name(_) | ArtifactError::Taken { .. }),
        }
    }

    /// What the user can do, where the exporter says so.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Plugin(error) => error.help.clone(),
            Self::Artifact { .. } => None,
        }
    }
}

/// Where an exporter's column comes from.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Field(usize),
    Metric(usize, usize),
    Unknown,
}

/// Where the columns of batches are, by name.
#[derive(Debug, Clone, Default)]
pub struct ColumnMap {
    fields: HashMap<String, usize>,
    metrics: HashMap<String, (usize, usize)>,
    /// Per-record metrics in the order of the catalogue.
    all: Vec<(usize, usize)>,
}

impl ColumnMap {
    /// A map over the column plan and the per-record metrics in the order of the catalogue: tag, family, column.
    pub fn new(plan: &[String], metrics: impl IntoIterator<Item = (String, usize, usize)>) -> Self {
        let mut map = Self {
            fields: plan
                .iter()
                .enumerate()
                .map(|(index, name)| (name.clone(), index))
                .collect(),
            ..Self::default()
        };
        for (tag, family, column) in metrics {
            map.all.push((family, column));
            map.metrics.insert(tag, (family, column));
        }
        map
    }

    fn wanted(&self, names: &[String]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for name in names {
            if name == ALL_METRICS {
                wanted.extend(self.all.iter().map(|&(family, column)| Wanted::Metric(family, column)));
            } else if let Some(&field) = self.fields.get(name) {
                wanted.push(Wanted::Field(field));
            } else if let Some(&(family, column)) = self.metrics.get(name) {
                wanted.push(Wanted::Metric(family, column));
            } else {
                wanted.push(Wanted::Unknown);
            }
        }
        wanted
    }

    /// Position of a record column.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.get(name).copied()
    }
}

/// All exporters of a run.
pub struct Exporters {
    exporters: Vec<(ExporterInUse, Vec<Wanted>)>,
    console: Vec<(i32, String)>,
    /// By exporter: its first failure, and how many there were.
    skipped: BTreeMap<String, (String, u64)>,
}

impl Exporters {
    /// Exporters that have begun.
    pub fn new(exporters: Vec<ExporterInUse>, map: &ColumnMap) -> Self {
        let exporters = exporters
            .into_iter()
            .map(|exporter| {
                let wanted = map.wanted(&exporter.needs.columns);
                (exporter, wanted)
            })
            .collect();
        Self {
            exporters,
            console: Vec::new(),
            skipped: BTreeMap::new(),
        }
    }

    /// Gives a batch to all who want records. An exporter that fails and may not be skipped is left out from then on; its
    /// error is returned.
    pub fn write(&mut self, batch: &RecordBatch, artifacts: &mut Artifacts) -> Vec<ExportError> {
        let fields: Vec<ColumnRef<'_>> = batch.fields.iter().map(FieldColumn::borrow).collect();
        self.each(artifacts, |exporter, wanted| {
            if wanted.is_empty() {
                return Ok(Vec::new());
            }
            let column = |wanted: &Wanted| match *wanted {
                Wanted::Field(index) => fields.get(index).copied(),
                Wanted::Metric(family, column) => batch
                    .metrics
                    .get(family)
                    .and_then(Option::as_ref)
                    .and_then(|columns| columns.get(column))
                    .and_then(Column::borrow),
                Wanted::Unknown => None,
            };
            let columns: Vec<ColumnRef<'_>> = wanted
                .iter()
                .map(|wanted| column(wanted).unwrap_or(ColumnRef::Missing))
                .collect();
            exporter.handle.write(&Batch {
                len: batch.len,
                columns: &columns,
            })
        })
    }

    /// Gives readings to all who want the table `gpu`. Errors as with [`Exporters::write`].
    pub fn write_gpu(
        &mut self,
        readings: &GpuReadings,
        label: &SourceLabel,
        artifacts: &mut Artifacts,
    ) -> Vec<ExportError> {
        self.each(artifacts, |exporter, _| {
            let Some(wanted) = exporter.needs.tables.iter().find(|wanted| wanted.table == table::TABLE) else {
                return Ok(Vec::new());
            };
            let columns = table::columns(readings, &label.source, &label.collector, &wanted.columns);
            let columns: Vec<ColumnRef<'_>> = columns.iter().map(FieldColumn::borrow).collect();
            let batch = Batch {
                len: readings.readings.len(),
                columns: &columns,
            };
            exporter.handle.write_table(table::TABLE, &batch)
        })
    }

    /// Gives the report to all. Errors as with [`Exporters::write`].
    pub fn finish(&mut self, report: &str, artifacts: &mut Artifacts) -> Vec<ExportError> {
        self.each(artifacts, |exporter, _| exporter.handle.finish(report))
    }

    /// What is to be shown on the console, in order.
    pub fn take_console(&mut self) -> Vec<String> {
        self.console.sort_by_key(|(order, _)| *order);
        std::mem::take(&mut self.console)
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    /// Failures that were skipped, one line for each exporter.
    pub fn take_skipped(&mut self) -> Vec<String> {
        let line = |(error, count): (String, u64)| match count {
            1 => format!("{error}; skipped, so its output is incomplete"),
            _ => format!(
                "{error}; skipped, as {} later ones, so its output is incomplete",
                count - 1
            ),
        };
        std::mem::take(&mut self.skipped).into_values().map(line).collect()
    }

    fn each(
        &mut self,
        artifacts: &mut Artifacts,
        mut call: impl FnMut(&mut ExporterInUse, &[Wanted]) -> Result<Vec<Output>, PluginError>,
    ) -> Vec<ExportError> {
        let mut errors = Vec::new();
        let (console, skipped) = (&mut self.console, &mut self.skipped);
        self.exporters.retain_mut(|(exporter, wanted)| {
            let done = call(exporter, wanted).map_err(ExportError::from).and_then(|outputs| {
                outputs.into_iter().try_for_each(|output| {
                    if output.file.is_empty() {
                        console.push((output.order, String::from_utf8_lossy(&output.data).into_owned()));
                        return Ok(());
                    }
                    artifacts
                        .write(&output, exporter.handle.plugin().label())
                        .map_err(|source| artifact_error(exporter, source))
                })
            });
            match done {
                Ok(()) => true,
                Err(error) if exporter.skip_on_error => {
                    let first = || (error.to_string(), 0);
                    let label = exporter.handle.plugin().label().to_owned();
                    skipped.entry(label).or_insert_with(first).1 += 1;
                    true
                }
                Err(error) => {
                    errors.push(error);
                    false
                }
            }
        });
        errors
    }
}

/// Empties the files that exporters announced, before anything is measured.
///
/// # Errors
/// When one can't be written.
pub fn create_files(exporters: &[ExporterInUse], artifacts: &mut Artifacts) -> Result<(), ExportError> {
    for exporter in exporters {
        for file in &exporter.needs.files {
            artifacts
                .create(file, exporter.handle.plugin().label())
                .map_err(|source| artifact_error(exporter, source))?;
        }
    }
    Ok(())
}

fn artifact_error(exporter: &ExporterInUse, source: ArtifactError) -> ExportError {
    ExportError::Artifact {
        exporter: exporter.handle.plugin().label().to_owned(),
        source,
    }
}
