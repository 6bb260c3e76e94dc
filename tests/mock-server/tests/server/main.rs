//! The server over real sockets on the loopback interface.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests, too")]

mod child;
mod client;
mod connections;
mod failures;
mod log;
mod shapes;
