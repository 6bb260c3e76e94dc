//! The tokenizer handle and its loading.

use crate::embedded::{Embedded, Encoding};
use crate::hugging_face::HuggingFace;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Where a tokenizer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An encoding that is part of the binary.
    Embedded(Encoding),
    /// A `tokenizer.json` on this machine.
    HuggingFace {
        /// The `tokenizer.json` itself.
        file: PathBuf,
        /// What the user called it: a model name or the path as typed.
        name: String,
    },
}

/// Turns text into token ids and back. A clone is a pointer copy; all methods may be called from any thread.
///
/// Encoding never adds special tokens (BOS, `[CLS]`, …). Special tokens written out in a text count as the one token
/// they name.
#[derive(Clone)]
pub struct Tokenizer {
    kind: Arc<Kind>,
}

enum Kind {
    Embedded(Embedded),
    HuggingFace(Box<HuggingFace>),
}

impl Tokenizer {
    /// Loads on the calling thread: tens of milliseconds for an embedded encoding, up to a second for a large
    /// `tokenizer.json`.
    ///
    /// # Errors
    /// The file cannot be read or is not a tokenizer.
    pub fn load(source: &Source) -> Result<Self, LoadError> {
        let kind = match source {
            Source::Embedded(encoding) => Kind::Embedded(Embedded::load(*encoding)),
            Source::HuggingFace { file, name } => Kind::HuggingFace(Box::new(HuggingFace::load(file, name)?)),
        };
        Ok(Self { kind: Arc::new(kind) })
    }

    /// Starts loading on a thread of its own, so that the rest of the start-up need not wait.
    pub fn load_in_background(source: Source) -> Pending {
        let for_thread = source.clone();
        let loading = thread::Builder::new()
            .name("tokenizer-load".into())
            .spawn(move || Self::load(&for_thread))
            .ok();
        Pending { source, loading }
    }

