//! Values of records.

use aiperf_sdk::{Batch, Column, Metric, MetricFamily, MetricKind, fields};

use super::results::{Cell, cells};
use crate::{
    bench::Bench,
    case::{During, Stop, Verdict},
    records::{Style, Table},
};

/// Records of a case: the largest batch.
const RECORDS: usize = 1_024;

/// Columns, by record.
type Rows = Vec<Vec<Cell>>;

fn family(bench: &Bench) -> Result<(Box<dyn Metric>, MetricFamily), Stop> {
    let metric = bench.metric()?;
    let family = metric.describe()?;
    Ok((metric, family))
}

fn table(bench: &Bench, family: &MetricFamily, len: usize, style: Style) -> Table {
    Table::named(&family.needs, len, style, &mut bench.random("metric.records"))
}

/// The values of a batch, once its columns are found to fit.
fn record(metric: &dyn Metric, family: &MetricFamily, batch: &Batch<'_>) -> Result<Rows, Stop> {
    let columns = metric
        .record(batch)
        .during(format_args!("`record` of {} records", batch.len))?;
    fits(family, &columns, batch.len).map_err(|problem| Stop::Failed(format!("{} records: {problem}", batch.len)))?;
    Ok(columns.iter().map(|column| cells(column, batch.len)).collect())
}

fn fits(family: &MetricFamily, columns: &[Column], len: usize) -> Result<(), String> {
    let specs: Vec<_> = recorded(family).collect();
    if columns.len() != specs.len() {
        return Err(format!(
            "{} columns for {} metrics that aren't derived",
            columns.len(),
            specs.len()
        ));
    }
    for (spec, column) in specs.iter().zip(columns) {
        column
            .check(len)
            .map_err(|problem| format!("`{}`: {problem}", spec.tag))?;
        let fits = match spec.kind {
            MetricKind::Record | MetricKind::Sum | MetricKind::Min | MetricKind::Max => {
                matches!(column, Column::U64 { .. } | Column::F64 { .. })
            }
            MetricKind::List => matches!(column, Column::U64List { .. } | Column::F64List { .. }),
            MetricKind::Interval => matches!(column, Column::Intervals { .. }),
            MetricKind::Steps => matches!(column, Column::Steps { .. }),
            MetricKind::Derived => false,
        };
        if !fits {
            let shape = format!("{column:?}");
            let shape = shape.split([' ', '{']).next().unwrap_or_default();
            return Err(format!(
                "`{}` is of the kind {:?}, its column is {shape}",
                spec.tag, spec.kind
            ));
        }
    }
    Ok(())
}

fn recorded(family: &MetricFamily) -> impl Iterator<Item = &aiperf_sdk::MetricSpec> {
    family.metrics.iter().filter(|spec| spec.kind != MetricKind::Derived)
}

/// The first difference between what two calls say, if any.
fn difference(family: &MetricFamily, found: &Rows, expected: &Rows) -> Option<String> {
    for ((spec, found), expected) in recorded(family).zip(found).zip(expected) {
        if let Some(row) = (0..expected.len()).find(|&row| found.get(row) != expected.get(row)) {
            return Some(format!(
                "`{}` of record {row} is {:?} instead of {:?}",
                spec.tag,
                found.get(row),
                expected[row]
            ));
        }
    }
    None
}

pub(super) fn shape(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    for len in [1, 2, 7, 255, 256, 1_024] {
        table(bench, &family, len, Style::Usual).with_batch(|batch| record(&*metric, &family, batch))?;
    }
    Ok(())
}

pub(super) fn batch_sizes(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    let all = table(bench, &family, RECORDS, Style::Usual);
    let expected = all.with_batch(|batch| record(&*metric, &family, batch))?;
    for size in [1, 7, 256] {
        let mut found: Rows = vec![Vec::new(); expected.len()];
        for from in (0..all.len).step_by(size) {
            let part = all.rows(from, from + size);
            let rows = part.with_batch(|batch| record(&*metric, &family, batch))?;
            for (found, more) in found.iter_mut().zip(rows) {
                found.extend(more);
            }
        }
        if let Some(difference) = difference(&family, &found, &expected) {
            fail!("in batches of {size}, {difference}");
        }
    }
    Ok(())
}

