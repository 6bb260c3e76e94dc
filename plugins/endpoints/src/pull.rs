//! JSON read value by value: one pass over a text, from which everything is borrowed.
//!
//! Events are short and many, and a parser for any type spends most of its time on what these few shapes do not need. What
//! is rare (escapes, fractions, nested values that nobody asked for) is left to `serde_json`, so that there is one opinion
//! on what is JSON.

use std::{borrow::Cow, ops::Range};

use serde::de::IgnoredAny;

use crate::form::Gap;

/// Levels of objects and lists that are read; what is skipped may be deeper.
const DEEPEST: u8 = 127;

/// A text that is not JSON, or says something that no number or string can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

/// What reading gives.
pub(crate) type Read<T> = Result<T, NotJson>;

/// A type that is read from some kinds of JSON values and absent for the others.
pub(crate) trait Lenient<'de>: Default {
    /// From a string.
    fn from_text(_: Cow<'de, str>) -> Self {
        Self::default()
    }
    /// From an integer that is not negative.
    fn from_count(_: u64) -> Self {
        Self::default()
    }
    /// From another number.
    fn from_number(_: f64) -> Self {
        Self::default()
    }
    /// From a list, which must be read or skipped.
    fn from_list(json: &mut Pull<'de>) -> Read<Self> {
        json.skip()?;
        Ok(Self::default())
    }
    /// From an object, which must be read or skipped.
    fn from_object(json: &mut Pull<'de>) -> Read<Self> {
        json.skip()?;
        Ok(Self::default())
    }
    /// From whatever comes next.
    fn from_value(json: &mut Pull<'de>) -> Read<Self> {
        match json.peek().ok_or(NotJson)? {
            b'"' => json.string().map(Self::from_text),
            b'{' => Self::from_object(json),
            b'[' => Self::from_list(json),
            b'-' | b'0'..=b'9' => {
                let digits = json.number();
                match count(digits) {
                    Some(count) => Ok(Self::from_count(count)),
                    None => serde_json::from_str(digits).map(Self::from_number).map_err(|_| NotJson),
                }
            }
            _ => json.literal().map(|()| Self::default()),
        }
    }
}

/// A JSON text, read as far as `at`.
#[derive(Debug)]
pub(crate) struct Pull<'de> {
    text: &'de str,
    at: usize,
    depth: u8,
    /// It has no escapes and no control characters: a string ends with the next quote.
    plain: bool,
    /// What was skipped and could have been another string or number.
    gaps: Vec<(Range<usize>, Gap)>,
}

impl<'de> Pull<'de> {
    /// A text at its beginning.
    pub(crate) fn new(text: &'de str) -> Self {
        let plain = |byte: u8| byte >= b' ' && byte != b'\\';
        Self {
            text,
            at: 0,
            depth: 0,
            plain: text.bytes().fold(true, |all, byte| all & plain(byte)),
            gaps: Vec::new(),
        }
    }

