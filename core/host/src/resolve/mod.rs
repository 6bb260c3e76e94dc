//! Which entry wins a name. A pure function of the registry files and the user's pins.
//!
//! The higher priority wins; at equal priority an external entry beats a built-in one; two that still tie are an
//! error, but only for a run that uses the name. A pin (`--plugin category/name=package`) decides before all this.
//! Metric entries are families, so that there the contest is about each tag.

mod contest;
mod error;
mod metrics;
mod pin;
mod resolution;

pub use contest::{Contest, EntryRef, Verdict};
pub use error::{ResolveError, Rival};
pub use metrics::MetricShare;
pub use pin::Pin;
pub use resolution::{Resolution, resolve};
