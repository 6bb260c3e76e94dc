//! From joined requests to figures. Pure.

use serde::{Deserialize, Serialize};

use super::{join::Joined, load::Load};

/// Percentiles of an error in ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// How late an arrival was noted: the client's time minus the server's write.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lag {
    /// By the time that latencies are counted by: the kernel's, where it gave one.
    pub(crate) reported: Spread,
    /// By the time at which the read returned.
    pub(crate) user: Spread,
}

/// How true the timestamps are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fidelity {
    pub(crate) first_token_lag_ms: Lag,
    pub(crate) last_token_lag_ms: Lag,
    /// Per request, the mean gap between tokens as measured against the one written; absent where answers have one token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) itl_error_ms: Option<Spread>,
    /// Share of first and last tokens that the kernel stamped.
    pub(crate) kernel_share: f64,
    /// Share of them that more bytes followed in the same read: their stamps are upper bounds.
    pub(crate) bounded_share: f64,
}

/// How true the schedule is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Schedule {
    /// Right before the write minus the intended time.
    pub(crate) send_lag_ms: Spread,
    /// How far the sends of the last tenth lie behind their place in the schedule (`n / rate` where gaps are constant), less
    /// the same of the first tenth; medians, in ms.
    pub(crate) drift_ms: f64,
    /// Requests per second from the first to the last send.
    pub(crate) achieved_rate: f64,
    /// Standard deviation of the gaps between sends over their mean: 0 for constant ones, 1 for Poisson.
    pub(crate) gap_cv: f64,
}

const NS_PER_MS: f64 = 1e6;

fn ms(later: u64, earlier: u64) -> f64 {
    // Clocks may disagree by a hair, so either may be the later one.
    (later.wrapping_sub(earlier) as i64) as f64 / NS_PER_MS
}