pub(super) fn validity(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    let usual = table(bench, &family, RECORDS, Style::Usual);
    let expected = usual.with_batch(|batch| record(&*metric, &family, batch))?;
    let mut random = bench.random("metric.garbage");
    for _ in 0..4 {
        let garbled = usual.garbled(&mut random);
        let found = garbled.with_batch(|batch| record(&*metric, &family, batch))?;
        if let Some(difference) = difference(&family, &found, &expected) {
            fail!("with other values under the masks, {difference}");
        }
    }
    // One column at a time without any value; but the core always says whether a record is valid.
    for column in (0..family.needs.len()).filter(|&column| family.needs[column] != fields::VALID) {
        let without = usual.unknown(|index| index != column);
        let expected = without.with_batch(|batch| record(&*metric, &family, batch))?;
        let garbled = without.garbled(&mut random);
        let found = garbled.with_batch(|batch| record(&*metric, &family, batch))?;
        if let Some(difference) = difference(&family, &found, &expected) {
            fail!(
                "with other values under the masks and `{}` unknown, {difference}",
                family.needs[column]
            );
        }
    }
    Ok(())
}

pub(super) fn missing(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    // The core always says whether a record is valid.
    let known = |index: usize| family.needs.get(index).is_some_and(|need| need == fields::VALID);
    let usual = table(bench, &family, 64, Style::Usual);
    let masked = usual
        .unknown(known)
        .with_batch(|batch| record(&*metric, &family, batch))?;
    let missing = usual.with_missing(|index| !known(index), |batch| record(&*metric, &family, batch))?;
    if let Some(difference) = difference(&family, &missing, &masked) {
        fail!("missing columns and masked ones differ: {difference}");
    }
    if family.needs.iter().all(|need| need == fields::VALID) {
        skip!("it needs nothing that can be unknown");
    }
    for (spec, cells) in recorded(&family).zip(&masked) {
        if spec.kind == MetricKind::Sum {
            continue;
        }
        if let Some(row) = cells.iter().position(|cell| *cell != Cell::None) {
            fail!(
                "nothing is known of record {row}, but `{}` is {:?}; without a value it is no value",
                spec.tag,
                cells[row]
            );
        }
    }
    Ok(())
}

pub(super) fn extremes(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    for round in 0..8 {
        let mut random = bench.random(&format!("metric.extremes.{round}"));
        let table = Table::named(&family.needs, 256, Style::Extreme, &mut random);
        table.with_batch(|batch| record(&*metric, &family, batch))?;
    }
    Ok(())
}

pub(super) fn errors_only(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    for len in [1, 256] {
        table(bench, &family, len, Style::Errors).with_batch(|batch| record(&*metric, &family, batch))?;
    }
    Ok(())
}

pub(super) fn pure(bench: &Bench) -> Verdict {
    let (one, family) = family(bench)?;
    let two = bench.metric()?;
    let parts: Vec<Table> = [3, 64, 256, 1]
        .iter()
        .map(|&len| table(bench, &family, len, Style::Usual))
        .collect();
    let values = |metric: &dyn Metric, part: &Table| part.with_batch(|batch| record(metric, &family, batch));
    let expected = parts
        .iter()
        .map(|part| values(&*one, part))
        .collect::<Result<Vec<Rows>, Stop>>()?;
    for (part, expected) in parts.iter().zip(&expected).rev() {
        for (metric, which) in [(&one, "the same"), (&two, "another")] {
            if let Some(difference) = difference(&family, &values(&**metric, part)?, expected) {
                fail!("asked again, {which} instance says: {difference}");
            }
        }
    }
    let shared = &*one;
    let differ = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let again = parts.iter().map(|part| values(shared, part));
                    again.zip(&expected).find_map(|(found, expected)| match found {
                        Ok(found) => difference(&family, &found, expected),
                        Err(_) => Some("`record` fails".to_owned()),
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .find_map(|found| found)
    });
    if let Some(difference) = differ {
        fail!("in several threads at once: {difference}");
    }
    Ok(())
}
