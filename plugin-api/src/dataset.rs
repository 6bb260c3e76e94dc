//! Datasets: bytes, or nothing, into conversations; and the order in which conversations are taken.

use crate::{
    Result,
    conversation::{ContextMode, Conversation},
    error::PluginError,
};

contract! {
    /// A look at a source, for finding out who can read it.
    pub struct Sample / SampleAbi {
        /// File names, relative to what the user named; one for a plain file.
        pub files: Vec<String>,
        /// The user named a folder.
        pub folder: bool,
        /// First bytes of the first file (up to 1 MiB), decompressed where it is gzip.
        pub head: Vec<u8>,
    }

    /// Whether a dataset can read a source.
    pub struct Probe / ProbeAbi {
        /// It can.
        pub accepts: bool,
        /// Why, or why not, for the message when several or none accept.
        pub reason: String,
    }

    /// What is known once a source is open.
    pub struct DatasetInfo / DatasetInfoAbi {
        /// Number of conversations, where it is known ahead.
        pub conversations: Option<u64>,
        /// Context mode of conversations that don't say.
        pub context: ContextMode,
        /// It is a trace: timestamps are meant to be replayed.
        pub trace: bool,
        /// Rows that were skipped and why (`3 rows longer than max_isl`).
        pub notes: Vec<String>,
    }
}

/// Bytes of a dataset, provided by the core: plugins never open files.
pub trait Source: Send + Sync {
    /// File names, relative to what the user named.
    fn files(&self) -> Vec<String>;
    /// Length of a file in bytes.
    ///
    /// # Errors
    /// When it can't be read.
    fn len(&self, file: u32) -> Result<u64>;
    /// Up to `length` bytes at `offset`; fewer only at the end.
    ///
    /// # Errors
    /// When it can't be read.
    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>>;
}

/// A source of nothing, for generated datasets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSource;

impl Source for NoSource {
    fn files(&self) -> Vec<String> {
        Vec::new()
    }
    fn len(&self, _: u32) -> Result<u64> {
        Err(PluginError::input("this dataset has no files"))
    }
    fn read(&self, _: u32, _: u64, _: u32) -> Result<Vec<u8>> {
        Err(PluginError::input("this dataset has no files"))
    }
}

/// A dataset. Entries whose metadata says `kind: sampler` provide [`Dataset::order`] alone, the others the rest.
pub trait Dataset: Send {
    /// Whether it can read a source. Cheap; looks only at the sample.
    ///
    /// # Errors
    /// Only when the plugin itself is at fault; "no" is an answer.
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        let _ = sample;
        Err(PluginError::unsupported("probe"))
    }

    /// Opens a source.
    ///
    /// # Errors
    /// With file and line where a row is malformed, if the plugin checks rows ahead.
    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        let _ = source;
        Err(PluginError::unsupported("open"))
    }

    /// Up to `count` more conversations; none at the end.
    ///
    /// # Errors
    /// With file and line where a row is malformed.
    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let _ = count;
        Err(PluginError::unsupported("next"))
    }

    /// Samplers: the order of pass `pass` over `conversations` roots, as indices. Pure: the same pass gives the same order.
    ///
    /// # Errors
    /// When the entry is no sampler.
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        let _ = (conversations, pass);
        Err(PluginError::unsupported("order"))
    }
}
