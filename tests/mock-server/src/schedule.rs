//! When each event of an answer is due. Pure.

use crate::clock::delay_ns;
use crate::hash::unit;
use crate::settings::Settings;

/// Due times of one answer, absolute: a late event does not delay the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    /// `CLOCK_MONOTONIC` ns of the first event.
    first: u64,
    itl: u64,
    done_delay: u64,
    /// Most that a later event moves from its place, in ns, to either side.
    swing: f64,
    seed: u64,
    ordinal: u64,
}

impl Schedule {
    /// For the request with this ordinal, read fully at `received` (`CLOCK_MONOTONIC` ns).
    pub(crate) fn new(settings: &Settings, ordinal: u64, received: u64) -> Self {
        let ttft = delay_ns(settings.ttft);
        let itl = delay_ns(settings.itl);
        let first = jittered(ttft, ttft as f64 * settings.jitter, unit(settings.seed, ordinal, 0));
        Self {
            first: received + first,
            itl,
            done_delay: delay_ns(settings.done_delay),
            swing: itl as f64 * settings.jitter,
            seed: settings.seed,
            ordinal,
        }
    }

    /// Due time of event `index`, counted from 0.
    pub(crate) fn event(&self, index: u64) -> u64 {
        let place = self.first + index * self.itl;
        if index == 0 || self.swing == 0.0 {
            return place;
        }
        jittered(place, self.swing, unit(self.seed, self.ordinal, index))
    }

    /// Due time of the end of a stream of `events`, and of an answer that is not streamed.
    pub(crate) fn end(&self, events: u64) -> u64 {
        self.event(events.saturating_sub(1)) + self.done_delay
    }

    /// Whether events are due at once and so may share a write.
    pub(crate) fn at_once(&self) -> bool {
        self.itl == 0
    }
}

/// `place` moved by up to half of `range` to either side; `unit` is in [0, 1).
fn jittered(place: u64, range: f64, unit: f64) -> u64 {
    // At most an hour in ns to either side, so the conversion is exact enough and in range.
    place.saturating_add_signed((range * (unit - 0.5)) as i64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn settings(jitter: f64) -> Settings {
        Settings {
            ttft: Duration::from_millis(20),
            itl: Duration::from_millis(5),
            done_delay: Duration::from_millis(7),
            jitter,
            ..Settings::default()
        }
    }

    #[test]
    fn without_jitter_exact() {
        let schedule = Schedule::new(&settings(0.0), 3, 1_000);
        assert_eq!(schedule.event(0), 20_001_000);
        assert_eq!(schedule.event(1), 25_001_000);
        assert_eq!(schedule.event(999), 20_001_000 + 999 * 5_000_000);
        assert_eq!(schedule.end(2), 32_001_000);
        assert_eq!(schedule.end(0), 27_001_000);
    }

    #[test]
    fn full_jitter_keeps_order_bounds_and_is_reproducible() {
        let received = 1_000_000_000;
        let mut firsts = Vec::new();
        for ordinal in 0..200 {
            let schedule = Schedule::new(&settings(1.0), ordinal, received);
            let again = Schedule::new(&settings(1.0), ordinal, received);
            let first = schedule.event(0);
            assert!((received + 10_000_000..received + 30_000_000).contains(&first));
            firsts.push(first);
            for index in 1..50 {
                assert_eq!(schedule.event(index), again.event(index));
                assert!(schedule.event(index - 1) <= schedule.event(index));
                let place = first + index * 5_000_000;
                assert!(schedule.event(index).abs_diff(place) <= 2_500_000);
            }
        }
        firsts.sort_unstable();
        firsts.dedup();
        assert!(firsts.len() > 190, "jitter differs from request to request");
    }
}
