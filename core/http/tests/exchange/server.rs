//! Servers for tests: each connection is played by a closure on a thread of its own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

/// The server's end of one connection.
pub(crate) struct Peer(TcpStream);

pub(crate) type Handler = Box<dyn FnOnce(Peer) + Send>;

/// A listening server with one handler per expected connection.
pub(crate) struct Server {
    pub(crate) port: u16,
    acceptor: JoinHandle<()>,
}

impl Server {
    /// Accepts as many connections as there are handlers, in their order.
    pub(crate) fn start(handlers: Vec<Handler>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = std::thread::spawn(move || {
            let mut running = Vec::new();
            for handler in handlers {
                let (stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                running.push(std::thread::spawn(move || handler(Peer(stream))));
            }
            for handler in running {
                handler.join().expect("a handler failed");
            }
        });
        Self { port, acceptor }
    }

    /// Waits until all connections were played to their end; fails if one was not as expected.
    pub(crate) fn finish(self) {
        self.acceptor.join().expect("the server failed");
    }
}

impl Peer {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self(stream)
    }

    /// Reads one request, head and body.
    pub(crate) fn read_request(&mut self) -> String {
        let mut request = self.read_head();
        let length = request
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        request.push_str(&String::from_utf8(body).unwrap());
        request
    }

    /// Reads the head of a request and leaves its body.
    pub(crate) fn read_head(&mut self) -> String {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.0.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }

    /// Sends one chunk of a chunked body.
    pub(crate) fn send_chunk(&mut self, text: &str) {
        self.send(&format!("{:x}\r\n{text}\r\n", text.len()));
    }

    /// Sends a response with the given body.
    pub(crate) fn answer(&mut self, body: &str) {
        self.send(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
    }

    /// Waits until the client closes its end.
    pub(crate) fn wait_for_close(&mut self) {
        let mut rest = Vec::new();
        // A reset is as good as a close.
        let _ = self.0.read_to_end(&mut rest);
        assert!(rest.is_empty(), "unexpected: {:?}", String::from_utf8_lossy(&rest));
    }

    /// Closes with a reset.
    pub(crate) fn reset(self) {
        socket2::SockRef::from(&self.0)
            .set_linger(Some(std::time::Duration::ZERO))
            .unwrap();
    }
}
