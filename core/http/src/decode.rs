//! Bodies that a server compressed although nobody asked for it: gzip (RFC 1952) and deflate (RFC 1950, and the raw
//! RFC 1951 that some servers send under that name), incrementally. What one frame decodes to is as old as the frame.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::error::{ErrorKind, ExchangeError};

/// Room made for decoded bytes at a time.
const STEP: usize = 16 * 1024;
/// Longest gzip header waited for; file name and comment have no limit of their own.
const LONGEST_HEADER: usize = 64 * 1024;

/// Decodes one body.
pub(crate) struct Decoder {
    name: &'static str,
    /// Compressed bytes that wait for more: a header in pieces, a trailer in pieces.
    pending: Vec<u8>,
    state: State,
    inflate: Option<Box<Decompress>>,
    crc: Crc,
    /// What the last call decoded.
    decoded: Vec<u8>,
    /// Bytes that may still be decoded.
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but the beginning of a header has come.
    Header,
    /// Within the compressed data.
    Data,
    /// Within checksum and length behind the data of a gzip member.
    Trailer,
    /// Complete.
    Done,
}

impl Decoder {
    /// A decoder for a `Content-Encoding`, which yields no more than `limit` bytes. `Ok(None)` for a body that is not
    /// encoded, `Err` with the name of an encoding that is not known.
    pub(crate) fn new(encoding: Option<&str>, limit: usize) -> Result<Option<Self>, &str> {
        let given = encoding.unwrap_or_default().trim();
        let name = match given.to_ascii_lowercase().as_str() {
            "" | "identity" => return Ok(None),
            "gzip" | "x-gzip" => "gzip",
            "deflate" => "deflate",
            _ => return Err(given),
        };
        Ok(Some(Self {
            name,
            pending: Vec::new(),
            state: State::Header,
            inflate: None,
            crc: Crc::new(),
            decoded: Vec::new(),
            left: limit,
        }))
    }

    /// What these bytes, after those before, decode to. With an error, what came before the damage is in
    /// [`decoded`](Self::decoded).
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<&[u8], ExchangeError> {
        self.decoded.clear();
        if self.pending.is_empty() {
            let rest = self.consume(bytes)?;
            self.pending.extend_from_slice(rest);
        } else {
            let mut all = std::mem::take(&mut self.pending);
            all.extend_from_slice(bytes);
            let rest = self.consume(&all)?.len();
            all.drain(..all.len() - rest);
            self.pending = all;
        }
        Ok(&self.decoded)
    }

    /// What the last call decoded before it failed.
    pub(crate) fn decoded(&self) -> &[u8] {
        &self.decoded
    }

    /// Checks that the data, if any came, is complete.
    pub(crate) fn finish(&self) -> Result<(), ExchangeError> {
        let untouched = self.state == State::Header && self.pending.is_empty();
        if self.state == State::Done || untouched {
            return Ok(());
        }
        let message = format!("the {} data of the response body ends too early", self.name);
        Err(ExchangeError::new(ErrorKind::BodyIncomplete, message))
    }

