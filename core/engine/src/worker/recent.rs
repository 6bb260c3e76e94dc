//! Conversations that were asked for lately: a dataset that repeats itself is read once, not for every request.

use std::sync::Arc;

use aiperf_plugin_api::{Conversation, PluginError};
use rustc_hash::FxHashMap;

use crate::dataset::DatasetStore;

/// Bytes of conversations that are kept, as the store has them.
const MOST: usize = 4 << 20;

/// The dataset, and what of it has been read.
pub struct Recent {
    store: Arc<DatasetStore>,
    kept: FxHashMap<u32, Arc<Conversation>>,
    bytes: usize,
}

impl Recent {
    /// Nothing of `store` yet.
    pub fn new(store: Arc<DatasetStore>) -> Self {
        Self {
            store,
            kept: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// Conversation `index`.
    ///
    /// # Errors
    /// When there is none of that index.
    pub fn conversation(&mut self, index: u32) -> Result<Arc<Conversation>, PluginError> {
        if let Some(conversation) = self.kept.get(&index) {
            return Ok(conversation.clone());
        }
        let conversation = Arc::new(self.store.conversation(index)?);
        let bytes = self.store.size(index);
        if bytes > MOST {
            return Ok(conversation);
        }
        if self.bytes + bytes > MOST {
            self.kept.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.kept.insert(index, conversation.clone());
        Ok(conversation)
    }
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::{Dataset, Result, Turn};

    use super::*;

    struct Given(Vec<Conversation>);

    impl Dataset for Given {
        fn next(&mut self, _: u32) -> Result<Vec<Conversation>> {
            Ok(std::mem::take(&mut self.0))
        }
    }

    #[test]
    fn what_is_kept_is_what_the_store_has_and_bounded() {
        let conversation = |size: usize| Conversation::new("c", vec![Turn::text("x".repeat(size))]);
        let all: Vec<_> = [1, MOST / 2, MOST / 2, MOST].map(conversation).into();
        let store = Arc::new(DatasetStore::build(&mut Given(all.clone())).expect("built"));
        let mut recent = Recent::new(store.clone());
        for index in [0, 1, 0, 2, 3, 1, 0, 3] {
            let got = recent.conversation(index).expect("there is one");
            assert_eq!(*got, all[index as usize]);
            assert!(recent.bytes <= MOST);
            let kept: usize = recent.kept.keys().map(|&index| store.size(index)).sum();
            assert_eq!(recent.bytes, kept);
        }
        assert!(recent.kept.contains_key(&0), "small ones are kept");
        let (one, other) = (recent.conversation(0), recent.conversation(0));
        assert!(Arc::ptr_eq(&one.expect("kept"), &other.expect("kept")));
        assert!(recent.conversation(4).is_err());
    }
}
