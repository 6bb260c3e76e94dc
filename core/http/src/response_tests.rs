use proptest::prelude::*;

use super::*;

/// Head, body, and what was left of the input at the end; `None` if the response was not complete.
#[derive(Debug, PartialEq)]
struct Read {
    head: Head,
    body: String,
    rest: Option<usize>,
    keeps_alive: bool,
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, bodiless: bool, closed: bool) -> Result<Read, ResponseError> {
    let mut response = Response::new(bodiless);
    let (mut head, mut body, mut rest) = (None, Vec::new(), None);
    for mut input in pieces {
        if let Some(rest) = &mut rest {
            *rest += input.len();
            continue;
        }
        while let Some(piece) = response.next(&mut input)? {
            match piece {
                Piece::Head(found) => assert!(head.replace(*found).is_none()),
                Piece::Body(part) => {
                    assert!(!part.is_empty());
                    body.extend_from_slice(part);
                }
                Piece::End => {
                    rest = Some(input.len());
                    break;
                }
            }
        }
    }
    if closed && response.close() {
        rest.get_or_insert(0);
    }
    Ok(Read {
        head: head.unwrap_or_default(),
        body: String::from_utf8(body).unwrap(),
        rest,
        keeps_alive: response.keeps_alive(),
    })
}

fn whole(text: &str) -> Result<Read, ResponseError> {
    read([text.as_bytes()], false, false)
}

#[test]
fn bodies_are_framed_as_their_head_says() {
    // (head lines, body, read, complete, bytes left, kept alive)
    for (head, body, expected, rest, kept) in [
        ("Content-Length: 2", "ok", "ok", Some(0), true),
        ("Content-Length: 2", "okHTTP", "ok", Some(4), true),
        ("Content-Length: 2, 2", "ok", "ok", Some(0), true),
        ("Content-Length: 3", "ok", "ok", None, false),
        ("Content-Length: 0", "", "", Some(0), true),
        ("", "ok", "ok", None, false),
        (
            "Transfer-Encoding: chunked",
            "2\r\nok\r\n0\r\n\r\n",
            "ok",
            Some(0),
            true,
        ),
        (
            "Transfer-Encoding: gzip, Chunked",
            "2\r\nok\r\n0\r\n\r\n",
            "ok",
            Some(0),
            true,
        ),
        ("Transfer-Encoding: gzip", "ok", "ok", None, false),
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 7",
            "1;a=\"b\"\r\no\r\n001 \r\nk\r\n00\r\nX-Trailer: 1\r\nY: 2\r\n\r\nrest",
            "ok",
            Some(4),
            true,
        ),
        (
            "Transfer-Encoding: chunked",
            "A\r\n0123456789\r\n",
            "0123456789",
            None,
            false,
        ),
        ("Content-Length: 2\r\nConnection: close", "ok", "ok", Some(0), false),
    ] {
        let text = format!(
            "HTTP/1.1 200 OK\r\n{head}{}\r\n{body}",
            if head.is_empty() { "" } else { "\r\n" }
        );
        for pieces in [vec![text.as_bytes()], text.as_bytes().chunks(1).collect()] {
            let read = read(pieces, false, false).unwrap();
            assert_eq!(
                (read.head.status, read.body.as_str(), read.rest, read.keeps_alive),
                (200, expected, rest, kept),
                "{text}"
            );
        }
    }
}

#[test]
fn what_has_no_body_ends_with_its_head() {
    for (status, bodiless, rest) in [
        (204, false, Some(2)),
        (304, false, Some(2)),
        (101, false, Some(2)),
        (200, true, Some(2)),
        (200, false, Some(0)),
    ] {
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nok");
        assert_eq!(
            read([text.as_bytes()], bodiless, false).unwrap().rest,
            rest,
            "{status} {bodiless}"
        );
    }
    let interim = "HTTP/1.1 103 A\r\nContent-Length: 9\r\n\r\nHTTP/1.1 100 B\r\n\r\nHTTP/1.1 200 C\r\nContent-Length: 2\r\n\r\nok";
    let read = whole(interim).unwrap();
    assert_eq!(
        (read.head.status, read.head.reason.as_ref(), read.body.as_str()),
        (200, "C", "ok")
    );
}

