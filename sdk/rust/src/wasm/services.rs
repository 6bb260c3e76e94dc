//! What the host offers, and the way between its types and the contract's.

use std::sync::Arc;

use aiperf_plugin_api::{
    Batch, ColumnRef, Exchange, Host, HttpAnswer, HttpRequest, PluginError, Result, Source, Validity, host::LogLevel,
    package::Open, wit::Carry,
};

use super::bindings::{host, http, secrets, source, types};

aiperf_plugin_api::carry_types!(types);

/// The services of the host.
struct Services;

fn answer<W: Carry<T>, T>(answer: std::result::Result<W, types::PluginError>) -> Result<T> {
    answer.map(Carry::carry).map_err(Carry::carry)
}

impl Host for Services {
    fn log(&self, level: LogLevel, message: &str) {
        host::log(level.carry(), message);
    }
    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        answer(host::encode(text))
    }
    fn decode(&self, tokens: &[u32]) -> Result<String> {
        answer(host::decode(tokens))
    }
    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        answer(host::prompt(stream, tokens))
    }
    fn separator(&self) -> Option<u32> {
        host::separator()
    }
    fn seed(&self, stream: &str) -> u64 {
        host::seed(stream)
    }
    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        answer(host::intervals(rate, count))
    }
    fn http(&self, origin: &str, request: HttpRequest, timeout_ms: u32) -> Result<HttpAnswer> {
        answer(http::http(origin, &request.carry(), timeout_ms))
    }
    fn api_key(&self) -> Result<Option<String>> {
        answer(secrets::api_key())
    }
}

/// The source that the host offers to an instance of a dataset.
pub(super) struct Offered;

impl Source for Offered {
    fn files(&self) -> Vec<String> {
        source::files()
    }
    fn len(&self, file: u32) -> Result<u64> {
        answer(source::len(file))
    }
    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        answer(source::read(file, offset, length))
    }
}

/// What an entry is opened with. From now on the reason for a panic reaches the user: without this they would only see
/// that the component stopped.
pub(super) fn opened(open: types::Open) -> Open {
    std::panic::set_hook(Box::new(|info| host::log(types::LogLevel::Error, &info.to_string())));
    Open {
        entry: open.entry,
        options: open.options,
        core: open.core,
        host: Arc::new(Services),
    }
}

/// Lends the exchanges of a request.
pub(super) fn exchanges(exchanges: &[types::Exchange]) -> Vec<Exchange<'_>> {
    exchanges
        .iter()
        .map(|exchange| Exchange {
            status: exchange.status,
            streamed: exchange.streamed,
            content_type: &exchange.content_type,
            bytes: &exchange.bytes,
            ends: &exchange.ends,
        })
        .collect()
}

/// Lends a batch.
pub(super) fn with_batch<T>(batch: &types::Batch, call: impl FnOnce(&Batch<'_>) -> Result<T>) -> Result<T> {
    let columns: Vec<ColumnRef<'_>> = batch.columns.iter().map(column).collect();
    call(&Batch {
        len: batch.len as usize,
        columns: &columns,
    })
}

fn column(column: &types::ColumnRef) -> ColumnRef<'_> {
    fn mask(validity: &[u8]) -> Validity<'_> {
        if validity.is_empty() {
            Validity::All
        } else {
            Validity::Mask(validity)
        }
    }
    match column {
        types::ColumnRef::U64(column) => ColumnRef::U64(&column.values, mask(&column.validity)),
        types::ColumnRef::F64(column) => ColumnRef::F64(&column.values, mask(&column.validity)),
        types::ColumnRef::Text(column) => ColumnRef::Text(&column.ends, &column.text, mask(&column.validity)),
        types::ColumnRef::U64List(column) => ColumnRef::U64List(&column.ends, &column.values, mask(&column.validity)),
        types::ColumnRef::F64List(column) => ColumnRef::F64List(&column.ends, &column.values, mask(&column.validity)),
        types::ColumnRef::Missing => ColumnRef::Missing,
    }
}

/// The plugin's answer in the form that crosses.
pub(super) fn crossing<T: Carry<W>, W>(answer: Result<T>) -> std::result::Result<W, types::PluginError> {
    answer.map(Carry::carry).map_err(PluginError::carry)
}
