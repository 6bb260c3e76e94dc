//! Speed of a plugin's calls.

use std::{
    fmt,
    hint::black_box,
    time::{Duration, Instant},
};

use serde::Serialize;

/// Short batches of which the best one counts: others shared the processor with something else.
const BATCHES: u32 = 20;
const BATCH: Duration = Duration::from_millis(2);

/// How long a call takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Speed {
    /// The call.
    pub call: String,
    /// What the time is per: `call`, `record`, `conversation`, …
    pub per: &'static str,
    /// ns, best of several short batches, the crossing of the library boundary included.
    pub ns: f64,
    /// Calls made.
    pub calls: u64,
}

impl Speed {
    pub(crate) fn new(call: impl Into<String>, per: &'static str, ns: f64, calls: u64) -> Self {
        Self {
            call: call.into(),
            per,
            ns,
            calls,
        }
    }

    /// Measures a call that handles `units` of what the time is per.
    pub(crate) fn measure<T>(
        call: impl Into<String>,
        per: &'static str,
        units: u64,
        mut once: impl FnMut() -> T,
    ) -> Self {
        let (mut best, mut calls) = (f64::INFINITY, 0);
        for _ in 0..BATCHES {
            let (start, mut made) = (Instant::now(), 0_u64);
            let elapsed = loop {
                black_box(once());
                made += 1;
                let elapsed = start.elapsed();
                if elapsed >= BATCH {
                    break elapsed;
                }
            };
            best = best.min(elapsed.as_nanos() as f64 / (made * units.max(1)) as f64);
            calls += made;
        }
        Self::new(call, per, best, calls)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {:.1} ns per {}", self.call, self.ns, self.per)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_per_unit() {
        let mut calls = 0;
        let speed = Speed::measure("spin", "record", 1_000, || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(3));
        });
        assert_eq!(speed.calls, calls);
        // 3 ms over 1,000 records; no upper bound on a busy machine.
        assert!(speed.ns >= 3_000.0, "{speed}");
    }
}
