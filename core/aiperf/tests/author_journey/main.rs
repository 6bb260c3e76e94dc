//! What an author does, from nothing but this binary to a plugin in a run, and back.
//!
//! | module | |
//! |---|---|
//! | `desk` | where the author works, and what is done there |
//! | `native` | packages as shared libraries, and what all packages have in common |
//! | `components` | packages as WebAssembly components, from Rust and from Python |
//!
//! `AIPERF_TEST_COMPONENTIZE` names the program `componentize-py`; `aiperf-guests` says which compilers build components from
//! Rust.

#![expect(clippy::unwrap_used, reason = "a test and its helpers")]

mod components;
mod desk;
mod native;
