//! Built-in exporters: the tables on the console, the summary as JSON and CSV, and one line of JSON per record, with its
//! metrics or with its request and responses, or per GPU reading.
//!
//! They return bytes and open nothing; the core writes. Numbers reach them unrounded and in native units. A number that does
//! not exist is left out, or an empty cell, or `N/A`; a literal NaN or infinity is never printed.
#![forbid(unsafe_code)]

mod console;
mod gpu;
mod gpu_telemetry_jsonl_writer;
mod json;
mod metadata;
mod numbers;
mod package;
mod pretty;
mod raw_record_writer;
mod record_export;
mod summary;
mod summary_csv;
mod summary_json;
mod table;
#[cfg(test)]
mod testing;

pub use package::BuiltIn;