/// The value at the rank `ceil(share * n)`; `values` are sorted and not empty.
fn nearest_rank(values: &[f64], share: f64) -> f64 {
    let rank = (share * values.len() as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

/// `None` without values.
fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let max = *values.last()?;
    Some(Spread {
        p50: nearest_rank(&values, 0.5),
        p99: nearest_rank(&values, 0.99),
        max,
    })
}

/// `None` without requests.
pub(super) fn fidelity(requests: &[Joined]) -> Option<Fidelity> {
    let lag = |at: fn(&Joined) -> (super::join::Stamp, u64)| {
        let seen = || requests.iter().map(at);
        Some(Lag {
            reported: spread(seen().map(|(stamp, written)| ms(stamp.reported(), written)))?,
            user: spread(seen().map(|(stamp, written)| ms(stamp.user, written)))?,
        })
    };
    let stamps = || requests.iter().flat_map(|joined| [joined.first, joined.last]);
    let share = |count: usize| count as f64 / (2 * requests.len()) as f64;
    Some(Fidelity {
        first_token_lag_ms: lag(|joined| (joined.first, joined.first_written))?,
        last_token_lag_ms: lag(|joined| (joined.last, joined.last_stamped))?,
        itl_error_ms: spread(requests.iter().filter_map(itl_error)),
        kernel_share: share(stamps().filter(|stamp| stamp.kernel.is_some()).count()),
        bounded_share: share(stamps().filter(|stamp| stamp.lower.is_some()).count()),
    })
}

/// In ms; `None` for an answer of one token, which has no gap.
fn itl_error(joined: &Joined) -> Option<f64> {
    let gaps = joined.tokens.checked_sub(1).filter(|gaps| *gaps > 0)? as f64;
    let seen = ms(joined.last.reported(), joined.first.reported());
    let written = ms(joined.last_written, joined.first_written);
    Some((seen - written).abs() / gaps)
}

/// `None` unless the load is a rate and there are at least two requests, sorted by number.
pub(super) fn schedule(requests: &[Joined], load: Load) -> Option<Schedule> {
    let rate = load.rate()?;
    let (first, others) = requests.split_first()?;
    let send_lag_ms = spread(requests.iter().map(|joined| ms(joined.sent, joined.intended)))?;
    // The place of a request follows from its number alone where gaps are constant: a schedule that slips as a whole shows.
    let behind = |joined: &Joined| match load {
        Load::Constant(_) => ms(joined.sent, first.sent) - (joined.number - first.number) as f64 / rate * 1e3,
        _ => ms(joined.sent, joined.intended),
    };
    let tenth = requests.len().div_ceil(10);
    let median = |part: &[Joined]| spread(part.iter().map(behind)).map(|spread| spread.p50);
    let mut sent: Vec<u64> = requests.iter().map(|joined| joined.sent).collect();
    sent.sort_unstable();
    let gaps: Vec<f64> = sent.windows(2).map(|pair| ms(pair[1], pair[0])).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    if others.is_empty() || mean <= 0.0 {
        return None;
    }
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    Some(Schedule {
        send_lag_ms,
        drift_ms: median(&requests[requests.len() - tenth..])? - median(&requests[..tenth])?,
        achieved_rate: 1e3 / mean,
        gap_cv: variance.sqrt() / mean,
    })
}

#[cfg(test)]
mod tests {
    use super::super::join::Stamp;
    use super::*;

    const MS: u64 = 1_000_000;

    fn joined(number: u64, sent: u64) -> Joined {
        let stamp = |at| Stamp {
            kernel: Some(at),
            user: at,
            lower: None,
        };
        Joined {
            number,
            intended: sent,
            sent,
            first: stamp(sent + 10 * MS),
            last: stamp(sent + 20 * MS),
            first_written: sent + 10 * MS,
            last_written: sent + 20 * MS,
            last_stamped: sent + 20 * MS,
            tokens: 11,
        }
    }

    #[test]
    fn lags_are_client_minus_server() {
        let mut one = joined(0, 0);
        // Kernel: 2 ms late, the read 5 ms late; the last token without a kernel's stamp and 4 ms late.
        one.first = Stamp {
            kernel: Some(12 * MS),
            user: 15 * MS,
            lower: None,
        };
        one.last = Stamp {
            kernel: None,
            user: 24 * MS,
            lower: Some(1),
        };
        let fidelity = fidelity(&[one]).unwrap();
        let at = |value| Spread {
            p50: value,
            p99: value,
            max: value,
        };
        assert_eq!(fidelity.first_token_lag_ms.reported, at(2.0));
        assert_eq!(fidelity.first_token_lag_ms.user, at(5.0));
        assert_eq!(fidelity.last_token_lag_ms.reported, at(4.0));
        // Ten gaps, together 2 ms too long.
        assert_eq!(fidelity.itl_error_ms, Some(at(0.2)));
        assert_eq!((fidelity.kernel_share, fidelity.bounded_share), (0.5, 0.5));
    }

    #[test]
    fn a_stamp_before_the_write_is_a_negative_lag() {
        let mut one = joined(0, MS);
        one.first.kernel = Some(11 * MS - 500);
        assert_eq!(fidelity(&[one]).unwrap().first_token_lag_ms.reported.p50, -0.0005);
    }

    #[test]
    fn nothing_has_no_figures() {
        assert_eq!(fidelity(&[]), None);
        assert_eq!(schedule(&[], Load::Constant(1.0)), None);
        assert_eq!(schedule(&[joined(0, 5)], Load::Constant(1.0)), None);
        assert_eq!(schedule(&[joined(0, 5), joined(1, 9)], Load::Streams(1)), None);
        let mut one = joined(0, 0);
        one.tokens = 1;
        assert_eq!(fidelity(&[one]).unwrap().itl_error_ms, None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let spread = spread((1..=200).map(f64::from)).unwrap();
        assert_eq!((spread.p50, spread.p99, spread.max), (100.0, 198.0, 200.0));
    }

    #[test]
    fn a_schedule_on_time_neither_lags_nor_drifts() {
        let requests: Vec<Joined> = (0..100).map(|n| joined(n, n * MS)).collect();
        let schedule = schedule(&requests, Load::Constant(1000.0)).unwrap();
        assert_eq!(schedule.send_lag_ms.max, 0.0);
        assert!(schedule.drift_ms.abs() < 1e-9, "{schedule:?}");
        assert!(
            (schedule.achieved_rate - 1000.0).abs() < 1e-6 && schedule.gap_cv < 1e-9,
            "{schedule:?}"
        );
    }

    #[test]
    fn a_schedule_that_slips_as_a_whole_drifts_though_nothing_lags() {
        // 1.01 ms apart where 1 ms was asked for: from the median of the first ten to that of the last ten (both nearest
        // ranks: the 5th of each) lie 90 gaps, each 0.01 ms too long.
        let requests: Vec<Joined> = (0..100).map(|n| joined(n, n * 1_010_000)).collect();
        let schedule = schedule(&requests, Load::Constant(1000.0)).unwrap();
        assert_eq!(schedule.send_lag_ms.max, 0.0);
        assert!((schedule.drift_ms - 0.9).abs() < 1e-9, "{schedule:?}");
    }

    #[test]
    fn gaps_of_two_lengths() {
        // Gaps 1 and 3 ms in turn: mean 2, deviation 1.
        let times = [0, 1, 4, 5, 8];
        let requests: Vec<Joined> = (0..5).zip(times).map(|(n, at)| joined(n, at * MS)).collect();
        let schedule = schedule(&requests, Load::Poisson(500.0)).unwrap();
        assert!((schedule.gap_cv - 0.5).abs() < 1e-12 && (schedule.achieved_rate - 500.0).abs() < 1e-9);
        assert_eq!(schedule.drift_ms, 0.0);
    }
}
