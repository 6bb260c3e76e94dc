//! Header lines of a request.

/// Header lines in the order and letter case in which they are written. One that can't be sent is found out when the
/// request is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    lines: String,
    /// The first that can't.
    refused: Option<Box<RequestError>>,
}

impl Headers {
    /// Adds a line.
    pub fn push(&mut self, name: &str, value: &str) {
        match check(name, value) {
            Ok(()) => {
                for part in [name, ": ", value, "\r\n"] {
                    self.lines.push_str(part);
                }
            }
            Err(error) => {
                self.refused.get_or_insert_with(|| Box::new(error));
            }
        }
    }

    /// Names and values, but for those that can't be sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.lines.split_terminator("\r\n");
        lines.filter_map(|line| line.split_once(": "))
    }

    /// The lines, each with its end.
    pub(crate) fn lines(&self) -> Result<&str, RequestError> {
        match &self.refused {
            None => Ok(&self.lines),
            Some(error) => Err((**error).clone()),
        }
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Headers {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(all: T) -> Self {
        // Room for what most requests have.
        let mut headers = Self {
            lines: String::with_capacity(384),
            refused: None,
        };
        headers.extend(all);
        headers
    }
}

impl<'a> Extend<(&'a str, &'a str)> for Headers {
    fn extend<T: IntoIterator<Item = (&'a str, &'a str)>>(&mut self, all: T) {
        all.into_iter().for_each(|(name, value)| self.push(name, value));
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
            let headers: Headers = [("before", "b"), header, ("after", "a")].into_iter().collect();
            assert_eq!(headers.lines(), Err(expected), "{header:?}");
        }
        for allowed in ["tab\there", "ümlaut", "=;,\"", ""] {
            let headers: Headers = [("x", allowed), ("y", "a: b")].into_iter().collect();
            assert_eq!(headers.lines(), Ok(&*format!("x: {allowed}\r\ny: a: b\r\n")));
            assert_eq!(headers.iter().collect::<Vec<_>>(), [("x", allowed), ("y", "a: b")]);
        }
    }
}
