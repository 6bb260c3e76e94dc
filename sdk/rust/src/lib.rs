//! What plugin authors use.
//!
//! Implement one of the traits of [`aiperf_plugin_api`] (re-exported here), list it in a [`Package`], and put
//! `aiperf_sdk::export!(MyPackage, [Endpoint]);` into a crate of type `cdylib`. No `unsafe` is written by the author.

pub use aiperf_plugin_api::{self as api, *};

mod export;
pub mod testing;
