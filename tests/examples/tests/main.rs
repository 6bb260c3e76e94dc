//! The examples and the templates, built as an outsider would build them, and run through the binary.
//!
//! | module | what must hold |
//! |---|---|
//! | `examples` | each example passes its own tests, loads, and does what its README says |
//! | `python` | the examples in Python conform and give the numbers that they should |
//! | `templates` | a package made of a template builds, passes its tests and loads, untouched |
//! | `components` | each example as a component says what it says as a library |
//! | `compilers` | a library built by another compiler than the host's works |
//! | `versions` | a plugin of the next minor version loads in this host, and one of this version in the next host |
//! | `aborts` | a library that aborts on panic works, and the host says what it is |
//!
//! `harness` holds what they are written in. `AIPERF_TEST_BINARY` tests another binary; `AIPERF_TEST_OTHER_RUSTC` names
//! another compiler.

#![expect(clippy::unwrap_used, reason = "tests and their helpers")]

mod aborts;
mod compilers;
mod components;
mod examples;
mod harness;
mod python;
mod templates;
mod versions;