#[test]
fn the_end_of_the_stream_ends_only_what_has_no_other_end() {
    for (head, body, complete) in [
        ("", "ok", true),
        ("Content-Length: 3\r\n", "ok", false),
        ("Transfer-Encoding: chunked\r\n", "2\r\nok\r\n", false),
        ("Transfer-Encoding: chunked\r\n", "2\r\nok\r\n0\r\nX: y", false),
    ] {
        let text = format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}");
        let read = read([text.as_bytes()], false, true).unwrap();
        assert_eq!((read.rest.is_some(), read.keeps_alive), (complete, false), "{text}");
    }
    assert!(read([&b"HTTP/1.1 200 OK\r\n"[..]], false, true).unwrap().rest.is_none());
}

#[test]
fn what_is_no_response_is_refused() {
    let long = format!("2;{}\r\nok\r\n", "x".repeat(MAX_LINE + 1));
    let trailers = format!("0\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
    for (body, reason) in [
        ("x\r\n", "hexadecimal"),
        ("\r\n", "hexadecimal"),
        ("-1\r\n", "hexadecimal"),
        ("0x1\r\n", "hexadecimal"),
        ("2\nok", "hexadecimal"),
        ("2\rok", "hexadecimal"),
        ("2 x\nok", "hexadecimal"),
        ("12345678901234567\r\n", "64 bits"),
        ("2\r\nokay", "line end"),
        ("2\r\nok\n", "line end"),
        ("2\r\nok\rx", "line end"),
        ("0\r\nX: y\r\r\n", "lone CR"),
        (&long, "too long"),
        (&trailers, "too many"),
    ] {
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        let error = whole(&text).unwrap_err();
        assert!(
            error.to_string().contains(reason) && !error.in_head(),
            "{body:?}: {error}"
        );
    }
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        assert!(whole(text).unwrap_err().in_head(), "{text}");
    }
}

#[test]
fn a_head_without_end_is_refused() {
    let mut response = Response::new(false);
    let line = format!("X: {}\r\n", "p".repeat(100_000));
    let mut input = &b"HTTP/1.1 200 OK\r\n"[..];
    assert_eq!(response.next(&mut input), Ok(None));
    let outcome = (0..6)
        .map(|_| response.next(&mut line.as_bytes()))
        .find(|read| *read != Ok(None));
    assert_eq!(outcome, Some(Err(ResponseError::HeadTooLarge)));
}

proptest! {
    /// Whatever the bytes and however they are split: the same comes out, and nothing panics.
    #[test]
    fn any_split_gives_the_same_response(
        head in prop::sample::select(vec![
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n",
            "HTTP/1.0 500\r\n\r\n",
            "HTTP/1.1 204 No\r\n",
        ]),
        tokens in prop::collection::vec(
            prop::sample::select(vec!["2", "\r\n", "ok", "0", "\r\n\r\n", "a;b", "c: d", "\r", "\n", "f", "ffffffff"]),
            0..30,
        ),
        cuts in prop::collection::vec(0usize..120, 0..12),
        closed: bool,
    ) {
        let text = format!("{head}{}", tokens.concat());
        let bytes = text.as_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(read(pieces, false, closed), read([bytes], false, closed));
    }

    #[test]
    fn what_was_framed_is_what_is_read(
        parts in prop::collection::vec("[a-z\r\n]{1,40}", 0..6),
        extension in prop::sample::select(vec!["", ";x=y", " "]),
    ) {
        let mut text = String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for part in &parts {
            text += &format!("{:x}{extension}\r\n{part}\r\n", part.len());
        }
        text += "0\r\n\r\n";
        let read = whole(&text).unwrap();
        prop_assert_eq!(read.body, parts.concat());
        prop_assert_eq!((read.rest, read.keeps_alive), (Some(0), true));
    }
}
