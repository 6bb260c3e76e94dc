//! A limit on requests per second, shared by all threads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A bucket that holds one second's worth of requests (at least one), as a generic cell rate algorithm: the only
/// state is the time at which the bucket will be full again.
#[derive(Debug)]
pub(crate) struct RateLimit {
    interval: u64,
    tolerance: u64,
    full_at: AtomicU64,
}

impl RateLimit {
    /// `rate` in requests per second, above 0.
    pub(crate) fn new(rate: f64) -> Self {
        // Saturates for rates of less than one in 500 years.
        let interval = (1e9 / rate) as u64;
        Self {
            interval,
            tolerance: 1_000_000_000u64.saturating_sub(interval),
            full_at: AtomicU64::new(0),
        }
    }

    /// Whether a request may pass at `now` (ns); if not, when it might.
    pub(crate) fn admit(&self, now: u64) -> Result<(), u64> {
        self.full_at
            .fetch_update(Relaxed, Relaxed, |full_at| {
                (full_at <= now + self.tolerance).then(|| full_at.max(now).saturating_add(self.interval))
            })
            .map(|_| ())
            .map_err(|full_at| full_at - self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_second_at_once_then_the_rate() {
        const MS: u64 = 1_000_000;
        let start = 5_000 * MS;
        let limit = RateLimit::new(4.0);
        let admitted = (0..10).filter(|_| limit.admit(start).is_ok()).count();
        assert_eq!(admitted, 4);
        assert_eq!(limit.admit(start), Err(start + 250 * MS));
        assert_eq!(limit.admit(start + 249 * MS), Err(start + 250 * MS));
        assert_eq!(limit.admit(start + 250 * MS), Ok(()));
        assert_eq!(limit.admit(start + 251 * MS), Err(start + 500 * MS));
    }

    #[test]
    fn below_one_per_second() {
        let limit = RateLimit::new(0.5);
        assert_eq!(limit.admit(0), Ok(()));
        assert_eq!(limit.admit(1_999_999_999), Err(2_000_000_000));
        assert_eq!(limit.admit(2_000_000_000), Ok(()));
    }
}
