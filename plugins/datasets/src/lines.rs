//! Lines of a file, read in pieces.

use aiperf_sdk::{PluginError, Result, Source};

/// Bytes asked for at once.
const PIECE: u32 = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Where a line lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Number of the line, from 1.
    pub(crate) number: u64,
    /// First byte.
    pub(crate) offset: u64,
    /// Bytes without the line's end.
    pub(crate) length: u32,
}

/// A file that is read line by line. Blank lines are left out, and so is a byte order mark.
pub(crate) struct Lines {
    source: Box<dyn Source>,
    name: String,
    /// What has been read: from `start` on.
    buffer: Vec<u8>,
    start: u64,
    /// Where the search for the next line goes on, in the buffer.
    position: usize,
    number: u64,
    at_end: bool,
}

impl Lines {
    /// Opens the only file of a source.
    pub(crate) fn open(source: Box<dyn Source>) -> Result<Self> {
        let files = source.files();
        let [name] = files.as_slice() else {
            return Err(PluginError::input(format!(
                "one JSONL file is needed, not {} files",
                files.len()
            )));
        };
        Ok(Self {
            name: name.clone(),
            source,
            buffer: Vec::new(),
            start: 0,
            position: 0,
            number: 0,
            at_end: false,
        })
    }

    /// An error at a line.
    pub(crate) fn error(&self, span: Span, message: &str) -> PluginError {
        PluginError::input(format!("{}:{}: {message}", self.name, span.number))
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The next line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<(Span, &[u8])>> {
        loop {
            let Some((from, to)) = self.next_range()? else {
                return Ok(None);
            };
            self.number += 1;
            let mut from = from;
            if self.number == 1 && self.buffer[from..to].starts_with(BYTE_ORDER_MARK) {
                from += BYTE_ORDER_MARK.len();
            }
            if self.buffer[from..to].trim_ascii().is_empty() {
                continue;
            }
            let span = Span {
                number: self.number,
                offset: self.start + from as u64,
                length: u32::try_from(to - from).map_err(|_| {
                    PluginError::input(format!("{}:{}: the line exceeds 4 GiB", self.name, self.number))
                })?,
            };
            return Ok(Some((span, &self.buffer[from..to])));
        }
    }

    /// A line that was seen before. Only behind the last line: the buffer is taken over.
    pub(crate) fn at(&mut self, span: Span) -> Result<&[u8]> {
        let known = self.start..=self.start + self.buffer.len() as u64;
        let end = span.offset + u64::from(span.length);
        if !known.contains(&span.offset) || !known.contains(&end) {
            self.buffer.clear();
            self.start = span.offset;
            while self.buffer.len() < span.length as usize {
                let missing = span.length - self.buffer.len() as u32;
                let offset = span.offset + self.buffer.len() as u64;
                let piece = self.source.read(0, offset, missing.max(PIECE))?;
                if piece.is_empty() {
                    break;
                }
                self.buffer.extend_from_slice(&piece);
            }
        }
        let from = (span.offset - self.start) as usize;
        self.buffer
            .get(from..from + span.length as usize)
            .ok_or_else(|| PluginError::input(format!("{}: the file became shorter while it was read", self.name)))
    }

    /// The bytes of the next line in the buffer.
    fn next_range(&mut self) -> Result<Option<(usize, usize)>> {
        let mut searched = self.position;
        loop {
            if let Some(length) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                let line = (self.position, searched + length);
                self.position = line.1 + 1;
                return Ok(Some(line));
            }
            if self.at_end {
                let line = (self.position, self.buffer.len());
                self.position = line.1;
                return Ok((line.0 < line.1).then_some(line));
            }
            self.buffer.drain(..self.position);
            self.start += self.position as u64;
            self.position = 0;
            searched = self.buffer.len();
            let piece = self.source.read(0, self.start + searched as u64, PIECE)?;
            self.at_end = piece.is_empty();
            self.buffer.extend_from_slice(&piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestSource;

    fn lines(bytes: &[u8], piece: usize) -> Vec<(u64, String)> {
        let mut lines = Lines::open(TestSource::in_pieces(bytes, piece)).unwrap();
        let (mut all, mut spans) = (Vec::new(), Vec::new());
        while let Some((span, line)) = lines.next().unwrap() {
            all.push((span.number, String::from_utf8_lossy(line).into_owned()));
            spans.push(span);
        }
        for (span, (_, line)) in spans.iter().zip(&all).rev() {
            assert_eq!(lines.at(*span).unwrap(), line.as_bytes(), "read again");
        }
        all
    }

    #[test]
    fn lines_are_numbered_and_blank_ones_left_out() {
        let text = "\u{feff}one\n\n \t\r\ntwo\r\nthree";
        for piece in [1, 2, 3, 7, 100] {
            let expected = [(1, "one"), (4, "two\r"), (5, "three")].map(|(n, line)| (n, line.to_owned()));
            assert_eq!(lines(text.as_bytes(), piece), expected, "pieces of {piece}");
        }
        assert!(lines(b"", 10).is_empty());
        assert!(lines(b"\n\n", 10).is_empty());
        assert!(lines(b"\xef\xbb\xbf\n", 10).is_empty());
    }

    #[test]
    fn a_line_may_be_longer_than_a_piece() {
        let long = "x".repeat(3 * PIECE as usize + 17);
        let text = format!("a\n{long}\nb\n");
        let all = lines(text.as_bytes(), usize::MAX);
        assert_eq!(
            all.iter().map(|(n, line)| (*n, line.len())).collect::<Vec<_>>(),
            [(1, 1), (2, long.len()), (3, 1)]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_pieces_split_like_the_standard_library(bytes: Vec<u8>, piece in 1..20_usize) {
            let text: Vec<u8> = bytes.iter().map(|b| b"ab\n \r"[usize::from(b % 5)]).collect();
            let text = String::from_utf8(text).unwrap();
            let expected: Vec<(u64, String)> = text.split('\n').zip(1..)
                .filter(|(line, _)| !line.trim_ascii().is_empty())
                .map(|(line, number)| (number, line.to_owned())).collect();
            proptest::prop_assert_eq!(lines(text.as_bytes(), piece), expected);
        }
    }
}
