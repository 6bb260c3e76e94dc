//! The line by which a server started as a child tells its parent where it listens.

use std::net::SocketAddr;

const PREFIX: &str = "listening on http://";

/// The line to print, without a line end.
#[must_use]
pub fn listening_line(addr: SocketAddr) -> String {
    format!("{PREFIX}{addr}")
}

/// The address in such a line; `None` if it is another line.
#[must_use]
pub fn parse_listening_line(line: &str) -> Option<SocketAddr> {
    line.trim_end().strip_prefix(PREFIX)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read() {
        let addr: SocketAddr = "127.0.0.1:8000".parse().unwrap();
        assert_eq!(listening_line(addr), "listening on http://127.0.0.1:8000");
        assert_eq!(parse_listening_line("listening on http://127.0.0.1:8000\n"), Some(addr));
        assert_eq!(parse_listening_line("panicked on http://127.0.0.1:8000"), None);
    }
}
