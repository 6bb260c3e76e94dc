//! A linear ramp.

use std::cell::Cell;

use aiperf_sdk::{PluginError, Result, Timing};

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("overshoots", &["ramp.range"]),
    ("dips", &["ramp.monotone"]),
    ("ends_low", &["ramp.end"]),
    ("remembers", &["ramp.pure"]),
    ("goes_on_outside", &["ramp.outside"]),
];

pub(super) struct Broken {
    fault: String,
    highest: Cell<f64>,
}

impl Broken {
    pub(super) fn new(fault: &str) -> Self {
        Self {
            fault: fault.to_owned(),
            highest: Cell::new(0.0),
        }
    }
}

impl Timing for Broken {
    fn value_at(&self, progress: f64) -> Result<f64> {
        if self.fault == "goes_on_outside" {
            return Ok(progress);
        }
        if !(0.0..=1.0).contains(&progress) {
            return Err(PluginError::input(format!("a progress of {progress}")));
        }
        self.highest.set(self.highest.get().max(progress));
        Ok(match self.fault.as_str() {
            // Below 0, so that only the range is wrong.
            "overshoots" => progress - 0.2 * (1.0 - progress),
            "dips" if (0.5..0.6).contains(&progress) => progress - 0.3,
            "ends_low" => progress * 0.9,
            "remembers" => self.highest.get(),
            _ => progress,
        })
    }
}
