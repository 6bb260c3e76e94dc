//! Metric families.
//!
//! * [`results`]: columns compared by what they say. [`describe`]: what a family says it is.
//! * [`record`]: values of records. [`derive`]: values of windows.

mod derive;
mod describe;
mod record;
mod results;

use crate::{
    bench::Bench,
    case::{Definition, Stop, must},
    records::{Style, Table},
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "ME-1",
        "metric.describe",
        "`describe` gives the same answer each time, in every instance",
        describe::stable,
    ),
    must(
        "ME-2",
        "metric.specs",
        "tags are names of their own, each with header and unit; needs are named once; declared tags cover them",
        describe::specs,
    ),
    must(
        "ME-3",
        "metric.shape",
        "`record` returns one column per metric that isn't derived, of the type of its kind, as long as the batch",
        record::shape,
    ),
    must(
        "ME-4",
        "metric.batch_sizes",
        "values don't depend on how records are cut into batches",
        record::batch_sizes,
    ),
    must(
        "ME-5",
        "metric.validity",
        "what lies under a mask never shows in a value",
        record::validity,
    ),
    must(
        "ME-6",
        "metric.missing",
        "of unknown inputs comes no value, whether the column is missing or masked; a sum may count the record",
        record::missing,
    ),
    must(
        "ME-7",
        "metric.extremes",
        "numbers at their limits and times in any order give finite values or none",
        record::extremes,
    ),
    must(
        "ME-8",
        "metric.errors_only",
        "a batch in which every request failed gives columns like any other",
        record::errors_only,
    ),
    must(
        "ME-9",
        "metric.pure",
        "`record` depends on the batch alone: the same one gives the same columns, in any instance and thread",
        record::pure,
    ),
    must(
        "ME-10",
        "metric.derive_empty",
        "of a window in which nothing happened come finite values or none, one per derived metric",
        derive::empty,
    ),
    must(
        "ME-11",
        "metric.derive_finite",
        "totals of any size give finite values or none",
        derive::finite,
    ),
    must(
        "ME-12",
        "metric.derive_pure",
        "`derive` depends on the window alone",
        derive::pure,
    ),
];

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let metric = bench.metric()?;
    let family = metric.describe()?;
    let mut random = bench.random("metric.speed");
    let mut speeds = Vec::new();
    for len in [256, 1_024] {
        let table = Table::named(&family.needs, len, Style::Usual, &mut random);
        speeds.push(table.with_batch(|batch| {
            let what = format!("record (batches of {len})");
            Speed::measure(what, "record", len as u64, || metric.record(batch))
        }));
    }
    Ok(speeds)
}
