//! A request, and its head as bytes.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;

use crate::proxy::Proxy;
use crate::target::{Scheme, Target};

/// Name and value of a header. What is the same in every request need not be copied.
pub type Header = (Cow<'static, str>, Cow<'static, str>);

/// One request, ready to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Where to.
    pub target: Arc<Target>,
    /// Header lines in the order and letter case in which they are written. `Host`, `Content-Length`,
    /// `Transfer-Encoding` and `Connection` belong to the client and are refused.
    pub headers: Vec<Header>,
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
            headers: Vec::new(),
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
        let mut size = self.target.path().len() + 2 * self.target.authority().len() + proxy_auth.len() + 96;
        for (name, value) in &self.headers {
            check(name, value)?;
            size += name.len() + value.len() + 4;
        }
        let mut head = String::with_capacity(size);
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
        ] {
            head.push_str(part);
        }
        for (name, value) in &self.headers {
            for part in [name.as_ref(), ": ", value, "\r\n"] {
                head.push_str(part);
            }
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

/// A header that can't be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The name is empty or has a character that HTTP doesn't allow in names.
    #[error("header name {name:?} is not valid: use letters, digits and -_.!#$%&'*+^`|~ only")]
    HeaderName {
        /// The name.
        name: String,
    },
    /// The value has a line break or another control character.
    #[error("the value of header {name:?} has a line break or another control character: remove it")]
    HeaderValue {
        /// The header's name. The value is not repeated: it may be a secret.
        name: String,
    },
    /// The header frames the message, which is the client's business.
    #[error("header {name:?} is set by the HTTP client itself: remove it")]
    Reserved {
        /// The name.
        name: String,
    },
}

/// What a name may consist of.
const TOKEN: [bool; 256] = {
    let (mut token, marks) = ([false; 256], b"!#$%&'*+-.^_`|~");
    let mut byte = 0_u8;
    while byte < 128 {
        token[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let mut i = 0;
    while i < marks.len() {
        token[marks[i] as usize] = true;
        i += 1;
    }
    token
};

fn check(name: &str, value: &str) -> Result<(), RequestError> {
    if name.is_empty() || !name.bytes().all(|byte| TOKEN[usize::from(byte)]) {
        return Err(RequestError::HeaderName { name: name.into() });
    }
    // Looks at all bytes, several at a time: nearly always there is none to be found.
    let control = |byte: u8| (byte < b' ' && byte != b'\t') || byte == 0x7f;
    if value.bytes().fold(false, |found, byte| found | control(byte)) {
        return Err(RequestError::HeaderValue { name: name.into() });
    }
    let reserved = ["host", "content-length", "transfer-encoding", "connection"];
    if reserved.iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return Err(RequestError::Reserved { name: name.into() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, headers: &[(&str, &str)], body: &'static str) -> Request {
        let target = Target::parse("http://h:81", Some("/v1/x?a=b")).unwrap();
        let mut request = Request::new(method, Arc::new(target), Bytes::from_static(body.as_bytes()));
        request.headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned().into(), (*value).to_owned().into()))
            .collect();
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

    #[test]
    fn headers_that_would_break_the_framing_are_refused() {
        let name = |name: &str| RequestError::HeaderName { name: name.into() };
        let value = |name: &str| RequestError::HeaderValue { name: name.into() };
        let reserved = |name: &str| RequestError::Reserved { name: name.into() };
        for (header, expected) in [
            (("", "v"), name("")),
            (("a b", "v"), name("a b")),
            (("a:", "v"), name("a:")),
            (("a\r\nHost", "v"), name("a\r\nHost")),
            (("ä", "v"), name("ä")),
            (("a", "v\r\nX: y"), value("a")),
            (("a", "v\n"), value("a")),
            (("a", "\0"), value("a")),
            (("a", "\u{7f}"), value("a")),
            (("HOST", "v"), reserved("HOST")),
            (("Content-length", "3"), reserved("Content-length")),
            (("transfer-encoding", "chunked"), reserved("transfer-encoding")),
            (("Connection", "close"), reserved("Connection")),
        ] {
            assert_eq!(
                request(Method::POST, &[header], "").head(false, None),
                Err(expected),
                "{header:?}"
            );
        }
        for allowed in ["tab\there", "ümlaut", "=;,\"", ""] {
            assert!(
                request(Method::POST, &[("x", allowed)], "").head(false, None).is_ok(),
                "{allowed:?}"
            );
        }
    }
}
