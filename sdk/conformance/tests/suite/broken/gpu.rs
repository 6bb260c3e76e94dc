//! A collector that asks for a page each 100 ms.

use aiperf_sdk::{
    GpuCollector, HttpAnswer, HttpRequest, Result,
    gpu::{Poll, Reading},
};

use super::{Fault, unique};

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("restless", &["gpu.bounded", "gpu.garbage"]),
    ("waits_for_nothing", &["gpu.bounded", "gpu.garbage"]),
    ("asks_another_server", &["gpu.requests"]),
    ("nameless_fields", &["gpu.readings"]),
    ("reads_nan", &["gpu.garbage"]),
    ("panics_on_garbage", &["gpu.garbage"]),
    ("moody", &["gpu.deterministic"]),
];

pub(super) struct Broken {
    fault: String,
    next_ns: u64,
}

impl Broken {
    pub(super) fn new(fault: String) -> Self {
        Self { fault, next_ns: 0 }
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn reading(&self, line: &str) -> Option<Reading> {
        let (head, number) = line.rsplit_once("} ")?;
        let (field, labels) = head.split_once('{')?;
        let value: f64 = if self.has("panics_on_garbage") {
            number.parse().unwrap()
        } else {
            number.parse().ok()?
        };
        if !value.is_finite() && !self.has("reads_nan") {
            return None;
        }
        let uuid = labels.split("UUID=\"").nth(1)?.split('"').next()?;
        Some(Reading {
            gpu: 0,
            uuid: uuid.to_owned(),
            model: String::new(),
            field: if self.has("nameless_fields") {
                String::new()
            } else {
                field.to_owned()
            },
            unit: String::new(),
            counter: false,
            value,
            host: None,
            labels: Vec::new(),
        })
    }
}

impl GpuCollector for Broken {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        if let Some(answer) = answer {
            let page = String::from_utf8_lossy(&answer.body);
            return Ok(Poll::Readings(
                page.lines().filter_map(|line| self.reading(line)).collect(),
            ));
        }
        if now_ns < self.next_ns && !self.has("restless") {
            return Ok(Poll::Wait(match self.fault.as_str() {
                "waits_for_nothing" => 0,
                "moody" => 1 + unique() % 50,
                _ => 100,
            }));
        }
        self.next_ns = now_ns + 100_000_000;
        let path = match self.fault.as_str() {
            "asks_another_server" => "http://127.0.0.2/metrics",
            _ => "/metrics",
        };
        Ok(Poll::Request(HttpRequest {
            method: "GET".to_owned(),
            path: Some(path.to_owned()),
            ..HttpRequest::post(Vec::new())
        }))
    }
}
