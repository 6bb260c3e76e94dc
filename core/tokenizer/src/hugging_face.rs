//! A Hugging Face `tokenizer.json`, with the names of its BOS and EOS tokens from the files beside it.

use crate::tokenizer::LoadError;
use serde_json::Value;
use std::path::Path;
use tokenizers::PostProcessor as _;

pub(crate) struct HuggingFace {
    pub(crate) name: String,
    tokenizer: tokenizers::Tokenizer,
    pub(crate) bos: Option<u32>,
    pub(crate) eos: Option<u32>,
}

impl HuggingFace {
    pub(crate) fn load(file: &Path, name: &str) -> Result<Self, LoadError> {
        let malformed = |reason: String| LoadError::Malformed {
            file: file.to_owned(),
            reason,
        };
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(read(file)?).map_err(|e| malformed(e.to_string()))?;
        // Files saved for embedding models cut or pad every text to a fixed length: fatal for a token counter.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| malformed(e.to_string()))?;
        let folder = file.parent().unwrap_or(Path::new("."));
        let [bos, eos] = special_token_names(folder)?.map(|token| token.and_then(|t| tokenizer.token_to_id(&t)));
        Ok(Self {
            name: name.to_owned(),
            tokenizer,
            bos,
            eos,
        })
    }

    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>, String> {
        // `encode_fast` leaves out character offsets, which nothing here reads.
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|e| e.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }

    pub(crate) fn count(&self, text: &str) -> Result<usize, String> {
        self.tokenizer
            .encode_fast(text, false)
            .map(|encoding| encoding.len())
            .map_err(|e| e.to_string())
    }

    pub(crate) fn decode(&self, ids: &[u32]) -> Result<String, String> {
        // The library drops unknown ids without a word.
        if let Some(id) = ids.iter().find(|id| self.tokenizer.id_to_token(**id).is_none()) {
            return Err(format!("token id {id} is not in the vocabulary"));
        }
        self.tokenizer.decode(ids, false).map_err(|e| e.to_string())
    }

