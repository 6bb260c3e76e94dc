//! Time-weighted curves: how much of something was going on at each moment, and its statistics over a window.
//!
//! Records contribute intervals and steps ([`CurveBuilder`]); the sum of all contributions is a step function of time
//! ([`Curve`]). A curve counts how long a value lasted, not how many records saw it.

mod builder;
mod statistics;

pub use builder::CurveBuilder;

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
        let mut breakpoints = Vec::with_capacity(self.breakpoints.len().max(divisor.breakpoints.len()));
        for (time_ns, dividend, divisor) in self.union(divisor) {
            push(
                &mut breakpoints,
                time_ns,
                if divisor > 0.0 { dividend / divisor } else { 0.0 },
            );
        }
        Self { breakpoints }
    }

    /// The sum of several curves.
    #[must_use]
    pub fn sum<'a>(curves: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut builder = CurveBuilder::new();
        curves.into_iter().for_each(|curve| builder.curve(curve));
        builder.build()
    }

    /// Both curves at every time where either changes.
    fn union<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u64, f64, f64)> + 'a {
        let (mut left, mut right) = (self.breakpoints.as_slice(), other.breakpoints.as_slice());
        let (mut a, mut b) = (0.0, 0.0);
        std::iter::from_fn(move || {
            let time_ns = match (left.first(), right.first()) {
                (Some(l), Some(r)) => l.time_ns.min(r.time_ns),
                (Some(only), None) | (None, Some(only)) => only.time_ns,
                (None, None) => return None,
            };
            advance(&mut left, &mut a, time_ns);
            advance(&mut right, &mut b, time_ns);
            Some((time_ns, a, b))
        })
    }
}

/// Takes the breakpoint at `time_ns`, if that is the next one.
fn advance(rest: &mut &[Breakpoint], value: &mut f64, time_ns: u64) {
    if let Some((next, tail)) = rest.split_first()
        && next.time_ns == time_ns
    {
        *value = next.value;
        *rest = tail;
    }
}

/// Appends a breakpoint unless it changes nothing.
fn push(breakpoints: &mut Vec<Breakpoint>, time_ns: u64, value: f64) {
    if breakpoints.last().map_or(0.0, |last| last.value) != value || breakpoints.is_empty() {
        breakpoints.push(Breakpoint { time_ns, value });
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
