//! A worker is two threads: [`io`] reads and writes sockets and does nothing else; [`compute`] keeps the conversations, calls
//! the endpoint plugin, and turns what came in into records.
//!
//! * `alarm`: waking at an instant, for requests that are held until they are due.
//! * [`request`]: a turn becomes an HTTP request.
//! * [`session`]: conversations in progress. [`recent`]: those that were read lately.
//! * [`record`]: an exchange becomes a record. [`trace`]: what happened on the connection, for export.

mod alarm;
pub mod compute;
pub mod io;
pub mod recent;
pub mod record;
pub mod request;
pub mod session;
pub mod trace;

pub use compute::{Worker, WorkerSetup};
