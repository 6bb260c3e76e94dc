//! The bytes of a connection become a response: its head, the parts of its body, its end. Pure: no I/O, no clock, and
//! however the bytes are split, the same comes out.
//!
//! `httparse` reads heads. The framing of bodies (RFC 9112, 6 and 7) is read here, in place: a part of a body is a
//! slice of what a read brought, so that nothing is copied or queued between a socket and the stamp of its read.

use std::borrow::Cow;

use http::StatusCode;
use httparse::{ParserConfig, Status};

/// A head longer than this is refused.
const MAX_HEAD: usize = 512 * 1024;
/// More header lines, or trailers, are refused.
const MAX_HEADERS: usize = 100;
/// A longer line with a chunk size, or a longer trailer, is refused.
const MAX_LINE: usize = 16 * 1024;

/// Reads one response.
#[derive(Debug)]
pub struct Response {
    /// To a HEAD request: nothing follows the head.
    bodiless: bool,
    /// The beginning of a head whose end has not come.
    head: Vec<u8>,
    state: State,
    keep_alive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    /// Bytes of the body to come.
    Length(u64),
    UntilClose,
    Chunk(Chunk),
    End,
}

/// Where in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chunk {
    /// In the digits of a size.
    Size {
        size: u64,
        digits: u8,
    },
    /// Behind them, in what is ignored; so many bytes of it.
    Extension {
        size: u64,
        length: usize,
    },
    SizeLf {
        size: u64,
    },
    /// Bytes of the chunk to come, more than none.
    Data(u64),
    DataCr,
    DataLf,
    /// In a line behind the last chunk: its length so far, and how many came before.
    Trailer {
        length: usize,
        lines: usize,
    },
    TrailerLf {
        length: usize,
        lines: usize,
    },
}

/// What is known with the head.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// 200 to 999, or 101.
    pub status: u16,
    /// As sent, else the standard one.
    pub reason: Cow<'static, str>,
    /// `Content-Type`.
    pub content_type: Option<Cow<'static, str>>,
    /// `Content-Encoding`; several are joined.
    pub content_encoding: Option<String>,
    /// `Location`.
    pub location: Option<String>,
    /// Length of the body, where the head tells.
    pub length: Option<u64>,
    /// The body's end is told by bytes of its own, after its last part.
    pub chunked: bool,
}

/// Reads the line that nearly every chunk begins with, digits and no more, if it is there as a whole.
fn plain_line(mut chunk: Chunk, input: &mut &[u8]) -> Chunk {
    const BEGIN: Chunk = Chunk::Size { size: 0, digits: 0 };
    if chunk == Chunk::DataCr
        && let Some(rest) = input.strip_prefix(b"\r\n")
    {
        (chunk, *input) = (BEGIN, rest);
    }
    if chunk == BEGIN {
        let mut size = 0;
        for (place, &byte) in input.iter().take(8).enumerate() {
            match char::from(byte).to_digit(16) {
                Some(digit) => size = size << 4 | u64::from(digit),
                None if size > 0 && input[place..].starts_with(b"\r\n") => {
                    *input = &input[place + 2..];
                    return Chunk::Data(size);
                }
                None => break,
            }
        }
    }
    chunk
}

/// The next piece of a response.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Interim responses (1xx) are skipped.
    Head(Box<Head>),
    /// A part of the body.
    Body(&'a [u8]),
    /// The response is complete. What follows belongs to no response.
    End,
}

/// These bytes are no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The head can't be read.
    #[error("{0}")]
    Head(httparse::Error),
    /// No end of the head has come for so long.
    #[error("the head is too large (more than {MAX_HEAD} bytes)")]
    HeadTooLarge,
    /// The length of the body is not known.
    #[error("Content-Length is no number, or given twice with different values")]
    Length,
    /// A coding of a version that has none.
    #[error("HTTP/1.0 knows no Transfer-Encoding")]
    Encoding,
    /// The framing of a chunked body is broken.
    #[error("{0}")]
    Chunk(&'static str),
}

impl ResponseError {
    /// Whether the head is at fault, rather than the body.
    pub fn in_head(self) -> bool {
        !matches!(self, Self::Chunk(_))
    }
}

impl Response {
    /// A reader of the response to a request; `bodiless` if its method was HEAD.
    pub fn new(bodiless: bool) -> Self {
        Self {
            bodiless,
            head: Vec::new(),
            state: State::Head,
            keep_alive: false,
        }
    }

    /// Whether the connection may carry another request. False until the response is complete.
    pub fn keeps_alive(&self) -> bool {
        self.keep_alive && self.state == State::End
    }

