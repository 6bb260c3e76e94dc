//! Everything that reads bytes from outside, fed with bytes that nobody would send.
//!
//! * [`targets`]: the readers.
//! * [`mutate`]: from inputs that make sense to inputs that almost do.
//! * [`corpus`]: inputs worth keeping.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a target reports")]

pub mod corpus;
pub mod mutate;
pub mod targets;
