//! What may be in a file, and which of it the subject reads.

use aiperf_sdk::{Source, dataset::NoSource};

use super::{reading, sample, source::Memory};
use crate::{
    bench::Bench,
    case::{Stop, told},
    suite::File,
};

/// What the subject makes conversations of.
pub(super) struct Found {
    /// In words.
    pub(super) what: String,
    /// The file; `None` for a dataset that generates.
    pub(super) file: Option<File>,
}

/// A source that can be handed out again and again.
#[derive(Debug, Clone)]
pub(super) enum AnySource {
    None,
    Memory(Memory),
}

impl AnySource {
    /// As a dataset takes it.
    pub(super) fn boxed(&self) -> Box<dyn Source> {
        match self {
            Self::None => Box::new(NoSource),
            Self::Memory(memory) => Box::new(memory.clone()),
        }
    }
}

impl Found {
    /// The source, undamaged.
    pub(super) fn source(&self) -> AnySource {
        match &self.file {
            Some(file) => AnySource::Memory(Memory::new(vec![file.clone()])),
            None => AnySource::None,
        }
    }
}

/// The user's samples, then those of the suite: rows of many shapes, most of them common in the field.
pub(super) fn files(bench: &Bench) -> Vec<File> {
    let mut files = bench.options.samples.clone();
    files.extend(SAMPLES.iter().map(|(name, text)| File {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    }));
    files
}

/// The first source that the subject reads.
///
/// # Errors
/// Skips the case when there is none.
pub(super) fn find(bench: &Bench) -> Result<Found, Stop> {
    let mut reasons = Vec::new();
    let given = bench.options.samples.len();
    for (index, file) in files(bench).into_iter().enumerate() {
        let dataset = bench.dataset()?;
        let found = Found {
            what: file.name.clone(),
            file: Some(file),
        };
        let Some(file) = &found.file else { continue };
        let accepts = dataset
            .probe(&sample(&file.name, &file.bytes))
            .is_ok_and(|probe| probe.accepts);
        if !accepts && index >= given {
            continue;
        }
        match reading::take_all(bench, &found.source(), reading::MANY) {
            Ok(all) if !all.conversations.is_empty() => return Ok(found),
            Ok(_) => reasons.push(format!("{}: no conversations", found.what)),
            Err(error) => reasons.push(format!("{}: {}", found.what, told(&error))),
        }
    }
    let generated = Found {
        what: "generated".to_owned(),
        file: None,
    };
    match reading::take_all(bench, &AnySource::None, reading::MANY) {
        Ok(all) if !all.conversations.is_empty() => return Ok(generated),
        Ok(_) => reasons.push("no files: no conversations".to_owned()),
        Err(error) => reasons.push(format!("no files: {}", told(&error))),
    }
    Err(Stop::Skipped(format!(
        "it reads none of the suite's samples; give one of its format\n{}",
        reasons.join("\n")
    )))
}

const SAMPLES: &[(&str, &str)] = &[
    (
        "single.jsonl",
        concat!(
            "{\"text\":\"first prompt\"}\n",
            "{\"text\":\"zweite Frage über 日本語 🌊\",\"output_length\":12}\n",
            "{\"text\":\"third\",\"session_id\":\"s-1\"}\n",
            "{\"text\":\"fourth\",\"session_id\":\"s-1\",\"delay\":250}\n",
            "{\"texts\":[\"one\",\"two\"],\"role\":\"user\"}\n",
            "{\"text\":\"last, without a line's end\"}",
        ),
    ),
    (
        "multi.jsonl",
        concat!(
            "{\"session_id\":\"a\",\"turns\":[{\"text\":\"hi\"},{\"text\":\"and?\",\"delay\":100}]}\n",
            "{\"turns\":[{\"role\":\"system\",\"text\":\"Be brief.\"},{\"text\":\"hello\"}]}\n",
            "{\"session_id\":\"b\",\"turns\":[{\"text\":\"only one\"}]}\n",
        ),
    ),
    (
        "raw_payload.jsonl",
        concat!(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n",
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"ho\"}],\"max_tokens\":3}\n",
        ),
    ),
    (
        "mooncake_trace.jsonl",
        concat!(
            "{\"timestamp\":0,\"input_length\":60,\"output_length\":5,\"hash_ids\":[1]}\n",
            "{\"timestamp\":250,\"input_length\":700,\"output_length\":9,\"hash_ids\":[1,2]}\n",
        ),
    ),
    (
        "bailian_trace.jsonl",
        concat!(
            "{\"chat_id\":1,\"parent_chat_id\":-1,\"timestamp\":0.5,\"input_length\":30,\"output_length\":4,",
            "\"type\":\"text\",\"turn\":1,\"hash_ids\":[3]}\n",
            "{\"chat_id\":2,\"parent_chat_id\":1,\"timestamp\":1.5,\"input_length\":40,\"output_length\":4,",
            "\"type\":\"text\",\"turn\":2,\"hash_ids\":[3,4]}\n",
        ),
    ),
    (
        "burst.csv",
        concat!(
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n",
            "5,s1,2,GPT-4,20,5,25,API log\n",
            "9,s2,3,GPT-4,30,6,36,API log\n",
        ),
    ),
    (
        "sharegpt.json",
        concat!(
            "[{\"id\":\"q1\",\"conversations\":[{\"from\":\"human\",\"value\":\"What is the sea made of, mostly?\"},",
            "{\"from\":\"gpt\",\"value\":\"Mostly of water, and of salt.\"}]}]",
        ),
    ),
    (
        "inputs.json",
        concat!(
            "{\"data\":[{\"session_id\":\"s1\",\"payloads\":[{\"messages\":[{\"role\":\"user\",",
            "\"content\":\"hi\"}]}]}]}",
        ),
    ),
    (
        "dag.jsonl",
        concat!(
            "{\"session_id\":\"root\",\"turns\":[{\"text\":\"go\",\"forks\":[\"leaf\"]},{\"text\":\"then\"}]}\n",
            "{\"session_id\":\"leaf\",\"turns\":[{\"text\":\"side\"}]}\n",
        ),
    ),
    ("prompts.txt", "one prompt\nanother prompt\nthe third prompt\n"),
];
