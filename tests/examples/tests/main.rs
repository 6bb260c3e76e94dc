//! The examples and the templates, built as an outsider would build them, and run through the binary.
//!
//! | module | what must hold |
//! |---|---|
//! | `examples` | each example passes its own tests, loads, and does what its README says |
//! | `templates` | a package made of a template builds, passes its tests and loads, untouched |
//! | `compilers` | a library built by another compiler than the host's works |
//!
//! `harness` holds what they are written in. `AIPERF_TEST_BINARY` tests another binary; `AIPERF_TEST_OTHER_RUSTC` names
//! another compiler.

#![expect(clippy::unwrap_used, reason = "tests and their helpers")]

mod compilers;
mod examples;
mod harness;
mod templates;
