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

    /// This curve divided by `divisor` at every moment, 0 where the divisor is not positive: throughput per user is
    /// throughput over concurrency, and 0 while there are no users.
    #[must_use]
    pub fn ratio(&self, divisor: &Self) -> Self {
        if self.is_empty() || divisor.is_empty() {
            return Self::default();
        }
        let divide = |dividend, divisor| if divisor > 0.0 { dividend / divisor } else { 0.0 };
        self.combined(divisor, divide)
    }

    /// The sum of several curves.
    #[must_use]
    pub fn sum<'a>(curves: impl IntoIterator<Item = &'a Self>) -> Self {
        let sum = |sum: Self, curve: &Self| sum.combined(curve, |a, b| a + b);
        curves.into_iter().fold(Self::default(), sum)
    }

    /// The curve of `value` of both curves' values.
    fn combined(&self, other: &Self, value: impl Fn(f64, f64) -> f64) -> Self {
        let mut breakpoints: Vec<Breakpoint> = Vec::with_capacity(self.breakpoints.len() + other.breakpoints.len());
        let mut before = None;
        self.each_change(other, |time_ns, a, b| {
            let value = value(a, b);
            if before != Some(value) {
                breakpoints.push(Breakpoint { time_ns, value });
                before = Some(value);
            }
        });
        Self { breakpoints }
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
            throughput.ratio(&users),
            curve(&[(10, 3.0), (20, 2.0), (30, 4.0), (50, 0.0)])
        );
    }

    #[test]
    fn ratio_with_an_empty_curve_is_empty() {
        let some = curve(&[(1, 1.0)]);
        assert!(some.ratio(&Curve::default()).is_empty());
        assert!(Curve::default().ratio(&some).is_empty());
    }
}
