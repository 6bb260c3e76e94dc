//! Token counts as servers report them, under the names that are in use.

use std::ops::Range;

use aiperf_sdk::endpoint::Usage;

use crate::{
    lenient::{Count, object},
    pull::{Lenient, Pull, Read},
};

/// The usage of an event.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Its counts; `None` if none that is known is in it.
    pub(crate) usage: Option<Box<Usage>>,
    /// Where it is, if it is an object.
    pub(crate) place: Range<usize>,
}

/// Fields of [`Usage`], and the cache counts that some vendors report beside their input.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    Prompt,
    Completion,
    Total,
    Reasoning,
    CacheRead,
    CacheWrite,
    CacheMiss,
    PromptAudio,
    CompletionAudio,
    AcceptedPrediction,
    RejectedPrediction,
    ToolUsePrompt,
}

const FIELDS: usize = 12;
/// Rank of `input_tokens` and `inputTokens` among the names of [`Field::Prompt`].
const DISJOINT_RANKS: [u8; 2] = [1, 3];
const DISJOINT_CACHE_KEYS: [&str; 4] = [
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
];

/// The field of a name, and the name's rank: where several names of a field are there, the lowest rank counts.
fn field(key: &[u8]) -> Option<(Field, u8)> {
    use Field::*;
    Some(match key {
        b"prompt_tokens" => (Prompt, 0),
        b"input_tokens" => (Prompt, 1),
        b"promptTokenCount" => (Prompt, 2),
        b"inputTokens" => (Prompt, 3),
        b"input_token_count" => (Prompt, 4),
        b"completion_tokens" => (Completion, 0),
        b"output_tokens" => (Completion, 1),
        b"candidatesTokenCount" => (Completion, 2),
        b"outputTokens" => (Completion, 3),
        b"generated_token_count" => (Completion, 4),
        b"total_tokens" => (Total, 0),
        b"totalTokenCount" => (Total, 1),
        b"totalTokens" => (Total, 2),
        // Ranks 0 and 1 of these two are inside the details.
        b"thoughtsTokenCount" => (Reasoning, 2),
        b"cache_read_input_tokens" => (CacheRead, 2),
        b"prompt_cache_hit_tokens" => (CacheRead, 3),
        b"cachedContentTokenCount" => (CacheRead, 4),
        b"cacheReadInputTokens" => (CacheRead, 5),
        b"cached_tokens" => (CacheRead, 6),
        b"cache_creation_input_tokens" => (CacheWrite, 0),
        b"cacheWriteInputTokens" => (CacheWrite, 1),
        b"prompt_cache_miss_tokens" => (CacheMiss, 0),
        b"toolUsePromptTokenCount" => (ToolUsePrompt, 0),
        _ => return None,
    })
}

object! {
    /// Details of the prompt or of the completion.
    struct Details {
        /// Prompt: read from a cache.
        b"cached_tokens" => cached: Count,
        /// Either: audio.
        b"audio_tokens" => audio: Count,
        /// Completion: reasoning.
        b"reasoning_tokens" => reasoning: Count,
        /// Completion: accepted predictions.
        b"accepted_prediction_tokens" => accepted_prediction: Count,
        /// Completion: rejected predictions.
        b"rejected_prediction_tokens" => rejected_prediction: Count,
    }
}

/// A value with the order in which it counts: rank of its name, then depth of its envelope.
type Best = Option<(u8, u8, u64)>;

#[derive(Default)]
struct Counts {
    fields: [Best; FIELDS],
    disjoint: [Best; DISJOINT_CACHE_KEYS.len()],
    audio_seconds: Option<f64>,
}

impl Counts {
    fn take(&mut self, field: Field, rank: u8, count: Count) {
        if let Some(count) = count.0 {
            best_of(&mut self.fields[field as usize], (rank, 0, count));
        }
    }

    fn get(&self, field: Field) -> Option<u64> {
        self.fields[field as usize].map(|(_, _, count)| count)
    }

    /// Prompt tokens. Vendors that report cache tokens beside the input mean only the rest by it.
    fn prompt(&self) -> Option<u64> {
        let (rank, _, count) = self.fields[Field::Prompt as usize]?;
        if !DISJOINT_RANKS.contains(&rank) {
            return Some(count);
        }
        let cached = self.disjoint.iter().flatten().map(|(_, _, count)| count);
        cached.copied().try_fold(count, u64::checked_add)
    }

    fn usage(&self) -> Usage {
        Usage {
            prompt: self.prompt(),
            completion: self.get(Field::Completion),
            total: self.get(Field::Total),
            reasoning: self.get(Field::Reasoning),
            cache_read: self.get(Field::CacheRead),
            cache_write: self.get(Field::CacheWrite),
            cache_miss: self.get(Field::CacheMiss),
            prompt_audio: self.get(Field::PromptAudio),
            completion_audio: self.get(Field::CompletionAudio),
            accepted_prediction: self.get(Field::AcceptedPrediction),
            rejected_prediction: self.get(Field::RejectedPrediction),
            tool_use_prompt: self.get(Field::ToolUsePrompt),
            prompt_audio_seconds: self.audio_seconds,
        }
    }

