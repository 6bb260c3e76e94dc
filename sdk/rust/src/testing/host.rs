//! Services of the core for tests.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use aiperf_plugin_api::{Host, PluginError, Result, Timing, host::LogLevel};

/// A host whose seeds are known and whose arrival pattern is any timing entry. It keeps what is logged.
#[derive(Default)]
pub struct VirtualHost {
    seeds: BTreeMap<String, u64>,
    arrivals: Option<Mutex<Box<dyn Timing>>>,
    log: Mutex<Vec<(LogLevel, String)>>,
}

impl VirtualHost {
    /// A host without an arrival pattern; every stream has the seed 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers [`Host::intervals`] with those of an arrival pattern.
    #[must_use]
    pub fn with_arrivals(mut self, arrivals: Box<dyn Timing>) -> Self {
        self.arrivals = Some(Mutex::new(arrivals));
        self
    }

    /// Sets the seed of a stream.
    #[must_use]
    pub fn with_seed(mut self, stream: &str, seed: u64) -> Self {
        self.seeds.insert(stream.to_owned(), seed);
        self
    }

    /// What has been logged so far.
    pub fn logged(&self) -> Vec<(LogLevel, String)> {
        locked(&self.log).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host for VirtualHost {
    fn log(&self, level: LogLevel, message: &str) {
        locked(&self.log).push((level, message.to_owned()));
    }

    fn seed(&self, stream: &str) -> u64 {
        self.seeds.get(stream).copied().unwrap_or(0)
    }

    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        match &self.arrivals {
            Some(arrivals) => locked(arrivals).intervals(rate, count),
            None => Err(PluginError::unsupported("intervals")),
        }
    }
}