    pub(crate) fn vocab_size(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    pub(crate) fn special_tokens_added(&self) -> usize {
        self.tokenizer
            .get_post_processor()
            .map_or(0, |post_processor| post_processor.added_tokens(false))
    }
}

/// BOS and EOS as `tokenizer_config.json` names them, else `special_tokens_map.json`. Both files are optional.
fn special_token_names(folder: &Path) -> Result<[Option<String>; 2], LoadError> {
    let mut names = [None, None];
    for file in ["tokenizer_config.json", "special_tokens_map.json"].map(|file| folder.join(file)) {
        if !file.is_file() {
            continue;
        }
        let config: Value = serde_json::from_slice(&read(&file)?).map_err(|e| LoadError::Malformed {
            file: file.clone(),
            reason: e.to_string(),
        })?;
        for (name, key) in names.iter_mut().zip(["bos_token", "eos_token"]) {
            if name.is_none() {
                // Either the bare text or an object that describes the token.
                let token = config.get(key).map(|token| token.get("content").unwrap_or(token));
                *name = token.and_then(Value::as_str).map(str::to_owned);
            }
        }
    }
    Ok(names)
}

fn read(file: &Path) -> Result<Vec<u8>, LoadError> {
    std::fs::read(file).map_err(|source| LoadError::Unreadable {
        file: file.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, byte_level, unigram_across_words, word_level};
    use serde_json::json;
    use tempfile::TempDir;

    fn load(folder: &TempDir) -> Result<HuggingFace, LoadError> {
        HuggingFace::load(&folder.path().join("tokenizer.json"), "some/model")
    }

    #[test]
    fn counts_words_without_special_tokens_truncation_or_padding() {
        let tokenizer = load(&fixtures::folder(&word_level(true))).unwrap();
        let cases: &[(&str, &[u32])] = &[
            ("", &[]),
            ("Hello", &[2]),
            ("hello world!", &[2, 3, 4]),
            ("hello hello hello hello hello WORLD", &[2, 2, 2, 2, 2, 3]),
            ("hello mars", &[2, 5]),
            // Written out, a special token is one.
            ("hello[SEP]world", &[2, 1, 3]),
        ];
        for (text, ids) in cases {
            assert_eq!(tokenizer.encode(text).unwrap(), *ids, "{text}");
            assert_eq!(tokenizer.count(text).unwrap(), ids.len(), "{text}");
        }
        assert_eq!(tokenizer.special_tokens_added(), 2);
        assert_eq!(tokenizer.vocab_size(), 6);
    }

    #[test]
    fn decoding_keeps_special_tokens_and_refuses_unknown_ids() {
        let tokenizer = load(&fixtures::folder(&word_level(true))).unwrap();
        assert_eq!(tokenizer.decode(&[0, 2, 3, 1]).unwrap(), "[CLS] hello world [SEP]");
        assert_eq!(
            tokenizer.decode(&[2, 99]).unwrap_err(),
            "token id 99 is not in the vocabulary"
        );
    }

    #[test]
    fn a_text_that_cannot_be_encoded_is_an_error_not_a_smaller_count() {
        let tokenizer = load(&fixtures::folder(&word_level(false))).unwrap();
        assert_eq!(tokenizer.count("hello world"), Ok(2));
        assert!(tokenizer.count("hello mars").is_err());
        assert!(tokenizer.encode("hello mars").is_err());
    }

    #[test]
    fn byte_level_merges_and_round_trips() {
        let tokenizer = load(&fixtures::folder(&byte_level())).unwrap();
        // [the][ the] · [t][o] · [the][ ][m] · é is two bytes.
        for (text, count) in [("the the", 2), ("to", 2), ("the m", 3), ("é", 2), ("Then", 4)] {
            assert_eq!(tokenizer.count(text), Ok(count), "{text}");
            assert_eq!(tokenizer.decode(&tokenizer.encode(text).unwrap()).unwrap(), text);
        }
        let half = &tokenizer.encode("é").unwrap()[..1];
        assert_eq!(tokenizer.decode(half).unwrap(), "\u{FFFD}");
    }

    #[test]
    fn unigram_pieces_reach_across_words() {
        let tokenizer = load(&fixtures::folder(&unigram_across_words())).unwrap();
        // [_][c][a][t] and [_][c][a][t][s_the]: one piece more, though " the" alone costs one and "s" another.
        assert_eq!(tokenizer.count("cat"), Ok(4));
        assert_eq!(tokenizer.count("cats the"), Ok(5));
    }

    #[test]
    fn bos_and_eos_come_from_the_files_beside() {
        let cases = [
            (
                json!({"bos_token": "[CLS]", "eos_token": {"content": "[SEP]"}}),
                json!({}),
                (Some(0), Some(1)),
            ),
            (
                json!({"bos_token": null}),
                json!({"eos_token": "[SEP]"}),
                (None, Some(1)),
            ),
            (json!({"eos_token": "</s>"}), json!({}), (None, None)),
        ];
        for (config, map, expected) in cases {
            let folder = fixtures::folder(&word_level(true));
            fixtures::write(folder.path(), "tokenizer_config.json", &config);
            fixtures::write(folder.path(), "special_tokens_map.json", &map);
            let tokenizer = load(&folder).unwrap();
            assert_eq!((tokenizer.bos, tokenizer.eos), expected, "{config} {map}");
        }
    }

    #[test]
    fn errors_name_the_file() {
        let folder = fixtures::folder(&json!({"version": "1.0"}));
        let error = load(&folder).err().unwrap();
        assert!(matches!(error, LoadError::Malformed { .. }));
        assert!(
            error
                .to_string()
                .contains("tokenizer.json is not a valid tokenizer file"),
            "{error}"
        );

        let folder = fixtures::folder(&word_level(true));
        std::fs::write(folder.path().join("tokenizer_config.json"), "{").unwrap();
        let error = load(&folder).err().unwrap();
        assert!(
            error.to_string().contains("tokenizer_config.json is not a valid"),
            "{error}"
        );

        let error = HuggingFace::load(Path::new("/nowhere/tokenizer.json"), "x")
            .err()
            .unwrap();
        assert_eq!(error.to_string(), "cannot read tokenizer file /nowhere/tokenizer.json");
    }
}