    fn take_prompt_details(&mut self, rank: u8, details: &Details) {
        self.take(Field::CacheRead, rank, details.cached);
        self.take(Field::PromptAudio, rank, details.audio);
    }

    fn take_completion_details(&mut self, rank: u8, details: &Details) {
        self.take(Field::Reasoning, rank, details.reasoning);
        self.take(Field::CompletionAudio, rank, details.audio);
        self.take(Field::AcceptedPrediction, rank, details.accepted_prediction);
        self.take(Field::RejectedPrediction, rank, details.rejected_prediction);
    }

    /// Adds what an envelope holds; `depth` orders the envelopes.
    fn take_envelope(&mut self, envelope: &Self, depth: u8) {
        let from = envelope.fields.iter().chain(&envelope.disjoint);
        for (best, inner) in self.fields.iter_mut().chain(&mut self.disjoint).zip(from) {
            if let Some((rank, level, count)) = *inner {
                best_of(best, (rank, depth.saturating_add(level), count));
            }
        }
        self.audio_seconds = self.audio_seconds.or(envelope.audio_seconds);
    }
}

fn best_of(best: &mut Best, other: (u8, u8, u64)) {
    if best.is_none_or(|(rank, depth, _)| (other.0, other.1) <= (rank, depth)) {
        *best = Some(other);
    }
}

impl<'de> Lenient<'de> for Counts {
    fn from_object(json: &mut Pull<'de>) -> Read<Self> {
        let mut counts = Self::default();
        json.object(|json, key| {
            if let Some((field, rank)) = field(key) {
                let count = json.value()?;
                counts.take(field, rank, count);
                if let Some(i) = DISJOINT_CACHE_KEYS.iter().position(|&name| name.as_bytes() == key)
                    && let Some(count) = count.0
                {
                    best_of(&mut counts.disjoint[i], (0, 0, count));
                }
                return Ok(());
            }
            match key {
                b"prompt_tokens_details" => counts.take_prompt_details(0, &json.value()?),
                b"input_tokens_details" => counts.take_prompt_details(1, &json.value()?),
                b"completion_tokens_details" => counts.take_completion_details(0, &json.value()?),
                b"output_tokens_details" => counts.take_completion_details(1, &json.value()?),
                // Envelopes: what stands outside of one counts before what is in it.
                b"usageMetadata" => counts.take_envelope(&json.value()?, 1),
                b"meta" => counts.take_envelope(&json.value()?, 2),
                b"tokens" => counts.take_envelope(&json.value()?, 3),
                b"prompt_audio_seconds" => counts.audio_seconds = json.value::<Seconds>()?.0,
                _ => json.skip()?,
            }
            Ok(())
        })?;
        Ok(counts)
    }
}

impl<'de> Lenient<'de> for Reported {
    fn from_object(json: &mut Pull<'de>) -> Read<Self> {
        let (counts, place) = json.without_gaps(Counts::from_object)?;
        let usage = counts.usage();
        let usage = (!usage.is_empty()).then(|| Box::new(usage));
        Ok(Self { usage, place })
    }
}

/// Seconds; some vendors write an empty object for none.
#[derive(Default)]
struct Seconds(Option<f64>);

