//! Error-adjusted statistics: a failed request counts as one that took forever.
//!
//! A server that fails its slowest requests looks fast when only successes are counted. The twin `adj_<tag>` of a
//! latency metric puts every error record into the distribution as an infinite value.

use crate::statistics::{PERCENTILES, Statistics, rank};

/// Statistics of `values` together with `errors` infinite values. `None` if there are no errors (the twin would equal
/// the metric) or no values (nothing finite could be reported). Sorts `values`, which must be finite.
///
/// Percentiles are nearest-rank (`q/100 * (n-1)`, ties to the even rank): interpolating towards infinity means
/// nothing. Only `count`, `min` and the finite percentiles are set; mean, sum and maximum are infinite and the standard
/// deviation is undefined.
pub fn error_adjusted(values: &mut [f64], errors: u64) -> Option<Statistics> {
    values.sort_unstable_by(f64::total_cmp);
    error_adjusted_of_sorted(values.len(), |i| values[i], errors)
}

/// The same of `n` finite values in ascending order, read through `at`.
pub(crate) fn error_adjusted_of_sorted(n: usize, at: impl Fn(usize) -> f64, errors: u64) -> Option<Statistics> {
    if errors == 0 || n == 0 {
        return None;
    }
    let all = n + errors as usize;
    let mut statistics = Statistics {
        min: Some(at(0)),
        count: Some(all as u64),
        ..Statistics::default()
    };
    for q in PERCENTILES {
        let nearest = rank(all, q).round_ties_even() as usize;
        if nearest < n {
            statistics.set_percentile(q, at(nearest));
        }
    }
    Some(statistics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn twelve_successes_four_errors() {
        // n = 16, ranks 15q/100: p1 0.15, p5 0.75, p10 1.5 (tie, to even 2), p25 3.75, p50 7.5 (tie, to even 8),
        // p75 11.25 -> 11, the last success; p90 13.5, p95 14.25 and p99 14.85 fall among the errors.
        let mut values: Vec<f64> = (1..=12).map(f64::from).collect();
        let s = error_adjusted(&mut values, 4).unwrap();
        assert_eq!(
            s,
            Statistics {
                min: Some(1.0),
                p1: Some(1.0),
                p5: Some(2.0),
                p10: Some(3.0),
                p25: Some(5.0),
                p50: Some(9.0),
                p75: Some(12.0),
                count: Some(16),
                ..Statistics::default()
            }
        );
    }

    #[test]
    fn ties_go_to_the_even_rank() {
        // n = 7: p25 at rank 1.5 -> 2; n = 11: p25 at rank 2.5 -> 2.
        assert_eq!(
            error_adjusted(&mut [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 1).unwrap().p25,
            Some(2.0)
        );
        let mut ten: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(error_adjusted(&mut ten, 1).unwrap().p25, Some(2.0));
    }

    #[test]
    fn without_errors_or_without_successes_there_is_no_twin() {
        assert_eq!(error_adjusted(&mut [1.0, 2.0], 0), None);
        assert_eq!(error_adjusted(&mut [], 3), None);
    }

    proptest! {
        #[test]
        fn agrees_with_a_list_that_holds_the_infinities(
            values in prop::collection::vec(0f64..1e9, 1..200), errors in 1u64..50,
        ) {
            let s = error_adjusted(&mut values.clone(), errors).unwrap();
            let mut all = values;
            all.extend((0..errors).map(|_| f64::INFINITY));
            all.sort_by(f64::total_cmp);
            for q in PERCENTILES {
                let position = f64::from(q) / 100.0 * (all.len() - 1) as f64;
                // Nearest by distance; of two equally near, the even index.
                let nearest = (0..all.len())
                    .min_by(|&a, &b| {
                        let (da, db) = ((a as f64 - position).abs(), (b as f64 - position).abs());
                        da.total_cmp(&db).then((a % 2).cmp(&(b % 2)))
                    })
                    .unwrap();
                prop_assert_eq!(s.percentile(q), Some(all[nearest]).filter(|v| v.is_finite()), "p{}", q);
            }
            prop_assert_eq!(s.count, Some(all.len() as u64));
            prop_assert_eq!((s.avg, s.max, s.sum, s.std), (None, None, None, None));
        }
    }
}
