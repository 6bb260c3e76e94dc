use aiperf_sdk::{
    Dataset, ErrorKind, PluginError, Result, Source,
    conversation::ContextMode,
    dataset::{NoSource, Sample},
};

use super::{imported, open};

/// A file in memory.
struct Memory(&'static [u8]);

impl Source for Memory {
    fn files(&self) -> Vec<String> {
        vec!["a.lines".to_owned()]
    }
    fn len(&self, _: u32) -> Result<u64> {
        Ok(self.0.len() as u64)
    }
    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        if file != 0 {
            return Err(PluginError::input("no such file"));
        }
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        Ok(self.0[from..(from + length as usize).min(self.0.len())].to_vec())
    }
}

fn dataset(entry: &str) -> Box<dyn Dataset> {
    imported().dataset(open(entry, "")).expect("the dataset")
}

#[test]
fn probes_are_answered_with_a_reason() {
    let sample = |file: &str| Sample {
        files: vec![file.to_owned()],
        folder: false,
        head: vec![0, 159, 146, 150],
    };
    let lines = dataset("lines");
    let yes = lines.probe(&sample("a.lines")).expect("a probe");
    assert_eq!((yes.accepts, yes.reason.as_str()), (true, "4 bytes seen"));
    assert!(!lines.probe(&sample("a.csv")).expect("a probe").accepts);
}

#[test]
fn conversations_come_in_batches_until_the_end() {
    let mut lines = dataset("lines");
    let info = lines
        .open(Box::new(Memory(b"first>second\nsecond\nthird\n")))
        .expect("open");
    assert_eq!(
        (info.conversations, info.context, info.trace),
        (None, ContextMode::MessageArrayWithResponses, true)
    );
    assert_eq!(info.notes, ["a.lines of 26 bytes"]);
    let mut ids = Vec::new();
    loop {
        let batch = lines.next(2).expect("a batch");
        if batch.is_empty() {
            break;
        }
        assert!(batch.len() <= 2);
        ids.extend(batch.into_iter().map(|conversation| {
            let branches: Vec<_> = conversation
                .branches
                .into_iter()
                .map(|branch| {
                    (
                        branch.turn,
                        branch.children,
                        branch.fork,
                        branch.join_at,
                        branch.at_send,
                        branch.delays_ms,
                    )
                })
                .collect();
            (conversation.id, conversation.turns.len(), branches)
        }));
    }
    let branch = (Some(0), vec!["second".to_owned()], true, Some(1), true, vec![1.5]);
    assert_eq!(
        ids,
        [
            ("first".to_owned(), 2, vec![branch]),
            ("second".to_owned(), 2, vec![]),
            ("third".to_owned(), 2, vec![])
        ]
    );
}

#[test]
fn errors_of_rows_and_of_the_source_arrive() {
    let mut lines = dataset("lines");
    lines.open(Box::new(Memory(b"a\n\n"))).expect("open");
    assert_eq!(lines.next(5).expect_err("an empty line").message, "line 2 is empty");
    let error = dataset("lines").open(Box::new(NoSource)).expect_err("no files");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::InvalidInput, "this dataset has no files")
    );
}

#[test]
fn samplers_order() {
    let reversed = dataset("reversed");
    assert_eq!(reversed.order(4, 0).expect("an order"), [3, 2, 1, 0]);
    assert_eq!(reversed.order(4, 1).expect("an order"), [2, 1, 0, 3]);
    let sample = Sample {
        files: Vec::new(),
        folder: false,
        head: Vec::new(),
    };
    assert_eq!(
        reversed.probe(&sample).expect_err("a sampler").kind,
        ErrorKind::Unsupported
    );
}
