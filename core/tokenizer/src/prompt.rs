//! Prompts of exact token length.
//!
//! The cost in tokens of every written word is measured once per tokenizer. A prompt is then fresh prose, cut where the
//! costs add up to the wanted length. Costs need not add up exactly for every tokenizer, so the text is counted, and
//! rewritten with the difference taken into account, until it is exact.

use crate::prose::{Form, PROSE};
use crate::rng::{Rng, below};
use crate::{TokenizeError, Tokenizer};

/// Rewrites before a length is accepted as it is.
const ROUNDS: usize = 10;

/// Words taken back in search of words that fill the rest exactly.
const STEPS_BACK: usize = 16;

/// A text made to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// How many tokens it really has: what was asked for, unless the tokenizer has no such text.
    pub tokens: usize,
}

/// Writes prose of exact token length for one tokenizer. Cheap to share between threads.
pub struct PromptGenerator {
    tokenizer: Tokenizer,
    /// Tokens that each form adds when it follows a word and a blank.
    costs: Vec<u32>,
    /// Forms by their cost.
    by_cost: Vec<Vec<Form>>,
}

impl PromptGenerator {
    /// Measures the words: a few thousand short encodings.
    ///
    /// # Errors
    /// The tokenizer cannot encode English text.
    pub fn new(tokenizer: Tokenizer) -> Result<Self, TokenizeError> {
        const BEFORE: &str = "So the";
        let before = tokenizer.count(BEFORE)?;
        let mut costs = Vec::with_capacity(PROSE.forms.len());
        let mut by_cost = Vec::new();
        for (form, word) in PROSE.forms.iter().enumerate() {
            let cost = tokenizer.count(&format!("{BEFORE} {word}"))?.saturating_sub(before);
            costs.push(cost as u32);
            if by_cost.len() <= cost {
                by_cost.resize(cost + 1, Vec::new());
            }
            by_cost[cost].push(form as Form);
        }
        Ok(Self {
            tokenizer,
            costs,
            by_cost,
        })
    }

    /// The tokenizer the lengths are counted with.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// A text of `tokens` tokens. Different states of `rng` give different texts, short ones (a few words) aside.
    ///
    /// # Errors
    /// The tokenizer cannot encode the text.
    pub fn prompt(&self, rng: &mut Rng, tokens: usize) -> Result<Prompt, TokenizeError> {
        self.continuation(rng, "", tokens)
    }

    /// A text to be appended to `before`, which makes it `tokens` tokens longer: the count of both together minus the
    /// count of `before`. It starts with a blank, except after nothing.
    ///
    /// # Errors
    /// The tokenizer cannot encode the text.
    pub fn continuation(&self, rng: &mut Rng, before: &str, tokens: usize) -> Result<Prompt, TokenizeError> {
        let counter = Counter::new(&self.tokenizer, before)?;
        let at_start = before.is_empty();
        let mut words = Vec::new();
        let mut total = 0;
        let mut best: Option<Prompt> = None;
        for _ in 0..ROUNDS {
            self.fit(rng, &mut words, total, tokens, at_start)?;
            let text = write(&words, at_start);
            total = counter.count(&text)?;
            if best
                .as_ref()
                .is_none_or(|best| total.abs_diff(tokens) < best.tokens.abs_diff(tokens))
            {
                best = Some(Prompt { text, tokens: total });
            }
            if total == tokens {
                break;
            }
        }
        Ok(best.unwrap_or(Prompt {
            text: String::new(),
            tokens: 0,
        }))
    }

