//! `aiperf calibrate`: how true this tool's timestamps and schedule are on this machine, and up to which load.
//!
//! A mock server writes down when it wrote each event; the client writes down when it saw them. Both read the same monotonic
//! clock, so that the difference is the client's error.
//!
//! * [`command`]: the ladder of loads. [`arguments`]: what the command line says. [`load`]: one rung.
//! * [`measure`]: one rung measured, by a server and a client in processes of their own.
//! * [`join`]: the server's log and the client's records, request by request. [`figures`]: what follows from them. Both pure.
//! * [`calibration`]: the table, what it says of a run, and where it is kept. [`show`]: the table as text.

mod arguments;
pub(crate) mod calibration;
mod command;
mod figures;
mod join;
mod load;
mod measure;
mod show;

pub(crate) use command::run;
