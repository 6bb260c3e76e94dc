//! The bus: the only way in which services talk.
//!
//! A service attaches a sink, which takes what is said to it, and resolves routes to those it talks to. [`local`] is the
//! bus of one process.

pub mod local;

use std::{fmt, sync::Arc};

use crate::message::Message;

/// Kind of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServiceKind {
    /// Starts the others, follows the run, ends it.
    SystemController,
    /// Decides when to send.
    TimingManager,
    /// Sends.
    Worker,
    /// Counts tokens and computes per-record metrics.
    RecordProcessor,
    /// Accumulates and reports.
    RecordsManager,
    /// Reads one source of GPU telemetry.
    GpuTelemetryManager,
}

/// A service: a kind and, for kinds with several, a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceId {
    /// Kind.
    pub kind: ServiceKind,
    /// Number, from 0.
    pub index: u32,
}

impl ServiceId {
    /// The only one of its kind.
    pub const fn only(kind: ServiceKind) -> Self {
        Self { kind, index: 0 }
    }

    /// One of several.
    pub const fn nth(kind: ServiceKind, index: u32) -> Self {
        Self { kind, index }
    }
}

impl fmt::Display for ServiceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            ServiceKind::SystemController => return f.write_str("system_controller"),
            ServiceKind::TimingManager => return f.write_str("timing_manager"),
            ServiceKind::RecordsManager => return f.write_str("records_manager"),
            ServiceKind::Worker => "worker",
            ServiceKind::RecordProcessor => "record_processor",
            ServiceKind::GpuTelemetryManager => "gpu_telemetry_manager",
        };
        write!(f, "{name}_{}", self.index)
    }
}

/// A message could not be delivered: its receiver is not attached, or has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not there")]
pub struct Undeliverable(pub ServiceId);

/// Takes the messages of a service. Blocks while the service's queue is full; `false` means that the service has gone.
pub type Sink = Arc<dyn Fn(Message) -> bool + Send + Sync>;

/// A resolved way to one service.
#[derive(Clone)]
pub struct Route {
    to: ServiceId,
    sink: Sink,
}

impl Route {
    /// A route to a sink.
    pub fn new(to: ServiceId, sink: Sink) -> Self {
        Self { to, sink }
    }

    /// Delivers a message.
    ///
    /// # Errors
    /// When the receiver has gone.
    pub fn send(&self, message: Message) -> Result<(), Undeliverable> {
        if (self.sink)(message) {
            Ok(())
        } else {
            Err(Undeliverable(self.to))
        }
    }
}

/// Carries messages between services.
pub trait Bus: Send + Sync {
    /// Attaches a service.
    fn attach(&self, id: ServiceId, sink: Sink);

    /// The way to a service.
    ///
    /// # Errors
    /// When it isn't attached.
    fn route(&self, to: ServiceId) -> Result<Route, Undeliverable>;
}
