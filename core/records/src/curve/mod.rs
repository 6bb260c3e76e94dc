//! Time-weighted curves: how much of something was going on at each moment, and its statistics over a window.
//!
//! Records contribute intervals and steps ([`CurveBuilder`]); the sum of all contributions is a step function of time
//! ([`Curve`]). A curve counts how long a value lasted, not how many records saw it.

mod builder;
mod order;
mod percentiles;
#[cfg(test)]
mod reference;
mod statistics;

pub use builder::CurveBuilder;
pub(crate) use statistics::Segments;

/// A step function of time: each value holds from its time until the next one; before the first it is 0.
///
/// Holds 16 bytes per breakpoint, at most two breakpoints per contributed interval or step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Strictly ascending in time, neighbours differ in value.
    breakpoints: Vec<Breakpoint>,
}

/// The value of a curve from a point in time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breakpoint {
    /// Time in ns.
    pub time_ns: u64,
    /// Value from then on.
    pub value: f64,
}

impl Curve {
    /// Whether nothing ever contributed, so that the curve is 0 for want of data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.breakpoints.is_empty()
    }

    /// The points where the value changes, ascending in time.
    #[must_use]
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Calls `at` with both curves' values at every time where either changes.
    fn each_change(&self, other: &Self, mut at: impl FnMut(u64, f64, f64)) {
        let (left, right) = (self.breakpoints(), other.breakpoints());
        let (mut i, mut j) = (0, 0);
        let (mut a, mut b) = (0.0, 0.0);
        while let (Some(l), Some(r)) = (left.get(i), right.get(j)) {
            let (l_is_next, r_is_next) = (l.time_ns <= r.time_ns, r.time_ns <= l.time_ns);
            a = if l_is_next { l.value } else { a };
            b = if r_is_next { r.value } else { b };
            i += usize::from(l_is_next);
            j += usize::from(r_is_next);
            at(l.time_ns.min(r.time_ns), a, b);
        }
        left[i..].iter().for_each(|l| at(l.time_ns, l.value, b));
        right[j..].iter().for_each(|r| at(r.time_ns, a, r.value));
    }
}

/// Empties a list and gives it room for `most`, without copying what it held, as growing would.
fn make_room<T>(list: &mut Vec<T>, most: usize) {
    list.clear();
    if list.capacity() < most {
        // Frees the old memory before it takes the new.
        *list = Vec::new();
        *list = Vec::with_capacity(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u64, f64)]) -> Curve {
        Curve {
            breakpoints: points
                .iter()
                .map(|&(time_ns, value)| Breakpoint { time_ns, value })
                .collect(),
        }
    }

    #[test]
    fn ratio_changes_where_either_changes_and_is_zero_where_the_divisor_is() {
        let throughput = curve(&[(10, 6.0), (30, 12.0), (60, 0.0)]);
        let users = curve(&[(10, 2.0), (20, 3.0), (50, 0.0)]);
        assert_eq!(
            CurveBuilder::new().ratio(&throughput, &users),
            curve(&[(10, 3.0), (20, 2.0), (30, 4.0), (50, 0.0)])
        );
    }

    #[test]
    fn ratio_with_an_empty_curve_is_empty() {
        let some = curve(&[(1, 1.0)]);
        assert!(CurveBuilder::new().ratio(&some, &Curve::default()).is_empty());
        assert!(CurveBuilder::new().ratio(&Curve::default(), &some).is_empty());
    }
}
