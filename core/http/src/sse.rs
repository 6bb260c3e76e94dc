//! Server-sent events, incrementally: bytes in, events out, no I/O and no clock.
//!
//! Lines end with LF, CR or CRLF; an empty line ends an event; `data` lines are joined by a newline (WHATWG HTML,
//! "Server-sent events"). Two deviations, both for servers that exist: what an undelimited tail holds at the end of
//! the stream counts as an event, and a JSON object broken over lines is put together again.

use memchr::{memchr, memchr2};

/// What an event was, beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary event.
    Message,
    /// `event: error` in any letter case.
    Error,
}

/// Splits a stream into events.
#[derive(Debug, Default)]
pub struct Parser {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line is behind us, and with it a byte order mark.
    started: bool,
    has_data: bool,
    /// The event at hand was returned; its name and comment stay readable until the next line.
    delivered: bool,
    name: Vec<u8>,
    comment: Vec<u8>,
}

impl Parser {
    /// A parser at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes from the front of `input` until an event is complete or nothing is left. The event's data is
    /// appended to `data`, which begins, for this event, at `start`; a partial event's data stays there for the next
    /// call. Events without data are dropped, unless they are errors.
    pub fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>, start: usize) -> Option<Kind> {
        if self.delivered
            && self.line.is_empty()
            && !self.after_cr
            && let Some((value, rest)) = plain(input)
        {
            self.reset();
            self.has_data = true;
            self.delivered = true;
            data.extend_from_slice(value);
            *input = rest;
            return Some(Kind::Message);
        }
        loop {
            if self.after_cr && !input.is_empty() {
                self.after_cr = false;
                if input[0] == b'\n' {
                    *input = &input[1..];
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', input) else {
                self.line.extend_from_slice(input);
                *input = &[];
                return None;
            };
            let (line, rest) = (&input[..end], &input[end + 1..]);
            let cr = input[end] == b'\r';
            *input = match rest.first() {
                Some(b'\n') if cr => &rest[1..],
                _ => rest,
            };
            self.after_cr = cr && rest.is_empty();
            if let Some(kind) = self.end_of_line(line, data, start) {
                return Some(kind);
            }
        }
    }

    /// The stream is over: what has come of an event is one.
    pub fn finish(&mut self, data: &mut Vec<u8>, start: usize) -> Option<Kind> {
        if !self.line.is_empty() {
            self.end_of_line(&[], data, start);
        }
        self.dispatch(data, start)
    }

    /// Name of the event that was just returned; empty for none.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Last comment of the event that was just returned; empty for none.
    #[must_use]
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    fn end_of_line(&mut self, tail: &[u8], data: &mut Vec<u8>, start: usize) -> Option<Kind> {
        if self.line.is_empty() {
            return self.complete_line(tail, data, start);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(tail);
        let kind = self.complete_line(&line, data, start);
        // The buffer is kept for the next line that comes in pieces.
        line.clear();
        self.line = line;
        kind
    }

    fn complete_line(&mut self, mut line: &[u8], data: &mut Vec<u8>, start: usize) -> Option<Kind> {
        if self.delivered {
            self.reset();
        }
        if !self.started {
            self.started = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(data, start);
        }
        let (field, value) = match memchr(b':', line) {
            Some(colon) => (
                &line[..colon],
                line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]),
            ),
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    data.push(b'\n');
                }
                self.has_data = true;
                data.extend_from_slice(value);
            }
            b"event" => replace(&mut self.name, value.trim_ascii()),
            b"" => replace(&mut self.comment, value.trim_ascii()),
            b"id" | b"retry" => {}
            _ => {
                // A raw line break inside a JSON string.
                let json = &data[start..];
                if json.starts_with(b"{") && !json.ends_with(b"}") {
                    data.extend_from_slice(b"\\n");
                    data.extend_from_slice(line);
                }
            }
        }
        None
    }

    fn dispatch(&mut self, data: &[u8], start: usize) -> Option<Kind> {
        if self.delivered {
            return None;
        }
        let error = self.name.eq_ignore_ascii_case(b"error");
        if data.len() == start && !error {
            self.reset();
            return None;
        }
        self.delivered = true;
        Some(if error { Kind::Error } else { Kind::Message })
    }

    fn reset(&mut self) {
        self.delivered = false;
        self.has_data = false;
        self.name.clear();
        self.comment.clear();
    }
}

/// What nearly every event of a token stream is, in one look instead of line by line: one line of data that is not empty,
/// and the empty line. The data, and what follows.
fn plain(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = input.strip_prefix(b"data: ")?;
    let (value, end) = line.split_at(memchr2(b'\n', b'\r', line)?);
    let rest = end.strip_prefix(b"\n\n")?;
    (!value.is_empty()).then_some((value, rest))
}

