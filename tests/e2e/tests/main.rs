//! End-to-end tests: they run the binary as a user does, against servers on this machine.
//!
//! | module | what must hold |
//! |---|---|
//! | `artifacts` | names, keys, order and formats of what a run writes |
//! | `measurement` | the figures: recomputed from the records, against each other and against the script of the server |
//! | `calibration` | `aiperf calibrate`, what later runs make of it, and the trace that it rests on |
//! | `load` | how many requests are sent, when, and what becomes of each |
//! | `requests` | what the server is asked: bodies, headers, histories |
//! | `failures` | failing servers: each request is a record, each message tells why |
//! | `gpu_telemetry` | collectors beside a run: files, figures, and what a failing one does |
//! | `bad_input` | one message with culprit and remedy, and the exit code |
//! | `hostile_files` | components that are refused before any of them runs |
//! | `interrupts` | Ctrl-C once and twice |
//! | `secrets` | keys appear nowhere |
//! | `transport` | https with the certificates that flags name; a proxy, and none from the environment |
//! | `grants` | what a package may do beyond computing: nothing that the user does not say |
//! | `hostile` | plugins that panic, return nonsense or never return |
//! | `plugins` | built-ins as shared libraries; broken packages |
//! | `real_server` | a llama.cpp server |
//! | `validity` | the verdict of a run on itself: each reason is provoked |
//! | `oracle` | the original on the same server, and its statistics recomputed |
//!
//! `harness` holds what they are written in. `AIPERF_TEST_BINARY` tests another binary.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests and their helpers")]

mod artifacts;
mod bad_input;
mod calibration;
mod failures;
mod gpu_telemetry;
mod grants;
mod harness;
mod hostile;
mod hostile_components;
mod hostile_files;
mod interrupts;
mod load;
mod measurement;
mod oracle;
mod plugins;
mod real_server;
mod requests;
mod secrets;
mod transport;
mod validity;