impl Lenient<'_> for Seconds {
    fn from_count(count: u64) -> Self {
        Self(Some(count as f64))
    }
    fn from_number(number: f64) -> Self {
        Self((number >= 0.0).then_some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::usage;

    /// A usage with some fields.
    fn of(set: impl FnOnce(&mut Usage)) -> Option<Usage> {
        let mut usage = Usage::default();
        set(&mut usage);
        Some(usage)
    }

    #[test]
    fn every_name_in_use_is_known() {
        let prompts = [
            "prompt_tokens",
            "input_tokens",
            "promptTokenCount",
            "inputTokens",
            "input_token_count",
        ];
        let completions = [
            "completion_tokens",
            "output_tokens",
            "candidatesTokenCount",
            "outputTokens",
            "generated_token_count",
        ];
        for (names, pick) in [
            (&prompts[..], (|u| u.prompt) as fn(Usage) -> Option<u64>),
            (&completions[..], |u| u.completion),
            (&["total_tokens", "totalTokenCount", "totalTokens"], |u| u.total),
            (&["thoughtsTokenCount"], |u| u.reasoning),
            (
                &[
                    "cache_read_input_tokens",
                    "prompt_cache_hit_tokens",
                    "cachedContentTokenCount",
                    "cacheReadInputTokens",
                    "cached_tokens",
                ],
                |u| u.cache_read,
            ),
            (&["cache_creation_input_tokens", "cacheWriteInputTokens"], |u| {
                u.cache_write
            }),
            (&["prompt_cache_miss_tokens"], |u| u.cache_miss),
            (&["toolUsePromptTokenCount"], |u| u.tool_use_prompt),
        ] {
            for (i, name) in names.iter().enumerate() {
                assert_eq!(usage(&format!(r#"{{"{name}":7}}"#)).and_then(pick), Some(7), "{name}");
                assert_eq!(
                    usage(&format!(r#"{{"{name}":0}}"#)).and_then(pick),
                    Some(0),
                    "{name}: 0 is a count"
                );
                // An earlier name counts before a later one, whichever comes first in the JSON.
                if let Some(later) = names.get(i + 1) {
                    for json in [
                        format!(r#"{{"{name}":7,"{later}":8}}"#),
                        format!(r#"{{"{later}":8,"{name}":7}}"#),
                    ] {
                        assert_eq!(usage(&json).and_then(pick), Some(7), "{json}");
                    }
                }
            }
        }
    }

    #[test]
    fn details_come_before_other_names() {
        let expected = of(|u| {
            u.cache_read = Some(1);
            u.prompt_audio = Some(2);
            u.reasoning = Some(3);
            u.completion_audio = Some(4);
            u.accepted_prediction = Some(5);
            u.rejected_prediction = Some(6);
        });
        for (prompt, completion) in [
            ("prompt_tokens_details", "completion_tokens_details"),
            ("input_tokens_details", "output_tokens_details"),
        ] {
            let json = format!(
                r#"{{"cached_tokens":9,"thoughtsTokenCount":9,
                    "{prompt}":{{"cached_tokens":1,"audio_tokens":2,"x":[]}},
                    "{completion}":{{"reasoning_tokens":3,"audio_tokens":4,
                    "accepted_prediction_tokens":5,"rejected_prediction_tokens":6}}}}"#
            );
            assert_eq!(usage(&json), expected, "{json}");
        }
    }

    #[test]
    fn cache_tokens_beside_the_input_are_part_of_the_prompt() {
        for (json, prompt) in [
            // Anthropic: 5 uncached, 100 read, 20 written.
            (
                r#"{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}"#,
                Some(125),
            ),
            (
                r#"{"cacheReadInputTokens":100,"cacheWriteInputTokens":20,"inputTokens":5}"#,
                Some(125),
            ),
            (r#"{"input_tokens":5}"#, Some(5)),
            // Here the cached ones are a part of the prompt already.
            (r#"{"prompt_tokens":105,"prompt_cache_hit_tokens":100}"#, Some(105)),
            (
                r#"{"prompt_tokens":105,"input_tokens":5,"cache_read_input_tokens":100}"#,
                Some(105),
            ),
            (r#"{"input_tokens":5,"cached_tokens":100}"#, Some(5)),
        ] {
            assert_eq!(usage(json).and_then(|u| u.prompt), prompt, "{json}");
        }
        // A sum beyond 64 bits is no number at all.
        let json = r#"{"input_tokens":18446744073709551615,"cache_read_input_tokens":1}"#;
        assert_eq!(usage(json).and_then(|u| u.prompt), None);
    }

    #[test]
    fn envelopes_are_opened_and_what_is_outside_counts_first() {
        let both = of(|u| {
            u.prompt = Some(3);
            u.completion = Some(4);
        });
        for json in [
            r#"{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}"#,
            r#"{"meta":{"tokens":{"input_tokens":3,"output_tokens":4}}}"#,
            r#"{"tokens":{"input_tokens":3,"output_tokens":4},"billed_units":{"input_tokens":9}}"#,
            r#"{"tokens":{"input_tokens":9,"output_tokens":4},"input_tokens":3}"#,
            r#"{"input_tokens":3,"tokens":{"input_tokens":9,"output_tokens":4}}"#,
            // The name decides before the place.
            r#"{"input_tokens":9,"tokens":{"prompt_tokens":3,"output_tokens":4}}"#,
        ] {
            assert_eq!(usage(json), both, "{json}");
        }
        assert_eq!(usage(r#"{"meta":{"cached_tokens":3}}"#), of(|u| u.cache_read = Some(3)));
    }

    #[test]
    fn what_is_no_count_is_absent() {
        for json in [
            "null",
            "{}",
            "[]",
            "5",
            r#""x""#,
            r#"{"prompt_tokens":null}"#,
            r#"{"prompt_tokens":-1}"#,
            r#"{"prompt_tokens":"7"}"#,
            r#"{"prompt_tokens":1.5}"#,
            r#"{"prompt_tokens":true}"#,
            r#"{"prompt_audio_seconds":{}}"#,
            r#"{"prompt_tokens_details":null}"#,
            r#"{"unknown":3}"#,
        ] {
            assert_eq!(usage(json), None, "{json}");
        }
        assert_eq!(usage(r#"{"prompt_tokens":5.0}"#), of(|u| u.prompt = Some(5)));
        assert_eq!(
            usage(r#"{"prompt_audio_seconds":1.5}"#),
            of(|u| u.prompt_audio_seconds = Some(1.5))
        );
        assert_eq!(
            usage(r#"{"prompt_tokens":null,"input_tokens":5}"#),
            of(|u| u.prompt = Some(5))
        );
    }
}
