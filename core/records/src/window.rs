//! The span of time that rates and curves refer to.

use serde::{Deserialize, Serialize};

/// The observation window `W` of a phase: from the first credit issued to the last credit returned or cancelled.
/// Rates divide by its length, not by the span between first and last response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When the phase began to issue credits, in ns.
    pub start_ns: u64,
    /// When its last credit came back, in ns of the same clock.
    pub end_ns: u64,
}

impl Window {
    /// Length in ns; 0 if the end does not lie after the start.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Length in seconds; `None` if there is none, because nothing can be divided by it.
    #[must_use]
    pub fn duration_s(&self) -> Option<f64> {
        match self.duration_ns() {
            0 => None,
            ns => Some(ns as f64 * 1e-9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_without_length_has_no_duration() {
        for (start_ns, end_ns, expected) in [
            (0, 2_500_000_000, Some(2.5)),
            (7, 7, None),
            (9, 3, None),
            (1_000_000_000, 1_500_000_000, Some(0.5)),
        ] {
            assert_eq!(Window { start_ns, end_ns }.duration_s(), expected);
        }
    }
}
