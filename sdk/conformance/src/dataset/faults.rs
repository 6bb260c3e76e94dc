//! What is wrong with a file must be said, with its place.

use super::{
    reading::{self, All},
    samples::{self, AnySource},
    source::{BROKEN, Memory},
};
use crate::{
    bench::Bench,
    case::{Verdict, told},
};

fn read(bench: &Bench, source: Memory) -> aiperf_sdk::Result<All> {
    reading::take_all(bench, &AnySource::Memory(source), reading::MANY)
}

/// Breaks each row in turn, as far as a row can be told from outside: lines of JSON.
pub(super) fn malformed(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let Some(file) = &found.file else {
        skip!("it generates its conversations");
    };
    let text = String::from_utf8_lossy(&file.bytes).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    if !lines.iter().all(|line| line.starts_with('{')) {
        skip!("only lines of JSON can be broken from outside");
    }
    for row in 0..lines.len() {
        let half: String = lines[row].chars().take(lines[row].chars().count() / 2).collect();
        for broken in [half.as_str(), "nonsense", "{]"] {
            let mut lines = lines.clone();
            lines[row] = broken;
            let source = Memory::file(&file.name, lines.join("\n"));
            let place = format!("{}:{}", file.name, row + 1);
            match read(bench, source) {
                Ok(all) => ensure!(
                    !all.info.notes.is_empty(),
                    "line {} is {broken:?}, and nothing is said about it",
                    row + 1
                ),
                Err(error) => ensure!(
                    error.message.contains(&place),
                    "line {} is {broken:?}; the error doesn't name the place, `{place}`: {}",
                    row + 1,
                    told(&error)
                ),
            }
        }
    }
    Ok(())
}

pub(super) fn source_errors(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let Some(file) = &found.file else {
        skip!("it generates its conversations");
    };
    for byte in [
        0,
        file.bytes.len() as u64 / 2,
        (file.bytes.len() as u64).saturating_sub(1),
    ] {
        for piece in [1, 16, usize::MAX] {
            let source = Memory::new(vec![file.clone()]).in_pieces(piece).broken_at(byte);
            match read(bench, source) {
                Ok(all) => fail!(
                    "byte {byte} of {} can't be read, and {} conversations come without an error",
                    file.bytes.len(),
                    all.conversations.len()
                ),
                Err(error) => ensure!(
                    error.message.contains(BROKEN),
                    "byte {byte} can't be read; the error doesn't say why (`{BROKEN}`): {}",
                    told(&error)
                ),
            }
        }
    }
    Ok(())
}

pub(super) fn odd_files(bench: &Bench) -> Verdict {
    let mut random = bench.random("dataset.odd_files");
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("an empty file".to_owned(), Vec::new()),
        ("blank lines".to_owned(), b"\n\r\n\n".to_vec()),
        ("a byte order mark alone".to_owned(), b"\xef\xbb\xbf".to_vec()),
        ("zero bytes".to_owned(), vec![0; 10_000]),
        ("random bytes".to_owned(), random.bytes(100_000)),
        ("a line of 8 MiB".to_owned(), vec![b'x'; 8 << 20]),
        (
            "a text of 8 MiB".to_owned(),
            format!("{{\"text\":\"{}\"}}\n", "y".repeat(8 << 20)).into_bytes(),
        ),
        ("100,000 open brackets".to_owned(), vec![b'['; 100_000]),
        ("invalid UTF-8".to_owned(), b"{\"text\":\"\xff\xfe\"}\n".to_vec()),
        ("UTF-16".to_owned(), b"\xff\xfe{\x00}\x00\n\x00".to_vec()),
    ];
    let found = samples::find(bench)?;
    if let Some(file) = found.file.as_ref().filter(|file| !file.bytes.is_empty()) {
        for length in 0..file.bytes.len().min(2_000) {
            files.push((
                format!("{}, cut after {length} bytes", found.what),
                file.bytes[..length].to_vec(),
            ));
        }
        for round in 0..200 {
            let mut bytes = file.bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
            files.push((format!("{}, garbled (round {round})", found.what), bytes));
        }
    }
    for (what, bytes) in files {
        let result = read(bench, Memory::file("odd.jsonl", bytes));
        if let Some(panic) = bench.panics.first() {
            fail!("{what}: {panic}");
        }
        if let Err(error) = result {
            ensure!(!error.message.trim().is_empty(), "{what}: an error without a message");
        }
    }
    // Not one file but none, or several; and calls out of order.
    let _ = reading::take_all(bench, &AnySource::None, reading::MANY);
    let several = ["a.jsonl", "b.jsonl"].map(|name| crate::File {
        name: name.to_owned(),
        bytes: b"{\"text\":\"hi\"}\n".to_vec(),
    });
    let _ = read(bench, Memory::new(several.to_vec()));
    let _ = bench.dataset()?.next(1);
    Ok(())
}
