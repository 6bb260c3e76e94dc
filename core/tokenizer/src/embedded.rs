//! OpenAI's byte-pair encodings, embedded in the binary.

use bpe_openai::Tokenizer as Bpe;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// An encoding whose vocabulary is part of the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `o200k_base`, the encoding behind `--tokenizer builtin`.
    O200kBase,
    /// `cl100k_base`.
    Cl100kBase,
}

/// Every special token of the embedded encodings starts with this.
static SPECIAL_START: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("<|"));

impl Encoding {
    /// The encoding of that name, with `builtin` standing for `o200k_base`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "builtin" | "o200k_base" => Some(Self::O200kBase),
            "cl100k_base" => Some(Self::Cl100kBase),
            _ => None,
        }
    }

    /// Name as tiktoken spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// Special tokens with their ids. The first is the end of text.
    fn special_tokens(self) -> &'static [(&'static str, u32)] {
        match self {
            Self::O200kBase => &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
            Self::Cl100kBase => &[
                ("<|endoftext|>", 100_257),
                ("<|fim_prefix|>", 100_258),
                ("<|fim_middle|>", 100_259),
                ("<|fim_suffix|>", 100_260),
                ("<|endofprompt|>", 100_276),
            ],
        }
    }

    fn bpe(self) -> &'static Bpe {
        match self {
            Self::O200kBase => bpe_openai::o200k_base(),
            Self::Cl100kBase => bpe_openai::cl100k_base(),
        }
    }
}

/// A loaded encoding. Special tokens written in a text become special ids, as with tiktoken's
/// `allowed_special="all"`; the library below knows ordinary tokens only.
pub(crate) struct Embedded {
    pub(crate) encoding: Encoding,
    bpe: &'static Bpe,
}

enum Part<'t> {
    Text(&'t str),
    Special(u32),
}

