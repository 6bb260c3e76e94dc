//! Files in memory for tests of datasets.

use aiperf_plugin_api::{Conversation, Dataset, PluginError, Result, Source, dataset::Sample};

/// Conversations taken from a dataset per call of [`Dataset::next`].
const BATCH: u32 = 3;

/// The core shows so many bytes of the first file to [`Dataset::probe`].
const HEAD: usize = 1 << 20;

/// Files in memory: name and content.
///
/// ```
/// use aiperf_sdk::{Source, testing};
///
/// let source = testing::source([("a.log", "one\ntwo\n")]);
/// assert_eq!(source.files(), ["a.log"]);
/// assert_eq!(source.read(0, 4, 100)?, b"two\n");
/// # Ok::<(), aiperf_sdk::PluginError>(())
/// ```
pub fn source<N: Into<String>, C: Into<Vec<u8>>>(files: impl IntoIterator<Item = (N, C)>) -> Box<dyn Source> {
    source_in_pieces(files, usize::MAX)
}

/// Files in memory that give at most `piece` bytes per read, at least one: a reader that takes a short read for the end,
/// or cuts a line where a read ends, is found out by a small piece. (The core gives fewer bytes than asked for only at the
/// end; a plugin that does not rely on it is the sturdier one.)
pub fn source_in_pieces<N: Into<String>, C: Into<Vec<u8>>>(
    files: impl IntoIterator<Item = (N, C)>,
    piece: usize,
) -> Box<dyn Source> {
    Box::new(Files {
        files: files
            .into_iter()
            .map(|(name, content)| (name.into(), content.into()))
            .collect(),
        piece: piece.max(1),
    })
}

/// The sample of files that [`Dataset::probe`] sees.
///
/// ```
/// use aiperf_sdk::testing;
///
/// let sample = testing::sample([("a.log", "one\n")]);
/// assert_eq!(sample.head, b"one\n");
/// ```
pub fn sample<N: Into<String>, C: Into<Vec<u8>>>(files: impl IntoIterator<Item = (N, C)>) -> Sample {
    let (mut names, mut head) = (Vec::new(), None);
    for (name, content) in files {
        names.push(name.into());
        head.get_or_insert_with(|| content.into());
    }
    let mut head = head.unwrap_or_default();
    head.truncate(HEAD);
    Sample {
        folder: names.len() > 1,
        files: names,
        head,
    }
}

/// Opens a source and takes every conversation, a few at a time.
///
/// # Errors
/// Those of the dataset; more conversations than asked for; a number of conversations that was announced and is wrong; a
/// conversation without turns; two of one identity.
pub fn conversations(dataset: &mut dyn Dataset, source: Box<dyn Source>) -> Result<Vec<Conversation>> {
    let info = dataset.open(source)?;
    let mut all: Vec<Conversation> = Vec::new();
    loop {
        let some = dataset.next(BATCH)?;
        if some.is_empty() {
            break;
        }
        if some.len() > BATCH as usize {
            return Err(PluginError::failed(format!(
                "{} conversations came where {BATCH} were asked for",
                some.len()
            )));
        }
        for conversation in some {
            if conversation.turns.is_empty() {
                let id = &conversation.id;
                return Err(PluginError::failed(format!("conversation `{id}` has no turns")));
            }
            if all.iter().any(|known| known.id == conversation.id) {
                let id = &conversation.id;
                return Err(PluginError::failed(format!("two conversations are called `{id}`")));
            }
            all.push(conversation);
        }
    }
    match info.conversations {
        Some(announced) if announced != all.len() as u64 => Err(PluginError::failed(format!(
            "{announced} conversations were announced and {} came",
            all.len()
        ))),
        _ => Ok(all),
    }
}

struct Files {
    files: Vec<(String, Vec<u8>)>,
    piece: usize,
}

impl Files {
    fn content(&self, file: u32) -> Result<&[u8]> {
        let found = self.files.get(file as usize);
        found
            .map(|(_, content)| content.as_slice())
            .ok_or_else(|| PluginError::input(format!("there is no file {file}")))
    }
}

impl Source for Files {
    fn files(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    fn len(&self, file: u32) -> Result<u64> {
        Ok(self.content(file)?.len() as u64)
    }

    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        let content = self.content(file)?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let to = from
            .saturating_add((length as usize).min(self.piece))
            .min(content.len());
        Ok(content[from..to].to_vec())
    }
}