    /// Reads the one value that a text is.
    pub(crate) fn whole<T: Lenient<'de>>(&mut self) -> Read<T> {
        let value = self.value()?;
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(NotJson),
        }
    }

    /// How far the text has been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The insides of strings and the numbers that were skipped so far.
    pub(crate) fn into_gaps(self) -> Vec<(Range<usize>, Gap)> {
        self.gaps
    }

    /// Reads something that is no place for gaps; with it, where it is. Nothing but blanks may be before it.
    pub(crate) fn without_gaps<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<(T, Range<usize>)> {
        self.peek();
        let (start, gaps) = (self.at, self.gaps.len());
        let value = read(self)?;
        self.gaps.truncate(gaps);
        Ok((value, start..self.at))
    }

    /// Reads an object: `field` is given each name, and must read or skip the value.
    pub(crate) fn object(&mut self, mut field: impl FnMut(&mut Self, &[u8]) -> Read<()>) -> Read<()> {
        self.enter()?;
        if self.peek() == Some(b'}') {
            return self.leave();
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(NotJson);
            }
            let (quoted, plain) = self.quoted()?;
            if self.peek() != Some(b':') {
                return Err(NotJson);
            }
            self.at += 1;
            if plain {
                field(self, quoted.get(1..quoted.len() - 1).ok_or(NotJson)?)?;
            } else {
                field(self, unescaped(quoted)?.as_bytes())?;
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => return self.leave(),
                _ => return Err(NotJson),
            }
        }
    }

    /// Reads a list: `item` must read or skip each.
    pub(crate) fn list(&mut self, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.enter()?;
        if self.peek() == Some(b']') {
            return self.leave();
        }
        loop {
            item(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => return self.leave(),
                _ => return Err(NotJson),
            }
        }
    }

    /// Reads a value.
    pub(crate) fn value<T: Lenient<'de>>(&mut self) -> Read<T> {
        T::from_value(self)
    }

    /// The text of a value.
    pub(crate) fn raw(&mut self) -> Read<&'de str> {
        let ((), place) = self.without_gaps(Self::skip)?;
        self.text.get(place).ok_or(NotJson)
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Read<()> {
        match self.peek().ok_or(NotJson)? {
            b'"' => {
                let start = self.at + 1;
                let (quoted, plain) = self.quoted()?;
                if !plain {
                    return ignored(quoted);
                }
                self.gaps.push((start..self.at - 1, Gap::String));
                Ok(())
            }
            b'{' | b'[' => {
                let rest = self.text.get(self.at..).ok_or(NotJson)?;
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
                let Some(Ok(_)) = values.next() else {
                    return Err(NotJson);
                };
                self.at += values.byte_offset();
                Ok(())
            }
            b'-' | b'0'..=b'9' => {
                let start = self.at;
                if !is_number(self.number().as_bytes()) {
                    return Err(NotJson);
                }
                self.gaps.push((start..self.at, Gap::Number));
                Ok(())
            }
            _ => self.literal(),
        }
    }

    /// The first byte behind blanks.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn enter(&mut self) -> Read<()> {
        if self.depth == DEEPEST {
            return Err(NotJson);
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) -> Read<()> {
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Read<Cow<'de, str>> {
        let start = self.at + 1;
        let (quoted, plain) = self.quoted()?;
        if !plain {
            return unescaped(quoted).map(Cow::Owned);
        }
        self.text.get(start..self.at - 1).map(Cow::Borrowed).ok_or(NotJson)
    }

    /// A string with its quotes, and whether it is without escapes, which are not looked at.
    #[inline]
    fn quoted(&mut self) -> Read<(&'de [u8], bool)> {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let (mut end, mut plain) = (start + 1, true);
        if self.plain {
            end += length_before_quote(bytes.get(end..).ok_or(NotJson)?);
        } else {
            loop {
                end += plain_length(bytes.get(end..).ok_or(NotJson)?);
                if bytes.get(end) != Some(&b'\\') {
                    break;
                }
                plain = false;
                end += 2;
            }
        }
        if bytes.get(end) != Some(&b'"') {
            return Err(NotJson);
        }
        self.at = end + 1;
        Ok((bytes.get(start..self.at).ok_or(NotJson)?, plain))
    }

    /// What looks like a number.
    fn number(&mut self) -> &'de str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = number_length(rest.as_bytes());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Skips `null`, `true` or `false`.
    fn literal(&mut self) -> Read<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let word = ["null", "true", "false"];
        let word = word.iter().find(|word| rest.starts_with(word.as_bytes()));
        self.at += word.ok_or(NotJson)?.len();
        Ok(())
    }
}

/// Bytes before the first one that is of no number.
#[inline]
pub(crate) fn number_length(bytes: &[u8]) -> usize {
    let of_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    bytes.iter().take_while(of_number).count()
}

/// Whether these bytes are a number.
#[inline]
pub(crate) fn is_number(bytes: &[u8]) -> bool {
    let digits = bytes.iter().all(u8::is_ascii_digit);
    match bytes {
        [] | [b'0', _, ..] => false,
        _ => digits || ignored(bytes).is_ok(),
    }
}

/// The value of a number that is plainly a count.
fn count(digits: &str) -> Option<u64> {
    let canonical = !digits.starts_with('0') || digits.len() == 1;
    digits.parse().ok().filter(|_| canonical)
}

/// Leaves it to `serde_json` whether a text is a value.
#[cold]
fn ignored(text: &[u8]) -> Read<()> {
    serde_json::from_slice::<IgnoredAny>(text)
        .map(|_| ())
        .map_err(|_| NotJson)
}

#[cold]
fn unescaped(quoted: &[u8]) -> Read<String> {
    serde_json::from_slice(quoted).map_err(|_| NotJson)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks the bytes of a word that are below a limit. Behind a marked byte others may be marked wrongly, but the first is right.
#[inline]
fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH
}

/// Marks the bytes of a word that are a given one, in the same way.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// Bytes before the first quote.
#[inline]
fn length_before_quote(bytes: &[u8]) -> usize {
    length_before(bytes, |word| equal(word, b'"'), |byte| byte == b'"')
}

/// Bytes before the first one that is marked in its word, or found in the rest.
#[inline]
fn length_before(bytes: &[u8], marked: impl Fn(u64) -> u64, found: impl Fn(u8) -> bool) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let marks = marked(u64::from_le_bytes(*word));
        if marks != 0 {
            return length + marks.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + rest.iter().position(|&byte| found(byte)).unwrap_or(rest.len())
}

