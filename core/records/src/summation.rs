//! Pairwise summation in the order numpy uses, so that sums and means agree with the original to the last bit.

/// Longest run that is summed without splitting.
const BLOCK: usize = 128;
/// Independent partial sums within a block.
const LANES: usize = 8;

/// Sum of `at(0) .. at(n-1)` with an error that grows with log n instead of n.
///
/// Blocks of up to 128 values are summed in eight lanes; longer ranges are halved at a multiple of eight. This is the
/// shape of numpy's `np.sum` over contiguous `f64`.
pub(crate) fn pairwise_sum(n: usize, at: &impl Fn(usize) -> f64) -> f64 {
    sum_range(0, n, at)
}

fn sum_range(start: usize, n: usize, at: &impl Fn(usize) -> f64) -> f64 {
    if n < LANES {
        return (0..n).map(|i| at(start + i)).sum();
    }
    if n > BLOCK {
        let half = n / 2;
        let left = half - half % LANES;
        return sum_range(start, left, at) + sum_range(start + left, n - left, at);
    }
    let mut lanes = [0.0; LANES];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = at(start + i);
    }
    let whole = n - n % LANES;
    for block in (LANES..whole).step_by(LANES) {
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane += at(start + block + i);
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let mut sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    for i in whole..n {
        sum += at(start + i);
    }
    sum
}

/// A running sum that keeps what each addition rounds away: compensated as Kahan's, with the rounding error taken exactly
/// and without a branch (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    /// Adds `value`.
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let added = sum - self.sum;
        self.lost += (self.sum - (sum - added)) + (value - added);
        self.sum = sum;
    }

    /// The sum so far.
    pub(crate) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cancellation_is_not_lost() {
        // Naive summation gives 0: 1.0 vanishes beside 1e100.
        let mut sum = CompensatedSum::default();
        for value in [1.0, 1e100, 1.0, -1e100] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 2.0);
    }

    #[test]
    fn pairwise_beats_a_running_sum() {
        // A million times 0.1: a running sum is off by 1.3e-6, pairwise by less than 1e-10.
        assert!((pairwise_sum(1_000_000, &|_| 0.1) - 100_000.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn integers_sum_exactly(values in prop::collection::vec(0u32.., 0..1000)) {
            let exact: u64 = values.iter().map(|&v| u64::from(v)).sum();
            prop_assert_eq!(pairwise_sum(values.len(), &|i| f64::from(values[i])), exact as f64);
            let mut running = CompensatedSum::default();
            values.iter().for_each(|&v| running.add(f64::from(v)));
            prop_assert_eq!(running.value(), exact as f64);
        }
    }
}
