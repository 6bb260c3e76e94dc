//! The plugin contract.
//!
//! Six categories, each one plain Rust trait over plain Rust data: [`Endpoint`], [`Dataset`], [`Timing`], [`Metric`],
//! [`Exporter`], [`GpuCollector`]. Plugins compute; the core does all input and output and owns the clock. No call blocks,
//! sleeps, opens a file or a socket, so every plugin can be driven in virtual time.
//!
//! How a call crosses a library boundary is the business of `abi` alone: each data type has an ABI-stable mirror
//! ([`mirror`]), each trait a stable vtable. Panics are caught on the plugin's side and arrive as [`PluginError`]s. How it
//! crosses into a WebAssembly component stands in the folder `wit`; [`wit`] converts.
//!
//! Evolution (see `docs/plugins/contract-coverage.md` for what is carried today):
//! * Data types are frozen once 1.0.0 is released; each has a bag (`facts`, `extra`, `options`) for what comes later.
//! * A new ability is a new root field or a new trait method at the end with a default, never a changed one.

#![cfg_attr(
    not(target_family = "wasm"),
    allow(
        non_local_definitions,
        reason = "abi_stable's macros define impls inside function bodies; the crate is frozen upstream"
    )
)]

#[macro_use]
pub mod mirror;
#[cfg(not(target_family = "wasm"))]
pub mod abi;
mod check;
pub mod column;
pub mod conversation;
pub mod dataset;
pub mod endpoint;
pub mod entry;
pub mod error;
pub mod exporter;
pub mod fields;
pub mod gpu;
pub mod host;
pub mod metric;
pub mod package;
pub mod record;
pub mod report;
pub mod timing;
pub mod validity;
pub mod wit;

pub use column::{Batch, Column, ColumnRef, Validity};
pub use conversation::{ContextMode, Conversation, Media, Turn};
pub use dataset::{Dataset, Probe, Source};
pub use endpoint::{Chunks, Decoded, Endpoint, Exchange, HttpAnswer, HttpRequest, RequestInfo};
pub use entry::{Category, Entry};
pub use error::{ErrorKind, PluginError, Result};
pub use exporter::{Exporter, Output};
pub use gpu::GpuCollector;
pub use host::Host;
pub use metric::{Metric, MetricFamily, MetricKind, MetricSpec};
pub use package::{Opened, Package, Root};
pub use record::VersionRecord;
pub use timing::{Action, Event, Timing};
