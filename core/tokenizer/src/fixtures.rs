//! Tokenizer files written by the tests themselves.

use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with `tokenizer.json`.
pub(crate) fn folder(tokenizer: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tokenizer.json", tokenizer);
    folder
}

pub(crate) fn write(folder: &Path, file: &str, content: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(file), content.to_string()).unwrap();
}

/// Words are tokens and everything else is `[UNK]`; `unk` false leaves unknown words unencodable. `[CLS]` and `[SEP]`
/// go around a text, and the file asks for cutting and padding to four tokens, as embedding models do.
pub(crate) fn word_level(unk: bool) -> Value {
    let mut vocab = json!({"[CLS]": 0, "[SEP]": 1, "hello": 2, "world": 3, "!": 4});
    if unk {
        vocab["[UNK]"] = 5.into();
    }
    let special = |id: u32, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[CLS]"},
        "added_tokens": [special(0, "[CLS]"), special(1, "[SEP]")],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
    })
}

/// Byte-level BPE as GPT-2 has it: every byte is a token, and the only words are `the` and ` the`.
pub(crate) fn byte_level() -> Value {
    let mut alphabet: Vec<char> = tokenizers::pre_tokenizers::byte_level::ByteLevel::alphabet()
        .into_iter()
        .collect();
    alphabet.sort_unstable();
    let tokens = alphabet
        .iter()
        .map(char::to_string)
        .chain(["th", "the", "\u{120}the"].map(str::to_owned));
    let vocab: Map<String, Value> = tokens.zip(0_u32..).map(|(token, id)| (token, id.into())).collect();
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": byte_level, "post_processor": null, "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocab, "merges": ["t h", "th e", "\u{120} the"]},
    })
}

/// A unigram model that sees the whole text at once, blanks written as U+2581 and one put in front: pieces reach across
/// words (`s\u{2581}the`), so the costs of words do not add up.
pub(crate) fn unigram_across_words() -> Value {
    let letters = ('a'..='z').chain('A'..='Z').chain(".,;:?!\u{2581}".chars());
    let mut vocab = vec![json!(["<unk>", 0.0])];
    vocab.extend(letters.map(|letter| json!([letter.to_string(), -8.0])));
    let pieces = [
        "\u{2581}the",
        "s\u{2581}the",
        "ed\u{2581}the",
        "\u{2581}and\u{2581}",
        "er",
        "in",
        "en",
        "ow",
    ];
    vocab.extend(pieces.map(|piece| json!([piece, -9.0])));
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u{2581}"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"},
        ]},
        "pre_tokenizer": null, "post_processor": null,
        "decoder": {"type": "Replace", "pattern": {"String": "\u{2581}"}, "content": " "},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": false},
    })
}
