//! Whole runs of an exporter, and what must hold of each.

use aiperf_sdk::{
    Exporter, MetricKind, Output,
    api::report::{Report, RunInfo},
    exporter::ExporterNeeds,
    metric::flags,
};
use serde_json::Value;

use super::{begun, folder::Folder, reports};
use crate::{
    bench::Bench,
    case::{During, Stop, Verdict},
    records::{Style, Table, Type, type_of},
    text::{self, unsafe_file_name},
};

const RECORDS: usize = 600;

/// What an exporter was asked and what it gave.
struct Done {
    needs: ExporterNeeds,
    folder: Folder,
    outputs: Vec<Output>,
}

/// The columns that an exporter wants, the per-record metrics by what the catalogue says of them.
pub(super) fn table(bench: &Bench, needs: &ExporterNeeds, info: &RunInfo, len: usize, style: Style) -> Table {
    let hidden = flags::NOT_PER_RECORD | flags::INTERNAL | flags::EXPERIMENTAL;
    let metrics: Vec<(String, Type)> = info
        .catalogue
        .iter()
        .filter(|entry| entry.spec.flags & hidden == 0)
        .filter_map(|entry| {
            let spec = &entry.spec;
            let kind = match spec.kind {
                MetricKind::List => Type::U64List,
                MetricKind::Derived | MetricKind::Interval | MetricKind::Steps => return None,
                _ if spec.is(flags::INTEGER) => Type::U64,
                _ => Type::F64,
            };
            Some((spec.tag.clone(), kind))
        })
        .collect();
    let mut columns = Vec::new();
    for need in &needs.columns {
        if need == "metrics.*" {
            columns.extend(metrics.iter().cloned());
        } else if let Some(metric) = metrics.iter().find(|(tag, _)| tag == need) {
            columns.push(metric.clone());
        } else {
            columns.push((need.clone(), type_of(need)));
        }
    }
    Table::new(&columns, len, style, &mut bench.random("exporter.records"))
}

/// Writes records in batches.
fn write(exporter: &mut dyn Exporter, table: &Table, batch: usize) -> Result<Vec<Output>, Stop> {
    let mut outputs = Vec::new();
    for from in (0..table.len).step_by(batch) {
        let part = table.rows(from, from + batch);
        let more = part
            .with_batch(|batch| exporter.write(batch))
            .during(format_args!("`write` of records {from} to {}", from + part.len))?;
        outputs.extend(more);
    }
    Ok(outputs)
}

/// A run of so many records.
fn run(bench: &Bench, report: &Report, records: usize, style: Style, batch: usize) -> Result<Done, Stop> {
    let (mut exporter, needs) = begun(bench, &reports::json(&report.info))?;
    let mut outputs = Vec::new();
    if !needs.columns.is_empty() {
        let table = table(bench, &needs, &report.info, records, style);
        outputs = write(&mut *exporter, &table, batch)?;
    }
    outputs.extend(exporter.finish(&reports::json(report)).during("`finish`")?);
    let mut folder = Folder::default();
    folder.take(outputs.clone());
    Ok(Done { needs, folder, outputs })
}

/// The runs that most rules are checked on.
fn usual_runs(bench: &Bench) -> Result<Vec<Done>, Stop> {
    let usual = reports::usual();
    Ok(vec![
        run(bench, &usual, RECORDS, Style::Usual, 256)?,
        run(bench, &usual, 1, Style::Usual, 1)?,
        run(bench, &reports::errors_only(), 20, Style::Errors, 256)?,
        run(bench, &reports::nothing(), 0, Style::Usual, 256)?,
        run(bench, &reports::missing(), RECORDS, Style::Usual, 256)?,
    ])
}

pub(super) fn begin(bench: &Bench) -> Verdict {
    let info = reports::info_json();
    let (_, first) = begun(bench, &info)?;
    let (_, other) = begun(bench, &info)?;
    ensure!(other == first, "another instance wants {other:?}\ninstead of {first:?}");
    for (index, column) in first.columns.iter().enumerate() {
        ensure!(!column.trim().is_empty(), "a column without a name is wanted");
        ensure!(
            !first.columns[..index].contains(column),
            "the column `{column}` is wanted twice"
        );
    }
    Ok(())
}

