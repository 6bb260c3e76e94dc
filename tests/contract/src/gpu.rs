//! A GPU collector that scrapes.

use aiperf_sdk::{
    GpuCollector, HttpRequest, PluginError, Result,
    gpu::{Poll, Reading, Scrape},
};

/// Asks each second and reads `name value` lines.
#[derive(Default)]
pub struct Scraper {
    due_ns: u64,
}

impl GpuCollector for Scraper {
    fn poll(&mut self, now_ns: u64, answer: Option<Scrape>) -> Result<Poll> {
        let Some(scrape) = answer else {
            if now_ns < self.due_ns {
                return Ok(Poll::Wait((self.due_ns - now_ns).div_ceil(1_000_000)));
            }
            self.due_ns = now_ns + 1_000_000_000;
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
            let (name, value) = line.split_once(' ')?;
            Some(Reading {
                gpu: 1,
                uuid: "GPU-1".to_owned(),
                model: "H".to_owned(),
                field: name.to_owned(),
                unit: "W".to_owned(),
                counter: name.ends_with("energy"),
                value: value.parse().ok()?,
                host: Some("node-a".to_owned()),
                labels: vec![("pod".to_owned(), "p0".to_owned())],
            })
        };
        Ok(Poll::Readings(body.lines().filter_map(reading).collect()))
    }
}
