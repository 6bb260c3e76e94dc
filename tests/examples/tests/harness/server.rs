//! The server of the vendor example.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{Compiler, cargo, example};

/// A running server, which ends with this value.
pub(crate) struct AcmeServer {
    child: Child,
    pub(crate) url: String,
}

impl AcmeServer {
    /// Builds and starts it on a free port of this machine.
    pub(crate) fn start() -> Self {
        let build = ["build", "--quiet", "--locked", "--release", "--example", "acme_server"];
        cargo(&Compiler::Ours, &example("vendor-inference"), &build);
        let file = format!("acme_server{}", env::consts::EXE_SUFFIX);
        let program = Compiler::Ours.target().join("release/examples").join(file);
        let mut command = Command::new(program);
        command.arg("127.0.0.1:0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for AcmeServer {
    fn drop(&mut self) {
        // It has no other way to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