    /// Decodes from the front of `input`; returns what can't be judged without more.
    fn consume<'i>(&mut self, mut input: &'i [u8]) -> Result<&'i [u8], ExchangeError> {
        while !input.is_empty() {
            match self.state {
                State::Header => {
                    let Some((length, zlib)) = self.header(input)? else {
                        return Ok(input);
                    };
                    input = &input[length..];
                    self.crc.reset();
                    self.inflate = Some(Box::new(Decompress::new(zlib)));
                    self.state = State::Data;
                }
                State::Data => input = self.inflate(input)?,
                State::Trailer => {
                    let Some((trailer, rest)) = input.split_first_chunk::<8>() else {
                        return Ok(input);
                    };
                    let [sum @ .., _, _, _, _] = *trailer;
                    let [_, _, _, _, amount @ ..] = *trailer;
                    if u32::from_le_bytes(sum) != self.crc.sum() || u32::from_le_bytes(amount) != self.crc.amount() {
                        return Err(self.damaged("the checksum does not match"));
                    }
                    input = rest;
                    self.state = State::Done;
                }
                State::Done => {
                    if self.name == "gzip" && input.starts_with(&[0x1f]) {
                        // Another member: together they are the body.
                        self.state = State::Header;
                    } else {
                        // Padding.
                        return Ok(&[]);
                    }
                }
            }
        }
        Ok(input)
    }

    /// Length of the header in front of `input`, and whether zlib's framing follows for the inflater to read.
    fn header(&self, input: &[u8]) -> Result<Option<(usize, bool)>, ExchangeError> {
        if self.name == "gzip" {
            let length = gzip_header(input).map_err(|reason| self.damaged(reason))?;
            if length.is_none() && input.len() > LONGEST_HEADER {
                return Err(self.damaged("its header has no end"));
            }
            return Ok(length.map(|length| (length, false)));
        }
        let [method, flags, ..] = *input else {
            return Ok(None);
        };
        // A zlib header: method 8, and both bytes as a number are a multiple of 31. Else it is raw.
        let zlib = method & 0x0f == 8 && u16::from_be_bytes([method, flags]) % 31 == 0;
        Ok(Some((0, zlib)))
    }

    fn inflate<'i>(&mut self, mut input: &'i [u8]) -> Result<&'i [u8], ExchangeError> {
        let Some(inflate) = &mut self.inflate else {
            return Ok(&[]);
        };
        loop {
            let start = self.decoded.len();
            let room = STEP.min(self.left.saturating_add(1));
            self.decoded.reserve_exact(room);
            let before = inflate.total_in();
            let status = inflate.decompress_vec(input, &mut self.decoded, FlushDecompress::None);
            let consumed = usize::try_from(inflate.total_in() - before).unwrap_or(input.len());
            input = &input[consumed..];
            let made = self.decoded.len() - start;
            if made > self.left {
                self.decoded.truncate(start);
                let message = format!("the {} data of the response body decodes to too many bytes", self.name);
                return Err(ExchangeError::new(ErrorKind::BodyTooLarge, message));
            }
            self.left -= made;
            self.crc.update(&self.decoded[start..]);
            match status {
                Ok(Status::StreamEnd) => {
                    self.state = if self.name == "gzip" {
                        State::Trailer
                    } else {
                        State::Done
                    };
                    return Ok(input);
                }
                // Neither input taken nor output made: it waits for more input.
                Ok(_) if consumed == 0 && made == 0 => return Ok(&[]),
                Ok(_) => {}
                Err(error) => return Err(self.damaged(&error.to_string())),
            }
        }
    }

    fn damaged(&self, reason: &str) -> ExchangeError {
        let message = format!("the response body is not valid {}: {reason}", self.name);
        ExchangeError::new(ErrorKind::Encoding, message)
    }
}

