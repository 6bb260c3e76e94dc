//! A host and a source for the tests.

use std::sync::Arc;

use aiperf_sdk::{
    Conversation, Dataset, Host, Package, PluginError, Result, Source, dataset::Sample, host::LogLevel, package::Open,
};

/// A host whose prompts are `tokens` words, and whose seeds depend on the name.
pub(crate) struct TestHost(u64);

impl TestHost {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }
}

impl Host for TestHost {
    fn log(&self, _: LogLevel, _: &str) {}

    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        assert_eq!(stream, "dataset.prompt.corpus");
        Ok(vec!["word"; tokens as usize].join(" "))
    }

    fn seed(&self, stream: &str) -> u64 {
        let bytes = stream.bytes().map(u64::from);
        bytes.fold(self.0, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte))
    }
}

/// A file `rows.jsonl` that gives at most `piece` bytes at once.
pub(crate) struct TestSource {
    bytes: Vec<u8>,
    piece: usize,
}

impl TestSource {
    pub(crate) fn text(text: &str) -> Box<dyn Source> {
        Self::in_pieces(text.as_bytes(), usize::MAX)
    }

    pub(crate) fn in_pieces(bytes: &[u8], piece: usize) -> Box<dyn Source> {
        Box::new(Self {
            bytes: bytes.to_vec(),
            piece,
        })
    }
}

impl Source for TestSource {
    fn files(&self) -> Vec<String> {
        vec!["rows.jsonl".to_owned()]
    }

    fn len(&self, _: u32) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        if file != 0 {
            return Err(PluginError::input("no such file"));
        }
        let from = (offset as usize).min(self.bytes.len());
        let to = from
            .saturating_add((length as usize).min(self.piece))
            .min(self.bytes.len());
        Ok(self.bytes[from..to].to_vec())
    }
}

/// A dataset of this package to which the core passes `core`.
pub(crate) fn dataset(entry: &str, core: &str) -> Result<Box<dyn Dataset>> {
    dataset_with(entry, "", core)
}

/// A dataset of this package with options of the user.
pub(crate) fn dataset_with(entry: &str, options: &str, core: &str) -> Result<Box<dyn Dataset>> {
    crate::BuiltIn::dataset(Open {
        entry: entry.to_owned(),
        options: options.to_owned(),
        core: core.to_owned(),
        host: Arc::new(TestHost::seeded(42)),
    })
}

/// All conversations of a file, taken three at a time.
pub(crate) fn read(entry: &str, core: &str, text: &str) -> Result<Vec<Conversation>> {
    let mut dataset = dataset(entry, core)?;
    let info = dataset.open(TestSource::text(text))?;
    let all = take_all(&mut *dataset)?;
    assert_eq!(info.conversations, Some(all.len() as u64));
    Ok(all)
}

/// What a dataset still has, taken three at a time.
pub(crate) fn take_all(dataset: &mut dyn Dataset) -> Result<Vec<Conversation>> {
    let mut all = Vec::new();
    loop {
        let some = dataset.next(3)?;
        if some.is_empty() {
            return Ok(all);
        }
        assert!(some.len() <= 3);
        all.extend(some);
    }
}

/// Whether a dataset accepts a file that begins so, and why.
pub(crate) fn probe(entry: &str, head: &str) -> (bool, String) {
    let sample = Sample {
        files: vec!["rows.jsonl".to_owned()],
        folder: false,
        head: head.as_bytes().to_vec(),
    };
    let probe = dataset(entry, "").unwrap().probe(&sample).unwrap();
    (probe.accepts, probe.reason)
}
