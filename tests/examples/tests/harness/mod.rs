//! What the tests are written in.
//!
//! | file | one thing |
//! |---|---|
//! | `workshop` | building packages with cargo, in a target folder of their own |
//! | `package` | a built package in a folder as a user has it: registry file and library |
//! | `run` | one run of the binary |
//! | `server` | the server of the vendor example; one that takes a single request |

mod package;
mod run;
mod server;
mod workshop;

pub(crate) use package::Package;
pub(crate) use run::{Finished, plugins, profile};
pub(crate) use server::{AcmeServer, Hook};
pub(crate) use workshop::{Compiler, cargo, example, fetch, root, target};
