//! A server that answers as told and keeps what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and target.
    pub(crate) line: String,
    /// In order, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What to answer.
pub(crate) struct Answer {
    status: u16,
    content_type: &'static str,
    headers: String,
    body: String,
}

impl Answer {
    pub(crate) fn json(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            content_type: "application/json",
            headers: String::new(),
            body: body.into(),
        }
    }

    /// A stream of events, one per item, and `[DONE]`.
    pub(crate) fn events(data: &[&str]) -> Self {
        let mut body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
        body.push_str("data: [DONE]\n\n");
        Self {
            status: 200,
            content_type: "text/event-stream",
            headers: String::new(),
            body,
        }
    }

    /// A chat answer in one piece.
    pub(crate) fn chat(content: &str) -> Self {
        let message = serde_json::json!({ "role": "assistant", "content": content });
        let body = serde_json::json!({
            "id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
        });
        Self::json(200, body.to_string())
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }
}

/// The server. Its threads end with the process.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    pub(crate) fn new(script: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, script) = (Arc::clone(&requests), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                // A client that goes away ends its thread, and that is all.
                thread::spawn(move || serve(stream, &kept, &*script));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked so far, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Request>>, script: &dyn Fn(&Request) -> Answer) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let request = read(&mut reader)?;
        kept.lock().ok()?.push(request.clone());
        let Answer {
            status,
            content_type,
            headers,
            body,
        } = script(&request);
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        line: lines[0].clone(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}
