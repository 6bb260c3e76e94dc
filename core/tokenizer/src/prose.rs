//! Sentences: templates whose blanks are filled from the word lists.

use crate::words;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Sentences with blanks. `D N V A R P C` stand for a determiner, noun, verb, adjective, adverb, preposition and
/// conjunction; a `^` capitalises the word that fills the blank. The order is part of what a seed means.
const TEMPLATES: &[&str] = &[
    "^D A N V D N.",
    "^D N R V D A N P D N.",
    "^R, D N V D N P D A N.",
    "^C D N V D N, D A N V D N.",
    "^P D A N, D N R V D N.",
    "^A and A, D N V D N.",
    "^D N and D N V D A N.",
    "^D N V D N, but D N R V D A N.",
    "^D A N P D N V D N C D N V D N.",
    "Who V D A N P D N?",
    "Nobody V D N, and D A N R V D N.",
    "It was D A N that V D N.",
    "^D N of D A N V D N; D N V D N.",
    "There was D A N P D N, and D N R V D N.",
    "^R D N V D N, D N and D A N.",
    "Was it D N or D A N that V D N?",
    "^D N V D N as R as D A N V D N.",
    "To D A N, D N of D N was A and A.",
    "In D N, D A N R V D N.",
    "I R V D A N P D N, and D N V D N!",
    "^D N, A but A, V D N P D N.",
    "For D N, D N V D N: A, A and R A.",
];

/// Index into [`Prose::forms`].
pub(crate) type Form = u32;

/// Every word as it can be written (capitalised, with punctuation), and templates over them.
pub(crate) struct Prose {
    /// Written words, without blanks around them.
    pub(crate) forms: Vec<String>,
    /// Each sentence is a list of blanks; each blank is the range of forms that may fill it.
    pub(crate) templates: Vec<Vec<Range<Form>>>,
}

/// Built once; the same for every tokenizer.
pub(crate) static PROSE: LazyLock<Prose> = LazyLock::new(|| {
    let mut forms = Vec::new();
    let mut known: HashMap<&str, Range<Form>> = HashMap::new();
    let mut blank = |pattern: &'static str| {
        let fill = || {
            let start = forms.len() as Form;
            forms.extend(written_forms(pattern));
            start..forms.len() as Form
        };
        known.entry(pattern).or_insert_with(fill).clone()
    };
    let templates = TEMPLATES
        .iter()
        .map(|template| template.split(' ').map(&mut blank).collect())
        .collect();
    Prose { forms, templates }
});

fn written_forms(pattern: &str) -> Vec<String> {
    let (capital, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
    let word = rest.trim_end_matches(|c: char| c.is_ascii_punctuation());
    let mark = &rest[word.len()..];
    let words = match word {
        "D" => words::DETERMINERS,
        "N" => words::NOUNS,
        "V" => words::VERBS,
        "A" => words::ADJECTIVES,
        "R" => words::ADVERBS,
        "P" => words::PREPOSITIONS,
        "C" => words::CONJUNCTIONS,
        literal => return vec![format!("{literal}{mark}")],
    };
    let write = |word: &&str| {
        let (first, others) = word.split_at(1);
        if capital {
            format!("{}{others}{mark}", first.to_ascii_uppercase())
        } else {
            format!("{word}{mark}")
        }
    };
    words.iter().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_take_capitals_and_marks() {
        assert_eq!(written_forms("who?"), ["who?"]);
        assert_eq!(written_forms("^P,")[..2], ["Near,", "Behind,"]);
        assert_eq!(written_forms("D")[..2], ["the", "this"]);
    }

    #[test]
    fn every_form_is_one_plain_word() {
        for form in &PROSE.forms {
            let letters = form.trim_end_matches(['.', ',', ';', ':', '?', '!']);
            assert!(
                !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic()),
                "{form:?}"
            );
            assert!(form.len() - letters.len() <= 1, "{form:?}");
        }
    }

    #[test]
    fn sentences_start_with_a_capital_and_end_with_a_mark() {
        for template in &PROSE.templates {
            let first = &PROSE.forms[template[0].start as usize];
            let last = &PROSE.forms[template[template.len() - 1].start as usize];
            assert!(first.starts_with(|c: char| c.is_ascii_uppercase()), "{first}");
            assert!(last.ends_with(['.', '?', '!']), "{last}");
        }
    }

    #[test]
    fn no_word_stands_twice_in_its_list() {
        let lists = [
            words::NOUNS,
            words::VERBS,
            words::ADJECTIVES,
            words::ADVERBS,
            words::PREPOSITIONS,
            words::CONJUNCTIONS,
            words::DETERMINERS,
        ];
        for list in lists {
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), list.len());
        }
    }
}
