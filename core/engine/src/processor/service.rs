//! The thread of a record processor: records are taken in batches of up to [`BATCH`], and looked for every [`PATIENCE`].

use std::{
    mem,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::{Receiver, bounded};

use super::{
    Families, TokenCounter,
    build::{self, Counted, PhaseLabel},
};
use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, Undeliverable},
    message::{Failure, Message, RecordBatch, RequestRecord},
    supervise::{self, Ended},
};

/// Records of a batch, at most.
const BATCH: usize = 256;
/// No record waits longer for a processor that has nothing to do.
const PATIENCE: Duration = Duration::from_millis(10);

/// What a record processor is made of.
pub struct ProcessorSetup {
    /// Its number.
    pub index: u32,
    /// The phases of the run.
    pub phases: Vec<PhaseLabel>,
    /// Metrics.
    pub families: Arc<Families>,
    /// Tokens.
    pub counter: TokenCounter,
}

/// A record processor that can take messages; [`RecordProcessor::start`] lets it work.
pub struct RecordProcessor {
    setup: ProcessorSetup,
    inbox: Receiver<Message>,
}

impl RecordProcessor {
    /// Attaches a record processor to the bus. Its queue is bounded: workers wait when it falls behind.
    pub fn attach(setup: ProcessorSetup, bus: &dyn Bus) -> Self {
        let (sender, inbox) = bounded(crate::QUEUE);
        let id = ServiceId::nth(ServiceKind::RecordProcessor, setup.index);
        bus.attach(id, Arc::new(move |message| sender.send(message).is_ok()));
        Self { setup, inbox }
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// When a service it talks to isn't attached, or no thread can be had.
    pub fn start(mut self, bus: &Arc<dyn Bus>) -> std::io::Result<JoinHandle<()>> {
        let route = |id| bus.route(id).map_err(std::io::Error::other);
        let records = route(ServiceId::only(ServiceKind::RecordsManager))?;
        let controller = route(ServiceId::only(ServiceKind::SystemController))?;
        let name = ServiceId::nth(ServiceKind::RecordProcessor, self.setup.index).to_string();
        let to = Routes {
            name: name.clone(),
            records,
            controller: controller.clone(),
        };
        supervise::spawn(name, controller, move || self.run(&to))
    }

    /// A record that comes to an idle processor wakes it. From then on it looks by itself every [`PATIENCE`], so that
    /// under load no worker spends a system call on waking it.
    fn run(&mut self, records: &Routes) -> Result<(), Ended> {
        let mut waiting: Vec<Counted> = Vec::with_capacity(BATCH);
        while let Ok(message) = self.inbox.recv() {
            let mut next = Some(message);
            while let Some(message) = next {
                match message {
                    Message::Record(record) => self.take(*record, &mut waiting, records)?,
                    Message::Shutdown => return self.flush(&mut waiting, records),
                    _ => {}
                }
                next = self.inbox.try_recv().ok();
                if next.is_none() {
                    self.flush(&mut waiting, records)?;
                    thread::sleep(PATIENCE);
                    next = self.inbox.try_recv().ok();
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, record: RequestRecord, waiting: &mut Vec<Counted>, records: &Routes) -> Result<(), Ended> {
        if waiting
            .first()
            .is_some_and(|first| kind(&first.record) != kind(&record))
        {
            self.flush(waiting, records)?;
        }
        let tokens = self.setup.counter.count(&record).map_err(|message| (message, false))?;
        waiting.push(Counted { record, tokens });
        if waiting.len() >= BATCH {
            self.flush(waiting, records)?;
        }
        Ok(())
    }

    fn flush(&self, waiting: &mut Vec<Counted>, to: &Routes) -> Result<(), Ended> {
        let Some(first) = waiting.first() else { return Ok(()) };
        let (phase, cancelled) = kind(&first.record);
        let batch = mem::replace(waiting, Vec::with_capacity(BATCH));
        let unknown = PhaseLabel {
            name: String::new(),
            warmup: false,
            profiling_index: None,
            concurrency: None,
        };
        let label = self.setup.phases.get(phase as usize).unwrap_or(&unknown);
        let families = &self.setup.families;
        let fields: Vec<_> = families
            .plan()
            .iter()
            .map(|name| build::column(name, &batch, label, self.setup.index))
            .collect();
        let (metrics, failures) = families.compute(&fields, &batch);
        let gone = |gone: Undeliverable| (gone.to_string(), false);
        // The run is over, and yet every record that comes in still reaches the disk, without the failed family's values.
        for error in failures {
            let failure = Failure::of_plugin(&*to.name, &error);
            to.controller.send(Message::Failed(failure)).map_err(gone)?;
        }
        let message = RecordBatch {
            phase,
            len: batch.len(),
            cancelled,
            resent: batch
                .iter()
                .map(|counted| u64::from(counted.record.transport.resent))
                .sum(),
            fields,
            metrics,
        };
        to.records.send(Message::Records(Box::new(message))).map_err(gone)
    }
}

/// Whom a record processor talks to, and under which name.
struct Routes {
    name: String,
    records: Route,
    controller: Route,
}

/// Records that may share a batch: those of one phase, cancelled ones apart.
fn kind(record: &RequestRecord) -> (u32, bool) {
    (record.credit.phase, record.cancelled.is_some())
}
