//! The lines of a file. A log may be larger than memory, so it is read in pieces.

use aiperf_sdk::prelude::*;

/// Bytes asked for at once.
const PIECE: u32 = 64 * 1024;

/// The lines of a file, numbered from 1.
pub struct Lines {
    source: Box<dyn Source>,
    file: u32,
    name: String,
    /// What has been read and not given out, from `position` on.
    buffer: Vec<u8>,
    position: usize,
    offset: u64,
    number: u64,
    at_end: bool,
}

impl Lines {
    /// The lines of a source's only file.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn open(source: Box<dyn Source>) -> Result<Self> {
        let files = source.files();
        let [name] = files.as_slice() else {
            return Err(PluginError::input(format!(
                "one log is needed, not {} files",
                files.len()
            )));
        };
        Ok(Self {
            name: name.clone(),
            source,
            file: 0,
            buffer: Vec::new(),
            position: 0,
            offset: 0,
            number: 0,
            at_end: false,
        })
    }

    /// An error at the line that was given out last.
    pub fn error(&self, message: &str) -> PluginError {
        PluginError::input(format!("{}:{}: {message}", self.name, self.number))
    }

    /// The next line without its end; `None` behind the last one.
    ///
    /// # Errors
    /// When the file can't be read, or the line is no UTF-8.
    pub fn next_line(&mut self) -> Result<Option<String>> {
        let mut searched = self.position;
        let end = loop {
            if let Some(length) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                break searched + length;
            }
            if self.at_end {
                break self.buffer.len();
            }
            searched = self.buffer.len() - self.position;
            self.buffer.drain(..self.position);
            self.position = 0;
            let piece = self.source.read(self.file, self.offset, PIECE)?;
            self.at_end = piece.is_empty();
            self.offset += piece.len() as u64;
            self.buffer.extend(piece);
        };
        if end == self.buffer.len() && self.position == end {
            return Ok(None);
        }
        self.number += 1;
        let line = self.buffer[self.position..end].to_vec();
        self.position = (end + 1).min(self.buffer.len());
        let mut line = String::from_utf8(line).map_err(|_| self.error("the line is no UTF-8"))?;
        if line.ends_with('\r') {
            line.pop();
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing;

    fn read(text: &[u8], piece: usize) -> Result<Vec<String>> {
        let mut lines = Lines::open(testing::source_in_pieces([("a.log", text)], piece))?;
        let mut all = Vec::new();
        while let Some(line) = lines.next_line()? {
            all.push(line);
        }
        Ok(all)
    }

    #[test]
    fn lines_are_the_same_in_pieces_of_any_size() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("\n", &[""]),
            ("ä\r\n\nbc\ndef", &["ä", "", "bc", "def"]),
        ] {
            for piece in [1, 2, 3, 100] {
                assert_eq!(
                    read(text.as_bytes(), piece).unwrap(),
                    expected,
                    "{text:?} in pieces of {piece}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_text_is_an_error_with_its_line() {
        let error = read(b"a\n\xff\nb", 2).unwrap_err();
        assert!(error.message.starts_with("a.log:2: "), "{error}");
        let two = testing::source([("a", ""), ("b", "")]);
        assert!(Lines::open(two).err().unwrap().message.contains("2 files"));
    }
}
