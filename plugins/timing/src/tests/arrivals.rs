use aiperf_sdk::testing::FakeHost;

use super::open;

const STREAM: [(&str, &str); 2] = [
    ("poisson", "timing.request.poisson_interval"),
    ("gamma", "timing.request.gamma_interval"),
];

#[test]
fn constant_intervals_never_drift() {
    for rate in [1_u64, 3, 7, 64, 999, 12_345, 3_000_000] {
        let mut constant = open("constant", "", FakeHost::new()).expect("constant");
        let mut sum = 0;
        for batch in 0..200 {
            let intervals = constant.intervals(rate as f64, 64).expect("intervals");
            for (i, interval) in intervals.into_iter().enumerate() {
                sum += interval;
                let n = batch * 64 + i as u128 + 1;
                // n/rate in ns, rounded half up, in whole numbers.
                let due = (2 * n * 1_000_000_000 + u128::from(rate)) / (2 * u128::from(rate));
                assert_eq!(u128::from(sum), due, "interval {n} at {rate} per second");
            }
        }
    }
}

#[test]
fn a_new_rate_starts_a_new_constant_sequence() {
    let mut constant = open("constant", "", FakeHost::new()).expect("constant");
    // 1/3 s is 333,333,333.3 ns: the sums are 333,333,333 and 666,666,667.
    assert_eq!(
        constant.intervals(3.0, 2).expect("intervals"),
        [333_333_333, 333_333_334]
    );
    assert_eq!(
        constant.intervals(0.5, 2).expect("intervals"),
        [2_000_000_000, 2_000_000_000]
    );
    assert_eq!(constant.intervals(3.0, 1).expect("intervals"), [333_333_333]);
}

#[test]
fn bursts_leave_no_time() {
    let mut burst = open("concurrency_burst", "", FakeHost::new()).expect("burst");
    assert_eq!(burst.intervals(5.0, 3).expect("intervals"), [0, 0, 0]);
}

/// Mean in ns and coefficient of variation of many intervals.
fn moments(entry: &str, options: &str, rate: f64) -> (f64, f64) {
    let mut pattern = open(entry, options, FakeHost::new()).expect("a pattern");
    let intervals = pattern.intervals(rate, 200_000).expect("intervals");
    let n = intervals.len() as f64;
    let mean = intervals.iter().map(|&x| x as f64).sum::<f64>() / n;
    let variance = intervals.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt() / mean)
}

#[test]
fn random_intervals_have_the_mean_and_the_spread_of_their_distribution() {
    // The coefficient of variation is 1 for exponential intervals and 1/sqrt(shape) for gamma ones.
    let cases = [
        ("poisson", "{}", 1.0, 0.03),
        ("gamma", "{}", 1.0, 0.03),
        ("gamma", "{\"smoothness\": 4.0}", 0.5, 0.01),
        ("gamma", "{\"smoothness\": 0.25}", 2.0, 0.06),
    ];
    for (entry, options, spread, tolerance) in cases {
        for rate in [0.5, 40.0, 10_000.0] {
            let (mean, cv) = moments(entry, options, rate);
            let expected = 1e9 / rate;
            assert!((mean / expected - 1.0).abs() < 0.02, "{entry} {options}: mean {mean}");
            assert!((cv - spread).abs() < tolerance, "{entry} {options}: cv {cv}");
        }
    }
}

#[test]
fn random_intervals_depend_on_the_seed_of_their_stream_alone() {
    for (entry, stream) in STREAM {
        let of = |seed, batches: &[u32]| {
            let host = FakeHost::new().with_seed(stream, seed).with_seed("another", seed + 1);
            let mut pattern = open(entry, "", host).expect("a pattern");
            let taken = batches
                .iter()
                .map(|&count| pattern.intervals(10.0, count).expect("intervals"));
            taken.flatten().collect::<Vec<_>>()
        };
        assert_eq!(of(7, &[100]), of(7, &[1, 64, 35]), "{entry}: cut into batches");
        assert_ne!(of(7, &[100]), of(8, &[100]), "{entry}: another seed");
    }
}
