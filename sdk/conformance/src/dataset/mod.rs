//! Datasets that make conversations.
//!
//! * [`source`]: files in memory. [`samples`]: what may be in them, and which of it the subject reads.
//! * [`reading`]: how a source is read. [`content`]: what comes of it. [`faults`]: what is wrong with it.

mod content;
mod faults;
mod reading;
mod samples;
mod source;

use aiperf_sdk::dataset::{Probe, Sample};

use crate::{
    bench::Bench,
    case::{Definition, Stop, Verdict, must, should},
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "DS-1",
        "dataset.probe",
        "`probe` is a function of the sample, and gives a reason",
        probe,
    ),
    must(
        "DS-2",
        "dataset.probe_foreign",
        "`probe` says no to an empty file and to random bytes, and survives anything",
        probe_foreign,
    ),
    must(
        "DS-3",
        "dataset.deterministic",
        "under one seed two instances make the same conversations of the same source",
        reading::deterministic,
    ),
    must(
        "DS-4",
        "dataset.batch_sizes",
        "conversations don't depend on how many are asked for at a time",
        reading::batch_sizes,
    ),
    should(
        "DS-5",
        "dataset.read_sizes",
        "conversations don't depend on how many bytes a read gives",
        reading::read_sizes,
    ),
    must(
        "DS-6",
        "dataset.end",
        "behind the last conversation nothing more comes, however often it is asked for; asking for none gives none",
        reading::end,
    ),
    must(
        "DS-7",
        "dataset.count",
        "where the number of conversations is stated ahead, as many come",
        reading::count,
    ),
    must(
        "DS-8",
        "dataset.ids",
        "conversations have ids of their own and at least one turn; branches lead to conversations that exist",
        content::ids,
    ),
    must(
        "DS-9",
        "dataset.turns",
        "a turn's JSON is JSON, its times are numbers from 0 on, its limit is above 0",
        content::turns,
    ),
    must(
        "DS-10",
        "dataset.malformed",
        "a malformed row is refused with file and line, or noted as skipped",
        faults::malformed,
    ),
    must(
        "DS-11",
        "dataset.source_errors",
        "a source that can't be read fails the dataset; rows are never lost silently",
        faults::source_errors,
    ),
    must(
        "DS-12",
        "dataset.odd_files",
        "any file gives conversations or an error: empty, binary, cut short, with lines of 8 MiB",
        faults::odd_files,
    ),
];

fn sample(name: &str, head: &[u8]) -> Sample {
    Sample {
        files: vec![name.to_owned()],
        folder: false,
        head: head.to_vec(),
    }
}

fn probe(bench: &Bench) -> Verdict {
    let (one, two) = (bench.dataset()?, bench.dataset()?);
    let samples: Vec<Sample> = samples::files(bench)
        .iter()
        .map(|file| sample(&file.name, &file.bytes))
        .collect();
    let first = samples
        .iter()
        .map(|sample| one.probe(sample))
        .collect::<Result<Vec<Probe>, _>>()?;
    for (sample, expected) in samples.iter().zip(&first).rev() {
        let name = &sample.files[0];
        ensure!(
            !expected.reason.trim().is_empty(),
            "{name}: {} without a reason",
            if expected.accepts { "accepted" } else { "refused" }
        );
        for (instance, which) in [(&one, "the same"), (&two, "another")] {
            let again = instance.probe(sample)?;
            ensure!(
                again == *expected,
                "{name}: asked again, {which} instance says {again:?}\ninstead of {expected:?}"
            );
        }
    }
    Ok(())
}

fn probe_foreign(bench: &Bench) -> Verdict {
    let dataset = bench.dataset()?;
    let mut random = bench.random("dataset.probe");
    for (what, head) in [
        ("an empty file", Vec::new()),
        ("64 KiB of random bytes", random.bytes(1 << 16)),
    ] {
        for name in ["data.jsonl", "data.csv", "data.bin"] {
            let probe = dataset.probe(&sample(name, &head))?;
            ensure!(
                !probe.accepts,
                "{what} called {name} is accepted ({}): detection needs exactly one yes",
                probe.reason
            );
        }
    }
    let mut heads = vec![
        b"\n".repeat(1000),
        vec![0; 1 << 20],
        b"[".repeat(1 << 20),
        b"{\"text\":".repeat(1000),
        b"\xff\xfe{\x00}\x00".to_vec(),
        "x".repeat(1 << 20).into_bytes(),
    ];
    // Heads end anywhere: the sample is the first bytes of a file.
    for file in samples::files(bench) {
        heads.extend((0..file.bytes.len().min(400)).map(|length| file.bytes[..length].to_vec()));
    }
    for head in heads {
        let _ = dataset.probe(&sample("data.jsonl", &head));
    }
    for (files, folder) in [
        (Vec::new(), true),
        (vec!["a.jsonl".to_owned(), "b.jsonl".to_owned()], true),
    ] {
        let head = b"{}".to_vec();
        let _ = dataset.probe(&Sample { files, folder, head });
    }
    Ok(())
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let found = samples::find(bench)?;
    let all = reading::take_all(bench, &found.source(), reading::MANY)?;
    let count = all.conversations.len() as u64;
    let what = format!("open and next ({})", found.what);
    Ok(vec![Speed::measure(what, "conversation", count, || {
        reading::take_all(bench, &found.source(), reading::MANY).is_ok()
    })])
}