pub(super) fn file_names(bench: &Bench) -> Verdict {
    for done in usual_runs(bench)? {
        let written = done
            .outputs
            .iter()
            .map(|output| &output.file)
            .filter(|file| !file.is_empty());
        for (name, how) in done
            .needs
            .files
            .iter()
            .map(|name| (name, "announced"))
            .chain(written.map(|name| (name, "written")))
        {
            if let Some(problem) = unsafe_file_name(name) {
                fail!("the file {name:?} is {how}: {problem}");
            }
        }
    }
    Ok(())
}

pub(super) fn announced(bench: &Bench) -> Verdict {
    for done in usual_runs(bench)? {
        for name in done.folder.files.keys() {
            ensure!(
                done.needs.files.contains(name),
                "the file {name:?} is written, but only {:?} were announced",
                done.needs.files
            );
        }
    }
    Ok(())
}

pub(super) fn no_records(bench: &Bench) -> Verdict {
    run(bench, &reports::nothing(), 0, Style::Usual, 1)?;
    run(bench, &reports::usual(), 0, Style::Usual, 1)?;
    Ok(())
}

pub(super) fn errors_only(bench: &Bench) -> Verdict {
    run(bench, &reports::errors_only(), 30, Style::Errors, 7)?;
    Ok(())
}

/// Fails where two runs wrote something else.
fn same(what: &str, found: &Folder, expected: &Folder) -> Verdict {
    let names = expected.files.keys().chain(found.files.keys());
    for name in names {
        let (found, expected) = (found.files.get(name), expected.files.get(name));
        if found != expected {
            let differs = |bytes: Option<&Vec<u8>>, other: Option<&Vec<u8>>| {
                let (bytes, other) = (
                    bytes.map_or(&[][..], Vec::as_slice),
                    other.map_or(&[][..], Vec::as_slice),
                );
                let at = bytes.iter().zip(other).take_while(|(a, b)| a == b).count();
                let from = at.saturating_sub(30).min(bytes.len());
                let excerpt = &bytes[from..(at + 50).min(bytes.len())];
                format!("{:?} (byte {at} of {})", String::from_utf8_lossy(excerpt), bytes.len())
            };
            fail!(
                "{what}, the file {name:?} has {}\ninstead of {}",
                differs(found, expected),
                differs(expected, found)
            );
        }
    }
    ensure!(found.console == expected.console, "{what}, the console output differs");
    Ok(())
}

pub(super) fn batch_sizes(bench: &Bench) -> Verdict {
    let report = reports::usual();
    let expected = run(bench, &report, RECORDS, Style::Usual, RECORDS)?;
    if expected.needs.columns.is_empty() {
        skip!("it wants no records");
    }
    for batch in [1, 7, 256] {
        let found = run(bench, &report, RECORDS, Style::Usual, batch)?;
        same(&format!("in batches of {batch}"), &found.folder, &expected.folder)?;
    }
    Ok(())
}

pub(super) fn deterministic(bench: &Bench) -> Verdict {
    let report = reports::usual();
    let expected = run(bench, &report, RECORDS, Style::Usual, 256)?;
    let found = run(bench, &report, RECORDS, Style::Usual, 256)?;
    same("written again by another instance", &found.folder, &expected.folder)
}

pub(super) fn odd_texts(bench: &Bench) -> Verdict {
    let huge = "huge ".repeat(200_000);
    for text in text::ODD.iter().copied().chain([huge.as_str()]) {
        let name: String = text.chars().take(30).collect();
        let done = match run(bench, &reports::odd(text), 100, Style::OddTexts, 64) {
            Ok(done) => done,
            Err(Stop::Failed(problem)) => fail!("with the text {name:?}: {problem}"),
            Err(stop) => return Err(stop),
        };
        for (file, bytes) in &done.folder.files {
            if let Err(problem) = still_json(file, bytes) {
                fail!("with the text {name:?}, {file:?} is no JSON any more: {problem}");
            }
        }
    }
    Ok(())
}

