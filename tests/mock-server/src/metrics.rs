//! Counters for `/metrics`, shared by all threads.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::shape::Endpoint;

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    chat: AtomicU64,
    completions: AtomicU64,
    failed: AtomicU64,
    running: AtomicU64,
    prompt_tokens: AtomicU64,
    generation_tokens: AtomicU64,
}

impl Metrics {
    /// A generation request has come.
    pub(crate) fn requested(&self, endpoint: Endpoint) {
        match endpoint {
            Endpoint::Chat => &self.chat,
            Endpoint::Completions => &self.completions,
        }
        .fetch_add(1, Relaxed);
    }

    /// It is refused or fails by script.
    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    /// It is being answered, until the value returned is dropped.
    pub(crate) fn started(self: &Arc<Self>, prompt_tokens: u64, tokens: u64) -> Running {
        self.prompt_tokens.fetch_add(prompt_tokens, Relaxed);
        self.running.fetch_add(1, Relaxed);
        Running {
            metrics: Arc::clone(self),
            tokens,
        }
    }

    /// Prometheus text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP mock_requests_total Generation requests received.");
        let _ = writeln!(text, "# TYPE mock_requests_total counter");
        for (endpoint, count) in [(Endpoint::Chat, &self.chat), (Endpoint::Completions, &self.completions)] {
            let _ = writeln!(
                text,
                "mock_requests_total{{endpoint=\"{}\"}} {}",
                endpoint.path(),
                count.load(Relaxed)
            );
        }
        for (name, kind, help, value) in [
            (
                "mock_requests_failed_total",
                "counter",
                "Generation requests refused or failed by script.",
                &self.failed,
            ),
            (
                "mock_requests_running",
                "gauge",
                "Generation requests being answered.",
                &self.running,
            ),
            (
                "mock_prompt_tokens_total",
                "counter",
                "Prompt tokens of requests being or having been answered.",
                &self.prompt_tokens,
            ),
            (
                "mock_generation_tokens_total",
                "counter",
                "Tokens of answers that have ended.",
                &self.generation_tokens,
            ),
        ] {
            let _ = writeln!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {}",
                value.load(Relaxed)
            );
        }
        text
    }
}

/// A generation request being answered.
#[derive(Debug)]
pub(crate) struct Running {
    metrics: Arc<Metrics>,
    tokens: u64,
}

impl Running {
    /// Counts the tokens: those `sent` of a stream, else all.
    pub(crate) fn finished(&self, sent: Option<u64>) {
        self.metrics
            .generation_tokens
            .fetch_add(sent.unwrap_or(self.tokens), Relaxed);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.metrics.running.fetch_sub(1, Relaxed);
    }
}