/// Bytes before the first one that a JSON string cannot hold as it is: a quote, an escape or a control character.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let marked = |word| below(word, b' ') | equal(word, b'"') | equal(word, b'\\');
    length_before(bytes, marked, |byte| matches!(byte, b'"' | b'\\' | 0..b' '))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn whole<'de, T: Lenient<'de>>(text: &'de str) -> Read<T> {
        Pull::new(text).whole()
    }

    /// A value as this module reads it, all of it.
    #[derive(Debug, Default, PartialEq)]
    struct Whole(Value);

    impl<'de> Lenient<'de> for Whole {
        fn from_text(text: Cow<'de, str>) -> Self {
            Self(text.into())
        }
        fn from_count(count: u64) -> Self {
            Self(count.into())
        }
        fn from_number(number: f64) -> Self {
            Self(number.into())
        }
        fn from_list(json: &mut Pull<'de>) -> Read<Self> {
            let mut items = Vec::new();
            json.list(|json| {
                items.push(json.value::<Self>()?.0);
                Ok(())
            })?;
            Ok(Self(items.into()))
        }
        fn from_object(json: &mut Pull<'de>) -> Read<Self> {
            let mut fields = serde_json::Map::new();
            json.object(|json, name| {
                fields.insert(String::from_utf8_lossy(name).into_owned(), json.value::<Self>()?.0);
                Ok(())
            })?;
            Ok(Self(fields.into()))
        }
    }

    /// A value that is skipped.
    #[derive(Debug, Default, PartialEq)]
    struct Skipped;

    impl<'de> Lenient<'de> for Skipped {
        fn from_value(json: &mut Pull<'de>) -> Read<Self> {
            json.skip().map(|()| Self)
        }
    }

    /// What `serde_json` reads: flags are absent, and integers below zero are numbers like others.
    fn expected(text: &str) -> Option<Value> {
        fn lenient(value: Value) -> Value {
            match value {
                Value::Bool(_) => Value::Null,
                Value::Number(number) if number.as_u64().is_none() => number.as_f64().into(),
                Value::Array(items) => items.into_iter().map(lenient).collect(),
                Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, lenient(value))).collect(),
                other => other,
            }
        }
        serde_json::from_str(text).ok().map(lenient)
    }

    fn agree(text: &str) {
        assert_eq!(whole::<Whole>(text).ok().map(|whole| whole.0), expected(text), "{text}");
        let skipped = serde_json::from_str::<IgnoredAny>(text).map(|_| Skipped);
        assert_eq!(whole::<Skipped>(text).ok(), skipped.ok(), "{text}");
    }

    #[test]
    fn what_is_json_and_what_it_says() {
        for text in [
            "",
            " ",
            "null",
            "nul",
            "nulll",
            "true ",
            " false",
            "tru",
            "0",
            "00",
            "01",
            "-0",
            "-",
            "+1",
            "1.",
            "1.5",
            ".5",
            "1e3",
            "1E+3",
            "1e",
            "1e400",
            "18446744073709551615",
            "18446744073709551616",
            "-7",
            "1 2",
            "\"\"",
            "\"",
            "\"a",
            "\"a\\\"b\"",
            "\"\\u00e9\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\\",
            "\"\\\"",
            "\"é\\é\"",
            "\"a\nb\"",
            "\"12345678\u{1}\"",
            "[]",
            "[ ]",
            "[1,]",
            "[,1]",
            "[1 , 2]",
            "[1",
            "[1}",
            "{}",
            "{ }",
            "{\"a\":1}",
            "{\"a\" : 1 , \"b\" : []}",
            "{\"a\":1,}",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1]",
            "{\"a\\n\":1}",
            "{\"a\":1,\"a\":2}",
            "{1:2}",
            "é",
        ] {
            agree(text);
        }
    }

    #[test]
    fn depth_is_bounded_where_it_is_read() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        agree(&nested(127));
        assert_eq!(whole::<Whole>(&nested(128)), Err(NotJson));
        assert_eq!(whole::<Skipped>(&nested(100_000)), Ok(Skipped));
    }

    #[test]
    fn raw_values_come_without_blanks() {
        #[derive(Debug, Default)]
        struct Raw<'a>(&'a str);
        impl<'de> Lenient<'de> for Raw<'de> {
            fn from_value(json: &mut Pull<'de>) -> Read<Self> {
                json.raw().map(Self)
            }
        }
        assert_eq!(
            whole::<Raw<'_>>(" { \"a\": [1, 2] } ").map(|raw| raw.0),
            Ok("{ \"a\": [1, 2] }")
        );
    }

    proptest! {
        #[test]
        fn agrees_with_a_general_parser(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ":", ",", "\"", "\\", "\\\"", "\\u0041", "a", "\"a\"", "\"b\":", " ", "\n", "0", "1", "-",
                    ".", "e", "1.5", "null", "true", "é", "{\"a\":", "[1,", "12345678901234567890",
                ]),
                0..16,
            ),
        ) {
            agree(&parts.concat());
        }

        #[test]
        fn plain_bytes_are_counted_as_one_by_one(text in "[a\"\\\\\u{0}-\u{21}\u{7f}-\u{ff}]{0,40}", clean in "[a-zé ]{0,30}") {
            let bytes = (clean + &text).into_bytes();
            let expected = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            prop_assert_eq!(plain_length(&bytes), expected.unwrap_or(bytes.len()));
        }
    }
}