    /// Lengthens or shortens `words`, which make `total` tokens, at their end to `target` tokens by the words' costs, or
    /// as close as they allow.
    fn fit(
        &self,
        rng: &mut Rng,
        words: &mut Vec<Form>,
        mut total: usize,
        target: usize,
        at_start: bool,
    ) -> Result<(), TokenizeError> {
        while total < target {
            let template = &PROSE.templates[below(rng, PROSE.templates.len())];
            for blank in template {
                let form = blank.start + below(rng, blank.len()) as Form;
                // Only at the very start does a word stand without a blank before it.
                total += if words.is_empty() && at_start {
                    self.cost_at_start(form)?
                } else {
                    self.cost(form)
                };
                words.push(form);
                if total >= target {
                    break;
                }
            }
        }
        let mut steps_back = 0;
        while total != target && steps_back < STEPS_BACK {
            let Some(last) = words.pop() else { break };
            if words.is_empty() && at_start {
                words.extend(self.first_word(rng, target)?);
                break;
            }
            total = total.saturating_sub(self.cost(last));
            if total < target {
                steps_back += 1;
                if let Some(fill) = self.by_cost.get(target - total).filter(|forms| !forms.is_empty()) {
                    words.push(fill[below(rng, fill.len())]);
                    break;
                }
            }
        }
        Ok(())
    }

    /// The word that comes closest to `target` tokens at the start of a text; a random one of several.
    fn first_word(&self, rng: &mut Rng, target: usize) -> Result<Option<Form>, TokenizeError> {
        let forms = PROSE.forms.len();
        let from = below(rng, forms);
        let mut closest: Option<(usize, Form)> = None;
        for step in 0..forms {
            let form = ((from + step) % forms) as Form;
            let off = self.cost_at_start(form)?.abs_diff(target);
            if closest.is_none_or(|(least, _)| off < least) {
                closest = Some((off, form));
            }
            if off == 0 {
                break;
            }
        }
        Ok(closest.map(|(_, form)| form))
    }

    fn cost(&self, form: Form) -> usize {
        self.costs[form as usize] as usize
    }

    fn cost_at_start(&self, form: Form) -> Result<usize, TokenizeError> {
        self.tokenizer.count(&PROSE.forms[form as usize])
    }
}

impl std::fmt::Debug for PromptGenerator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PromptGenerator")
            .field("tokenizer", &self.tokenizer)
            .finish_non_exhaustive()
    }
}

/// Counts what a text adds to the text before it.
struct Counter<'a> {
    tokenizer: &'a Tokenizer,
    /// The text before, as far as it must be counted again with each new text, and its tokens.
    before: &'a str,
    before_tokens: usize,
}

impl<'a> Counter<'a> {
    fn new(tokenizer: &'a Tokenizer, before: &'a str) -> Result<Self, TokenizeError> {
        // Long shared prefixes are common; encoding them again for every prompt would dominate.
        let apart = tokenizer.splits_at_words() && !before.ends_with(char::is_whitespace);
        let before = if apart { "" } else { before };
        Ok(Self {
            tokenizer,
            before,
            before_tokens: tokenizer.count(before)?,
        })
    }

    fn count(&self, text: &str) -> Result<usize, TokenizeError> {
        if self.before.is_empty() {
            return self.tokenizer.count(text);
        }
        Ok(self
            .tokenizer
            .count(&[self.before, text].concat())?
            .saturating_sub(self.before_tokens))
    }
}