    /// Takes the next piece from the front of `input`; `None` once all of it is taken and more is needed.
    ///
    /// # Errors
    /// When the bytes are no response. Then this reader, and the connection, are of no more use.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ResponseError> {
        match self.state {
            State::Head => self.read_head(input),
            State::Length(left) => Ok(self.body(input, left, |left| match left {
                0 => State::End,
                left => State::Length(left),
            })),
            State::UntilClose => Ok(self.body(input, u64::MAX, |_| State::UntilClose)),
            State::Chunk(chunk) => self.chunked(chunk, input),
            State::End => Ok(Some(Piece::End)),
        }
    }

    /// The stream has ended. Whether that is the end of the response, too.
    pub fn close(&mut self) -> bool {
        if self.state == State::UntilClose {
            self.state = State::End;
        }
        self.state == State::End
    }

    fn read_head<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ResponseError> {
        loop {
            // Most heads come whole and are read where they are.
            let pending = self.head.len();
            let bytes = if pending == 0 {
                *input
            } else {
                let room = (MAX_HEAD + 1).saturating_sub(pending).min(input.len());
                self.head.extend_from_slice(&input[..room]);
                &self.head
            };
            let parsed = parse(bytes, self.bodiless)?;
            let Some((length, head, state, keep_alive)) = parsed else {
                if bytes.len() > MAX_HEAD {
                    return Err(ResponseError::HeadTooLarge);
                }
                if pending == 0 {
                    self.head.extend_from_slice(input);
                }
                *input = &[];
                return Ok(None);
            };
            *input = &input[length - pending..];
            self.head.clear();
            if matches!(head.status, 100 | 102..200) {
                continue;
            }
            (self.state, self.keep_alive) = (state, keep_alive);
            return Ok(Some(Piece::Head(Box::new(head))));
        }
    }

    /// Takes up to `left` bytes of the body; `then` says what follows when so many are left.
    fn body<'a>(&mut self, input: &mut &'a [u8], left: u64, then: impl FnOnce(u64) -> State) -> Option<Piece<'a>> {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
        if length == 0 {
            return None;
        }
        let (part, rest) = input.split_at(length);
        *input = rest;
        self.state = then(left - length as u64);
        Some(Piece::Body(part))
    }

    fn chunked<'a>(&mut self, mut chunk: Chunk, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ResponseError> {
        const NO_SIZE: ResponseError = ResponseError::Chunk("a chunk size is not a hexadecimal number");
        const TOO_LARGE: ResponseError = ResponseError::Chunk("a chunk size exceeds 64 bits");
        const NO_END: ResponseError = ResponseError::Chunk("a chunk is not followed by a line end");
        const TOO_LONG: ResponseError = ResponseError::Chunk("a line with a chunk size, or a trailer, is too long");
        const TOO_MANY: ResponseError = ResponseError::Chunk("too many trailers");
        chunk = plain_line(chunk, input);
        loop {
            if let Chunk::Data(left) = chunk {
                self.state = State::Chunk(chunk);
                return Ok(self.body(input, left, |left| {
                    State::Chunk(match left {
                        0 => Chunk::DataCr,
                        left => Chunk::Data(left),
                    })
                }));
            }
            let Some((&byte, rest)) = input.split_first() else {
                self.state = State::Chunk(chunk);
                return Ok(None);
            };
            *input = rest;
            chunk = match (chunk, byte) {
                (Chunk::Size { digits: 0, .. }, byte) if !byte.is_ascii_hexdigit() => return Err(NO_SIZE),
                (Chunk::Size { size, .. }, b'\r') => Chunk::SizeLf { size },
                (Chunk::Size { size, .. }, b';' | b' ' | b'\t') => Chunk::Extension { size, length: 0 },
                (Chunk::Size { size, digits }, byte) => {
                    let digit = char::from(byte).to_digit(16).ok_or(NO_SIZE)?;
                    if digits == 16 {
                        return Err(TOO_LARGE);
                    }
                    Chunk::Size {
                        size: size << 4 | u64::from(digit),
                        digits: digits + 1,
                    }
                }
                (Chunk::Extension { size, .. }, b'\r') => Chunk::SizeLf { size },
                (Chunk::Extension { .. }, b'\n') => return Err(NO_SIZE),
                (Chunk::Extension { length: MAX_LINE, .. }, _) => return Err(TOO_LONG),
                (Chunk::Extension { size, length }, _) => Chunk::Extension {
                    size,
                    length: length + 1,
                },
                (Chunk::SizeLf { size: 0 }, b'\n') => Chunk::Trailer { length: 0, lines: 0 },
                (Chunk::SizeLf { size }, b'\n') => Chunk::Data(size),
                (Chunk::SizeLf { .. }, _) => return Err(NO_SIZE),
                (Chunk::DataCr, b'\r') => Chunk::DataLf,
                (Chunk::DataLf, b'\n') => Chunk::Size { size: 0, digits: 0 },
                (Chunk::DataCr | Chunk::DataLf, _) => return Err(NO_END),
                (Chunk::Trailer { length, lines }, b'\r') => Chunk::TrailerLf { length, lines },
                (Chunk::Trailer { length: MAX_LINE, .. }, _) => return Err(TOO_LONG),
                (Chunk::Trailer { length, lines }, _) => Chunk::Trailer {
                    length: length + 1,
                    lines,
                },
                (Chunk::TrailerLf { length: 0, .. }, b'\n') => {
                    self.state = State::End;
                    return Ok(Some(Piece::End));
                }
                (Chunk::TrailerLf { lines: MAX_HEADERS, .. }, b'\n') => return Err(TOO_MANY),
                (Chunk::TrailerLf { lines, .. }, b'\n') => Chunk::Trailer {
                    length: 0,
                    lines: lines + 1,
                },
                (Chunk::TrailerLf { .. }, _) => return Err(ResponseError::Chunk("a trailer holds a lone CR")),
                (Chunk::Data(_), _) => chunk,
            };
        }
    }
}

