//! Tables of records for tests: rows in, values by tag out.

use std::{collections::BTreeMap, sync::Arc};

use aiperf_sdk::{
    Batch, Column, ColumnRef, Metric, MetricKind, Package, Result, Validity, host::NoHost, metric::Total,
    metric::Window, package::Open,
};

use crate::BuiltIn;

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Int(u64),
    Real(f64),
    Text(String),
    List(Vec<u64>),
    /// From, to, weight.
    Interval(u64, u64, f64),
    /// Start, gaps, weight of each step.
    Steps(u64, Vec<u64>, f64),
}

/// A record: column name to value. What is not there is unknown.
pub(crate) type Row = BTreeMap<String, Cell>;

/// A record from pairs.
pub(crate) fn row<const N: usize>(cells: [(&str, Cell); N]) -> Row {
    cells.into_iter().map(|(name, cell)| (name.to_owned(), cell)).collect()
}

/// Opens a family in a run of which the core says `core`.
pub(crate) fn open(entry: &str, core: &str) -> Result<Box<dyn Metric>> {
    open_with(entry, "", core)
}

/// Opens a family with options of the user.
pub(crate) fn open_with(entry: &str, options: &str, core: &str) -> Result<Box<dyn Metric>> {
    BuiltIn::metric(Open {
        entry: entry.to_owned(),
        options: options.to_owned(),
        core: core.to_owned(),
        host: Arc::new(NoHost),
    })
}

struct Owned {
    cells: Vec<Option<Cell>>,
    ends: Vec<u32>,
    validity: Vec<u8>,
    ints: Vec<u64>,
    reals: Vec<f64>,
    text: String,
}

impl Owned {
    fn new(name: &str, rows: &[Row]) -> Self {
        let mut owned = Self {
            cells: rows.iter().map(|row| row.get(name).cloned()).collect(),
            ends: Vec::new(),
            validity: Vec::new(),
            ints: Vec::new(),
            reals: Vec::new(),
            text: String::new(),
        };
        let lists = owned.cells.iter().flatten().any(|cell| matches!(cell, Cell::List(_)));
        for cell in owned.cells.clone() {
            owned.validity.push(u8::from(cell.is_some()));
            match cell {
                Some(Cell::Int(value)) => owned.ints.push(value),
                Some(Cell::Real(value)) => owned.reals.push(value),
                Some(Cell::Text(text)) => owned.text.push_str(&text),
                Some(Cell::List(values)) => owned.ints.extend(values),
                // What lies under an invalid cell means nothing.
                None if !lists => {
                    owned.ints.push(77);
                    owned.reals.push(77.0);
                }
                None => {}
                Some(Cell::Interval(..) | Cell::Steps(..)) => panic!("records hold no curves"),
            }
            let length = if lists { owned.ints.len() } else { owned.text.len() };
            owned.ends.push(length as u32);
        }
        owned
    }

    fn column(&self) -> ColumnRef<'_> {
        let validity = Validity::Mask(&self.validity);
        match self.cells.iter().flatten().next() {
            Some(Cell::Int(_)) => ColumnRef::U64(&self.ints, validity),
            Some(Cell::Real(_)) => ColumnRef::F64(&self.reals, validity),
            Some(Cell::Text(_)) => ColumnRef::Text(&self.ends, &self.text, validity),
            Some(Cell::List(_)) => ColumnRef::U64List(&self.ends, &self.ints, validity),
            _ => ColumnRef::Missing,
        }
    }
}

/// Runs a family over one batch.
pub(crate) fn compute(metric: &dyn Metric, rows: &[Row]) -> Vec<Row> {
    let family = metric.describe().unwrap();
    let owned: Vec<Owned> = family.needs.iter().map(|name| Owned::new(name, rows)).collect();
    let columns: Vec<ColumnRef<'_>> = owned.iter().map(Owned::column).collect();
    let batch = Batch {
        len: rows.len(),
        columns: &columns,
    };
    let results = metric.record(&batch).unwrap();
    let tags: Vec<&str> = family
        .metrics
        .iter()
        .filter(|spec| spec.kind != MetricKind::Derived)
        .map(|spec| spec.tag.as_str())
        .collect();
    assert_eq!(results.len(), tags.len(), "one column per metric");
    let mut out = vec![Row::new(); rows.len()];
    for (tag, column) in tags.iter().zip(&results) {
        column.check(rows.len()).unwrap();
        for (i, row) in out.iter_mut().enumerate() {
            if let Some(cell) = cell(column, i) {
                row.insert((*tag).to_owned(), cell);
            }
        }
    }
    out
}

fn cell(column: &Column, i: usize) -> Option<Cell> {
    let Some(borrowed) = column.borrow() else {
        return curve_cell(column, i);
    };
    match borrowed {
        ColumnRef::U64(..) => borrowed.u64(i).map(Cell::Int),
        ColumnRef::F64(..) => borrowed.f64(i).map(Cell::Real),
        ColumnRef::U64List(..) => borrowed.u64_list(i).map(|list| Cell::List(list.to_vec())),
        _ => panic!("no such column"),
    }
}

fn curve_cell(column: &Column, i: usize) -> Option<Cell> {
    match column {
        Column::Intervals {
            from,
            to,
            weight,
            validity,
        } => (validity[i] != 0).then(|| Cell::Interval(from[i], to[i], weight[i])),
        Column::Steps {
            from,
            ends,
            gaps,
            weight,
            validity,
        } => (validity[i] != 0).then(|| {
            let begin = i.checked_sub(1).map_or(0, |before| ends[before]);
            Cell::Steps(from[i], gaps[begin as usize..ends[i] as usize].to_vec(), weight[i])
        }),
        _ => panic!("no such column"),
    }
}

/// The derived metrics over a window of `valid` and `errors` records and `duration_ns`; totals by tag.
pub(crate) fn derive(
    metric: &dyn Metric,
    (valid, errors, duration_ns): (u64, u64, Option<u64>),
    totals: &[(&str, Total)],
) -> BTreeMap<String, f64> {
    let family = metric.describe().unwrap();
    let window = Window {
        start_ns: 0,
        end_ns: duration_ns.unwrap_or(0),
        duration_ns,
        valid,
        errors,
        totals: family
            .derive_needs
            .iter()
            .map(|tag| {
                let known = totals.iter().find(|(name, _)| name == tag);
                known.map(|(_, total)| total.clone()).unwrap_or_default()
            })
            .collect(),
        facts: String::new(),
    };
    let tags = family
        .metrics
        .iter()
        .filter(|spec| spec.kind == MetricKind::Derived)
        .map(|spec| spec.tag.clone());
    let values = metric.derive(&window).unwrap();
    assert_eq!(values.len(), tags.clone().count(), "one value per derived metric");
    tags.zip(values)
        .filter_map(|(tag, value)| value.map(|value| (tag, value)))
        .collect()
}

/// A total of one value.
pub(crate) fn total(value: f64) -> Total {
    Total {
        count: 1,
        sum: Some(value),
        min: Some(value),
        max: Some(value),
        value: Some(value),
    }
}
