//! Time-weighted curves: how much of something was going on at each moment, and its statistics over a window.
//!
//! Records contribute intervals and steps ([`CurveBuilder`]); the sum of all contributions is a step function of time
//! ([`Curve`]). A curve counts how long a value lasted, not how many records saw it.
//!
//! A run's curves are never held as a whole: they are built piece by piece in the order of time, each piece is looked at,
//! and its memory is used for the next one. Statistics take two passes ([`statistics`]).

mod builder;
mod distribution;
mod order;
#[cfg(test)]
mod reference;
pub(crate) mod statistics;

pub use builder::CurveBuilder;
pub(crate) use order::Spare;

/// A step function of time, or a piece of one: each value holds from its time until the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The value before the first breakpoint: 0, or the last one of the piece before.
    before: f64,
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
    /// The points where the value changes, ascending in time.
    #[must_use]
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// The value in the end.
    fn after(&self) -> f64 {
        self.breakpoints.last().map_or(self.before, |last| last.value)
    }

    /// Begins the next piece of the same curve.
    fn go_on(&mut self) {
        self.before = self.after();
        self.breakpoints.clear();
    }

    /// The value is another from `time_ns` on, or the same.
    fn push(&mut self, time_ns: u64, value: f64) {
        if value != self.after() {
            self.breakpoints.push(Breakpoint { time_ns, value });
        }
    }

    /// Becomes a curve divided by another at every moment, 0 where the divisor is not positive: throughput per user is
    /// throughput over concurrency, and 0 while there are no users.
    pub(crate) fn ratio(&mut self, dividend: &Self, divisor: &Self) {
        let value = |dividend, divisor| if divisor > 0.0 { dividend / divisor } else { 0.0 };
        self.before = value(dividend.before, divisor.before);
        self.breakpoints.clear();
        dividend.each_change(divisor, |time_ns, a, b| self.push(time_ns, value(a, b)));
    }

    /// Calls `at` with both curves' values at every time where either changes.
    fn each_change(&self, other: &Self, mut at: impl FnMut(u64, f64, f64)) {
        let (left, right) = (self.breakpoints(), other.breakpoints());
        let (mut i, mut j) = (0, 0);
        let (mut a, mut b) = (self.before, other.before);
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

    fn curve(before: f64, points: &[(u64, f64)]) -> Curve {
        Curve {
            before,
            breakpoints: points
                .iter()
                .map(|&(time_ns, value)| Breakpoint { time_ns, value })
                .collect(),
        }
    }

    #[test]
    fn ratio_changes_where_either_changes_and_is_zero_where_the_divisor_is() {
        let throughput = curve(0.0, &[(10, 6.0), (30, 12.0), (60, 0.0)]);
        let users = curve(0.0, &[(10, 2.0), (20, 3.0), (50, 0.0)]);
        let mut ratio = curve(7.0, &[(1, 8.0)]);
        ratio.ratio(&throughput, &users);
        assert_eq!(ratio, curve(0.0, &[(10, 3.0), (20, 2.0), (30, 4.0), (50, 0.0)]));
        // In pieces, the second one from 25 on.
        ratio.ratio(&curve(6.0, &[(30, 12.0), (60, 0.0)]), &curve(3.0, &[(50, 0.0)]));
        assert_eq!(ratio, curve(2.0, &[(30, 4.0), (50, 0.0)]));
    }

    #[test]
    fn ratio_with_an_empty_curve_is_zero() {
        let (some, none) = (curve(0.0, &[(1, 1.0)]), Curve::default());
        let mut ratio = Curve::default();
        for (dividend, divisor) in [(&some, &none), (&none, &some)] {
            ratio.ratio(dividend, divisor);
            assert_eq!(ratio, none);
        }
    }
}
