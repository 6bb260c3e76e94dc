//! A dataset of JSON lines.

use aiperf_sdk::{
    ContextMode, Conversation, Dataset, PluginError, Probe, Result, Source, Turn,
    dataset::{DatasetInfo, Sample},
};
use serde_json::Value;

use super::{Fault, unique};

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("guesses", &["dataset.probe"]),
    ("gives_no_reason", &["dataset.probe"]),
    ("accepts_everything", &["dataset.probe_foreign"]),
    (
        "random_ids",
        &[
            "dataset.deterministic",
            "dataset.batch_sizes",
            "dataset.read_sizes",
            "dataset.end",
        ],
    ),
    ("ids_by_batch", &["dataset.batch_sizes", "dataset.end"]),
    ("ends_at_short_reads", &["dataset.read_sizes", "dataset.source_errors"]),
    ("starts_again", &["dataset.end"]),
    ("miscounts", &["dataset.count"]),
    ("one_id_for_all", &["dataset.ids"]),
    ("negative_delays", &["dataset.turns"]),
    ("extra_that_is_no_json", &["dataset.turns"]),
    ("names_no_place", &["dataset.malformed"]),
    ("skips_silently", &["dataset.malformed"]),
    ("swallows_read_errors", &["dataset.source_errors"]),
    ("panics_on_invalid_utf8", &["dataset.odd_files"]),
];

pub(super) struct Broken {
    fault: String,
    texts: Vec<String>,
    given: usize,
    probes: std::cell::Cell<u64>,
}

impl Broken {
    pub(super) fn new(fault: String) -> Self {
        Self {
            fault,
            texts: Vec::new(),
            given: 0,
            probes: std::cell::Cell::new(0),
        }
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn read(&self, source: &dyn Source) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let piece = match source.read(0, bytes.len() as u64, 1 << 20) {
                Err(_) if self.has("swallows_read_errors") => Vec::new(),
                read => read?,
            };
            // Only at the end fewer bytes come than asked for, but that is for sturdier readers than this one.
            let rest = source.len(0)? - bytes.len() as u64;
            let short = (piece.len() as u64) < rest.min(1 << 20);
            bytes.extend(&piece);
            if piece.is_empty() || (short && self.has("ends_at_short_reads")) {
                return Ok(bytes);
            }
        }
    }

    fn conversation(&self, index: usize, in_batch: usize) -> Conversation {
        let mut turn = Turn::text(self.texts[index].as_str());
        let id = match self.fault.as_str() {
            "random_ids" => format!("c{}", unique()),
            "ids_by_batch" => format!("c{index}-{in_batch}"),
            "one_id_for_all" => "c".to_owned(),
            _ => format!("c{index}"),
        };
        match self.fault.as_str() {
            "negative_delays" => turn.delay_ms = Some(-5.0),
            "extra_that_is_no_json" => turn.extra_body = Some("[1]".to_owned()),
            _ => {}
        }
        Conversation::new(id, vec![turn])
    }
}

fn text_of(line: &str) -> Option<String> {
    let row: Value = serde_json::from_str(line).ok()?;
    let text = row["text"].as_str().or_else(|| row["texts"][0].as_str())?;
    Some(text.to_owned())
}

impl Dataset for Broken {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        let head = String::from_utf8_lossy(&sample.head);
        let first = head.lines().find(|line| !line.trim().is_empty());
        let accepts = first.and_then(text_of).is_some() || self.has("accepts_everything");
        let probes = self.probes.replace(self.probes.get() + 1);
        let reason = match self.fault.as_str() {
            "guesses" => format!("guess {probes}"),
            "gives_no_reason" => String::new(),
            _ => "the first row says so".to_owned(),
        };
        Ok(Probe { accepts, reason })
    }

    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        let [name] = source
            .files()
            .try_into()
            .map_err(|_| PluginError::input("one file is needed"))?;
        let bytes = self.read(&*source)?;
        let text = if self.has("panics_on_invalid_utf8") {
            String::from_utf8(bytes).unwrap()
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        };
        for (index, line) in text.lines().enumerate() {
            match text_of(line) {
                Some(text) => self.texts.push(text),
                None if self.has("skips_silently") => {}
                None if self.has("names_no_place") => return Err(PluginError::input("a bad row")),
                None => return Err(PluginError::input(format!("{name}:{}: no text", index + 1))),
            }
        }
        Ok(DatasetInfo {
            conversations: Some(self.texts.len() as u64 + u64::from(self.has("miscounts"))),
            context: ContextMode::DeltasWithoutResponses,
            trace: false,
            notes: Vec::new(),
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let to = self.given.saturating_add(count as usize).min(self.texts.len());
        let from = self.given;
        self.given = to;
        if from == to && count > 0 && self.has("starts_again") {
            self.given = 0;
        }
        Ok((from..to).map(|index| self.conversation(index, index - from)).collect())
    }
}
