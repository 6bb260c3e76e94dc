//! A plain client: what it sends is bytes, what it receives is checked strictly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use aiperf_mock_server::{Server, Settings};
use serde_json::Value;

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const COMPLETIONS: &str = "/v1/completions";

pub(crate) fn server(query: &str) -> Server {
    Server::spawn(Settings::from_query(query).unwrap()).unwrap()
}

pub(crate) struct Client {
    stream: TcpStream,
    bytes: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Lower-case names.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The data of each SSE message; the last must be `[DONE]` and is left out.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream; charset=utf-8"));
        let text = std::str::from_utf8(&self.body).unwrap();
        let mut data: Vec<_> = text
            .strip_suffix("\n\n")
            .unwrap()
            .split("\n\n")
            .map(|message| message.strip_prefix("data: ").unwrap())
            .collect();
        assert_eq!(data.pop(), Some("[DONE]"));
        data.iter().map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

impl Client {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            bytes: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Response {
        self.send(post(path, "", body).as_bytes());
        self.response().unwrap()
    }

    pub(crate) fn get(&mut self, path: &str) -> Response {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: mock\r\n\r\n").as_bytes());
        self.response().unwrap()
    }

    /// Reads one response; an error if the connection breaks or ends before its end.
    pub(crate) fn response(&mut self) -> std::io::Result<Response> {
        let (length, status, headers) = loop {
            let mut headers = [httparse::EMPTY_HEADER; 16];
            let mut head = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(length) = head.parse(&self.bytes).unwrap() {
                let headers: Vec<_> = head
                    .headers
                    .iter()
                    .map(|h| {
                        (
                            h.name.to_ascii_lowercase(),
                            String::from_utf8(h.value.to_vec()).unwrap(),
                        )
                    })
                    .collect();
                break (length, head.code.unwrap(), headers);
            }
            self.more()?;
        };
        self.bytes.drain(..length);
        let mut response = Response {
            status,
            headers,
            body: Vec::new(),
        };
        if status == 100 {
            return Ok(response);
        }
        if let Some(length) = response.header("content-length") {
            assert_eq!(response.header("transfer-encoding"), None);
            response.body = self.take(length.parse().unwrap())?;
        } else if response.header("transfer-encoding") == Some("chunked") {
            loop {
                let (line, size) = loop {
                    match httparse::parse_chunk_size(&self.bytes).unwrap() {
                        httparse::Status::Complete(found) => break found,
                        httparse::Status::Partial => self.more()?,
                    }
                };
                self.bytes.drain(..line);
                let mut chunk = self.take(size as usize + 2)?;
                assert_eq!(chunk.split_off(size as usize), b"\r\n");
                if size == 0 {
                    break;
                }
                response.body.append(&mut chunk);
            }
        } else {
            self.stream.read_to_end(&mut self.bytes)?;
            response.body = std::mem::take(&mut self.bytes);
        }
        Ok(response)
    }

    /// Whether the server has closed the connection in good order, with nothing left.
    pub(crate) fn closed(&mut self) -> bool {
        self.bytes.is_empty() && self.stream.read(&mut [0]).unwrap() == 0
    }

    fn take(&mut self, count: usize) -> std::io::Result<Vec<u8>> {
        while self.bytes.len() < count {
            self.more()?;
        }
        let rest = self.bytes.split_off(count);
        Ok(std::mem::replace(&mut self.bytes, rest))
    }

    fn more(&mut self) -> std::io::Result<()> {
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.bytes.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }
}

/// A request with `Content-Length`; `headers` are whole lines with their ends.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: mock\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}
