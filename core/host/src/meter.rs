//! Who is being called, how often, and for how long.

use crate::registry::OnError;
use aiperf_plugin_api::{ErrorKind, PluginError, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// An entry in use: what it is called in messages, and what its calls cost. Shared by all instances of the entry.
#[derive(Debug)]
pub struct Plugin {
    label: String,
    on_error: OnError,
    calls: AtomicU64,
    errors: AtomicU64,
    total_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Plugin {
    pub(crate) fn new(label: String, on_error: OnError) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            label,
            on_error,
            calls: zero(),
            errors: zero(),
            total_ns: zero(),
            max_ns: zero(),
        }
    }

    /// `endpoint/chat (package acme-inference 2.1.0)`.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What the registry says about failures of the entry.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    /// Calls that ended in an error.
    pub fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    /// Time spent in the plugin, conversions included, in ns.
    pub fn total_ns(&self) -> u64 {
        self.total_ns.load(Relaxed)
    }

    /// The longest call, in ns.
    pub fn max_ns(&self) -> u64 {
        self.max_ns.load(Relaxed)
    }

    /// Puts the plugin's name before the message, and the call unless the user's own input is at fault.
    fn blame(&self, call: &str, mut error: PluginError) -> PluginError {
        use ErrorKind::{Breach, Failed, InvalidInput, InvalidOptions, Panicked, Unsupported};
        let place = match error.kind {
            Failed | Panicked | Breach => format!("{call}: "),
            InvalidOptions | InvalidInput | Unsupported => String::new(),
        };
        error.message = format!("{}: {place}{}", self.label, error.message);
        if error.is_fault() && error.help.is_none() {
            error.help =
                Some("the fault is the plugin's, not your input's: report it to the package's vendor".to_owned());
        }
        error
    }
}

/// Watches one instance.
#[derive(Debug)]
pub(crate) struct Watch {
    plugin: Arc<Plugin>,
    /// The instance panicked: its state may be broken, so it is not entered again.
    poisoned: AtomicBool,
}

impl Watch {
    pub(crate) fn new(plugin: Arc<Plugin>) -> Self {
        Self {
            plugin,
            poisoned: AtomicBool::new(false),
        }
    }

    pub(crate) fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// Runs one call of the instance: two clock reads, a count, and a name for its error.
    pub(crate) fn call<T>(&self, name: &str, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.checked(name, call, |_| Ok(()))
    }

    /// As [`Watch::call`]; an answer that `check` finds fault with is an error.
    pub(crate) fn checked<T>(
        &self,
        name: &str,
        call: impl FnOnce() -> Result<T>,
        check: impl FnOnce(&T) -> std::result::Result<(), String>,
    ) -> Result<T> {
        if self.poisoned.load(Relaxed) {
            let error = PluginError::new(ErrorKind::Panicked, "not called again after a panic");
            return Err(self.plugin.blame(name, error));
        }
        let start = Instant::now();
        let result = call().and_then(|answer| match check(&answer) {
            Ok(()) => Ok(answer),
            Err(problem) => Err(PluginError::breach(format!("it returned {problem}"))),
        });
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.plugin.calls.fetch_add(1, Relaxed);
        self.plugin.total_ns.fetch_add(spent, Relaxed);
        self.plugin.max_ns.fetch_max(spent, Relaxed);
        result.map_err(|error| {
            self.plugin.errors.fetch_add(1, Relaxed);
            if error.kind == ErrorKind::Panicked {
                self.poisoned.store(true, Relaxed);
            }
            self.plugin.blame(name, error)
        })
    }
}
