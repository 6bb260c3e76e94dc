//! A run plan and a plugin host become services that are ready to start.
//!
//! * [`open`]: opening entries.
//! * [`endpoint`], [`data`], [`load`], [`measure`], [`telemetry`]: what is opened, by category.
//! * [`http`]: options of the HTTP client.

pub mod data;
pub mod endpoint;
pub mod http;
pub mod load;
pub mod measure;
pub mod open;
pub mod telemetry;

pub use open::{Opener, SetupError};
