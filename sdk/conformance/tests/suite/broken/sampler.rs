//! A sampler that turns the order by the pass.

use std::cell::Cell;

use aiperf_sdk::{Dataset, Host, Result};

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("goes_on", &["sampler.pure"]),
    ("beyond_the_end", &["sampler.range"]),
    ("empty_passes", &["sampler.not_empty"]),
    ("order_of_nothing", &["sampler.not_empty"]),
];

pub(super) struct Broken {
    fault: String,
    seed: u32,
    calls: Cell<u32>,
}

impl Broken {
    pub(super) fn new(fault: &str, host: &dyn Host) -> Self {
        Self {
            fault: fault.to_owned(),
            seed: host.seed("sampler") as u32,
            calls: Cell::new(0),
        }
    }
}

impl Dataset for Broken {
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        let mut turn = pass.wrapping_add(self.seed);
        self.calls.set(self.calls.get() + 1);
        match self.fault.as_str() {
            "goes_on" => turn = turn.wrapping_add(self.calls.get()),
            "beyond_the_end" => return Ok((1..=conversations).collect()),
            "empty_passes" if pass == 2 => return Ok(Vec::new()),
            "order_of_nothing" if conversations == 0 => return Ok(vec![0]),
            _ => {}
        }
        let turn = u64::from(turn);
        let count = u64::from(conversations);
        Ok((0..count).map(|index| ((index + turn) % count) as u32).collect())
    }
}
