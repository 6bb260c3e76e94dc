//! A GPU collector that scrapes.

use aiperf_sdk::{
    GpuCollector, HttpAnswer, HttpRequest, PluginError, Result,
    gpu::{Poll, Reading},
};
use serde::Deserialize;

/// How often to ask: as often as the core says.
#[derive(Debug, Deserialize)]
pub struct Options {
    #[serde(default = "each_second")]
    interval_ms: u64,
}

fn each_second() -> u64 {
    1_000
}

/// Asks and reads lines of name, value and perhaps unit.
pub struct Scraper {
    interval_ns: u64,
    due_ns: u64,
}

impl Scraper {
    /// A scraper that is due at once.
    pub fn new(options: &Options) -> Self {
        Self {
            interval_ns: options.interval_ms.saturating_mul(1_000_000),
            due_ns: 0,
        }
    }
}

impl GpuCollector for Scraper {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        let Some(scrape) = answer else {
            if now_ns < self.due_ns {
                return Ok(Poll::Wait((self.due_ns - now_ns).div_ceil(1_000_000)));
            }
            self.due_ns = now_ns.saturating_add(self.interval_ns);
            return Ok(Poll::Request(HttpRequest {
                method: "GET".to_owned(),
                path: Some("/metrics".to_owned()),
                headers: Vec::new(),
                body: Vec::new(),
                parts: Vec::new(),
            }));
        };
        if scrape.status != 200 {
            let text = String::from_utf8_lossy(&scrape.body);
            return Err(PluginError::failed(format!("status {}: {text}", scrape.status)));
        }
        let body = String::from_utf8_lossy(&scrape.body);
        let reading = |line: &str| {
            let mut words = line.split(' ');
            let (name, value) = (words.next()?, words.next()?);
            Some(Reading {
                gpu: 1,
                uuid: "GPU-1".to_owned(),
                model: "H".to_owned(),
                field: name.to_owned(),
                unit: words.next().unwrap_or("W").to_owned(),
                counter: name.contains("energy"),
                value: value.parse().ok()?,
                host: Some("node-a".to_owned()),
                labels: vec![("pod".to_owned(), "p0".to_owned())],
            })
        };
        Ok(Poll::Readings(body.lines().filter_map(reading).collect()))
    }
}
