//! Files in memory.

use aiperf_sdk::{PluginError, Result, Source};

use crate::suite::File;

/// The message of a read that fails on purpose.
pub(super) const BROKEN: &str = "conformance: the disk is broken";

/// Files in memory, read in pieces.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    files: Vec<File>,
    /// Bytes that a read gives at most.
    piece: usize,
    /// Reads that touch this byte or one behind it fail.
    broken_at: Option<u64>,
}

impl Memory {
    /// Files that are read as asked for.
    pub(super) fn new(files: Vec<File>) -> Self {
        Self {
            files,
            piece: usize::MAX,
            broken_at: None,
        }
    }

    /// One file.
    pub(super) fn file(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(vec![File {
            name: name.to_owned(),
            bytes: bytes.into(),
        }])
    }

    /// Reads give so many bytes at most.
    pub(super) fn in_pieces(mut self, piece: usize) -> Self {
        self.piece = piece;
        self
    }

    /// Reads from this byte on fail.
    pub(super) fn broken_at(mut self, byte: u64) -> Self {
        self.broken_at = Some(byte);
        self
    }

    fn bytes(&self, file: u32) -> Result<&[u8]> {
        let file = self
            .files
            .get(file as usize)
            .ok_or_else(|| PluginError::input(format!("there is no file {file}")))?;
        Ok(&file.bytes)
    }
}

impl Source for Memory {
    fn files(&self) -> Vec<String> {
        self.files.iter().map(|file| file.name.clone()).collect()
    }

    fn len(&self, file: u32) -> Result<u64> {
        Ok(self.bytes(file)?.len() as u64)
    }

    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        let bytes = self.bytes(file)?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let to = from.saturating_add((length as usize).min(self.piece)).min(bytes.len());
        if self.broken_at.is_some_and(|broken| to as u64 > broken) {
            return Err(PluginError::failed(BROKEN));
        }
        Ok(bytes[from..to].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_give_what_there_is() {
        let source = Memory::file("a", "hello");
        assert_eq!((source.files(), source.len(0)), (vec!["a".to_owned()], Ok(5)));
        assert_eq!(source.read(0, 1, 3).unwrap(), b"ell");
        assert_eq!(source.read(0, 3, 100).unwrap(), b"lo");
        assert_eq!(source.read(0, u64::MAX, u32::MAX).unwrap(), b"");
        assert!(source.read(1, 0, 1).is_err() && source.len(1).is_err());
        assert_eq!(source.clone().in_pieces(2).read(0, 0, 100).unwrap(), b"he");
        let broken = source.broken_at(3);
        assert_eq!(broken.read(0, 0, 3).unwrap(), b"hel");
        assert_eq!(broken.read(0, 0, 4).unwrap_err().message, BROKEN);
    }
}
