//! A run plan and a plugin host become services that are ready to start.
//!
//! * [`open`]: opening entries.
//! * [`endpoint`], [`data`], [`load`], [`measure`]: what is opened, by category.

pub mod data;
pub mod endpoint;
pub mod load;
pub mod measure;
pub mod open;

pub use open::{Opener, SetupError};
