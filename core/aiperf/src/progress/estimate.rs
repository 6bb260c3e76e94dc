//! How far a phase is and how long it will take. Pure arithmetic on counts and times.

use aiperf_config::PhasePlan;
use aiperf_engine::message::Progress;

/// What ends a phase; whatever is reached first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Goal {
    pub(super) requests: Option<u64>,
    pub(super) sessions: Option<u64>,
    pub(super) duration_s: Option<f64>,
}

impl From<&PhasePlan> for Goal {
    fn from(phase: &PhasePlan) -> Self {
        Self {
            requests: phase.requests,
            sessions: phase.sessions,
            duration_s: phase.duration_s,
        }
    }
}

/// Where a phase stands. What cannot be known yet is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    /// Requests that have ended.
    pub(super) ended: u64,
    /// Requests that will have ended when the phase has, if that is known.
    pub(super) total: Option<u64>,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    pub(super) in_flight: u64,
    /// Ended requests per second since the phase began.
    pub(super) rate: Option<f64>,
    /// Part of the phase that is over, from 0 to 1.
    pub(super) fraction: Option<f64>,
    /// Seconds until the phase ends.
    pub(super) left_s: Option<f64>,
}

impl Standing {
    pub(super) fn new(goal: Goal, progress: &Progress) -> Self {
        let counts = progress.counts;
        let ended = counts.returned();
        let in_flight = counts.issued.saturating_sub(ended);
        let elapsed_s = progress.elapsed_ns as f64 / 1e9;
        let rate = (elapsed_s > 0.0 && ended > 0).then(|| ended as f64 / elapsed_s);
        // When nothing more is sent, what was sent is all there is.
        let total = if progress.sending_complete {
            Some(counts.issued)
        } else {
            goal.requests
        };
        let by_requests = total
            .filter(|total| *total > 0)
            .map(|total| ended as f64 / total as f64);
        let by_sessions = goal
            .sessions
            .map(|sessions| counts.sessions.saturating_sub(in_flight) as f64 / sessions as f64);
        let by_time = goal.duration_s.map(|duration| elapsed_s / duration);
        let parts = if progress.sending_complete {
            [by_requests, None, None]
        } else {
            [by_requests, by_sessions, by_time]
        };
        let fraction = parts
            .into_iter()
            .flatten()
            .reduce(f64::max)
            .map(|fraction| fraction.min(1.0));
        let left_s = fraction
            .filter(|fraction| *fraction > 0.0)
            .map(|fraction| elapsed_s * (1.0 - fraction) / fraction);
        Self {
            ended,
            total,
            completed: counts.completed,
            failed: counts.failed,
            cancelled: ended.saturating_sub(counts.completed + counts.failed),
            in_flight,
            rate,
            fraction,
            left_s,
        }
    }

    /// `120/400 requests (30%), 118 completed, 2 failed, 4 in flight, 40.1/s, 7 s left`.
    pub(super) fn text(&self) -> String {
        let percent = self
            .fraction
            .map(|fraction| format!(" ({:.0}%)", (fraction * 100.0).floor()));
        format!(
            "{} requests{}, {} completed, {}",
            self.count(),
            percent.unwrap_or_default(),
            self.completed,
            self.rest()
        )
    }

    /// The same for the place behind a bar: `120/400, 2 failed, 4 in flight, 40.1/s, 7 s left`.
    pub(super) fn short_text(&self) -> String {
        format!("{}, {}", self.count(), self.rest())
    }

    fn count(&self) -> String {
        match self.total {
            Some(total) => format!("{}/{total}", self.ended),
            None => self.ended.to_string(),
        }
    }

    fn rest(&self) -> String {
        let cancelled = (self.cancelled > 0).then(|| format!("{} cancelled", self.cancelled));
        let rate = self.rate.map(|rate| format!("{rate:.1}/s"));
        let left = self.left_s.filter(|left| *left > 0.0);
        [
            Some(format!("{} failed", self.failed)),
            cancelled,
            Some(format!("{} in flight", self.in_flight)),
            rate,
            left.map(|left| format!("{} left", span(left))),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
    }
}

/// `7 s`, `3 min 07 s`, `2 h 05 min`: never less than is left.
fn span(seconds: f64) -> String {
    // A float beyond the range becomes the largest number.
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use aiperf_engine::message::PhaseCounts;

    use super::*;

    fn progress(seconds: u64, issued: u64, completed: u64, failed: u64) -> Progress {
        Progress {
            phase: 0,
            counts: PhaseCounts {
                issued,
                completed,
                failed,
                sessions: issued,
                ..PhaseCounts::default()
            },
            elapsed_ns: seconds * 1_000_000_000,
            sending_complete: false,
        }
    }

    #[test]
    fn counted_requests() {
        let goal = Goal {
            requests: Some(400),
            ..Goal::default()
        };
        // 120 of 400 in 3 s: 40 per second, 280 left take 7 s.
        let standing = Standing::new(goal, &progress(3, 124, 118, 2));
        assert_eq!(
            standing.text(),
            "120/400 requests (30%), 118 completed, 2 failed, 4 in flight, 40.0/s, 7 s left"
        );
        assert_eq!(
            standing.short_text(),
            "120/400, 2 failed, 4 in flight, 40.0/s, 7 s left"
        );
        let begun = Standing::new(goal, &progress(0, 4, 0, 0));
        assert_eq!(begun.text(), "0/400 requests (0%), 0 completed, 0 failed, 4 in flight");
    }

    #[test]
    fn time_and_what_comes_first() {
        let goal = Goal {
            requests: Some(1000),
            duration_s: Some(60.0),
            sessions: None,
        };
        // 10 of 1000 requests, but 15 of 60 seconds.
        let standing = Standing::new(goal, &progress(15, 12, 10, 0));
        assert_eq!((standing.fraction, standing.left_s), (Some(0.25), Some(45.0)));
    }

    #[test]
    fn conversations() {
        let goal = Goal {
            sessions: Some(10),
            ..Goal::default()
        };
        // 4 begun, 2 of them still out.
        let standing = Standing::new(goal, &progress(8, 4, 2, 0));
        assert_eq!((standing.fraction, standing.left_s), (Some(0.2), Some(32.0)));
        assert_eq!(standing.total, None);
    }

    #[test]
    fn the_last_answers() {
        let goal = Goal {
            duration_s: Some(10.0),
            ..Goal::default()
        };
        let mut last = progress(12, 60, 45, 0);
        last.sending_complete = true;
        let standing = Standing::new(goal, &last);
        assert_eq!(
            (standing.total, standing.fraction, standing.left_s),
            (Some(60), Some(0.75), Some(4.0))
        );
        let nothing_sent = Progress {
            sending_complete: true,
            ..progress(1, 0, 0, 0)
        };
        assert_eq!(Standing::new(goal, &nothing_sent).fraction, None);
    }

    #[test]
    fn spans() {
        for (seconds, text) in [
            (0.2, "1 s"),
            (59.0, "59 s"),
            (59.5, "1 min 00 s"),
            (187.0, "3 min 07 s"),
            (7500.0, "2 h 05 min"),
        ] {
            assert_eq!(span(seconds), text);
        }
    }
}
