//! One reading.

use aiperf_sdk::prelude::*;

use crate::behaviour::Behaviour;

pub(crate) struct Hostile(pub(crate) Behaviour);

impl GpuCollector for Hostile {
    fn poll(&mut self, _: u64, _: Option<HttpAnswer>) -> Result<Poll> {
        self.0.enter("poll");
        let value = if self.0.is("not_finite") { f64::NAN } else { 1.0 };
        Ok(Poll::Readings(vec![Reading {
            gpu: 0,
            uuid: "GPU-0".into(),
            model: "Hostile".into(),
            field: "power_usage".into(),
            unit: "W".into(),
            counter: false,
            value,
            host: None,
            labels: Vec::new(),
        }]))
    }
}