fn still_json(file: &str, bytes: &[u8]) -> Result<(), String> {
    let parse = |bytes: &[u8]| {
        serde_json::from_slice::<Value>(bytes)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    if file.ends_with(".json") {
        return parse(bytes);
    }
    if file.ends_with(".jsonl") {
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        for (index, line) in lines.enumerate() {
            parse(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        }
    }
    Ok(())
}

pub(super) fn missing(bench: &Bench) -> Verdict {
    for (what, report, style) in [
        ("statistics that don't exist", reports::missing(), Style::Usual),
        ("no records", reports::nothing(), Style::Usual),
        ("errors alone", reports::errors_only(), Style::Errors),
    ] {
        let done = run(bench, &report, 100, style, 64)?;
        for (name, bytes) in done.folder.all() {
            let text = String::from_utf8_lossy(bytes);
            let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| {
                ["nan", "inf", "infinity"]
                    .iter()
                    .any(|bad| word.eq_ignore_ascii_case(bad))
            });
            if let Some(word) = word {
                fail!("{what}: {name} says {word:?}");
            }
        }
    }
    Ok(())
}

pub(super) fn console(bench: &Bench) -> Verdict {
    let mut seen = false;
    for done in usual_runs(bench)? {
        for (_, data) in &done.folder.console {
            seen = true;
            if let Err(error) = std::str::from_utf8(data) {
                fail!("the console output is no UTF-8: {error}");
            }
        }
    }
    if !seen {
        skip!("it writes nothing to the console");
    }
    Ok(())
}

/// Adds a field to every object.
fn newer(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(newer);
            fields.insert("added_later".to_owned(), 1.into());
        }
        Value::Array(values) => values.iter_mut().for_each(newer),
        _ => {}
    }
}

fn newer_json(value: &impl serde::Serialize) -> String {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    newer(&mut value);
    value.to_string()
}

pub(super) fn newer_report(bench: &Bench) -> Verdict {
    let usual = reports::usual();
    let (mut exporter, _) = begun(bench, &newer_json(&usual.info))?;
    exporter
        .finish(&newer_json(&usual))
        .during("`finish` of a report with fields of a newer core")?;
    Ok(())
}

pub(super) fn malformed(bench: &Bench) -> Verdict {
    let info = reports::info_json();
    for text in ["", "{", "nonsense"] {
        if bench.exporter()?.begin(text).is_ok() {
            let (mut exporter, _) = begun(bench, &info)?;
            ensure!(
                exporter.finish(text).is_err(),
                "neither as facts nor as a report is {text:?} refused"
            );
        }
        let (mut exporter, _) = begun(bench, &info)?;
        let _ = exporter.finish(text);
    }
    Ok(())
}

pub(super) fn unknown_columns(bench: &Bench) -> Verdict {
    const TABLE: usize = 3;
    let report = reports::usual();
    let (mut exporter, needs) = begun(bench, &reports::json(&report.info))?;
    if needs.columns.is_empty() && needs.tables.is_empty() {
        skip!("it wants no records");
    }
    if !needs.columns.is_empty() {
        let table = table(bench, &needs, &report.info, TABLE, Style::Usual);
        table
            .with_missing(|_| true, |batch| exporter.write(batch))
            .during("`write` of records without a known column")?;
    }
    for wanted in &needs.tables {
        let table = Table::named(
            &wanted.columns,
            TABLE,
            Style::Usual,
            &mut bench.random("exporter.tables"),
        );
        table
            .with_missing(|_| true, |batch| exporter.write_table(&wanted.table, batch))
            .during(format_args!(
                "`write_table` of `{}` without a known column",
                wanted.table
            ))?;
    }
    exporter.finish(&reports::json(&report)).during("`finish`")?;
    Ok(())
}
