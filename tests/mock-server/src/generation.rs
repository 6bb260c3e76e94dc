//! A request body to what shall be generated. Pure.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::settings::MAX_TOKENS;

/// What of a chat or completions body matters here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// A usage message ends the stream.
    pub(crate) include_usage: bool,
    /// Each chunk of the stream carries the usage so far.
    pub(crate) continuous_usage: bool,
    /// Completion tokens, reasoning included, at which the answer is cut; `None`: the server's choice.
    pub(crate) limit: Option<u64>,
    /// Words of the prompt, separated by white space; of a prompt of token ids, their number.
    pub(crate) prompt_tokens: u64,
}

impl Generation {
    /// Reads a body.
    ///
    /// # Errors
    /// In words for the client: no JSON object, a field of the wrong type, or a limit out of range.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        let body: Body = serde_json::from_slice(body).map_err(|error| format!("the body cannot be read: {error}"))?;
        let limit = body
            .max_completion_tokens
            .or(body.max_tokens)
            .or(body.max_output_tokens);
        if let Some(limit) = limit
            && !(1..=MAX_TOKENS).contains(&limit)
        {
            return Err(format!(
                "the token limit is {limit}, but must be from 1 to {MAX_TOKENS}"
            ));
        }
        let options = body.stream_options.unwrap_or_default();
        let include_usage = options.include_usage.unwrap_or(false);
        Ok(Self {
            model: body.model,
            stream: body.stream.unwrap_or(false),
            include_usage,
            continuous_usage: include_usage && options.continuous_usage_stats.unwrap_or(false),
            limit,
            prompt_tokens: body.messages.unwrap_or_default().0 + body.prompt.unwrap_or_default().0,
        })
    }
}

#[derive(serde::Deserialize)]
struct Body {
    model: String,
    messages: Option<Words>,
    prompt: Option<Words>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_completion_tokens: Option<u64>,
    max_tokens: Option<u64>,
    max_output_tokens: Option<u64>,
}

#[derive(Default, serde::Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

/// The number of words and of punctuation marks behind them in strings, of `content` and `text` in objects, over all elements of lists; a number is a token
/// id and counts one. Counted while parsing, so that a long prompt is never stored.
#[derive(Default, Clone, Copy)]
struct Words(u64);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor)
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text, token ids, messages or content parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Words, E> {
        // Punctuation behind a word is a token of its own, as in most vocabularies.
        let tokens = |word: &str| {
            if word.ends_with(|last: char| last.is_ascii_punctuation()) {
                2
            } else {
                1
            }
        };
        Ok(Words(text.split_ascii_whitespace().map(tokens).sum()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Words, E> {
        Ok(Words(1))
    }

    fn visit_unit<E>(self) -> Result<Words, E> {
        Ok(Words(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words, A::Error> {
        let mut words = 0;
        while let Some(item) = items.next_element::<Words>()? {
            words += item.0;
        }
        Ok(Words(words))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Words, A::Error> {
        let mut words = 0;
        while let Some(key) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            if matches!(&*key, "content" | "text") {
                words += fields.next_value::<Words>()?.0;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Words(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Generation {
        Generation::parse(body.as_bytes()).unwrap()
    }

    #[test]
    fn prompt_words() {
        for (fields, words) in [
            (
                r#""messages":[{"role":"system","content":"be  kind"},{"role":"user","content":"a b\nc"}]"#,
                5,
            ),
            (
                r#""messages":[{"role":"user","content":[{"type":"text","text":"one two"},{"type":"image_url","image_url":{"url":"x y z"}}]}]"#,
                2,
            ),
            (r#""messages":[{"role":"assistant","content":null,"tool_calls":[]}]"#, 0),
            (r#""prompt":"a b c d""#, 4),
            (r#""prompt":"Well, yes. Is it?""#, 7),
            (r#""prompt":["a b","c"]"#, 3),
            (r#""prompt":[11,22,33]"#, 3),
            (r#""prompt":"esc\u0061ped\tword""#, 2),
            (r#""stream":null"#, 0),
        ] {
            assert_eq!(
                parse(&format!(r#"{{"model":"m",{fields}}}"#)).prompt_tokens,
                words,
                "{fields}"
            );
        }
    }

    #[test]
    fn limits_and_usage_rules() {
        for (fields, limit, include, continuous) in [
            (r#""max_tokens":3"#, Some(3), false, false),
            (r#""max_completion_tokens":4,"max_tokens":3"#, Some(4), false, false),
            (
                r#""max_output_tokens":5,"stream_options":{"include_usage":true}"#,
                Some(5),
                true,
                false,
            ),
            (r#""max_tokens":null,"stream_options":null"#, None, false, false),
            (
                r#""stream_options":{"include_usage":true,"continuous_usage_stats":true}"#,
                None,
                true,
                true,
            ),
            (
                r#""stream_options":{"continuous_usage_stats":true}"#,
                None,
                false,
                false,
            ),
        ] {
            let generation = parse(&format!(r#"{{"model":"m","stream":true,{fields}}}"#));
            assert!(generation.stream);
            assert_eq!(
                (generation.limit, generation.include_usage, generation.continuous_usage),
                (limit, include, continuous),
                "{fields}"
            );
        }
    }

    #[test]
    fn refusals_say_why() {
        for (body, part) in [
            ("nonsense", "line 1 column 2"),
            ("{}", "missing field `model`"),
            (r#"{"model":"m","max_tokens":0}"#, "token limit is 0"),
            (r#"{"model":"m","max_tokens":1000001}"#, "token limit is 1000001"),
            (r#"{"model":"m","max_tokens":"many"}"#, "invalid type"),
        ] {
            let error = Generation::parse(body.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{body}: {error}");
        }
    }
}
