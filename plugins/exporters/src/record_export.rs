//! One line of JSON per record, in order of completion. Every request of a run passes through here, so lines are written
//! straight into one buffer: no intermediate values, keys and units prepared ahead.

use aiperf_sdk::{
    Batch, ColumnRef, Exporter, MetricKind, Result,
    api::report::CatalogueEntry,
    exporter::{ExporterNeeds, Output},
    fields,
    metric::flags,
};

use crate::{
    json::push_string,
    metadata::{COLUMNS, write_error, write_metadata},
    numbers::{push_float, push_integer},
    package::read_info,
};

/// Writes the records; nothing where the run exports none.
#[derive(Default)]
pub(crate) struct RecordExport {
    file: Option<String>,
    metrics: Vec<Metric>,
    /// Records carry what happened on their connection.
    trace: bool,
    /// Bytes of the longest line so far.
    longest: usize,
}

/// A metric, ready to write.
struct Metric {
    /// `"tag":{"value":`
    head: Vec<u8>,
    /// `,"unit":"ms"},`
    tail: Vec<u8>,
    factor: f64,
    /// Values are whole numbers in the unit shown.
    whole: bool,
}

impl Metric {
    fn new(entry: &CatalogueEntry) -> Self {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        push_string(&mut head, &entry.spec.tag);
        head.extend_from_slice(b":{\"value\":");
        tail.extend_from_slice(b",\"unit\":");
        push_string(&mut tail, entry.spec.reported_unit());
        tail.extend_from_slice(b"},");
        Self {
            head,
            tail,
            factor: entry.factor,
            whole: entry.factor == 1.0 && entry.spec.is(flags::INTEGER) && !entry.spec.is(flags::REAL),
        }
    }

    /// Writes the metric of record `i` and a comma; nothing if the record has no value.
    fn write(&self, out: &mut Vec<u8>, column: &ColumnRef<'_>, i: usize) {
        let begin = out.len();
        out.extend_from_slice(&self.head);
        let written = match column {
            ColumnRef::U64(..) => column.u64(i).is_some_and(|value| self.integer(out, value)),
            ColumnRef::F64(..) => column.f64(i).is_some_and(|value| self.real(out, value)),
            ColumnRef::U64List(..) => column
                .u64_list(i)
                .is_some_and(|values| list(out, values, |out, &value| self.integer(out, value))),
            ColumnRef::F64List(..) => column
                .f64_list(i)
                .is_some_and(|values| list(out, values, |out, &value| self.real(out, value))),
            ColumnRef::Text(..) | ColumnRef::Missing => false,
        };
        if written {
            out.extend_from_slice(&self.tail);
        } else {
            out.truncate(begin);
        }
    }

    fn integer(&self, out: &mut Vec<u8>, value: u64) -> bool {
        if self.whole {
            push_integer(out, value);
            return true;
        }
        self.scaled(out, value as f64)
    }

    fn real(&self, out: &mut Vec<u8>, value: f64) -> bool {
        // Beyond 2^53 not every whole number is a real one, and the digits would pretend otherwise.
        if self.whole && value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
            push_integer(out, value as u64);
            return true;
        }
        self.scaled(out, value)
    }

    fn scaled(&self, out: &mut Vec<u8>, value: f64) -> bool {
        let value = value * self.factor;
        if value.is_finite() {
            push_float(out, value);
        }
        value.is_finite()
    }
}

/// Writes a list; `false` as soon as one of its values can't be written.
fn list<T>(out: &mut Vec<u8>, values: &[T], mut write: impl FnMut(&mut Vec<u8>, &T) -> bool) -> bool {
    out.push(b'[');
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        if !write(out, value) {
            return false;
        }
    }
    out.push(b']');
    true
}

impl Exporter for RecordExport {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        let info = read_info(info)?;
        self.file = info.artifacts.records;
        let Some(file) = &self.file else {
            return Ok(ExporterNeeds::default());
        };
        let exported: Vec<&CatalogueEntry> = info.catalogue.iter().filter(|entry| is_exported(entry)).collect();
        self.metrics = exported.iter().map(|entry| Metric::new(entry)).collect();
        self.trace = info.http_trace;
        let tags = exported.iter().map(|entry| entry.spec.tag.clone());
        let trace = self.trace.then(|| fields::HTTP_TRACE.to_owned());
        Ok(ExporterNeeds {
            columns: COLUMNS
                .iter()
                .map(|&name| name.to_owned())
                .chain(tags)
                .chain(trace)
                .collect(),
            files: vec![file.clone()],
            tables: Vec::new(),
        })
    }

    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        let Some(file) = &self.file else {
            return Ok(Vec::new());
        };
        // Room for all of it: to grow by copying costs more than what lines fall short of the longest.
        let mut out = Vec::with_capacity(batch.len * self.longest);
        let mut longest = self.longest;
        for i in 0..batch.len {
            let begin = out.len();
            self.write_record(&mut out, batch, i);
            longest = longest.max(out.len() - begin);
        }
        let file = file.clone();
        self.longest = longest;
        Ok(vec![Output {
            file,
            order: 0,
            append: true,
            data: out,
        }])
    }

    fn finish(&mut self, _: &str) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }
}

fn is_exported(entry: &CatalogueEntry) -> bool {
    let per_record = !matches!(
        entry.spec.kind,
        MetricKind::Derived | MetricKind::Interval | MetricKind::Steps
    );
    per_record && entry.spec.flags & (flags::NOT_PER_RECORD | flags::INTERNAL | flags::EXPERIMENTAL) == 0
}

impl RecordExport {
    /// Writes one line; nothing for a record that has neither a metric nor an error.
    fn write_record(&self, out: &mut Vec<u8>, batch: &Batch<'_>, i: usize) {
        let begin = out.len();
        out.extend_from_slice(b"{\"metadata\":{");
        write_metadata(out, batch, i);
        out.extend_from_slice(b"},\"metrics\":{");
        let metrics = out.len();
        let columns = batch.columns.get(COLUMNS.len()..).unwrap_or_default();
        for (metric, column) in self.metrics.iter().zip(columns) {
            metric.write(out, column, i);
        }
        let has_metrics = out.len() > metrics;
        if has_metrics {
            out.pop();
        }
        out.push(b'}');
        if self.trace
            && let Some(trace) = batch.column(COLUMNS.len() + self.metrics.len()).text(i)
        {
            out.extend_from_slice(b",\"trace_data\":");
            out.extend_from_slice(trace.as_bytes());
        }
        let has_error = write_error(out, batch, i);
        if has_metrics || has_error {
            out.extend_from_slice(b"}\n");
        } else {
            out.truncate(begin);
        }
    }
}

#[cfg(test)]
mod tests;
