//! The thread of the records manager.

use std::{sync::Arc, thread::JoinHandle};

use aiperf_plugin_api::report::{Report, RunInfo};
use aiperf_records::{catalogue::Catalogue, summary::Visibility};
use crossbeam_channel::{Receiver, bounded};

use super::{
    Artifacts, ExporterInUse,
    exporters::{ColumnMap, ExportError, Exporters},
    gpu::{Gpu, SourceLabel},
    phases::{Phases, Reported},
};
use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, Undeliverable},
    message::{ExportDone, Failure, Message, PhasesReport},
    processor::{Families, build::PhaseLabel},
    supervise,
};

/// What the records manager is made of.
pub struct RecordsSetup {
    /// The phases of the run.
    pub phases: Vec<PhaseLabel>,
    /// Metrics.
    pub families: Arc<Families>,
    /// Every metric.
    pub catalogue: Arc<Catalogue>,
    /// Where the columns are.
    pub columns: ColumnMap,
    /// Exporters that have begun.
    pub exporters: Vec<ExporterInUse>,
    /// The sources of GPU telemetry.
    pub gpu: Vec<SourceLabel>,
    /// The artifact folder.
    pub artifacts: Artifacts,
    /// What exporters were told at the begin.
    pub info: RunInfo,
}

/// A records manager that can take messages; [`RecordsManager::start`] lets it work.
pub struct RecordsManager {
    setup: RecordsSetup,
    inbox: Receiver<Message>,
}

impl RecordsManager {
    /// Attaches the records manager to the bus. Its queue is bounded: record processors wait when it falls behind.
    pub fn attach(setup: RecordsSetup, bus: &dyn Bus) -> Self {
        let (sender, inbox) = bounded(crate::QUEUE);
        bus.attach(
            ServiceId::only(ServiceKind::RecordsManager),
            Arc::new(move |message| sender.send(message).is_ok()),
        );
        Self { setup, inbox }
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// When a service it talks to isn't attached, or no thread can be had.
    pub fn start(self, bus: &Arc<dyn Bus>) -> std::io::Result<JoinHandle<()>> {
        let controller = bus
            .route(ServiceId::only(ServiceKind::SystemController))
            .map_err(std::io::Error::other)?;
        let (setup, inbox) = (self.setup, self.inbox);
        supervise::spawn("records_manager".into(), controller.clone(), move || {
            let mut work = Work {
                phases: Phases::new(&setup.phases, setup.catalogue, &setup.columns),
                exporters: Exporters::new(setup.exporters, &setup.columns),
                families: setup.families,
                gpu: Gpu::new(setup.gpu),
                artifacts: setup.artifacts,
                info: setup.info,
                controller,
            };
            work.run(&inbox).map_err(|gone| (gone.to_string(), false))
        })
    }
}

struct Work {
    phases: Phases,
    exporters: Exporters,
    families: Arc<Families>,
    gpu: Gpu,
    artifacts: Artifacts,
    info: RunInfo,
    controller: Route,
}

impl Work {
    /// Serves until it is told to stop. What fails is reported and left out from then on; the rest goes on, so that what was
    /// measured is not lost.
    fn run(&mut self, inbox: &Receiver<Message>) -> Result<(), Undeliverable> {
        let mut announced = false;
        while let Ok(message) = inbox.recv() {
            match message {
                Message::Records(batch) => {
                    if let Err(error) = self.phases.add(&batch) {
                        self.failed(error.to_string(), true, None)?;
                    }
                    let written = self.exporters.write(&batch, &mut self.artifacts);
                    self.report_failed(written)?;
                }
                Message::GpuReadings(readings) => {
                    self.gpu.add(&readings);
                    if let Some(label) = self.gpu.label(readings.source) {
                        let written = self.exporters.write_gpu(&readings, label, &mut self.artifacts);
                        self.report_failed(written)?;
                    }
                }
                Message::PhaseComplete(complete) => self.phases.complete(*complete),
                Message::Summarise => self.summarise()?,
                Message::Export(report) => self.export(*report)?,
                Message::Shutdown => return Ok(()),
                _ => continue,
            }
            if !announced && self.phases.all_in() {
                announced = true;
                self.controller.send(Message::RecordsComplete)?;
            }
        }
        Ok(())
    }

    fn failed(&self, message: String, plugin: bool, help: Option<String>) -> Result<(), Undeliverable> {
        let failure = Failure {
            service: "records_manager".into(),
            message,
            plugin,
            help,
        };
        self.controller.send(Message::Failed(failure))
    }

    fn report_failed(&self, errors: Vec<ExportError>) -> Result<(), Undeliverable> {
        errors
            .into_iter()
            .try_for_each(|error| self.failed(error.to_string(), error.is_plugin(), error.help()))
    }

    fn summarise(&self) -> Result<(), Undeliverable> {
        let Reported {
            phases,
            mut warnings,
            failures,
        } = self.phases.report(&self.families, Visibility::default(), &self.gpu);
        for error in failures {
            self.failed(error.to_string(), true, error.help)?;
        }
        let valid = self.phases.valid_profiling();
        let gpu = self.gpu.section(self.phases.completed()).map(|(section, more)| {
            warnings.extend(more);
            section
        });
        self.controller.send(Message::Phases(Box::new(PhasesReport {
            fidelity: self.phases.fidelity(),
            phases,
            warnings,
            valid,
            gpu,
        })))
    }

    fn export(&mut self, report: Report) -> Result<(), Undeliverable> {
        let report = Report {
            info: self.info.clone(),
            ..report
        };
        match serde_json::to_string(&report) {
            Ok(text) => {
                let finished = self.exporters.finish(&text, &mut self.artifacts);
                self.report_failed(finished)?;
            }
            Err(error) => self.failed(error.to_string(), false, None)?,
        }
        let done = ExportDone {
            console: self.exporters.take_console(),
            skipped: self.exporters.take_skipped(),
            files: self.artifacts.written().to_vec(),
        };
        self.controller.send(Message::Exported(Box::new(done)))
    }
}