/// Length of a head, what it says, what follows, and whether the connection stays.
type Parsed = (usize, Head, State, bool);

/// The head at the front of `bytes`.
fn parse(bytes: &[u8], bodiless: bool) -> Result<Option<Parsed>, ResponseError> {
    // Room for as many as may come is more than most need, and takes longer to prepare than they take to read.
    match parse_up_to::<16>(bytes, bodiless) {
        Err(ResponseError::Head(httparse::Error::TooManyHeaders)) => parse_up_to::<MAX_HEADERS>(bytes, bodiless),
        parsed => parsed,
    }
}

fn parse_up_to<const HEADERS: usize>(bytes: &[u8], bodiless: bool) -> Result<Option<Parsed>, ResponseError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let mut config = ParserConfig::default();
    // RFC 9112, 5.2: a client replaces folds by blanks and goes on.
    config.allow_obsolete_multiline_headers_in_responses(true);
    let length = match config.parse_response(&mut response, bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Ok(None),
        Err(error) => return Err(ResponseError::Head(error)),
    };
    let status = response.code.unwrap_or_default();
    let version_11 = response.version == Some(1);
    let mut head = Head {
        status,
        reason: match response.reason {
            Some(sent) if !sent.is_empty() && sent != standard_reason(status) => Cow::Owned(sent.to_owned()),
            _ => standard_reason(status),
        },
        ..Head::default()
    };
    let (mut close, mut keep) = (false, false);
    let mut coded = false;
    for header in &*response.headers {
        let text = || String::from_utf8_lossy(header.value).trim_ascii().to_owned();
        let tokens = || header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let name = header.name;
        if name.eq_ignore_ascii_case("content-type") {
            head.content_type = Some(known_type(header.value).map_or_else(|| text().into(), Cow::Borrowed));
        } else if name.eq_ignore_ascii_case("content-length") {
            for token in tokens() {
                let length = decimal(token).ok_or(ResponseError::Length)?;
                if *head.length.get_or_insert(length) != length {
                    return Err(ResponseError::Length);
                }
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            coded = true;
            // The last coding of the last line frames the body.
            if let Some(last) = tokens().next_back() {
                head.chunked = last.eq_ignore_ascii_case(b"chunked");
            }
        } else if name.eq_ignore_ascii_case("connection") {
            close |= tokens().any(|token| token.eq_ignore_ascii_case(b"close"));
            keep |= tokens().any(|token| token.eq_ignore_ascii_case(b"keep-alive"));
        } else if name.eq_ignore_ascii_case("content-encoding") {
            head.content_encoding = Some(match head.content_encoding.take() {
                Some(before) => format!("{before}, {}", text()),
                None => text(),
            });
        } else if name.eq_ignore_ascii_case("location") {
            head.location = Some(text());
        }
    }
    if coded {
        if !version_11 {
            return Err(ResponseError::Encoding);
        }
        // RFC 9112, 6.3: it overrides the length.
        head.length = None;
    }
    let state = if bodiless || matches!(status, 100..200 | 204 | 304) {
        State::End
    } else if head.chunked {
        State::Chunk(Chunk::Size { size: 0, digits: 0 })
    } else {
        match head.length {
            Some(0) => State::End,
            Some(length) => State::Length(length),
            None => State::UntilClose,
        }
    };
    let persistent = if version_11 { !close } else { keep && !close };
    // After a switch of protocols, what follows is no HTTP.
    let keep_alive = persistent && state != State::UntilClose && status != 101;
    Ok(Some((length, head, state, keep_alive)))
}

/// The types that nearly every answer is of need no memory of their own.
fn known_type(value: &[u8]) -> Option<&'static str> {
    let known = [
        "text/event-stream",
        "text/event-stream; charset=utf-8",
        "application/json",
    ];
    known.into_iter().find(|known| known.as_bytes() == value)
}

fn standard_reason(status: u16) -> Cow<'static, str> {
    let status = StatusCode::from_u16(status).ok();
    Cow::Borrowed(status.and_then(|status| status.canonical_reason()).unwrap_or_default())
}

/// Digits alone: no sign, no blank.
fn decimal(text: &[u8]) -> Option<u64> {
    let digits = text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
