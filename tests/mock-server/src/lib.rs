//! OpenAI-shaped mock inference server with scripted timing.
//!
//! It answers `POST /v1/chat/completions`, `POST /v1/completions`, `GET /v1/models`, `GET /metrics` and `GET /health`
//! with tokens that cost nothing to make and leave at times fixed in advance, so that what a client measures can be
//! compared with what was scripted, event by event (see [`Settings`] and the `log` setting).
//!
//! Being a measuring instrument, it must never be the slowest part of a test: one thread, one readiness loop
//! ([`mio`]), preformatted events, one `write` each. Nothing here is a general HTTP server. `examples/throughput.rs`
//! measures events per second on one core.
//!
//! | file | one thing |
//! |---|---|
//! | `settings`, `settings_table` | what can be set; flags, query, child arguments and help derive from one table |
//! | `server` | start, stop, signals; `announce` is the line a parent process waits for |
//! | `event_loop`, `connection` | sockets and timers; one connection's life |
//! | `request` | bytes to HTTP requests, pure |
//! | `generation` | a request body to what shall be generated, pure |
//! | `service` | a request to a scripted answer; `metrics`, `rate_limit`, `failure`; `hash` draws |
//! | `answer`, `stream`, `schedule`, `shape`, `words` | the answer, its due times, its JSON, its tokens |
//! | `log` | which event was written when |

#![forbid(unsafe_code)]

mod announce;
mod answer;
mod clock;
mod connection;
mod error;
mod event_loop;
mod failure;
mod generation;
mod hash;
mod log;
mod metrics;
mod rate_limit;
mod request;
mod schedule;
mod server;
mod service;
mod settings;
mod settings_table;
mod shape;
mod stream;
mod words;

pub use announce::{listening_line, parse_listening_line};
pub use error::{Error, SettingsError};
pub use failure::FailureKind;
pub use log::LogRecord;
pub use server::{Server, run};
pub use settings::{Settings, help};
