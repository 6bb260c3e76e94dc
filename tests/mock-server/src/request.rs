//! Bytes to HTTP/1 requests. Pure: bytes are pushed in as they come, however they are split.

use std::mem;

/// A head longer than this is refused.
const MAX_HEAD: usize = 64 * 1024;
/// A body longer than this is refused.
const MAX_BODY: usize = 256 * 1024 * 1024;
/// A line with a chunk size, or a trailer, longer than this is refused.
const MAX_LINE: usize = 4096;
const MAX_HEADERS: usize = 64;

/// One request, read fully.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path, without the query.
    pub(crate) path: String,
    /// HTTP/1.1; else 1.0, which knows no chunked answers.
    pub(crate) version_11: bool,
    /// Whether the connection stays open after the answer.
    pub(crate) keep_alive: bool,
    /// `x-request-id`.
    pub(crate) request_id: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// Where the reader is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    NeedMore,
    /// The client waits for `100 Continue` before it sends the body. Said once.
    ExpectsContinue,
    Complete(Request),
}

/// A request that cannot be served. The connection is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("the request is not HTTP/1: {0}")]
    Head(httparse::Error),
    #[error("the request's head exceeds 64 KiB")]
    HeadTooLong,
    #[error("content-length is not a number, or given twice with different values")]
    ContentLength,
    #[error("a transfer-encoding other than chunked, or one beside content-length, is not supported")]
    TransferEncoding,
    #[error("the request's chunked body is malformed")]
    Chunk,
    #[error("the request's body exceeds 256 MiB")]
    BodyTooLong,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Head,
    /// Bytes of the body still missing; then the request is complete.
    Length(usize),
    ChunkSize,
    /// Bytes of the chunk still missing, its line end included.
    Chunk(usize),
    Trailers,
}

/// Reads one request after the other from a connection's bytes.
#[derive(Debug)]
pub(crate) struct RequestReader {
    /// Bytes not yet consumed start at `start`.
    bytes: Vec<u8>,
    start: usize,
    state: State,
    expects_continue: bool,
    request: Request,
}

