//! Curves and what is composed of them.

use aiperf_plugin_api::{
    column::Column,
    metric::{MetricKind, MetricSpec, Population},
};

use super::{accumulator, find, records};
use crate::{
    composition::standard,
    summary::Visibility,
    testing::{family, spec},
    window::Window,
};

/// Start, time to first token, end, input and output tokens, chunk gaps.
type Request = (u64, Option<u64>, u64, f64, f64, &'static [u64]);

/// From, to, weight.
type Interval = (u64, u64, f64);

/// What a metrics plugin contributes for a request to the parts of the standard curves.
fn parts(requests: &[Request]) -> (Vec<MetricSpec>, Vec<Column>) {
    /// Far from 0, as wall-clock times are.
    const BASE: u64 = 1 << 40;
    let intervals = |of: &dyn Fn(&Request, u64) -> Option<Interval>| {
        let rows: Vec<_> = requests
            .iter()
            .map(|r| of(r, r.0 + r.1.unwrap_or(0)).filter(|row| row.1 > row.0))
            .collect();
        let row = |i: usize| rows[i].unwrap_or_default();
        let all = 0..rows.len();
        Column::Intervals {
            from: all.clone().map(|i| BASE + row(i).0).collect(),
            to: all.clone().map(|i| BASE + row(i).1).collect(),
            weight: all.map(|i| row(i).2).collect(),
            validity: rows.iter().map(|row| u8::from(row.is_some())).collect(),
        }
    };
    let steps = |per: &dyn Fn(&[u64]) -> usize| Column::Steps {
        from: requests.iter().map(|r| BASE + r.0 + r.1.unwrap_or(0)).collect(),
        ends: requests
            .iter()
            .scan(0, |end, r| {
                *end += r.5.len() as u32;
                Some(*end)
            })
            .collect(),
        gaps: requests.iter().flat_map(|r| r.5).copied().collect(),
        weight: requests.iter().map(|r| (r.4 - 1.0) / per(r.5).max(1) as f64).collect(),
        validity: requests.iter().map(|r| u8::from(!r.5.is_empty())).collect(),
    };
    let nonzero = |gaps: &[u64]| gaps.iter().filter(|&&gap| gap > 0).count();
    let first = |r: &Request| r.1.map(|_| ());
    let interval = MetricKind::Interval;
    let parts = [
        (
            "effective_concurrency",
            "requests",
            interval,
            intervals(&|r, _| Some((r.0, r.2, 1.0))),
        ),
        (
            "effective_decode_throughput",
            "tokens/sec",
            MetricKind::Steps,
            steps(&nonzero),
        ),
        (
            "effective_prefill_throughput",
            "tokens/sec",
            interval,
            intervals(&|r, g| first(r).map(|()| (r.0, g, r.3 / (g - r.0) as f64))),
        ),
        (
            "effective_decode_concurrency",
            "requests",
            interval,
            intervals(&|r, g| first(r).map(|()| (g, r.2, 1.0))),
        ),
        (
            "effective_prefill_concurrency",
            "requests",
            interval,
            intervals(&|r, g| first(r).map(|()| (r.0, g, 1.0))),
        ),
        (
            "request_decode_throughput",
            "tokens/sec",
            interval,
            intervals(&|r, g| first(r).map(|()| (g, r.2, (r.4 - 1.0) / (r.2 - g) as f64))),
        ),
        (
            "prompt_tokens_in_flight",
            "tokens",
            interval,
            intervals(&|r, _| first(r).map(|()| (r.0, r.2, r.3))),
        ),
        (
            "first_tokens_in_flight",
            "tokens",
            interval,
            intervals(&|r, g| first(r).filter(|()| !r.5.is_empty()).map(|()| (g, r.2, 1.0))),
        ),
        ("chunk_tokens", "tokens", MetricKind::Steps, steps(&<[u64]>::len)),
    ];
    parts
        .into_iter()
        .map(|(tag, unit, kind, column)| {
            (
                MetricSpec {
                    population: Population::All,
                    ..spec(tag, unit, kind)
                },
                column,
            )
        })
        .unzip()
}

/// Values of the original for the same five requests: avg, min, max, std, p50, p90, p95, p99.
#[test]
fn curves_are_those_of_the_original() {
    let (specs, columns) = parts(&[
        (0, Some(1000), 5000, 100.0, 5.0, &[1000, 0, 1000, 1500]),
        (2000, Some(1500), 9000, 64.0, 4.0, &[2048, 1024]),
        (3000, None, 7000, 32.0, 0.0, &[]),
        (9500, Some(500), 12000, 10.0, 1.0, &[]),
        (5000, Some(2000), 11000, 200.0, 9.0, &[500, 500, 500, 500, 1000]),
    ]);
    let window = Window {
        start_ns: (1 << 40) - 500,
        end_ns: (1 << 40) + 12500,
    };
    let results = accumulator(vec![family(specs)], standard(|_| true), &records(4, 1), vec![columns])
        .summary(window, None, Visibility::default())
        .results();
    #[rustfmt::skip]
    let expected = [
            ("effective_concurrency", [1.8846153846153846, 0.0, 3.0, 0.9334354691931998, 2.0, 3.0, 3.0, 3.0]),
            ("effective_decode_throughput", [1153846.1538461538, 0.0, 3200000.0, 1076712.5966028322, 1333333.3333333333, 3200000.0, 3200000.0, 3200000.0]),
            ("effective_prefill_throughput", [28769230.769230768, 0.0, 100000000.0, 41297210.1488097, 0.0, 100000000.0, 100000000.0, 100000000.0]),
            ("effective_decode_concurrency", [1.1923076923076923, 0.0, 2.0, 0.6804540774213128, 1.0, 2.0, 2.0, 2.0]),
            ("effective_prefill_concurrency", [0.38461538461538464, 0.0, 1.0, 0.4865042554105199, 0.0, 1.0, 1.0, 1.0]),
            ("effective_total_throughput", [29923076.923076924, 0.0, 100545454.54545455, 40860370.047467686, 2545454.5454545435, 100545454.54545455, 100545454.54545455, 100545454.54545455]),
            ("effective_decode_throughput_per_user", [831249.1653311966, 0.0, 1600000.0, 671587.8496519167, 888888.8888888889, 1600000.0, 1600000.0, 1600000.0]),
            ("effective_prefill_throughput_per_user", [28769230.769230768, 0.0, 100000000.0, 41297210.1488097, 0.0, 100000000.0, 100000000.0, 100000000.0]),
            ("tokens_in_flight", [171.00153846153847, 0.0, 273.80000000000007, 90.95476304575841, 169.0, 270.6, 272.20000000000005, 273.80000000000007]),
            ("active_decode_throughput", [1363636.3636363635, 0.0, 3200000.0, 1041160.936692071, 1333333.3333333333, 3200000.0, 3200000.0, 3200000.0]),
            ("active_prefill_throughput", [74800000.0, 20000000.0, 100000000.0, 31481634.85801418, 100000000.0, 100000000.0, 100000000.0, 100000000.0]),
            ("active_decode_throughput_per_user", [982385.3772095959, 0.0, 1600000.0, 620130.4164684752, 1333333.3333333333, 1600000.0, 1600000.0, 1600000.0]),
            ("active_prefill_throughput_per_user", [74800000.0, 20000000.0, 100000000.0, 31481634.85801418, 100000000.0, 100000000.0, 100000000.0, 100000000.0]),
            ("active_total_throughput", [32416666.66666667, 0.0, 100545454.54545455, 41567617.11872949, 2545454.5454545435, 100545454.54545455, 100545454.54545455, 100545454.54545455]),
    ];
    for (tag, expected) in expected {
        let s = find(&results, tag)
            .unwrap_or_else(|| panic!("{tag} is missing"))
            .statistics;
        let got = [s.avg, s.min, s.max, s.std, s.p50, s.p90, s.p95, s.p99];
        for (got, expected) in got.into_iter().zip(expected) {
            let got = got.unwrap();
            assert!(
                (got - expected).abs() <= 1e-12 * expected.abs(),
                "{tag}: {got} instead of {expected}"
            );
        }
        assert_eq!((s.count, s.sum, s.p75), (None, None, None), "{tag}");
    }
    // The parts that only serve others are not shown.
    assert!(find(&results, "chunk_tokens_in_flight").is_none());
}

#[test]
fn curves_without_data_are_zero_but_nothing_is_active() {
    // Not a streaming run: no request has a first token.
    let (specs, columns) = parts(&[(0, None, 5000, 100.0, 5.0, &[]), (10, None, 700, 100.0, 5.0, &[])]);
    let window = Window {
        start_ns: 1 << 40,
        end_ns: (1 << 40) + 5000,
    };
    let results = accumulator(vec![family(specs)], standard(|_| true), &records(2, 0), vec![columns])
        .summary(window, None, Visibility::default())
        .results();
    let zero = find(&results, "effective_decode_throughput").unwrap().statistics;
    assert_eq!((zero.avg, zero.max, zero.p99), (Some(0.0), Some(0.0), Some(0.0)));
    assert!(find(&results, "active_decode_throughput").is_none());
    assert_eq!(
        find(&results, "effective_concurrency").unwrap().statistics.max,
        Some(2.0)
    );
}
