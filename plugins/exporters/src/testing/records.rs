//! Tables of records for tests: rows in, the exporter's text out.

use std::collections::BTreeMap;

use aiperf_sdk::{Batch, ColumnRef, Validity, api::report::RunInfo};

use super::open;

/// A value of a record.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Int(u64),
    Real(f64),
    Text(&'static str),
    Ints(Vec<u64>),
}
use Cell::{Int, Ints, Real, Text};

/// A record: column name to value. What is not there is unknown.
pub(crate) type Row = BTreeMap<&'static str, Cell>;

/// What an exporter that appends to `file` writes for the records, given in batches of `size`.
pub(crate) fn export(entry: &str, info: &RunInfo, file: &str, rows: &[Row], size: usize) -> String {
    let mut exporter = open(entry);
    let needs = exporter.begin(&serde_json::to_string(info).unwrap()).unwrap();
    assert_eq!(needs.files, [file]);
    let mut bytes = Vec::new();
    for part in rows.chunks(size) {
        let owned: Vec<Owned> = needs.columns.iter().map(|name| Owned::new(name, part)).collect();
        let columns: Vec<ColumnRef<'_>> = owned.iter().map(Owned::column).collect();
        let batch = Batch {
            len: part.len(),
            columns: &columns,
        };
        for output in exporter.write(&batch).unwrap() {
            assert!(output.append && output.file == file);
            bytes.extend(output.data);
        }
    }
    assert!(exporter.finish("{}").unwrap().is_empty());
    String::from_utf8(bytes).unwrap()
}

struct Owned {
    first: Option<Cell>,
    validity: Vec<u8>,
    ends: Vec<u32>,
    ints: Vec<u64>,
    reals: Vec<f64>,
    text: String,
}

impl Owned {
    fn new(name: &str, rows: &[Row]) -> Self {
        let cells: Vec<Option<&Cell>> = rows.iter().map(|row| row.get(name)).collect();
        let mut owned = Self {
            first: cells.iter().flatten().next().map(|&cell| cell.clone()),
            validity: cells.iter().map(|cell| u8::from(cell.is_some())).collect(),
            ends: Vec::new(),
            ints: Vec::new(),
            reals: Vec::new(),
            text: String::new(),
        };
        let lists = matches!(owned.first, Some(Ints(_)));
        for cell in cells {
            match cell {
                Some(Int(value)) => owned.ints.push(*value),
                Some(Real(value)) => owned.reals.push(*value),
                Some(Text(value)) => owned.text.push_str(value),
                Some(Ints(values)) => owned.ints.extend(values),
                None if !lists => {
                    owned.ints.push(77);
                    owned.reals.push(77.0);
                }
                None => {}
            }
            owned
                .ends
                .push(if lists { owned.ints.len() } else { owned.text.len() } as u32);
        }
        owned
    }

    fn column(&self) -> ColumnRef<'_> {
        let mask = Validity::Mask(&self.validity);
        match self.first {
            Some(Int(_)) => ColumnRef::U64(&self.ints, mask),
            Some(Real(_)) => ColumnRef::F64(&self.reals, mask),
            Some(Text(_)) => ColumnRef::Text(&self.ends, &self.text, mask),
            Some(Ints(_)) => ColumnRef::U64List(&self.ends, &self.ints, mask),
            None => ColumnRef::Missing,
        }
    }
}
