//! The same traits as a WebAssembly component: what [`export!`](crate::export) makes of a package in a build for
//! `wasm32-unknown-unknown`.
//!
//! * `bindings`: types and calls generated from `plugin-api/wit`.
//! * `services`: what the host offers, as the contract's [`Host`](crate::Host) and [`Source`](crate::Source).
//! * `exported`: a package as the interfaces that the host calls.

#[doc(hidden)]
pub mod bindings;
mod exported;
mod services;

#[doc(hidden)]
pub use exported::Exported;