fn write(words: &[Form], at_start: bool) -> String {
    let mut text = String::with_capacity(words.len() * 8);
    for (i, form) in words.iter().enumerate() {
        if i > 0 || !at_start {
            text.push(' ');
        }
        text.push_str(&PROSE.forms[*form as usize]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, byte_level, unigram_across_words, word_level};
    use crate::{Encoding, Source, rng};
    use serde_json::Value;
    use std::collections::HashSet;

    fn builtin() -> PromptGenerator {
        PromptGenerator::new(Tokenizer::load(&Source::Embedded(Encoding::O200kBase)).unwrap()).unwrap()
    }

    fn hugging_face(tokenizer: &Value) -> PromptGenerator {
        let folder = fixtures::folder(tokenizer);
        let file = folder.path().join("tokenizer.json");
        PromptGenerator::new(
            Tokenizer::load(&Source::HuggingFace {
                file,
                name: "test".into(),
            })
            .unwrap(),
        )
        .unwrap()
    }

    fn assert_exact(generator: &PromptGenerator, lengths: impl Iterator<Item = usize>) {
        let mut rng = rng::stream(1, "dataset.prompt.corpus");
        for length in lengths {
            let prompt = generator.prompt(&mut rng, length).unwrap();
            assert_eq!(prompt.tokens, length, "{:?}", prompt.text);
            // Ids are made on another path than counts.
            assert_eq!(
                generator.tokenizer().encode(&prompt.text).unwrap().len(),
                length,
                "{:?}",
                prompt.text
            );
        }
    }

    #[test]
    fn lengths_are_exact_with_the_builtin_tokenizer() {
        assert_exact(&builtin(), 0..2000);
        assert_exact(&builtin(), [32_768, 100_001].into_iter());
    }

    #[test]
    fn lengths_are_exact_where_letters_are_tokens() {
        assert_exact(&hugging_face(&byte_level()), 0..2000);
    }

    #[test]
    fn lengths_are_exact_where_words_do_not_add_up() {
        assert_exact(&hugging_face(&unigram_across_words()), (0..600).chain([1000, 2000]));
    }

    #[test]
    fn lengths_are_exact_where_every_word_is_unknown() {
        assert_exact(&hugging_face(&word_level(true)), 0..600);
    }

    #[test]
    fn an_impossible_length_is_reported_as_what_it_is() {
        // Left with single letters, and a blank put in front of every text, no word is one token.
        let mut letters = unigram_across_words();
        letters["model"]["vocab"].as_array_mut().unwrap().retain(|piece| {
            let piece = piece[0].as_str().unwrap();
            piece == "<unk>" || piece.chars().count() == 1
        });
        let prompt = hugging_face(&letters).prompt(&mut rng::stream(1, "x"), 1).unwrap();
        assert_eq!((prompt.text.as_str(), prompt.tokens), ("I", 2));
    }

    #[test]
    fn a_tokenizer_without_unknown_token_is_refused() {
        let folder = fixtures::folder(&word_level(false));
        let file = folder.path().join("tokenizer.json");
        let tokenizer = Tokenizer::load(&Source::HuggingFace {
            file,
            name: "test".into(),
        })
        .unwrap();
        assert!(PromptGenerator::new(tokenizer).is_err());
    }

    #[test]
    fn a_continuation_adds_exactly_its_length() {
        let befores = [
            "",
            "So",
            "Answer in French.",
            "ends in a blank ",
            "\n",
            "100% <|endoftext|>",
            "the",
        ];
        for generator in [
            builtin(),
            hugging_face(&byte_level()),
            hugging_face(&unigram_across_words()),
        ] {
            let mut rng = rng::stream(1, "dataset.prompt.prefix");
            let count = |text: &str| generator.tokenizer().count(text).unwrap();
            for before in befores {
                for length in [0, 2, 3, 20, 250] {
                    let next = generator.continuation(&mut rng, before, length).unwrap();
                    assert_eq!(next.tokens, length, "{before:?} {:?}", next.text);
                    let whole = format!("{before}{}", next.text);
                    assert_eq!(count(&whole), count(before) + length, "{whole:?}");
                }
            }
        }
    }

    #[test]
    fn blocks_can_be_put_together_in_any_order() {
        let generator = builtin();
        let block = |id| generator.continuation(&mut rng::stream(1, id), "So", 16).unwrap().text;
        let text = [block("a"), block("b"), block("a"), block("c")].concat();
        assert_eq!(generator.tokenizer().count(&text).unwrap(), 64);
    }

    #[test]
    fn the_seed_decides_the_text() {
        let texts = |root| {
            let mut rng = rng::stream(root, "dataset.prompt.corpus");
            let generator = builtin();
            [5, 50, 500].map(|length| generator.prompt(&mut rng, length).unwrap().text)
        };
        assert_eq!(texts(42), texts(42));
        assert_ne!(texts(42), texts(43));
    }

    #[test]
    fn prompts_differ() {
        let generator = builtin();
        let mut rng = rng::stream(42, "dataset.prompt.corpus");
        let texts: HashSet<_> = (0..10_000)
            .map(|_| generator.prompt(&mut rng, 16).unwrap().text)
            .collect();
        assert_eq!(texts.len(), 10_000);
    }
}
