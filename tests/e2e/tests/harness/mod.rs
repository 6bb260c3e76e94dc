//! What the tests are written in.
//!
//! | file | one thing |
//! |---|---|
//! | `program` | the binary under test and the plugin libraries, built when they are not up to date |
//! | `run` | one run of it in a fresh folder, with a deadline; what every run must hold is checked here |
//! | `artifacts` | what a run left: summary, table, records |
//! | `scripted` | a server that answers as told and keeps what it was asked |
//! | `tls` | https in front of a server, with certificates of its own |
//! | `http` | the least of a client |
//! | `outside` | what the machine may lack: Python packages, and what a test does then |

mod artifacts;
mod http;
mod outside;
mod program;
mod run;
mod scripted;
mod tls;

pub(crate) use artifacts::{avg, keys, metric, number, text};
pub(crate) use http::{get, prometheus};
pub(crate) use outside::outside;
pub(crate) use program::{LIBRARIES, binary, plugin_library, target, test_plugins};
pub(crate) use run::{Finished, Folder, Run, Started};
pub(crate) use scripted::{Answer, Request, Scripted};
pub(crate) use tls::Tls;
