//! Exporters.
//!
//! * [`reports`]: what they are told. [`folder`]: what the core makes of their outputs.
//! * [`runs`]: whole runs of an exporter, and what must hold of each.

mod folder;
pub(crate) mod reports;
mod runs;

use aiperf_sdk::{Exporter, exporter::ExporterNeeds};

use crate::{
    bench::Bench,
    case::{Definition, Stop, must},
    records::Style,
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "EX-1",
        "exporter.begin",
        "what an exporter wants depends on the facts of the run alone",
        runs::begin,
    ),
    must(
        "EX-2",
        "exporter.file_names",
        "file names are relative, stay inside the folder and are allowed on every system",
        runs::file_names,
    ),
    must(
        "EX-3",
        "exporter.announced",
        "every file that is written has been announced by `begin`",
        runs::announced,
    ),
    must(
        "EX-4",
        "exporter.no_records",
        "a run without a single record comes to an end",
        runs::no_records,
    ),
    must(
        "EX-5",
        "exporter.errors_only",
        "a run in which every request failed, and a phase was cut short, comes to an end",
        runs::errors_only,
    ),
    must(
        "EX-6",
        "exporter.batch_sizes",
        "files don't depend on how records are cut into batches",
        runs::batch_sizes,
    ),
    must(
        "EX-7",
        "exporter.deterministic",
        "two instances that are told the same write the same",
        runs::deterministic,
    ),
    must(
        "EX-8",
        "exporter.odd_texts",
        "texts of any size and with any character are exported; JSON files stay JSON",
        runs::odd_texts,
    ),
    must(
        "EX-9",
        "exporter.missing",
        "what has no value is never written as NaN or infinite",
        runs::missing,
    ),
    must("EX-10", "exporter.console", "console output is UTF-8", runs::console),
    must(
        "EX-11",
        "exporter.newer_report",
        "fields that a newer core adds to facts and report are ignored",
        runs::newer_report,
    ),
    must(
        "EX-12",
        "exporter.malformed",
        "facts and reports that are no JSON are refused",
        runs::malformed,
    ),
    must(
        "EX-13",
        "exporter.unknown_columns",
        "columns that the core doesn't know come as missing ones, in tables too, and are exported as unknown",
        runs::unknown_columns,
    ),
];

fn begun(bench: &Bench, info: &str) -> Result<(Box<dyn Exporter>, ExporterNeeds), Stop> {
    let mut exporter = bench.exporter()?;
    let needs = exporter.begin(info)?;
    Ok((exporter, needs))
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    const RECORDS: usize = 256;
    let report = reports::usual();
    let (info, text) = (reports::json(&report.info), reports::json(&report));
    let (mut exporter, needs) = begun(bench, &info)?;
    let mut speeds = Vec::new();
    if !needs.columns.is_empty() {
        let table = runs::table(bench, &needs, &report.info, RECORDS, Style::Usual);
        speeds.push(table.with_batch(|batch| {
            Speed::measure("write (batches of 256)", "record", RECORDS as u64, || {
                exporter.write(batch)
            })
        }));
    }
    speeds.push(Speed::measure("open, begin and finish", "call", 1, || {
        let (mut exporter, _) = begun(bench, &info)?;
        exporter.finish(&text).map_err(Stop::from)
    }));
    Ok(speeds)
}