    /// Token ids of `text`.
    ///
    /// # Errors
    /// A `tokenizer.json` without a usable unknown token cannot encode every text. Embedded encodings never fail.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizeError> {
        match &*self.kind {
            Kind::Embedded(embedded) => Ok(embedded.encode(text)),
            Kind::HuggingFace(hf) => hf.encode(text).map_err(|reason| self.fail(reason)),
        }
    }

    /// Number of tokens in `text`; cheaper than [`Tokenizer::encode`] where the encoding allows it.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: &str) -> Result<usize, TokenizeError> {
        match &*self.kind {
            Kind::Embedded(embedded) => Ok(embedded.count(text)),
            Kind::HuggingFace(hf) => hf.count(text).map_err(|reason| self.fail(reason)),
        }
    }

    /// Text of `ids`, special tokens written out. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// An id is not in the vocabulary.
    pub fn decode(&self, ids: &[u32]) -> Result<String, TokenizeError> {
        match &*self.kind {
            Kind::Embedded(embedded) => embedded
                .decode(ids)
                .map_err(|id| self.fail(format!("token id {id} is not in the vocabulary"))),
            Kind::HuggingFace(hf) => hf.decode(ids).map_err(|reason| self.fail(reason)),
        }
    }

    /// Size of the vocabulary with special and added tokens. An embedded encoding counts the gaps between its ids, as
    /// tiktoken does: it is the highest id plus one.
    pub fn vocab_size(&self) -> usize {
        match &*self.kind {
            Kind::Embedded(embedded) => embedded.vocab_size(),
            Kind::HuggingFace(hf) => hf.vocab_size(),
        }
    }

    /// Id of the token that starts a sequence, where the tokenizer names one.
    pub fn bos_id(&self) -> Option<u32> {
        match &*self.kind {
            Kind::Embedded(_) => None,
            Kind::HuggingFace(hf) => hf.bos,
        }
    }

    /// Id of the token that ends a sequence, where the tokenizer names one; end-of-text for embedded encodings.
    pub fn eos_id(&self) -> Option<u32> {
        match &*self.kind {
            Kind::Embedded(embedded) => embedded.end_of_text(),
            Kind::HuggingFace(hf) => hf.eos,
        }
    }

    /// How many special tokens a server with this tokenizer puts around a single text.
    pub fn special_tokens_added(&self) -> usize {
        match &*self.kind {
            Kind::Embedded(_) => 0,
            Kind::HuggingFace(hf) => hf.special_tokens_added(),
        }
    }

    /// Encoding name, model name, or the path as the user typed it.
    pub fn name(&self) -> &str {
        match &*self.kind {
            Kind::Embedded(embedded) => embedded.encoding.name(),
            Kind::HuggingFace(hf) => &hf.name,
        }
    }

    /// Whether a blank before a letter always starts a new token, whatever stands before the blank (white space apart):
    /// then tokens on both sides of it can be counted apart. The patterns of the embedded encodings guarantee it.
    pub(crate) fn splits_at_words(&self) -> bool {
        matches!(&*self.kind, Kind::Embedded(_))
    }

    fn fail(&self, reason: String) -> TokenizeError {
        TokenizeError {
            tokenizer: self.name().to_owned(),
            reason,
        }
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// A tokenizer that is being loaded. Dropping it lets the load finish unseen.
#[must_use = "a load that nobody waits for is wasted"]
#[derive(Debug)]
pub struct Pending {
    source: Source,
    loading: Option<JoinHandle<Result<Tokenizer, LoadError>>>,
}

impl Pending {
    /// Blocks until the tokenizer is there. Where no thread could be started, loads now.
    ///
    /// # Errors
    /// As [`Tokenizer::load`].
    pub fn wait(self) -> Result<Tokenizer, LoadError> {
        match self.loading {
            Some(loading) => loading.join().unwrap_or(Err(LoadError::Panicked { what: self.source })),
            None => Tokenizer::load(&self.source),
        }
    }

    /// Whether [`Pending::wait`] would return at once.
    pub fn is_ready(&self) -> bool {
        self.loading.as_ref().is_some_and(JoinHandle::is_finished)
    }
}

/// A tokenizer could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is missing or may not be read.
    #[error("cannot read tokenizer file {file}", file = file.display())]
    Unreadable {
        /// The file in question.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file was read and makes no sense.
    #[error("{file} is not a valid tokenizer file: {reason}", file = file.display())]
    Malformed {
        /// The file in question.
        file: PathBuf,
        /// What the parser said.
        reason: String,
    },
    /// The tokenizer library panicked.
    #[error("the tokenizer library failed while loading {what:?}; this is a defect, please report it")]
    Panicked {
        /// What was being loaded.
        what: Source,
    },
}

/// A text could not be turned into tokens, or ids into text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tokenizer {tokenizer}: {reason}")]
pub struct TokenizeError {
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// What went wrong.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn loads_in_the_background_and_is_shared() {
        let pending = Tokenizer::load_in_background(Source::Embedded(Encoding::O200kBase));
        let tokenizer = pending.wait().unwrap();
        let counts: Vec<_> = thread::scope(|scope| {
            let threads = [(); 4]
                .map(|()| tokenizer.clone())
                .map(|t| scope.spawn(move || t.count("hello world")));
            threads.map(|thread| thread.join().unwrap().unwrap()).to_vec()
        });
        assert_eq!(counts, [2; 4]);
        assert_eq!(tokenizer.name(), "o200k_base");
        assert_eq!((tokenizer.bos_id(), tokenizer.eos_id()), (None, Some(199_999)));
        assert_eq!(tokenizer.special_tokens_added(), 0);
    }

    #[test]
    fn a_background_failure_arrives_at_wait() {
        let source = Source::HuggingFace {
            file: "/nowhere/tokenizer.json".into(),
            name: "x".into(),
        };
        assert!(matches!(
            Tokenizer::load_in_background(source).wait(),
            Err(LoadError::Unreadable { .. })
        ));
    }

    #[test]
    fn failures_name_the_tokenizer() {
        let folder = fixtures::folder(&fixtures::word_level(false));
        let file = folder.path().join("tokenizer.json");
        let tokenizer = Tokenizer::load(&Source::HuggingFace {
            file,
            name: "some/model".into(),
        })
        .unwrap();
        assert!(
            tokenizer
                .count("mars")
                .unwrap_err()
                .to_string()
                .starts_with("tokenizer some/model: ")
        );
        let builtin = Tokenizer::load(&Source::Embedded(Encoding::O200kBase)).unwrap();
        let error = builtin.decode(&[u32::MAX]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tokenizer o200k_base: token id 4294967295 is not in the vocabulary"
        );
    }
}
