//! One line of JSON per record with all that was sent and all that came back. The request's body and the responses are JSON
//! already and are copied as they are; credentials never reach this exporter.

use aiperf_sdk::{
    Batch, Exporter, Result,
    exporter::{ExporterNeeds, Output},
    fields,
};
use serde::de::IgnoredAny;

use crate::{
    json::push_string,
    metadata::{COLUMNS, Field, push_number, write_error, write_metadata},
    package::read_info,
};

/// The columns behind the common ones.
const OWN: [&str; 4] = [
    fields::REQUEST_HEADERS,
    fields::STATUS,
    fields::RESPONSE_EVENTS,
    fields::REQUEST_BODY,
];

/// Writes the records, warmup included; nothing unless the run exports raw records.
#[derive(Default)]
pub(crate) struct RawRecordWriter {
    file: Option<String>,
}

impl Exporter for RawRecordWriter {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        self.file = read_info(info)?.artifacts.raw;
        let Some(file) = &self.file else {
            return Ok(ExporterNeeds::default());
        };
        Ok(ExporterNeeds {
            columns: COLUMNS.iter().chain(&OWN).map(|&name| name.to_owned()).collect(),
            files: vec![file.clone()],
            tables: Vec::new(),
        })
    }

    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        let Some(file) = &self.file else {
            return Ok(Vec::new());
        };
        let mut data = Vec::new();
        for i in 0..batch.len {
            write_record(&mut data, batch, i);
        }
        Ok(vec![Output {
            file: file.clone(),
            order: 0,
            append: true,
            data,
        }])
    }

    fn finish(&mut self, _: &str) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }
}

fn write_record(out: &mut Vec<u8>, batch: &Batch<'_>, i: usize) {
    let [headers, status, responses, body] = std::array::from_fn(|index| batch.column(COLUMNS.len() + index));
    out.extend_from_slice(b"{\"metadata\":{");
    write_metadata(out, batch, i);
    out.extend_from_slice(b"},");
    push_number(out, "\"start_perf_ns\":", batch.column(Field::Start as usize).u64(i));
    if let Some(headers) = headers.text(i) {
        out.extend_from_slice(b"\"request_headers\":");
        push_json(out, headers);
        out.push(b',');
    }
    push_number(out, "\"status\":", status.u64(i));
    out.extend_from_slice(b"\"responses\":");
    push_json(out, responses.text(i).unwrap_or("[]"));
    write_error(out, batch, i);
    if let Some(body) = body.text(i) {
        out.extend_from_slice(b",\"payload\":");
        push_body(out, body);
    }
    out.extend_from_slice(b"}\n");
}

/// A body that is JSON as it is; any other, a form for instance, as a string.
fn push_body(out: &mut Vec<u8>, body: &str) {
    if serde_json::from_str::<IgnoredAny>(body).is_ok() {
        push_json(out, body);
    } else {
        push_string(out, body);
    }
}

/// Copies a JSON text into a line. Line breaks stand in JSON only between tokens, where a blank means the same.
fn push_json(out: &mut Vec<u8>, json: &str) {
    out.extend(
        json.bytes()
            .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }),
    );
}

#[cfg(test)]
mod tests;