impl RequestReader {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            state: State::Head,
            expects_continue: false,
            request: Request::default(),
        }
    }

    /// Takes bytes as they came from the connection.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Goes as far as the bytes allow.
    pub(crate) fn advance(&mut self) -> Result<Progress, RequestError> {
        loop {
            let ready = match self.state {
                State::Head => self.head()?,
                State::Length(missing) => {
                    let missing = missing - self.take_body(missing);
                    self.state = State::Length(missing);
                    if missing == 0 {
                        return Ok(self.complete());
                    }
                    false
                }
                State::ChunkSize => self.chunk_size()?,
                State::Chunk(missing) => self.chunk(missing)?,
                State::Trailers => match self.line()? {
                    Some(0) => return Ok(self.complete()),
                    line => line.is_some(),
                },
            };
            if !ready {
                if mem::take(&mut self.expects_continue) {
                    return Ok(Progress::ExpectsContinue);
                }
                return Ok(Progress::NeedMore);
            }
        }
    }

    fn head(&mut self) -> Result<bool, RequestError> {
        let rest = &self.bytes[self.start..];
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let length = match head.parse(rest).map_err(RequestError::Head)? {
            httparse::Status::Partial if rest.len() > MAX_HEAD => return Err(RequestError::HeadTooLong),
            httparse::Status::Partial => return Ok(false),
            httparse::Status::Complete(length) => length,
        };
        let target = head.path.unwrap_or_default();
        let version_11 = head.version == Some(1);
        let mut request = Request {
            method: head.method.unwrap_or_default().to_owned(),
            path: target.split('?').next().unwrap_or_default().to_owned(),
            version_11,
            keep_alive: version_11,
            request_id: None,
            body: Vec::new(),
        };
        let mut content_length = None;
        let mut chunked = false;
        let mut expects_continue = false;
        for header in head.headers.iter() {
            let value = header.value.trim_ascii();
            if header.name.eq_ignore_ascii_case("content-length") {
                let length = std::str::from_utf8(value)
                    .ok()
                    .filter(|v| v.bytes().all(|b| b.is_ascii_digit()));
                let length: usize = length.and_then(|v| v.parse().ok()).ok_or(RequestError::ContentLength)?;
                if content_length.replace(length).is_some_and(|before| before != length) {
                    return Err(RequestError::ContentLength);
                }
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                if chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(RequestError::TransferEncoding);
                }
                chunked = true;
            } else if header.name.eq_ignore_ascii_case("connection") {
                for option in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
                    if option.eq_ignore_ascii_case(b"close") {
                        request.keep_alive = false;
                    } else if option.eq_ignore_ascii_case(b"keep-alive") {
                        request.keep_alive = true;
                    }
                }
            } else if header.name.eq_ignore_ascii_case("expect") {
                expects_continue = version_11 && value.eq_ignore_ascii_case(b"100-continue");
            } else if header.name.eq_ignore_ascii_case("x-request-id") {
                request.request_id = Some(String::from_utf8_lossy(value).into_owned());
            }
        }
        self.state = match (chunked, content_length) {
            (true, Some(_)) => return Err(RequestError::TransferEncoding),
            (true, None) => State::ChunkSize,
            (false, length) => State::Length(length.unwrap_or(0)),
        };
        if content_length.is_some_and(|length| length > MAX_BODY) {
            return Err(RequestError::BodyTooLong);
        }
        self.start += length;
        self.expects_continue = expects_continue;
        self.request = request;
        Ok(true)
    }

    fn chunk_size(&mut self) -> Result<bool, RequestError> {
        let rest = &self.bytes[self.start..];
        match httparse::parse_chunk_size(rest).map_err(|_| RequestError::Chunk)? {
            httparse::Status::Partial if rest.len() > MAX_LINE => Err(RequestError::Chunk),
            httparse::Status::Partial => Ok(false),
            httparse::Status::Complete((line, size)) => {
                self.start += line;
                let size = usize::try_from(size).map_err(|_| RequestError::BodyTooLong)?;
                if size > MAX_BODY - self.request.body.len() {
                    return Err(RequestError::BodyTooLong);
                }
                self.state = if size == 0 {
                    State::Trailers
                } else {
                    State::Chunk(size + 2)
                };
                Ok(true)
            }
        }
    }

    /// `missing` counts the two bytes of the line end after the chunk.
    fn chunk(&mut self, missing: usize) -> Result<bool, RequestError> {
        let mut missing = missing;
        if missing > 2 {
            missing -= self.take_body(missing - 2);
        }
        if missing == 2 && self.bytes.len() - self.start >= 2 {
            if !self.bytes[self.start..].starts_with(b"\r\n") {
                return Err(RequestError::Chunk);
            }
            self.start += 2;
            self.state = State::ChunkSize;
            return Ok(true);
        }
        self.state = State::Chunk(missing);
        Ok(false)
    }

    /// Consumes a line and answers its length without the line end.
    fn line(&mut self) -> Result<Option<usize>, RequestError> {
        let rest = &self.bytes[self.start..];
        match rest.iter().position(|&b| b == b'\n') {
            Some(end) => {
                self.start += end + 1;
                Ok(Some(rest[..end].trim_ascii().len()))
            }
            None if rest.len() > MAX_LINE => Err(RequestError::Chunk),
            None => Ok(None),
        }
    }

    /// Moves up to `most` bytes into the body.
    fn take_body(&mut self, most: usize) -> usize {
        let rest = &self.bytes[self.start..];
        let taken = most.min(rest.len());
        self.request.body.extend_from_slice(&rest[..taken]);
        self.start += taken;
        taken
    }

    fn complete(&mut self) -> Progress {
        self.state = State::Head;
        self.expects_continue = false;
        Progress::Complete(mem::take(&mut self.request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All requests in `bytes` cut at `cuts`.
    fn read(bytes: &[u8], cuts: &[usize]) -> Result<Vec<Request>, RequestError> {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut reader = RequestReader::new();
        let mut requests = Vec::new();
        let mut start = 0;
        for cut in cuts {
            reader.push(&bytes[start..cut]);
            start = cut;
            loop {
                match reader.advance()? {
                    Progress::Complete(request) => requests.push(request),
                    Progress::ExpectsContinue => {}
                    Progress::NeedMore => break,
                }
            }
        }
        Ok(requests)
    }

    fn post(body: &str) -> Request {
        Request {
            method: "POST".to_owned(),
            path: "/v1/x".to_owned(),
            version_11: true,
            keep_alive: true,
            request_id: None,
            body: body.as_bytes().to_vec(),
        }
    }

    const TWO: &[u8] = b"POST /v1/x?a=b HTTP/1.1\r\nContent-Length: 5\r\nX-Request-ID: r-1\r\n\r\nhello\
        POST /v1/x HTTP/1.1\r\ntransfer-encoding: Chunked\r\nconnection: close\r\n\r\n\
        3;ext=1\r\nabc\r\nA\r\n0123\r\n6789\r\n0\r\nx-trailer: 1\r\n\r\n\
        GET /health HTTP/1.0\r\n\r\n";

    fn two() -> Vec<Request> {
        vec![
            Request {
                request_id: Some("r-1".to_owned()),
                ..post("hello")
            },
            Request {
                keep_alive: false,
                ..post("abc0123\r\n6789")
            },
            Request {
                method: "GET".to_owned(),
                path: "/health".to_owned(),
                version_11: false,
                keep_alive: false,
                ..post("")
            },
        ]
    }

    #[test]
    fn length_chunks_and_http_1_0() {
        assert_eq!(read(TWO, &[]), Ok(two()));
        let every: Vec<_> = (0..TWO.len()).collect();
        assert_eq!(read(TWO, &every), Ok(two()), "byte by byte");
    }

    #[test]
    fn keep_alive_by_header() {
        let requests = read(b"GET / HTTP/1.0\r\nConnection: Keep-Alive, foo\r\n\r\n", &[]).unwrap();
        assert!(requests[0].keep_alive);
    }

    #[test]
    fn continue_is_asked_once_and_only_if_the_body_is_missing() {
        let head = b"POST /v1/x HTTP/1.1\r\nExpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
        let mut reader = RequestReader::new();
        reader.push(head);
        assert_eq!(reader.advance(), Ok(Progress::ExpectsContinue));
        assert_eq!(reader.advance(), Ok(Progress::NeedMore));
        reader.push(b"ok");
        assert_eq!(reader.advance(), Ok(Progress::Complete(post("ok"))));
        reader.push(head);
        reader.push(b"ok");
        assert_eq!(reader.advance(), Ok(Progress::Complete(post("ok"))));
    }

    #[test]
    fn refusals() {
        let long = format!("GET / HTTP/1.1\r\na: {}", "x".repeat(MAX_HEAD));
        for (bytes, error) in [
            ("GET / HTTP/3.1\r\n\r\n", RequestError::Head(httparse::Error::Version)),
            (
                "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
                RequestError::ContentLength,
            ),
            (
                "POST / HTTP/1.1\r\ncontent-length: +1\r\n\r\n",
                RequestError::ContentLength,
            ),
            (
                "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
                RequestError::ContentLength,
            ),
            (
                "POST / HTTP/1.1\r\ncontent-length: 300000000\r\n\r\n",
                RequestError::BodyTooLong,
            ),
            (
                "POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
                RequestError::TransferEncoding,
            ),
            (
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n",
                RequestError::TransferEncoding,
            ),
            (
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
                RequestError::Chunk,
            ),
            (
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
                RequestError::Chunk,
            ),
            (
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n20000000\r\n",
                RequestError::BodyTooLong,
            ),
            (&long, RequestError::HeadTooLong),
        ] {
            assert_eq!(read(bytes.as_bytes(), &[]), Err(error), "{bytes:.60}");
        }
    }

    proptest! {
        #[test]
        fn splits_do_not_matter(cuts in proptest::collection::vec(0usize..1000, 0..12)) {
            prop_assert_eq!(read(TWO, &cuts), Ok(two()));
        }

        #[test]
        fn any_body_in_any_chunks(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..6),
            cuts in proptest::collection::vec(0usize..1000, 0..12),
        ) {
            let mut bytes = b"POST /v1/x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            for chunk in &chunks {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
            let expected = Request { body: chunks.concat(), ..post("") };
            prop_assert_eq!(read(&bytes, &cuts), Ok(vec![expected]));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic_and_splits_do_not_change_the_outcome(
            head in proptest::sample::select(vec![
                "", "GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n",
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            ]),
            tail in proptest::collection::vec(any::<u8>(), 0..200),
            cuts in proptest::collection::vec(0usize..1000, 0..12),
        ) {
            let bytes = [head.as_bytes(), &tail].concat();
            let (whole, split) = (read(&bytes, &[]), read(&bytes, &cuts));
            prop_assert_eq!(whole.is_ok(), split.is_ok());
            if let (Ok(whole), Ok(split)) = (whole, split) {
                prop_assert_eq!(whole, split);
            }
        }
    }
}
