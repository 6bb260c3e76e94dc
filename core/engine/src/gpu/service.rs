//! The thread of one collector. It reads before the phases begin, at the collector's own pace while they run, and once
//! more after they end.

use std::{sync::Arc, thread, time::Duration};

use aiperf_http::Clock;
use aiperf_plugin_api::{GpuCollector, PluginError, gpu::Reading};
use aiperf_records::gpu::accumulator::exported;
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};

use super::{
    GRACE,
    drive::{Drive, Step},
    scrape::Scraper,
};
use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, Undeliverable},
    message::{GpuEnd, GpuReadings, Message},
    outgoing::Destination,
};

/// What the thread of a collector is made of.
pub struct GpuSetup {
    /// Position among all collectors and sources of the run.
    pub index: u32,
    /// The collector, opened.
    pub collector: Box<dyn GpuCollector>,
    /// What it may ask.
    pub source: Option<Destination>,
}

/// A collector that can take messages; [`GpuManager::start`] lets it read.
pub struct GpuManager {
    setup: GpuSetup,
    inbox: Receiver<Message>,
}

/// Why a collector's thread ends.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Gone(#[from] Undeliverable),
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error("it can't ask its source: {0}")]
    Runtime(#[from] std::io::Error),
}

impl GpuManager {
    /// Attaches it to the bus. It is sent two messages in its life, so its queue needs no limit.
    pub fn attach(setup: GpuSetup, bus: &dyn Bus) -> Self {
        let (sender, inbox) = unbounded();
        bus.attach(
            ServiceId::nth(ServiceKind::GpuTelemetryManager, setup.index),
            Arc::new(move |message| sender.send(message).is_ok()),
        );
        Self { setup, inbox }
    }

    /// Starts the thread. It ends after [`Message::CloseGpu`] or a failure, and says so with [`Message::GpuEnded`].
    ///
    /// # Errors
    /// When a service it talks to isn't attached, or no thread can be had.
    pub fn start(self, bus: &Arc<dyn Bus>) -> std::io::Result<thread::JoinHandle<()>> {
        let route = |kind| bus.route(ServiceId::only(kind)).map_err(std::io::Error::other);
        let (records, controller) = (
            route(ServiceKind::RecordsManager)?,
            route(ServiceKind::SystemController)?,
        );
        let name = ServiceId::nth(ServiceKind::GpuTelemetryManager, self.setup.index).to_string();
        let (setup, inbox) = (self.setup, self.inbox);
        thread::Builder::new().name(name).spawn(move || {
            let mut work = Work {
                index: setup.index,
                drive: Drive::new(setup.collector),
                source: setup.source,
                scraper: None,
                inbox,
                records,
                controller,
                clock: Clock,
                ready: false,
                closing: None,
            };
            let error = match work.run() {
                Ok(()) => None,
                // Nobody is left to be told.
                Err(Fault::Gone(_)) => return,
                Err(fault) => Some(fault.to_string()),
            };
            let unasked = work.source.is_some() && work.scraper.is_none();
            let end = GpuEnd {
                index: work.index,
                error,
                unasked,
            };
            let _ = work.controller.send(Message::GpuEnded(end));
        })
    }
}

/// The run is over: readings from the first instant on close it, and after the second nothing is waited for.
#[derive(Debug, Clone, Copy)]
struct Closing {
    from_ns: u64,
    until_ns: u64,
}

struct Work {
    index: u32,
    drive: Drive,
    source: Option<Destination>,
    scraper: Option<Scraper>,
    inbox: Receiver<Message>,
    records: Route,
    controller: Route,
    clock: Clock,
    ready: bool,
    closing: Option<Closing>,
}

impl Work {
    fn run(&mut self) -> Result<(), Fault> {
        loop {
            let now_ns = self.clock.now();
            if self.closing.is_some_and(|closing| now_ns >= closing.until_ns) {
                return Ok(());
            }
            match self.drive.step(now_ns)? {
                Step::Ask(request) => {
                    let (answer, at_ns) = self.scraper()?.ask(request)?;
                    self.drive.answered(answer, at_ns);
                    self.attend(Duration::ZERO)?;
                }
                Step::Read(readings, answered_ns) => {
                    let at_ns = answered_ns.unwrap_or(now_ns);
                    self.tell(at_ns, readings)?;
                    self.be_ready()?;
                    if self.closing.is_some_and(|closing| at_ns >= closing.from_ns) {
                        return Ok(());
                    }
                    self.attend(Duration::ZERO)?;
                }
                Step::Rest(time) => {
                    self.be_ready()?;
                    self.attend(time)?;
                }
            }
        }
    }

    fn scraper(&mut self) -> Result<&Scraper, Fault> {
        let Some(source) = &self.source else {
            return Err(Fault::Plugin(PluginError::failed(
                "it asks for a page, and was granted no source; give --gpu-telemetry NAME URL with the URL to ask",
            )));
        };
        match &mut self.scraper {
            Some(scraper) => Ok(scraper),
            unmade => Ok(unmade.insert(Scraper::new(source.clone())?)),
        }
    }

    fn tell(&self, at_ns: u64, readings: Vec<Reading>) -> Result<(), Undeliverable> {
        if readings.is_empty() {
            return Ok(());
        }
        self.records.send(Message::GpuReadings(Box::new(GpuReadings {
            source: self.index,
            at_ns,
            wall_ns: self.clock.wall(at_ns),
            readings: readings.into_iter().map(exported).collect(),
        })))
    }

    /// After its first readings, or its first rest, the run may begin.
    fn be_ready(&mut self) -> Result<(), Undeliverable> {
        if std::mem::replace(&mut self.ready, true) {
            return Ok(());
        }
        self.controller.send(Message::GpuReady(self.index))
    }

    /// Rests for some time, or until there is a message.
    fn attend(&mut self, time: Duration) -> Result<(), Undeliverable> {
        let now_ns = self.clock.now();
        let left = self.closing.map_or(time, |closing| {
            time.min(Duration::from_nanos(closing.until_ns.saturating_sub(now_ns)))
        });
        match self.inbox.recv_timeout(left) {
            Ok(Message::CloseGpu) if self.closing.is_none() => {
                let from_ns = self.clock.now();
                self.closing = Some(Closing {
                    from_ns,
                    until_ns: from_ns.saturating_add(u64::try_from(GRACE.as_nanos()).unwrap_or(u64::MAX)),
                });
                // It is polled at once; a collector that is not due yet says so again.
                Ok(())
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(Undeliverable(ServiceId::nth(
                ServiceKind::GpuTelemetryManager,
                self.index,
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
