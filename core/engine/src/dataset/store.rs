//! Prepared conversations: serialised one after the other in a file without a name, mapped into memory. Nothing is left
//! behind, however the run ends, and the pages can be dropped under memory pressure.

use std::io::{self, BufWriter, Write};

use aiperf_plugin_api::{Conversation, Dataset, PluginError};
use memmap2::Mmap;

use crate::phase::RootTurns;

/// Conversations are asked for in batches of so many.
const BATCH: u32 = 256;

/// Conversations that a run takes: about 1 GB of memory for where they lie and when they are due. It is stated in
/// `docs/plugins/component-specification.md`.
const MOST: u32 = 10_000_000;

/// The dataset can't be prepared.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The plugin failed.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The store can't be written.
    #[error("the dataset store can't be written: {0}; is the folder for temporary files full?")]
    Store(#[from] io::Error),
    /// It does not end, or not soon enough.
    #[error("the dataset has not ended after {0} conversations, which are the most that a run takes; give it fewer")]
    Endless(u32),
    /// There is nothing to send.
    #[error("the dataset has no conversation to start with; check the input")]
    Empty,
    /// A conversation can't be sent.
    #[error("conversation `{0}` has no turns")]
    NoTurns(String),
    /// A conversation needs what the engine can't do yet.
    #[error("conversation `{0}` has {1}, which is not supported yet")]
    NotYet(String, &'static str),
}

/// Prepared conversations.
#[derive(Debug)]
pub struct DatasetStore {
    map: Mmap,
    ends: Vec<u64>,
    roots: RootTurns,
}

impl DatasetStore {
    /// Takes everything that a dataset gives.
    ///
    /// # Errors
    /// When the plugin fails, does not end, or gives nothing that can be sent.
    pub fn build(dataset: &mut dyn Dataset) -> Result<Self, DatasetError> {
        Self::build_of(dataset, MOST)
    }

    fn build_of(dataset: &mut dyn Dataset, most: u32) -> Result<Self, DatasetError> {
        let mut file = BufWriter::new(tempfile::tempfile()?);
        let (mut ends, mut end, mut roots) = (Vec::new(), 0_u64, RootTurns::default());
        loop {
            let batch = dataset.next(BATCH)?;
            if batch.is_empty() {
                break;
            }
            if ends.len() + batch.len() > most as usize {
                return Err(DatasetError::Endless(most));
            }
            for conversation in batch {
                if conversation.turns.is_empty() {
                    return Err(DatasetError::NoTurns(conversation.id));
                }
                if let Some(what) = not_yet(&conversation) {
                    return Err(DatasetError::NotYet(conversation.id, what));
                }
                if conversation.root {
                    roots.conversation.push(u32::try_from(ends.len()).unwrap_or(u32::MAX));
                    roots.turns.push(
                        conversation
                            .turns
                            .iter()
                            .map(|turn| (turn.timestamp_ms, turn.delay_ms))
                            .collect(),
                    );
                }
                let bytes = serde_json::to_vec(&conversation).map_err(io::Error::from)?;
                file.write_all(&bytes)?;
                end += bytes.len() as u64;
                ends.push(end);
            }
        }
        if roots.turns.is_empty() {
            return Err(DatasetError::Empty);
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        // SAFETY: the file has no name and this is its only handle, so nobody else can change or truncate it.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map, ends, roots })
    }

    /// Conversation `index`.
    ///
    /// # Errors
    /// When there is none of that index.
    pub fn conversation(&self, index: u32) -> Result<Conversation, PluginError> {
        let bytes = self
            .bytes(index)
            .ok_or_else(|| PluginError::failed(format!("the dataset has no conversation {index}")))?;
        serde_json::from_slice(bytes).map_err(|error| PluginError::failed(error.to_string()))
    }

    /// Bytes that conversation `index` takes here; 0 if there is none.
    pub fn size(&self, index: u32) -> usize {
        self.bytes(index).map_or(0, <[u8]>::len)
    }

    fn bytes(&self, index: u32) -> Option<&[u8]> {
        let position = index as usize;
        let end = *self.ends.get(position)?;
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.map.get(start as usize..end as usize)
    }

    /// Number of conversations.
    pub fn len(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// There are none; a built store has at least one.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Turn metadata of the roots.
    pub fn roots(&self) -> &RootTurns {
        &self.roots
    }
}

/// What a conversation needs that the engine can't do yet.
fn not_yet(conversation: &Conversation) -> Option<&'static str> {
    let turns = &conversation.turns;
    if !conversation.branches.is_empty() || !conversation.root {
        Some("branches")
    } else if turns.iter().any(|turn| turn.no_request || !turn.after.is_empty()) {
        Some("turns that wait for other conversations")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::{Result, Turn};

    use super::*;

    struct Given(Vec<Conversation>);

    impl Dataset for Given {
        fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
            let count = self.0.len().min(count as usize);
            Ok(self.0.drain(..count).collect())
        }
    }

    #[test]
    fn conversations_come_back_as_they_went_in() {
        let mut all: Vec<Conversation> = (0..600)
            .map(|index| Conversation::new(format!("c{index}"), vec![Turn::text(format!("text {index} \u{1F600}"))]))
            .collect();
        all[7].turns.push(Turn {
            delay_ms: Some(2.5),
            ..Turn::text("more")
        });
        let store = DatasetStore::build(&mut Given(all.clone())).expect("built");
        assert_eq!(store.len(), 600);
        for (index, conversation) in (0..).zip(&all) {
            assert_eq!(store.conversation(index).as_ref(), Ok(conversation));
        }
        assert!(store.conversation(600).is_err());
        assert_eq!(store.roots().conversation.len(), 600);
        assert_eq!(store.roots().turns[7], [(None, None), (None, Some(2.5))]);
    }

    #[test]
    fn a_dataset_without_an_end_is_an_error() {
        struct Endless;
        impl Dataset for Endless {
            fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
                Ok(vec![Conversation::new("again", vec![Turn::text("t")]); count as usize])
            }
        }
        let error = DatasetStore::build_of(&mut Endless, 1_000).expect_err("no end");
        assert!(matches!(error, DatasetError::Endless(1_000)), "{error}");
        let most = vec![Conversation::new("x", vec![Turn::text("t")]); 1_000];
        assert_eq!(
            DatasetStore::build_of(&mut Given(most), 1_000)
                .map(|store| store.len())
                .ok(),
            Some(1_000)
        );
    }

    #[test]
    fn nothing_to_send_is_an_error() {
        assert!(matches!(
            DatasetStore::build(&mut Given(Vec::new())),
            Err(DatasetError::Empty)
        ));
        let child = Conversation {
            root: false,
            ..Conversation::new("x", vec![Turn::text("t")])
        };
        assert!(matches!(DatasetStore::build(&mut Given(vec![child])), Err(DatasetError::NotYet(id, _)) if id == "x"));
        let empty = vec![Conversation::new("x", Vec::new())];
        assert!(matches!(DatasetStore::build(&mut Given(empty)), Err(DatasetError::NoTurns(id)) if id == "x"));
    }
}