impl Embedded {
    /// Unpacks the vocabulary on first use (tens of milliseconds), then costs nothing.
    pub(crate) fn load(encoding: Encoding) -> Self {
        Self {
            encoding,
            bpe: encoding.bpe(),
        }
    }

    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::with_capacity(text.len() / 4 + 1);
        self.for_each_part(text, |part| match part {
            Part::Text(text) => {
                for piece in self.bpe.split(text) {
                    ids.extend(self.bpe.bpe.encode_via_backtracking(piece.as_bytes()));
                }
            }
            Part::Special(id) => ids.push(id),
        });
        ids
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        self.for_each_part(text, |part| match part {
            Part::Text(text) => tokens += self.bpe.count(text),
            Part::Special(_) => tokens += 1,
        });
        tokens
    }

    /// Invalid UTF-8, which appears when ids end inside a character, becomes U+FFFD. Fails with the first unknown id.
    pub(crate) fn decode(&self, ids: &[u32]) -> Result<String, u32> {
        let ordinary = self.bpe.bpe.num_tokens();
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for &id in ids {
            if (id as usize) < ordinary {
                bytes.extend_from_slice(self.bpe.bpe.token_bytes(id));
            } else {
                let known = self
                    .encoding
                    .special_tokens()
                    .iter()
                    .find(|(_, special)| *special == id);
                bytes.extend_from_slice(known.ok_or(id)?.0.as_bytes());
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Highest id plus one, special tokens included.
    pub(crate) fn vocab_size(&self) -> usize {
        self.encoding
            .special_tokens()
            .iter()
            .map(|(_, id)| *id as usize + 1)
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn end_of_text(&self) -> Option<u32> {
        self.encoding.special_tokens().first().map(|(_, id)| *id)
    }

    /// Cuts `text` at special tokens. Each stretch between them is encoded on its own, as tiktoken does.
    fn for_each_part<'t>(&self, text: &'t str, mut visit: impl FnMut(Part<'t>)) {
        let (mut start, mut search) = (0, 0);
        while let Some(found) = SPECIAL_START.find(&text.as_bytes()[search..]) {
            let at = search + found;
            let special = self
                .encoding
                .special_tokens()
                .iter()
                .find(|(name, _)| text[at..].starts_with(name));
            match special {
                Some((name, id)) => {
                    if start < at {
                        visit(Part::Text(&text[start..at]));
                    }
                    visit(Part::Special(*id));
                    start = at + name.len();
                    search = start;
                }
                None => search = at + 1,
            }
        }
        if start < text.len() {
            visit(Part::Text(&text[start..]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn o200k() -> Embedded {
        Embedded::load(Encoding::O200kBase)
    }

    #[test]
    fn encodes_as_tiktoken_does() {
        // Ids from tiktoken 0.14 (`encode(text, allowed_special="all")`).
        let cases: &[(&str, &[u32])] = &[
            ("", &[]),
            ("hello world", &[24912, 2375]),
            ("tiktoken is great!", &[83, 8251, 2488, 382, 2212, 0]),
            ("  two  spaces\n\nand lines", &[220, 1920, 220, 18608, 279, 427, 8698]),
            ("1234567", &[7633, 19354, 22]),
            ("don't WON'T", &[91418, 147_667, 51532]),
            (
                "antidisestablishmentarianism",
                &[493, 129_901, 376, 160_388, 21203, 2367],
            ),
            ("日本語のテキスト", &[9048, 40909, 3385, 16056, 18368, 38236]),
            ("\u{1F600} smile", &[84083, 19617]),
            ("<|endoftext|>", &[199_999]),
            ("a<|endoftext|>b<|endofprompt|>", &[64, 199_999, 65, 200_018]),
            ("<|endoftext", &[27, 91, 419, 1440, 919]),
        ];
        for (text, ids) in cases {
            assert_eq!(o200k().encode(text), *ids, "{text:?}");
            assert_eq!(o200k().count(text), ids.len(), "{text:?}");
            assert_eq!(o200k().decode(ids).as_deref(), Ok(*text));
        }
    }

    #[test]
    fn knows_the_size_of_its_vocabulary() {
        // tiktoken's n_vocab.
        for (encoding, size) in [(Encoding::O200kBase, 200_019), (Encoding::Cl100kBase, 100_277)] {
            assert_eq!(Embedded::load(encoding).vocab_size(), size);
        }
    }

    #[test]
    fn cl100k_is_another_encoding() {
        // The pair that OpenAI's documentation shows for cl100k_base.
        let cl100k = Embedded::load(Encoding::Cl100kBase);
        assert_eq!(cl100k.encode("tiktoken is great!"), [83, 1609, 5963, 374, 2294, 0]);
        assert_eq!(cl100k.encode("<|fim_middle|>"), [100_259]);
    }

    #[test]
    fn decoding_is_lossy_inside_a_character_and_strict_about_ids() {
        // 0xF0 starts a four-byte character; it is the ordinary token of that byte.
        let first_byte = (0..256).find(|id| o200k().bpe.bpe.token_bytes(*id) == [0xF0]).unwrap();
        assert_eq!(o200k().decode(&[first_byte]).as_deref(), Ok("\u{FFFD}"));
        assert_eq!(o200k().decode(&[24912, 200_019]), Err(200_019));
        // In the gap between the ordinary tokens and the first special one.
        assert_eq!(o200k().decode(&[199_998]), Err(199_998));
    }

    proptest! {
        #[test]
        fn decoding_gives_the_text_back(text in "(\\PC|\\s|<\\||endoftext\\|>|<\\|endofprompt\\|>){0,60}") {
            let ids = o200k().encode(&text);
            prop_assert_eq!(o200k().count(&text), ids.len());
            prop_assert_eq!(o200k().decode(&ids), Ok(text));
        }

        // What `Tokenizer::splits_at_words` promises.
        #[test]
        fn a_blank_before_a_letter_starts_a_token(
            before in "(\\PC|\\s|<\\|endoftext\\|>){0,40}",
            after in " [A-Za-z][A-Za-z ,.!?]{0,20}",
        ) {
            prop_assume!(!before.ends_with(char::is_whitespace));
            let together = o200k().count(&format!("{before}{after}"));
            prop_assert_eq!(together, o200k().count(&before) + o200k().count(&after));
        }
    }
}
