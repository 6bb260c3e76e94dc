//! The server of the vendor example; one that takes a single request.

use std::env;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;

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

/// Takes one request with a body, and answers 204.
pub(crate) struct Hook(TcpListener);

impl Hook {
    /// On a free port of this machine.
    pub(crate) fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    /// Whether anybody has connected that was not answered.
    pub(crate) fn was_reached(&self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        let found = self.0.accept();
        self.0.set_nonblocking(false).unwrap();
        !matches!(found, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Does something that makes the request; gives its head and its body, and what came of it.
    pub(crate) fn while_answering<T>(&self, act: impl FnOnce() -> T) -> ((String, String), T) {
        thread::scope(|scope| {
            let request = scope.spawn(|| {
                let (stream, _) = self.0.accept().unwrap();
                let mut stream = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
                }
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                let mut body = vec![0; length.unwrap().parse().unwrap()];
                stream.read_exact(&mut body).unwrap();
                let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
                stream.get_mut().write_all(answer).unwrap();
                (head, String::from_utf8(body).unwrap())
            });
            let done = act();
            // A run that has asked nobody would be waited for in vain.
            let mut knock = std::net::TcpStream::connect(self.address()).unwrap();
            let _ = knock.write_all(b"GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
            (request.join().unwrap(), done)
        })
    }
}