fn replace(target: &mut Vec<u8>, value: &[u8]) {
    target.clear();
    target.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Name, data, and whether it is an error.
    type Event = (String, String, bool);

    fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
        let mut parser = Parser::new();
        let (mut bytes, mut start, mut events) = (Vec::new(), 0, Vec::new());
        let mut take = |parser: &Parser, bytes: &[u8], start: &mut usize, kind| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            events.push((text(parser.name()), text(&bytes[*start..]), kind == Kind::Error));
            *start = bytes.len();
        };
        for mut piece in pieces {
            while let Some(kind) = parser.next(&mut piece, &mut bytes, start) {
                take(&parser, &bytes, &mut start, kind);
            }
        }
        if let Some(kind) = parser.finish(&mut bytes, start) {
            take(&parser, &bytes, &mut start, kind);
        }
        events
    }

    fn message(data: &str) -> Event {
        (String::new(), data.into(), false)
    }

    #[test]
    fn streams_and_their_events() {
        let named = |name: &str, data: &str| (name.to_string(), data.to_string(), false);
        let error = |name: &str, data: &str| (name.to_string(), data.to_string(), true);
        for (stream, expected) in [
            ("", vec![]),
            ("\n\n\n", vec![]),
            ("data: a\n\n", vec![message("a")]),
            ("data: a\r\n\r\n", vec![message("a")]),
            ("data: a\r\r", vec![message("a")]),
            (
                "data: a\n\r\ndata: b\r\n\ndata: c\n\rdata: d\r\n\r",
                vec![message("a"), message("b"), message("c"), message("d")],
            ),
            (
                "data: a\r\n\r\n\r\n\r\ndata: b\r\n\r\n",
                vec![message("a"), message("b")],
            ),
            ("data:a\n\n", vec![message("a")]),
            ("data:  a \n\n", vec![message(" a ")]),
            ("data: a\ndata: b\n\n", vec![message("a\nb")]),
            ("data: a\ndata\ndata: b\n\n", vec![message("a\n\nb")]),
            ("data\n\n", vec![]),
            ("data:\n\n", vec![]),
            (": ping\n\n", vec![]),
            (": ping\ndata: a\n\n", vec![message("a")]),
            ("\u{feff}data: a\n\n", vec![message("a")]),
            ("\u{feff}\ndata: a\n\n", vec![message("a")]),
            ("data: a\n\n\u{feff}data: b\n\n", vec![message("a")]),
            ("data: a", vec![message("a")]),
            ("data: a\n", vec![message("a")]),
            ("data: a\n\ndata: [DONE]", vec![message("a"), message("[DONE]")]),
            ("data: [DONE]\n\n", vec![message("[DONE]")]),
            ("id: 3\nretry: 10\nunknown: x\ndata: a\n\n", vec![message("a")]),
            (
                "event: delta\ndata: a\n\ndata: b\n\n",
                vec![named("delta", "a"), message("b")],
            ),
            ("event: delta\n\ndata: b\n\n", vec![message("b")]),
            ("event: error\ndata: {}\n\n", vec![error("error", "{}")]),
            (
                "event: ERROR\n: out of memory\n\ndata: b\n\n",
                vec![error("ERROR", ""), message("b")],
            ),
            ("event: error", vec![error("error", "")]),
            ("data: {\"error\": 1}\n\n", vec![message("{\"error\": 1}")]),
            (
                "data: {\"t\": \"a\u{2028}b\"}\nid: 1\n\n",
                vec![message("{\"t\": \"a\u{2028}b\"}")],
            ),
            ("data: {\"t\": \"a\nb c\"}\n\n", vec![message("{\"t\": \"a\\nb c\"}")]),
            ("data: {}\nstray\n\n", vec![message("{}")]),
            ("stray\ndata: a\nstray\n\n", vec![message("a")]),
            ("data: a:b\n\n", vec![message("a:b")]),
        ] {
            assert_eq!(parse([stream.as_bytes()]), expected, "{stream:?} whole");
            let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
            assert_eq!(parse(bytes), expected, "{stream:?} byte by byte");
        }
    }

    #[test]
    fn an_error_event_keeps_its_comment() {
        let mut parser = Parser::new();
        let mut data = Vec::new();
        let mut input = &b": first\n\nevent: error\n: the reason\n\n"[..];
        assert_eq!(parser.next(&mut input, &mut data, 0), Some(Kind::Error));
        assert_eq!(parser.comment(), b"the reason");
    }

    #[test]
    fn an_event_is_complete_with_its_delimiter_and_not_before() {
        // The CR of an empty line ends the event; a following LF belongs to that line and changes nothing.
        for (stream, complete_after) in [("data: a\n\n", 9), ("data: a\r\n\r\n", 10), ("data: a\r\r", 9)] {
            let mut parser = Parser::new();
            let mut data = Vec::new();
            let completed = (1..=stream.len()).find(|end| {
                parser
                    .next(&mut &stream.as_bytes()[end - 1..*end], &mut data, 0)
                    .is_some()
            });
            assert_eq!(completed, Some(complete_after), "{stream:?}");
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            tokens in prop::collection::vec(
                prop::sample::select(vec![
                    "data", ":", " ", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "event", "error", "id", "a", "{", "}",
                    "data: x", "event: error", ": c", "\u{feff}", "ü", "[DONE]",
                ]),
                0..40,
            ),
            cuts in prop::collection::vec(0usize..200, 0..10),
        ) {
            let stream = tokens.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.sort_unstable();
            cuts.push(stream.len());
            let mut from = 0;
            let mut pieces = Vec::new();
            for cut in cuts {
                pieces.push(&stream[from..cut]);
                from = cut;
            }
            prop_assert_eq!(parse(pieces), parse([&stream[..]]));
        }

        #[test]
        fn what_was_sent_is_what_arrives(
            payloads in prop::collection::vec("[^\r\n]{1,30}", 0..8),
            ending in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        ) {
            let stream: String = payloads.iter().map(|text| format!("data: {text}{ending}{ending}")).collect();
            let expected: Vec<_> = payloads.iter().map(|text| message(text)).collect();
            prop_assert_eq!(parse([stream.as_bytes()]), expected);
        }
    }
}
