//! Arrival patterns.

use aiperf_sdk::Timing;

use crate::{
    bench::Bench,
    case::{Definition, During, Stop, Verdict, must},
    core_options,
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "AR-1",
        "arrival.count",
        "as many intervals are given as were asked for",
        count,
    ),
    must(
        "AR-2",
        "arrival.mean",
        "the mean interval is one over the rate; or all intervals are 0, at every rate",
        mean,
    ),
    must(
        "AR-3",
        "arrival.deterministic",
        "under one seed the sequence is the same, however it is cut into calls",
        deterministic,
    ),
    must(
        "AR-4",
        "arrival.rate_change",
        "after a change of the rate the intervals follow the new one",
        rate_change,
    ),
    must(
        "AR-5",
        "arrival.bad_rate",
        "a rate that is not positive and finite is refused, or all intervals are 0",
        bad_rate,
    ),
];

/// Requests per second.
const RATES: [f64; 6] = [0.01, 0.7, 10.0, 333.3, 50_000.0, 1e6];
const SAMPLE: u32 = 20_000;

fn intervals(arrival: &mut dyn Timing, rate: f64, count: u32) -> Result<Vec<u64>, Stop> {
    let intervals = arrival
        .intervals(rate, count)
        .during(format_args!("{count} intervals at {rate} per second"))?;
    ensure!(
        intervals.len() == count as usize,
        "{count} intervals at {rate} per second were asked for, {} came",
        intervals.len()
    );
    Ok(intervals)
}

fn count(bench: &Bench) -> Verdict {
    let mut arrival = bench.timing()?;
    for wanted in [0, 1, 2, 64, 1_000] {
        for rate in RATES {
            intervals(&mut *arrival, rate, wanted)?;
        }
    }
    Ok(())
}

/// The mean lies within six standard errors of what it should be, and half a ns for rounding: by chance that fails once in
/// 500 million times.
fn follows(intervals: &[u64], rate: f64) -> Result<(), String> {
    let count = intervals.len() as f64;
    let mean = intervals.iter().map(|&ns| ns as f64).sum::<f64>() / count;
    let variance = intervals.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum::<f64>() / count;
    let expected = 1e9 / rate;
    let tolerance = 6.0 * (variance / count).sqrt() + 0.5 + expected * 1e-9;
    if (mean - expected).abs() <= tolerance {
        return Ok(());
    }
    Err(format!(
        "at {rate} per second the mean of {count} intervals is {mean:.1} ns instead of {expected:.1} ± {tolerance:.1}"
    ))
}

fn mean(bench: &Bench) -> Verdict {
    let usual = core_options::usual(&bench.subject);
    let all = std::iter::once(usual).chain(core_options::others(&bench.subject).into_iter().map(|(_, other)| other));
    for core in all {
        let given = bench.given(core);
        let (mut zeros, mut problem) = (0, None);
        for rate in RATES {
            let mut arrival = bench.timing_with(&given)?;
            let sample = intervals(&mut *arrival, rate, SAMPLE)?;
            if sample.iter().all(|&ns| ns == 0) {
                zeros += 1;
            } else if let Err(found) = follows(&sample, rate) {
                problem = problem.or(Some(found));
            }
        }
        if let Some(problem) = problem {
            fail!("{problem} (the core passes {})", given.core);
        }
        ensure!(
            zeros == 0 || zeros == RATES.len(),
            "at {zeros} of {} rates there is no time between requests, at the others there is",
            RATES.len()
        );
    }
    Ok(())
}

fn deterministic(bench: &Bench) -> Verdict {
    for rate in RATES {
        let whole = intervals(&mut *bench.timing()?, rate, 1_000)?;
        for piece in [1, 7, 64, 999] {
            let mut arrival = bench.timing()?;
            let mut pieces = Vec::new();
            while pieces.len() < whole.len() {
                let missing = (whole.len() - pieces.len()) as u32;
                pieces.extend(intervals(&mut *arrival, rate, piece.min(missing))?);
            }
            if let Some(at) = (0..whole.len()).find(|&i| whole[i] != pieces[i]) {
                fail!(
                    "at {rate} per second, in calls of {piece}, interval {at} is {} ns; in one call it is {} ns",
                    pieces[at],
                    whole[at]
                );
            }
        }
    }
    Ok(())
}

fn rate_change(bench: &Bench) -> Verdict {
    let mut arrival = bench.timing()?;
    for rate in [10.0, 1_000.0, 3.0, 3.0, 10.0] {
        let sample = intervals(&mut *arrival, rate, SAMPLE)?;
        if sample.iter().any(|&ns| ns > 0)
            && let Err(problem) = follows(&sample, rate)
        {
            fail!("after a change of the rate: {problem}");
        }
    }
    Ok(())
}

fn bad_rate(bench: &Bench) -> Verdict {
    let mut arrival = bench.timing()?;
    for rate in [0.0, -1.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        if let Ok(intervals) = arrival.intervals(rate, 3) {
            ensure!(
                intervals.iter().all(|&ns| ns == 0),
                "a rate of {rate} per second gives the intervals {intervals:?}"
            );
        }
    }
    // Extreme, but a rate.
    for rate in [f64::MIN_POSITIVE, 1e-9, 1e12, f64::MAX] {
        let _ = arrival.intervals(rate, 3);
    }
    Ok(())
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let mut arrival = bench.timing()?;
    Ok(vec![Speed::measure("intervals", "interval", 64, || {
        arrival.intervals(1_000.0, 64)
    })])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_judged_by_its_own_spread() {
        // Half 0, half 200: mean and standard deviation are 100 ns, so 10,000 of them tell 100 from 94 or 107 by six
        // standard errors of 1 ns.
        let sample: Vec<u64> = (0..10_000).map(|i| if i % 2 == 0 { 0 } else { 200 }).collect();
        assert!(follows(&sample, 1e7).is_ok());
        assert!(follows(&sample, 1e9 / 105.0).is_ok());
        assert!(follows(&sample, 1e9 / 108.0).is_err());
        assert!(follows(&sample, 1e9 / 92.0).is_err());
    }
}
