//! A request, and its head as bytes.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;

use crate::headers::{Headers, RequestError};
use crate::proxy::Proxy;
use crate::target::{Scheme, Target};

/// One request, ready to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Where to.
    pub target: Arc<Target>,
    /// Header lines. `Host`, `Content-Length`, `Transfer-Encoding` and `Connection` belong to the client and are refused.
    pub headers: Headers,
    /// The body. Empty for none.
    pub body: Bytes,
    /// Limit on the whole exchange, from start to the last byte, waiting for a connection included. None: no limit.
    pub timeout: Option<Duration>,
    /// Cancels the exchange this long after the request was completely written.
    pub cancel_after_send: Option<Duration>,
    /// Requests of one session share a connection of their own, until [`Client::release`](crate::Client::release).
    /// None: any connection to the target.
    pub session: Option<u64>,
    /// Keep size and arrival of each part of the body.
    pub trace_chunks: bool,
}

impl Request {
    /// A request without headers, timeout and extras.
    #[must_use]
    pub fn new(method: Method, target: Arc<Target>, body: Bytes) -> Self {
        Self {
            method,
            target,
            headers: Headers::default(),
            body,
            timeout: None,
            cancel_after_send: None,
            session: None,
            trace_chunks: false,
        }
    }

    /// The request line and the header lines, as they are written. `close` announces that the connection won't be
    /// reused. A proxy is told the whole URL, unless the request goes through a tunnel of which it sees nothing.
    pub(crate) fn head(&self, close: bool, proxy: Option<&Proxy>) -> Result<Vec<u8>, RequestError> {
        let proxy = proxy.filter(|_| self.target.scheme() == Scheme::Http);
        let (absolute, proxy_auth) = match proxy {
            Some(proxy) => (["http://", self.target.authority()], proxy.header()),
            None => (["", ""], ""),
        };
        let lines = self.headers.lines()?;
        let around = self.target.path().len() + 2 * self.target.authority().len() + proxy_auth.len() + 96;
        let mut head = String::with_capacity(around + lines.len());
        for part in [
            self.method.as_str(),
            " ",
            absolute[0],
            absolute[1],
            self.target.path(),
            " HTTP/1.1\r\nHost: ",
            self.target.authority(),
            "\r\n",
            proxy_auth,
            lines,
        ] {
            head.push_str(part);
        }
        // A method that usually has a body states its absence too.
        if !self.body.is_empty() || matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            // Writing to a String can't fail.
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        if close {
            head.push_str("Connection: close\r\n");
        }
        head.push_str("\r\n");
        Ok(head.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, headers: &[(&str, &str)], body: &'static str) -> Request {
        let target = Target::parse("http://h:81", Some("/v1/x?a=b")).unwrap();
        let mut request = Request::new(method, Arc::new(target), Bytes::from_static(body.as_bytes()));
        request.headers = headers.iter().copied().collect();
        request
    }

    #[test]
    fn a_head_keeps_order_and_letter_case() {
        let headers = [("X-Request-ID", "1"), ("accept", "a/b"), ("X-SMG-Routing-Key", "")];
        for (method, close, body, expected) in [
            (
                Method::POST,
                false,
                "hello",
                "POST /v1/x?a=b HTTP/1.1\r\nHost: h:81\r\nX-Request-ID: 1\r\naccept: a/b\r\nX-SMG-Routing-Key: \r\n\
                 Content-Length: 5\r\n\r\n",
            ),
            (
                Method::GET,
                true,
                "",
                "GET /v1/x?a=b HTTP/1.1\r\nHost: h:81\r\nX-Request-ID: 1\r\naccept: a/b\r\nX-SMG-Routing-Key: \r\n\
                 Connection: close\r\n\r\n",
            ),
        ] {
            let head = request(method, &headers, body).head(close, None).unwrap();
            assert_eq!(String::from_utf8(head).unwrap(), expected);
        }
        let head = request(Method::POST, &[], "").head(false, None).unwrap();
        assert!(head.ends_with(b"Content-Length: 0\r\n\r\n"));
    }
}
