//! What plugin authors use: plain traits, no `unsafe`, no ABI types. One source becomes a native library, or a WebAssembly
//! component, by the same macro.
//!
//! 1. Implement the trait of a category: [`Endpoint`], [`Dataset`], [`Timing`], [`Metric`], [`Exporter`] or
//!    [`GpuCollector`].
//! 2. List it in a [`Package`].
//! 3. Put [`export!`] into a crate of type `cdylib`.
//! 4. Test it with [`testing`]: in virtual time, without the core.
//!
//! The contract is [`aiperf_plugin_api`], re-exported here; [`prelude`] has what nearly every plugin names.

pub use aiperf_plugin_api::{self as api, *};

mod export;
pub mod prelude;
pub mod testing;
#[cfg(target_family = "wasm")]
pub mod wasm;

/// The README's code is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
