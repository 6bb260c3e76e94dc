//! What every plugin of a category must do, as a suite that checks it.
//!
//! [`run`] drives one entry of an open package through the contract, in virtual time and with services of its own, and
//! returns a [`Conformance`]: one [`Case`] per requirement of the component specification
//! (`docs/plugins/component-specification.md`), and the [`Speed`] of the calls that a run makes most. It prints as text and
//! serialises as JSON.
//!
//! A native plugin is trusted code: it may abort, or never return. Run the suite in a process of its own.
//!
//! * [`Subject`]: what is tested. [`Options`]: how.
//! * `case`, `bench`, `watched`: the machinery of a case. `host`, `random`, `memory`: what it needs.
//! * `every`, `endpoint`, `dataset`, `sampler`, `timing`, `arrival`, `ramp`, `metric`, `exporter`, `gpu`: the cases.
#![forbid(unsafe_code)]

#[macro_use]
mod case;
mod arrival;
mod bench;
mod core_options;
mod dataset;
mod endpoint;
mod every;
mod exporter;
mod gpu;
mod host;
mod memory;
mod metric;
mod ramp;
mod random;
mod records;
mod report;
mod sampler;
mod speed;
mod subject;
mod suite;
mod text;
mod timing;
mod watched;

pub use case::{Level, Requirement};
pub use report::{Case, Conformance, Outcome};
pub use speed::Speed;
pub use subject::{Kind, Subject};
pub use suite::{File, Options, requirements, run};
