//! How a source is read must not show in what comes of it.

use aiperf_sdk::{Conversation, PluginError, Result, dataset::DatasetInfo};

use super::{
    samples::{self, AnySource},
    source::Memory,
};
use crate::{
    bench::Bench,
    case::{Stop, Verdict},
};

/// Conversations asked for at a time, usually.
pub(super) const MANY: u32 = 100;

/// Conversations that a sample can't hold; who makes more doesn't end.
const ENDLESS: usize = 1_000_000;

/// What comes of a source.
pub(super) struct All {
    pub(super) info: DatasetInfo,
    pub(super) conversations: Vec<Conversation>,
}

/// Reads a source to its end with a fresh instance, so many conversations at a time.
pub(super) fn take_all(bench: &Bench, source: &AnySource, at_a_time: u32) -> Result<All> {
    let mut dataset = bench.dataset()?;
    let info = dataset.open(source.boxed())?;
    let mut conversations = Vec::new();
    loop {
        let more = dataset.next(at_a_time)?;
        if more.len() > at_a_time as usize {
            return Err(PluginError::failed(format!(
                "{at_a_time} conversations were asked for, {} came",
                more.len()
            )));
        }
        if more.is_empty() {
            return Ok(All { info, conversations });
        }
        conversations.extend(more);
        if conversations.len() > ENDLESS {
            return Err(PluginError::failed("the conversations don't end"));
        }
    }
}

/// Fails with the first difference.
fn same(what: &str, found: &All, expected: &All) -> Verdict {
    ensure!(
        found.info == expected.info,
        "{what}: `open` says {:?}\ninstead of {:?}",
        found.info,
        expected.info
    );
    let (found, expected) = (&found.conversations, &expected.conversations);
    if let Some(at) = (0..found.len().max(expected.len())).find(|&i| found.get(i) != expected.get(i)) {
        fail!(
            "{what}: conversation {at} is {:?}\ninstead of {:?}",
            found.get(at),
            expected.get(at)
        );
    }
    Ok(())
}

pub(super) fn deterministic(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let expected = take_all(bench, &found.source(), MANY)?;
    for _ in 0..3 {
        let again = take_all(bench, &found.source(), MANY)?;
        same(
            &format!("{}, read again by another instance", found.what),
            &again,
            &expected,
        )?;
    }
    Ok(())
}

pub(super) fn batch_sizes(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let expected = take_all(bench, &found.source(), MANY)?;
    for size in [1, 2, 3, 7, 1_000, u32::MAX] {
        let all = take_all(bench, &found.source(), size)?;
        same(&format!("{}, {size} at a time", found.what), &all, &expected)?;
    }
    Ok(())
}

pub(super) fn read_sizes(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let Some(file) = &found.file else {
        skip!("it generates its conversations");
    };
    let expected = take_all(bench, &found.source(), MANY)?;
    for piece in [1, 2, 3, 7, 64, 4096] {
        let source = Memory::new(vec![file.clone()]).in_pieces(piece);
        let what = format!("{}, read {piece} bytes at a time", found.what);
        match take_all(bench, &AnySource::Memory(source), MANY) {
            Ok(all) => same(&what, &all, &expected)?,
            Err(error) => fail!("{what}: {}", crate::case::told(&error)),
        }
    }
    Ok(())
}

pub(super) fn end(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let expected = take_all(bench, &found.source(), MANY)?;
    let mut dataset = bench.dataset()?;
    dataset.open(found.source().boxed())?;
    let mut all = Vec::new();
    loop {
        let none = dataset.next(0)?;
        ensure!(none.is_empty(), "no conversations were asked for, {} came", none.len());
        let more = dataset.next(2)?;
        if more.is_empty() {
            break;
        }
        all.extend(more);
        ensure!(all.len() <= ENDLESS, "the conversations don't end");
    }
    ensure!(
        all == expected.conversations,
        "asked for none in between, it makes {} conversations that differ from the {} otherwise made",
        all.len(),
        expected.conversations.len()
    );
    for round in 1..=3 {
        let more = dataset.next(5)?;
        ensure!(
            more.is_empty(),
            "asked {round} times behind the end, {} more conversations come",
            more.len()
        );
    }
    Ok(())
}

pub(super) fn count(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let all = take_all(bench, &found.source(), MANY)?;
    let Some(stated) = all.info.conversations else {
        return Err(Stop::Skipped("it doesn't know the number ahead".to_owned()));
    };
    ensure!(
        stated == all.conversations.len() as u64,
        "{stated} conversations are announced, {} come",
        all.conversations.len()
    );
    Ok(())
}
