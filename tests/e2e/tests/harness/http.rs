//! The least of an HTTP client: one GET, one connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The body of the answer.
///
/// # Errors
/// The server cannot be reached.
pub(crate) fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    Ok(answer
        .split_once("\r\n\r\n")
        .map_or(String::new(), |(_, body)| body.to_owned()))
}

/// A sample of a page of metrics in the Prometheus text format: the sum over its labels.
#[track_caller]
pub(crate) fn prometheus(page: &str, name: &str) -> f64 {
    let samples: Vec<f64> = page
        .lines()
        .filter_map(|line| line.strip_prefix(name))
        .filter(|rest| rest.starts_with([' ', '{']))
        .map(|rest| rest.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(!samples.is_empty(), "no {name} in {page}");
    samples.iter().sum()
}
