//! An exporter of every kind of column.

use aiperf_sdk::{
    Batch, ColumnRef, Exporter, Output, Result,
    exporter::{ExporterNeeds, TableNeeds},
};

/// Writes what it is told, as text.
pub struct Texts;

fn output(file: &str, text: String) -> Output {
    Output {
        file: file.to_owned(),
        order: -3,
        append: true,
        data: text.into_bytes(),
    }
}

fn cell(column: ColumnRef<'_>, i: usize) -> String {
    let known = column.u64(i).map(|value| value.to_string());
    known
        .or_else(|| column.f64(i).map(|value| format!("{value:?}")))
        .or_else(|| column.text(i).map(str::to_owned))
        .or_else(|| column.u64_list(i).map(|values| format!("{values:?}")))
        .or_else(|| column.f64_list(i).map(|values| format!("{values:?}")))
        .unwrap_or_else(|| if column == ColumnRef::Missing { "missing" } else { "-" }.to_owned())
}

fn rows(batch: &Batch<'_>) -> String {
    let row = |i| {
        let cells = batch.columns.iter().map(|&column| cell(column, i));
        cells.collect::<Vec<_>>().join(";")
    };
    let rows: Vec<String> = (0..batch.len).map(row).collect();
    rows.join("\n")
}

impl Exporter for Texts {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        Ok(ExporterNeeds {
            columns: info.split(' ').map(str::to_owned).collect(),
            files: vec!["texts/all.txt".to_owned()],
            tables: vec![TableNeeds {
                table: "gpu".to_owned(),
                columns: vec!["field".to_owned(), "value".to_owned()],
            }],
        })
    }

    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        Ok(vec![output("texts/all.txt", rows(batch))])
    }

    fn write_table(&mut self, table: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        Ok(vec![output(&format!("texts/{table}.txt"), rows(batch))])
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        Ok(vec![output("", report.to_owned())])
    }
}
