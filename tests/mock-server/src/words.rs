//! The tokens: words that the o200k vocabulary knows as one token each, blank included, so that a client that counts
//! the joined text gets the number of events. A test proves it for every word and for their sequence.

static WORDS: [&str; 64] = [
    " the", " of", " and", " to", " in", " is", " that", " for", " on", " with", " as", " was", " are", " this", " by",
    " from", " at", " have", " not", " be", " which", " one", " you", " all", " has", " but", " were", " they", " can",
    " more", " when", " their", " there", " time", " new", " will", " about", " what", " some", " only", " into",
    " other", " two", " first", " also", " than", " people", " then", " them", " these", " work", " after", " over",
    " world", " made", " most", " many", " such", " way", " must", " even", " well", " day", " place",
];

/// The word at `index` of the text that starts at `start`; any numbers will do.
pub(crate) fn word(start: u64, index: u64) -> &'static str {
    let at = start.wrapping_add(index) % WORDS.len() as u64;
    // Below 64, so nothing is cut.
    WORDS[at as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_one_token() {
        let tokenizer = bpe_openai::o200k_base();
        for word in WORDS {
            assert_eq!(tokenizer.count(word), 1, "{word:?}");
        }
        for start in 0..64 {
            let text: String = (0..200).map(|index| word(start, index)).collect();
            assert_eq!(tokenizer.count(&text), 200, "start {start}");
        }
    }
}