/// Length of a gzip header. None: it is not complete.
fn gzip_header(input: &[u8]) -> Result<Option<usize>, &'static str> {
    const CHECKSUM: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let magic = [0x1f, 0x8b, 8];
    let known = input.len().min(magic.len());
    if input[..known] != magic[..known] {
        return Err("it does not begin like gzip");
    }
    // Magic, method, flags, time, extra flags, system.
    if input.len() < 10 {
        return Ok(None);
    }
    let flags = input[3];
    let mut at = 10;
    if flags & EXTRA != 0 {
        let Some([low, high]) = input.get(at..at + 2).and_then(|two| two.first_chunk()) else {
            return Ok(None);
        };
        at += 2 + usize::from(u16::from_le_bytes([*low, *high]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let Some(end) = input.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else {
                return Ok(None);
            };
            at += end + 1;
        }
    }
    if flags & CHECKSUM != 0 {
        at += 2;
    }
    Ok((at <= input.len()).then_some(at))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// One member with every optional part of the header.
    fn gzip_with_all(text: &[u8]) -> Vec<u8> {
        let plain = gzip(text);
        let mut all = vec![0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 255];
        all.extend_from_slice(b"\x03\x00abcname\0comment\0\x12\x34");
        all.extend_from_slice(&plain[10..]);
        all
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn raw(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(encoding: &str, pieces: &[&[u8]], limit: usize) -> Result<Vec<u8>, ErrorKind> {
        let mut decoder = Decoder::new(Some(encoding), limit).unwrap().unwrap();
        let mut text = Vec::new();
        for piece in pieces {
            text.extend_from_slice(decoder.decode(piece).map_err(|error| error.kind)?);
        }
        decoder.finish().map_err(|error| error.kind)?;
        Ok(text)
    }

    #[test]
    fn encodings_are_known_by_name() {
        for (given, known) in [
            (None, Ok(false)),
            (Some("identity"), Ok(false)),
            (Some(""), Ok(false)),
            (Some("GZip"), Ok(true)),
            (Some("x-gzip"), Ok(true)),
            (Some(" deflate "), Ok(true)),
            (Some("br"), Err("br")),
            (Some("gzip, br"), Err("gzip, br")),
        ] {
            assert_eq!(
                Decoder::new(given, 9).map(|decoder| decoder.is_some()),
                known,
                "{given:?}"
            );
        }
    }

    #[test]
    fn bodies_decode_whole_and_byte_by_byte() {
        let text = b"data: hello hello hello\n\n".repeat(100);
        let twice = [gzip(&text[..1000]), gzip(&text[1000..])].concat();
        let padded = [gzip(&text), vec![0; 7]].concat();
        for (name, encoding, bytes) in [
            ("gzip", "gzip", gzip(&text)),
            ("header", "gzip", gzip_with_all(&text)),
            ("members", "gzip", twice),
            ("padding", "gzip", padded),
            ("zlib", "deflate", zlib(&text)),
            ("raw", "deflate", raw(&text)),
        ] {
            assert_eq!(decode(encoding, &[&bytes], 1 << 20).as_ref(), Ok(&text), "{name}");
            let pieces: Vec<_> = bytes.chunks(1).collect();
            assert_eq!(
                decode(encoding, &pieces, 1 << 20).as_ref(),
                Ok(&text),
                "{name} byte by byte"
            );
        }
    }

    #[test]
    fn what_is_flushed_is_decoded_at_once() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let mut decoder = Decoder::new(Some("gzip"), 100).unwrap().unwrap();
        for text in [&b"data: a\n\n"[..], b"data: b\n\n"] {
            encoder.write_all(text).unwrap();
            encoder.flush().unwrap();
            let sent = std::mem::take(encoder.get_mut());
            assert_eq!(decoder.decode(&sent).unwrap(), text);
        }
    }

    #[test]
    fn damage_and_truncation_are_errors() {
        let text = b"hello hello hello hello".repeat(10);
        let whole = gzip(&text);
        for length in 1..whole.len() {
            assert_eq!(
                decode("gzip", &[&whole[..length]], 999),
                Err(ErrorKind::BodyIncomplete),
                "{length}"
            );
        }
        assert_eq!(
            decode("gzip", &[], 999),
            Ok(Vec::new()),
            "an empty body needs no encoding"
        );
        let mut flipped = whole.clone();
        let sum = flipped.len() - 8;
        flipped[sum] ^= 1;
        assert_eq!(decode("gzip", &[&flipped], 999), Err(ErrorKind::Encoding));
        assert_eq!(decode("gzip", &[b"{\"plain\": 1}"], 999), Err(ErrorKind::Encoding));
        assert_eq!(
            decode("deflate", &[b"\xff\xff\xff\xff\xff"], 999),
            Err(ErrorKind::Encoding)
        );
        let short = zlib(&text);
        assert_eq!(decode("deflate", &[&short[..9]], 999), Err(ErrorKind::BodyIncomplete));
    }

    #[test]
    fn a_bomb_is_refused() {
        let bomb = gzip(&vec![0; 4 << 20]);
        assert_eq!(decode("gzip", &[&bomb], 1 << 20), Err(ErrorKind::BodyTooLarge));
        assert!(decode("gzip", &[&bomb], 4 << 20).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_text_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            flags in any::<u8>(),
            cut in 0usize..300,
        ) {
            let gzip = [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 0], &bytes[..]].concat();
            for (encoding, bytes) in [("gzip", &gzip), ("deflate", &bytes), ("gzip", &bytes)] {
                let (head, tail) = bytes.split_at(cut.min(bytes.len()));
                prop_assert_eq!(decode(encoding, &[head, tail], 4096), decode(encoding, &[bytes], 4096));
            }
        }
    }
}
