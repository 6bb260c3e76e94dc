//! Services of the core for the suite: a toy tokenizer, seeds, prompts, arrivals, and a log that is kept.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use aiperf_sdk::{Host, PluginError, Result, host::LogLevel};

use crate::random::Random;

/// Log lines kept per case.
const LOG_LINES: usize = 20;

/// The last lines that a plugin logged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// The lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        locked(&self.0).clone()
    }
}

/// Services for one instance. What it answers depends on the seed and on what was asked before, on nothing else.
pub(crate) struct FakeHost {
    seed: u64,
    log: Log,
    streams: Mutex<HashMap<String, Random>>,
}

impl FakeHost {
    /// Services under a seed.
    pub(crate) fn new(seed: u64, log: Log) -> Self {
        Self {
            seed,
            log,
            streams: Mutex::default(),
        }
    }

    fn draw<T>(&self, stream: &str, take: impl FnOnce(&mut Random) -> T) -> T {
        let mut streams = locked(&self.streams);
        let random = streams
            .entry(stream.to_owned())
            .or_insert_with(|| Random::of(self.seed, stream));
        take(random)
    }
}

impl Host for FakeHost {
    fn log(&self, level: LogLevel, message: &str) {
        let mut lines = locked(&self.log.0);
        if lines.len() == LOG_LINES {
            lines.remove(0);
        }
        lines.push(format!("{level:?}: {message}"));
    }

    /// A token is a byte.
    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        Ok(text.bytes().map(u32::from).collect())
    }

    fn decode(&self, tokens: &[u32]) -> Result<String> {
        let bytes = tokens
            .iter()
            .map(|&token| u8::try_from(token).map_err(|_| PluginError::input(format!("no token has the id {token}"))))
            .collect::<Result<Vec<u8>>>()?;
        String::from_utf8(bytes).map_err(|_| PluginError::input("the tokens are no text"))
    }

    /// Lower-case words: a byte is a token, so the length is exact.
    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        Ok(self.draw(&format!("prompt:{stream}"), |random| {
            (0..tokens)
                .map(|i| match random.below(6) {
                    0 if i > 0 && i + 1 < tokens => ' ',
                    letter => char::from(b'a' + letter as u8),
                })
                .collect()
        }))
    }

    fn seed(&self, stream: &str) -> u64 {
        Random::of(self.seed, stream).next()
    }

    /// Uniform between half and one and a half of the mean.
    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(PluginError::input(format!("a rate of {rate}")));
        }
        Ok(self.draw("intervals", |random| {
            (0..count)
                .map(|_| ((0.5 + random.unit()) * 1e9 / rate).round() as u64)
                .collect()
        }))
    }
}

/// The data hold no invariant that a panic could break.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(seed: u64) -> FakeHost {
        FakeHost::new(seed, Log::default())
    }

    #[test]
    fn prompts_have_the_length_asked_for_and_differ() {
        let host = host(1);
        let (one, two) = (host.prompt("s", 40).unwrap(), host.prompt("s", 40).unwrap());
        assert_ne!(one, two);
        for text in [&one, &two] {
            let tokens = host.encode(text).unwrap();
            assert_eq!(tokens.len(), 40);
            assert_eq!(host.decode(&tokens).unwrap(), *text);
        }
        assert_eq!(super::tests::host(1).prompt("s", 40).unwrap(), one);
        assert_eq!(host.prompt("s", 0).unwrap(), "");
    }

    #[test]
    fn seeds_depend_on_run_and_stream() {
        assert_eq!(host(1).seed("a"), host(1).seed("a"));
        assert_ne!(host(1).seed("a"), host(1).seed("b"));
        assert_ne!(host(1).seed("a"), host(2).seed("a"));
    }

    #[test]
    fn the_log_keeps_the_last_lines() {
        let log = Log::default();
        let host = FakeHost::new(0, log.clone());
        for i in 0..100 {
            host.log(LogLevel::Info, &i.to_string());
        }
        assert_eq!(log.lines().len(), LOG_LINES);
        assert_eq!(log.lines().last().map(String::as_str), Some("Info: 99"));
    }
}
