//! What an instance holds on the host's side: the services it may call, and its limits.

use super::bindings::aiperf::plugin::types::{self, LogLevel, PluginError};
use super::bindings::aiperf::plugin::{host, http, secrets, source};
use aiperf_plugin_api::host::HTTP_TIMEOUT_MS;
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{Host, Source};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::{ResourceLimiter, Result};

/// Elements of one table.
const TABLE: usize = 1 << 20;

/// State of a store.
pub(super) struct Guest {
    services: Arc<dyn Host>,
    /// Bytes of linear memory that it may have.
    pub(super) allowed: usize,
    pub(super) source: Option<Box<dyn Source>>,
    /// The last thing that it logged as an error: the SDK says there why it panicked.
    pub(super) last_words: Option<String>,
    /// Bytes of linear memory now.
    pub(super) memory: usize,
    /// Memory was refused.
    pub(super) starved: bool,
    /// When the call that is being made will be ended.
    pub(super) until: Instant,
}

impl Guest {
    pub(super) fn new(services: Arc<dyn Host>, allowed: usize) -> Self {
        Self {
            services,
            allowed,
            source: None,
            last_words: None,
            memory: 0,
            starved: false,
            until: Instant::now(),
        }
    }

    /// Forgets what it said and was refused in earlier calls: that explains no later trap.
    pub(super) fn forget(&mut self) {
        self.last_words = None;
        self.starved = false;
    }

    /// A line for the run's log on behalf of the guest.
    pub(super) fn log(&self, level: aiperf_plugin_api::host::LogLevel, message: &str) {
        self.services.log(level, message);
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        // One store may hold several memories; together they stay below the limit.
        let total = self.memory.saturating_sub(current).saturating_add(desired);
        if total > self.allowed {
            self.starved = true;
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }
    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        Ok(desired <= TABLE)
    }
    fn instances(&self) -> usize {
        64
    }
    fn memories(&self) -> usize {
        16
    }
    fn tables(&self) -> usize {
        64
    }
}

/// Longest message that is kept of a guest's log line.
const LINE: usize = 8 << 10;

impl host::Host for Guest {
    fn log(&mut self, level: LogLevel, mut message: String) {
        if message.len() > LINE {
            message.truncate(message.floor_char_boundary(LINE));
            message.push_str(" (cut)");
        }
        if level == LogLevel::Error {
            self.last_words = Some(message.clone());
        }
        self.services.log(level.carry(), &message);
    }
    fn encode(&mut self, text: String) -> std::result::Result<Vec<u32>, PluginError> {
        self.services.encode(&text).map_err(Carry::carry)
    }
    fn decode(&mut self, tokens: Vec<u32>) -> std::result::Result<String, PluginError> {
        self.services.decode(&tokens).map_err(Carry::carry)
    }
    fn prompt(&mut self, sequence: String, tokens: u32) -> std::result::Result<String, PluginError> {
        self.services.prompt(&sequence, tokens).map_err(Carry::carry)
    }
    fn separator(&mut self) -> Option<u32> {
        self.services.separator()
    }
    fn seed(&mut self, sequence: String) -> u64 {
        self.services.seed(&sequence)
    }
    fn intervals(&mut self, rate: f64, count: u32) -> std::result::Result<Vec<u64>, PluginError> {
        self.services.intervals(rate, count).map_err(Carry::carry)
    }
}

impl http::Host for Guest {
    fn http(
        &mut self,
        origin: String,
        request: types::HttpRequest,
        timeout_ms: u32,
    ) -> std::result::Result<types::HttpAnswer, PluginError> {
        // The call's own limit cannot end it while the host waits for a server.
        let left = self.until.saturating_duration_since(Instant::now()).as_millis();
        let asked = if timeout_ms == 0 { HTTP_TIMEOUT_MS } else { timeout_ms };
        let timeout_ms = asked.min(u32::try_from(left).unwrap_or(u32::MAX)).max(1);
        self.services
            .http(&origin, request.carry(), timeout_ms)
            .map(Carry::carry)
            .map_err(Carry::carry)
    }
}

impl secrets::Host for Guest {
    fn api_key(&mut self) -> std::result::Result<Option<String>, PluginError> {
        self.services.api_key().map_err(Carry::carry)
    }
}

impl source::Host for Guest {
    fn files(&mut self) -> Vec<String> {
        self.source.as_ref().map(|source| source.files()).unwrap_or_default()
    }
    fn len(&mut self, file: u32) -> std::result::Result<u64, PluginError> {
        self.opened()?.len(file).map_err(Carry::carry)
    }
    fn read(&mut self, file: u32, offset: u64, length: u32) -> std::result::Result<Vec<u8>, PluginError> {
        self.opened()?.read(file, offset, length).map_err(Carry::carry)
    }
}

impl Guest {
    fn opened(&self) -> std::result::Result<&dyn Source, PluginError> {
        self.source
            .as_deref()
            .ok_or_else(|| aiperf_plugin_api::PluginError::failed("no source has been opened").carry())
    }
}

impl types::Host for Guest {}
