//! Runs of a metric family over records.

use std::collections::BTreeMap;

use aiperf_plugin_api::{
    Column, ColumnRef, Metric, MetricKind, PluginError, Result,
    metric::{Total, Window},
};

use super::Batches;

/// What a family computed: values per record, by tag.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Computed {
    rows: BTreeMap<String, Vec<Cell>>,
}

/// One value of one record.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Missing,
    U64(u64),
    F64(f64),
    U64List(Vec<u64>),
    F64List(Vec<f64>),
    Interval(u64, u64, f64),
    Steps(u64, Vec<u64>, f64),
}

impl Computed {
    /// Values of a metric as reals, one per record.
    ///
    /// # Panics
    /// When the family has no metric of this tag among those of records, or its values are no numbers: the test is wrong.
    pub fn f64(&self, tag: &str) -> Vec<Option<f64>> {
        let value = |cell: &Cell| match cell {
            Cell::Missing => None,
            Cell::F64(value) => Some(*value),
            Cell::U64(value) => Some(*value as f64),
            other => panic!("`{tag}` is {other:?}, not a number"),
        };
        self.cells(tag).iter().map(value).collect()
    }

    /// Values of a metric as integers, one per record.
    ///
    /// # Panics
    /// As [`Computed::f64`].
    pub fn u64(&self, tag: &str) -> Vec<Option<u64>> {
        let value = |cell: &Cell| match cell {
            Cell::Missing => None,
            Cell::U64(value) => Some(*value),
            other => panic!("`{tag}` is {other:?}, not an integer"),
        };
        self.cells(tag).iter().map(value).collect()
    }

    /// Lists of a metric as reals, one per record.
    ///
    /// # Panics
    /// As [`Computed::f64`].
    pub fn lists(&self, tag: &str) -> Vec<Option<Vec<f64>>> {
        let value = |cell: &Cell| match cell {
            Cell::Missing => None,
            Cell::F64List(values) => Some(values.clone()),
            Cell::U64List(values) => Some(values.iter().map(|&value| value as f64).collect()),
            other => panic!("`{tag}` is {other:?}, not a list"),
        };
        self.cells(tag).iter().map(value).collect()
    }

    fn cells(&self, tag: &str) -> &[Cell] {
        let found = self.rows.get(tag).map(Vec::as_slice);
        found.unwrap_or_else(|| panic!("no metric `{tag}` among {:?}", self.rows.keys()))
    }
}

/// Runs a family over records, in batches of 1, of 7, and in one: the contract wants the same values however records are
/// cut.
///
/// ```
/// use aiperf_sdk::{prelude::*, testing};
///
/// /// Seconds from start to end.
/// struct Took;
/// impl Metric for Took {
///     fn describe(&self) -> Result<MetricFamily> {
///         Ok(MetricFamily {
///             needs: vec![fields::START.into(), fields::END.into()],
///             derive_needs: Vec::new(),
///             metrics: vec![MetricSpec::new("took", "Took", "ns", MetricKind::Record)],
///         })
///     }
///     fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
///         let took = |i| batch.column(1).u64(i)?.checked_sub(batch.column(0).u64(i)?);
///         Ok(vec![Column::u64s((0..batch.len).map(took))])
///     }
/// }
///
/// let records = testing::Batches::of(2)
///     .u64(fields::START, [10, 20])
///     .u64(fields::END, [Some(15), None]);
/// assert_eq!(testing::compute(&Took, &records)?.u64("took"), [Some(5), None]);
/// # Ok::<(), PluginError>(())
/// ```
///
/// # Errors
/// Those of the family; columns of the wrong number, length or kind; values that depend on how records are cut.
pub fn compute(metric: &dyn Metric, records: &Batches) -> Result<Computed> {
    let whole = compute_in(metric, records, records.len())?;
    for size in [1, 7] {
        if compute_in(metric, records, size)? != whole {
            return Err(PluginError::failed(format!(
                "batches of {size} give other values than one of {}",
                records.len()
            )));
        }
    }
    Ok(whole)
}

