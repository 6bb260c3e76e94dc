//! Values of windows.

use aiperf_sdk::{
    Metric, MetricFamily, MetricKind,
    metric::{Total, Window},
};

use crate::{
    bench::Bench,
    case::{During, Stop, Verdict},
    random::Random,
};

fn family(bench: &Bench) -> Result<(Box<dyn Metric>, MetricFamily), Stop> {
    let metric = bench.metric()?;
    let family = metric.describe()?;
    if !family.metrics.iter().any(|spec| spec.kind == MetricKind::Derived) {
        skip!("the family has no derived metric");
    }
    Ok((metric, family))
}

fn derive(metric: &dyn Metric, family: &MetricFamily, what: &str, window: &Window) -> Result<Vec<Option<f64>>, Stop> {
    let values = metric.derive(window).during(format_args!("`derive` of {what}"))?;
    let specs: Vec<_> = family
        .metrics
        .iter()
        .filter(|spec| spec.kind == MetricKind::Derived)
        .collect();
    ensure!(
        values.len() == specs.len(),
        "{what}: {} values for {} derived metrics",
        values.len(),
        specs.len()
    );
    for (spec, value) in specs.iter().zip(&values) {
        ensure!(
            value.is_none_or(f64::is_finite),
            "{what}: `{}` is {value:?}; what can't be computed is no value",
            spec.tag
        );
    }
    Ok(values)
}

fn window(family: &MetricFamily, duration_ns: Option<u64>, total: impl FnMut() -> Total) -> Window {
    const START_NS: u64 = 1_767_225_600_000_000_000;
    Window {
        start_ns: START_NS,
        end_ns: START_NS + duration_ns.unwrap_or(0),
        duration_ns,
        valid: 0,
        errors: 0,
        totals: std::iter::repeat_with(total).take(family.derive_needs.len()).collect(),
        facts: String::new(),
    }
}

fn usual(bench: &Bench, family: &MetricFamily) -> Window {
    let mut random = bench.random("metric.window");
    let total = || {
        let count = 1 + random.below(100);
        let value = 1.0 + random.below(1_000) as f64;
        Total {
            count,
            sum: Some(value * count as f64),
            min: Some(value / 2.0),
            max: Some(value * 2.0),
            value: Some(value),
        }
    };
    Window {
        valid: 90,
        errors: 10,
        ..window(family, Some(2_000_000_000), total)
    }
}

pub(super) fn empty(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    let zero = || Total {
        sum: Some(0.0),
        ..Total::default()
    };
    for (what, window) in [
        ("a window without anything", window(&family, None, Total::default)),
        (
            "a window of 1 s without a record",
            window(&family, Some(1_000_000_000), Total::default),
        ),
        (
            "a window of 1 s with sums of 0",
            window(&family, Some(1_000_000_000), zero),
        ),
        (
            "a window without totals",
            Window {
                totals: Vec::new(),
                ..window(&family, None, Total::default)
            },
        ),
        ("a window of 0 ns", window(&family, Some(0), Total::default)),
        (
            "a window with errors alone",
            Window {
                errors: 7,
                ..window(&family, Some(1_000_000_000), Total::default)
            },
        ),
    ] {
        derive(&*metric, &family, what, &window)?;
    }
    Ok(())
}

pub(super) fn finite(bench: &Bench) -> Verdict {
    let (metric, family) = family(bench)?;
    const NUMBERS: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 9.007_199_254_740_992e15];
    let mut random: Random = bench.random("metric.extreme_windows");
    for round in 0..500 {
        let number = |random: &mut Random| {
            let drawn = random.below(NUMBERS.len() as u64 + 1) as usize;
            NUMBERS.get(drawn).copied()
        };
        let duration = [None, Some(1), Some(1_000_000_000), Some(u64::MAX / 4)][random.below(4) as usize];
        let (valid, errors) = (random.below(3) * u64::from(u32::MAX), random.below(3));
        let total = || Total {
            count: random.below(3),
            sum: number(&mut random),
            min: number(&mut random),
            max: number(&mut random),
            value: number(&mut random),
        };
        let window = Window {
            valid,
            errors,
            ..window(&family, duration, total)
        };
        derive(&*metric, &family, &format!("extreme totals (round {round})"), &window)?;
    }
    Ok(())
}

pub(super) fn pure(bench: &Bench) -> Verdict {
    let (one, family) = family(bench)?;
    let two = bench.metric()?;
    let (usual, empty) = (usual(bench, &family), window(&family, None, Total::default));
    let expected = derive(&*one, &family, "a usual window", &usual)?;
    for (metric, which) in [(&one, "the same"), (&two, "another")] {
        // What comes of it is another case's.
        let _ = metric.derive(&empty);
        let again = derive(&**metric, &family, "a usual window", &usual)?;
        ensure!(
            again == expected,
            "asked again, {which} instance says {again:?}\ninstead of {expected:?}"
        );
    }
    Ok(())
}
