//! The algorithm of the standard (WHATWG HTML, 9.2.6 "Interpreting an event stream"), as literally as possible and as
//! slowly as it may be, with the two deviations that the parser documents; the parser must agree with it on any bytes.

use aiperf_http::sse::{Kind, Parser};
use proptest::prelude::*;

/// Name, data, whether it is an error.
type Event = (Vec<u8>, Vec<u8>, bool);

/// The whole stream at once: lines first, then fields, then events.
fn reference(stream: &[u8]) -> Vec<Event> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut lines = vec![Vec::new()];
    let mut bytes = stream.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if_eq(&b'\n');
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            other => lines.last_mut().unwrap().push(other),
        }
    }
    // Deviation: the end of the stream ends its last line and its last event.
    lines.push(Vec::new());

    let mut events = Vec::new();
    let (mut name, mut data, mut has_data) = (Vec::new(), Vec::new(), false);
    for line in lines {
        if line.is_empty() {
            let error = name.eq_ignore_ascii_case(b"error");
            if !data.is_empty() || error {
                events.push((name, data, error));
            }
            (name, data, has_data) = (Vec::new(), Vec::new(), false);
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => name = value.trim_ascii().to_vec(),
            b"data" => {
                // The standard adds a line feed behind each line and takes the last away again.
                if has_data {
                    data.push(b'\n');
                }
                has_data = true;
                data.extend_from_slice(value);
            }
            b"" | b"id" | b"retry" => {}
            // Deviation: a line break within a JSON object.
            _ if data.starts_with(b"{") && !data.ends_with(b"}") => {
                data.extend_from_slice(b"\\n");
                data.extend_from_slice(&line);
            }
            _ => {}
        }
    }
    events
}

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut parser = Parser::new();
    let (mut bytes, mut start, mut events) = (Vec::new(), 0, Vec::new());
    let mut take = |parser: &Parser, bytes: &[u8], start: &mut usize, kind| {
        events.push((parser.name().to_vec(), bytes[*start..].to_vec(), kind == Kind::Error));
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

/// Bytes that are likely to mean something in a stream.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let meaningful = prop::sample::select(vec![
        &b"data"[..],
        b":",
        b" ",
        b"  ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"event",
        b"event: error",
        b"event:x",
        b"id: 1",
        b"retry",
        b"data:",
        b"data: ",
        b"data: {",
        b"}",
        b"a",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xff",
        b"\0",
        b"[DONE]",
        b": c",
        b"\t",
    ])
    .prop_map(<[u8]>::to_vec);
    let any = prop::collection::vec(any::<u8>(), 0..4);
    prop::collection::vec(prop_oneof![8 => meaningful, 1 => any], 0..50).prop_map(|parts| parts.concat())
}

#[test]
fn the_reference_knows_the_examples_of_the_standard() {
    let message = |data: &[u8]| (Vec::new(), data.to_vec(), false);
    for (stream, expected) in [
        (
            &b"data: YHOO\ndata: +2\ndata: 10\n\n"[..],
            vec![message(b"YHOO\n+2\n10")],
        ),
        (
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            vec![
                message(b"first event"),
                message(b"second event"),
                message(b" third event"),
            ],
        ),
        (b"data:test\n\ndata: test\n\n", vec![message(b"test"), message(b"test")]),
        (
            b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
            vec![
                (b"add".to_vec(), b"73857293".to_vec(), false),
                (b"remove".to_vec(), b"2153".to_vec(), false),
            ],
        ),
        // The standard delivers an event with empty data here, and none for the last; events without text carry nothing to
        // measure, and the end of the stream counts.
        (b"data\n\ndata\ndata\n\ndata:", vec![message(b"\n")]),
    ] {
        assert_eq!(reference(stream), expected, "{:?}", String::from_utf8_lossy(stream));
        assert_eq!(parse([stream]), expected, "{:?}", String::from_utf8_lossy(stream));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_parser_agrees_with_the_reference(stream in streams(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10)) {
        let expected = reference(&stream);
        prop_assert_eq!(&parse([&stream[..]]), &expected);
        prop_assert_eq!(&parse(stream.chunks(1)), &expected);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.sort_unstable();
        let bounds: Vec<_> = [0].into_iter().chain(cuts).chain([stream.len()]).collect();
        prop_assert_eq!(&parse(bounds.windows(2).map(|pair| &stream[pair[0]..pair[1]])), &expected);
    }
}
