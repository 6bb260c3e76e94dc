//! A server that speaks Acme's dialect, to try the plugin without a vendor: `cargo run --example acme_server`.
//!
//! It answers with as many words as `limits.tokens` asks for (5 if it doesn't), one event each, and wants the key `acme-key`.
//! The only argument is the address to listen on; the first line of output is its URL.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// Time between two words.
const PACE: Duration = Duration::from_millis(2);

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".into());
    let listener = TcpListener::bind(address)?;
    println!("http://{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || {
            if let Err(error) = serve(stream) {
                eprintln!("a connection ended: {error}");
            }
        });
    }
    Ok(())
}

/// Requests of one connection, one after the other.
fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = Request::read(&mut reader)? {
        if request.line != "POST /v2/generate HTTP/1.1" {
            whole(&mut stream, "404 Not Found", &json!({ "message": "POST /v2/generate" }))?;
        } else if request.key.as_deref() != Some("acme-key") {
            whole(
                &mut stream,
                "401 Unauthorized",
                &json!({ "message": "a wrong X-Acme-Key" }),
            )?;
        } else if request.body["stream"] == true {
            streamed(&mut stream, &request.body)?;
        } else {
            let counts = counts(&request.body);
            let answer =
                json!({ "kind": "answer", "text": words(&request.body).concat(), "reason": "stop", "counts": counts });
            whole(&mut stream, "200 OK", &answer)?;
        }
    }
    Ok(())
}

struct Request {
    line: String,
    key: Option<String>,
    body: Value,
}

impl Request {
    /// `None` when the client has closed the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let (mut lines, mut length, mut key) = (Vec::new(), 0, None);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().unwrap_or(0),
                    "x-acme-key" => key = Some(value.trim().to_owned()),
                    _ => {}
                }
            }
            lines.push(line.to_owned());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Some(Self {
            line: lines.first().cloned().unwrap_or_default(),
            key,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        }))
    }
}

fn words(body: &Value) -> Vec<&'static str> {
    let wanted = body["limits"]["tokens"].as_u64().unwrap_or(5);
    (0..wanted)
        .map(|word| if word == 0 { "Hello" } else { " again" })
        .collect()
}

fn counts(body: &Value) -> Value {
    let lines = body["conversation"].as_array().into_iter().flatten();
    let prompt: usize = lines
        .filter_map(|line| line["say"].as_str())
        .map(|text| text.split_whitespace().count())
        .sum();
    json!({ "prompt": prompt, "generated": words(body).len() })
}

fn whole(stream: &mut TcpStream, status: &str, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn streamed(stream: &mut TcpStream, body: &Value) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    for word in words(body) {
        thread::sleep(PACE);
        event(stream, &json!({ "kind": "delta", "text": word }))?;
    }
    event(
        stream,
        &json!({ "kind": "end", "reason": "stop", "counts": counts(body) }),
    )?;
    stream.write_all(b"0\r\n\r\n")
}

fn event(stream: &mut TcpStream, event: &Value) -> io::Result<()> {
    let event = format!("data: {event}\n\n");
    stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}
