//! How far a run's figures can be trusted: what is observed of its records ([`Observed`]) and of the machine
//! ([`Machine`]), and the verdict ([`judge`]), a pure function of both.

mod judge;
mod machine;
mod observed;

pub use judge::{Expected, judge};
pub use machine::Machine;
pub use observed::Observed;
