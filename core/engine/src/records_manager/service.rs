//! The thread of the records manager.

use std::{sync::Arc, thread};

use aiperf_plugin_api::report::{Report, RunInfo};
use aiperf_records::{catalogue::Catalogue, summary::Visibility};
use crossbeam_channel::{Receiver, bounded};

use super::{
    Artifacts, ExporterInUse,
    exporters::{ColumnMap, Exporters},
    phases::Phases,
};
use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind},
    message::{ExportDone, Failure, Message, PhasesReport},
    processor::{Families, build::PhaseLabel},
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
    pub fn start(self, bus: &Arc<dyn Bus>) -> std::io::Result<thread::JoinHandle<()>> {
        let controller = bus
            .route(ServiceId::only(ServiceKind::SystemController))
            .map_err(std::io::Error::other)?;
        let (setup, inbox) = (self.setup, self.inbox);
        thread::Builder::new().name("records_manager".into()).spawn(move || {
            let mut work = Work {
                phases: Phases::new(&setup.phases, setup.catalogue, &setup.columns),
                exporters: Exporters::new(setup.exporters, &setup.columns),
                families: setup.families,
                artifacts: setup.artifacts,
                info: setup.info,
                announced: false,
            };
            if let Err((message, plugin)) = work.run(&inbox, &controller) {
                let failure = Failure {
                    service: "records_manager".into(),
                    message,
                    plugin,
                };
                let _ = controller.send(Message::Failed(failure));
                // Processors that wait for this queue must not wait for ever.
                while let Ok(message) = inbox.recv() {
                    if message == Message::Shutdown {
                        break;
                    }
                }
            }
        })
    }
}

struct Work {
    phases: Phases,
    exporters: Exporters,
    families: Arc<Families>,
    artifacts: Artifacts,
    info: RunInfo,
    announced: bool,
}

type Failed = (String, bool);

impl Work {
    fn run(&mut self, inbox: &Receiver<Message>, controller: &Route) -> Result<(), Failed> {
        let gone = |error: crate::bus::Undeliverable| (error.to_string(), false);
        self.exporters
            .create_files(&mut self.artifacts)
            .map_err(|error| (error.to_string(), false))?;
        while let Ok(message) = inbox.recv() {
            match message {
                Message::Records(batch) => {
                    self.phases.add(&batch).map_err(|error| (error.to_string(), true))?;
                    self.exporters
                        .write(&batch, &mut self.artifacts)
                        .map_err(|error| (error.to_string(), true))?;
                }
                Message::PhaseComplete(complete) => self.phases.complete(*complete),
                Message::Summarise => self.summarise(controller)?,
                Message::Export(report) => self.export(&report, controller)?,
                Message::Shutdown => return Ok(()),
                _ => continue,
            }
            if !self.announced && self.phases.all_in() {
                self.announced = true;
                controller.send(Message::RecordsComplete).map_err(gone)?;
            }
        }
        Ok(())
    }

    fn summarise(&self, controller: &Route) -> Result<(), Failed> {
        let (phases, warnings) = self
            .phases
            .report(&self.families, Visibility::default())
            .map_err(|error| (error.to_string(), true))?;
        let valid = self.phases.valid_profiling();
        let message = Message::Phases(Box::new(PhasesReport {
            phases,
            warnings,
            valid,
        }));
        controller.send(message).map_err(|error| (error.to_string(), false))
    }

    fn export(&mut self, report: &Report, controller: &Route) -> Result<(), Failed> {
        let report = Report {
            info: self.info.clone(),
            ..report.clone()
        };
        let text = serde_json::to_string(&report).map_err(|error| (error.to_string(), false))?;
        self.exporters
            .finish(&text, &mut self.artifacts)
            .map_err(|error| (error.to_string(), true))?;
        let done = ExportDone {
            console: self.exporters.take_console(),
            skipped: self.exporters.take_skipped(),
            files: self.artifacts.written().to_vec(),
        };
        controller
            .send(Message::Exported(Box::new(done)))
            .map_err(|error| (error.to_string(), false))
    }
}