fn compute_in(metric: &dyn Metric, records: &Batches, size: usize) -> Result<Computed> {
    let family = metric.describe()?;
    let specs: Vec<_> = family
        .metrics
        .iter()
        .filter(|spec| spec.kind != MetricKind::Derived)
        .collect();
    let mut rows: BTreeMap<String, Vec<Cell>> = specs.iter().map(|spec| (spec.tag.clone(), Vec::new())).collect();
    records.cut(size, &family.needs, |batch| {
        let columns = metric.record(batch)?;
        if columns.len() != specs.len() {
            return Err(PluginError::failed(format!(
                "{} columns for {} metrics of records",
                columns.len(),
                specs.len()
            )));
        }
        for (spec, column) in specs.iter().zip(&columns) {
            let wrong = |what: &str| PluginError::failed(format!("metric `{}`: {what}", spec.tag));
            column.check(batch.len).map_err(|what| wrong(&what))?;
            if !fits(spec.kind, column) {
                return Err(wrong("a column that does not fit its kind"));
            }
            let cells = rows.entry(spec.tag.clone()).or_default();
            cells.extend((0..batch.len).map(|i| cell(column, i)));
        }
        Ok(())
    })?;
    Ok(Computed { rows })
}

fn fits(kind: MetricKind, column: &Column) -> bool {
    match kind {
        MetricKind::Record | MetricKind::Sum | MetricKind::Min | MetricKind::Max => {
            matches!(column, Column::U64 { .. } | Column::F64 { .. })
        }
        MetricKind::List => matches!(column, Column::U64List { .. } | Column::F64List { .. }),
        MetricKind::Interval => matches!(column, Column::Intervals { .. }),
        MetricKind::Steps => matches!(column, Column::Steps { .. }),
        MetricKind::Derived => false,
    }
}

/// Value of a record of a column that was checked.
fn cell(column: &Column, i: usize) -> Cell {
    let has = |validity: &[u8]| validity.is_empty() || validity[i] != 0;
    let known = match column {
        Column::Intervals {
            from,
            to,
            weight,
            validity,
        } => has(validity).then(|| Cell::Interval(from[i], to[i], weight[i])),
        Column::Steps {
            from,
            ends,
            gaps,
            weight,
            validity,
        } => has(validity).then(|| {
            let start = if i == 0 { 0 } else { ends[i - 1] as usize };
            Cell::Steps(from[i], gaps[start..ends[i] as usize].to_vec(), weight[i])
        }),
        _ => column.borrow().and_then(|values| match values {
            ColumnRef::U64(..) => values.u64(i).map(Cell::U64),
            ColumnRef::F64(..) => values.f64(i).map(Cell::F64),
            ColumnRef::U64List(..) => values.u64_list(i).map(|list| Cell::U64List(list.to_vec())),
            _ => values.f64_list(i).map(|list| Cell::F64List(list.to_vec())),
        }),
    };
    known.unwrap_or(Cell::Missing)
}

/// A window of valid and error records over a duration. Its totals are filled in by [`derive`].
pub fn window(valid: u64, errors: u64, duration_ns: Option<u64>) -> Window {
    Window {
        start_ns: 0,
        end_ns: duration_ns.unwrap_or(0),
        duration_ns,
        valid,
        errors,
        totals: Vec::new(),
        facts: String::new(),
    }
}

/// The totals of these values, as the core would give them for a record metric.
pub fn total(values: &[f64]) -> Total {
    let sum: f64 = values.iter().sum();
    let least = values.iter().copied().reduce(f64::min);
    Total {
        count: values.len() as u64,
        sum: least.map(|_| sum),
        min: least,
        max: values.iter().copied().reduce(f64::max),
        value: least.map(|_| sum / values.len() as f64),
    }
}

/// The derived metrics of a family over a window, by tag; what can't be computed is left out. `totals` are those of the
/// tags in [`MetricFamily::derive_needs`](aiperf_plugin_api::MetricFamily::derive_needs); one that is not given does not
/// exist.
///
/// # Errors
/// Those of the family; another number of values than of derived metrics; a value that is not finite.
pub fn derive(metric: &dyn Metric, mut window: Window, totals: &[(&str, Total)]) -> Result<BTreeMap<String, f64>> {
    let family = metric.describe()?;
    let known = |tag: &String| {
        totals
            .iter()
            .find(|(name, _)| name == tag)
            .map(|(_, total)| total.clone())
    };
    window.totals = family
        .derive_needs
        .iter()
        .map(|tag| known(tag).unwrap_or_default())
        .collect();
    let specs = family.metrics.iter().filter(|spec| spec.kind == MetricKind::Derived);
    let values = metric.derive(&window)?;
    if values.len() != specs.clone().count() {
        return Err(PluginError::failed(format!(
            "{} values for {} derived metrics",
            values.len(),
            specs.count()
        )));
    }
    let mut all = BTreeMap::new();
    for (spec, value) in specs.zip(values) {
        match value {
            Some(value) if !value.is_finite() => {
                return Err(PluginError::failed(format!("metric `{}` is {value}", spec.tag)));
            }
            Some(value) => drop(all.insert(spec.tag.clone(), value)),
            None => {}
        }
    }
    Ok(all)
}
