//! Curves as plainly as they can be computed, and that the fast way gives the same to the bit.

use proptest::prelude::*;

use super::{Breakpoint, Curve, CurveBuilder, Spare, statistics::Cut};
use crate::{statistics::Statistics, summation::CompensatedSum, window::Window};

/// Changes of a contribution: time and difference.
type Changes = Vec<(u64, f64)>;

/// What a record contributes.
#[derive(Clone, Debug)]
enum Contribution {
    Interval(u64, u64, f64),
    Rates(u64, Vec<u64>, f64),
    Levels(u64, Vec<u64>, f64, u64),
}

impl Contribution {
    fn add_to(&self, builder: &mut CurveBuilder) {
        match self {
            Self::Interval(from, to, weight) => builder.interval(*from, *to, *weight),
            Self::Rates(from, gaps, weight) => builder.rates(*from, gaps.iter().copied(), *weight),
            Self::Levels(from, gaps, weight, until) => builder.levels(*from, gaps.iter().copied(), *weight, *until),
        }
    }

    fn changes(&self) -> Changes {
        match self {
            Self::Interval(from, to, weight) if to > from => vec![(*from, *weight), (*to, -weight)],
            Self::Interval(..) => Vec::new(),
            Self::Rates(from, gaps, weight) => {
                let mut at = *from;
                let mut changes = Vec::new();
                for gap in gaps {
                    if *gap > 0 {
                        let rate = weight / *gap as f64;
                        changes.extend([(at, rate), (at + gap, -rate)]);
                    }
                    at += gap;
                }
                changes
            }
            Self::Levels(from, gaps, weight, until) => {
                let mut at = *from;
                let mut changes = Vec::new();
                for gap in gaps {
                    at += gap;
                    changes.push((at.min(until - 1), *weight));
                }
                if !gaps.is_empty() {
                    changes.push((*until, -(weight * gaps.len() as f64)));
                }
                changes
            }
        }
    }
}

/// Sorts by time and value, adds up, and forgets what is below a billionth of the largest value.
fn build(mut changes: Changes) -> Vec<Breakpoint> {
    changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut sum = CompensatedSum::default();
    let mut largest = 0f64;
    for (_, value) in &mut changes {
        sum.add(*value);
        *value = sum.value();
        largest = largest.max(value.abs());
    }
    let mut breakpoints: Vec<Breakpoint> = Vec::new();
    for at_one_instant in changes.chunk_by(|a, b| a.0 == b.0) {
        let (time_ns, value) = *at_one_instant.last().unwrap();
        let value = if value.abs() < 1e-9 * largest { 0.0 } else { value };
        if breakpoints.last().map_or(0.0, |last| last.value) != value {
            breakpoints.push(Breakpoint { time_ns, value });
        }
    }
    breakpoints
}

/// Value and duration of each stretch of the window in which `mask` is positive.
fn segments(curve: &Curve, mask: Option<&Curve>, window: Window) -> Vec<(f64, u64)> {
    let mut times = vec![window.start_ns, window.end_ns];
    for curve in [Some(curve), mask].into_iter().flatten() {
        let inside = |time: &u64| (window.start_ns..window.end_ns).contains(time);
        times.extend(curve.breakpoints().iter().map(|b| b.time_ns).filter(inside));
    }
    times.sort_unstable();
    let at = |curve: &Curve, time: u64| {
        let after = curve.breakpoints().partition_point(|b| b.time_ns <= time);
        after.checked_sub(1).map_or(0.0, |last| curve.breakpoints()[last].value)
    };
    let stretches = times.windows(2).filter(|pair| pair[1] > pair[0]);
    let counted = stretches.filter(|pair| mask.is_none_or(|mask| at(mask, pair[0]) > 0.0));
    counted.map(|pair| (at(curve, pair[0]), pair[1] - pair[0])).collect()
}

fn statistics(mut segments: Vec<(f64, u64)>) -> Option<Statistics> {
    if segments.is_empty() {
        return None;
    }
    segments.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: u64 = segments.iter().map(|s| s.1).sum();
    let total = total as f64;
    let avg = segments.iter().map(|&(value, ns)| value * ns as f64).sum::<f64>() / total;
    let squares = segments.iter().map(|&(value, ns)| (value - avg).powi(2) * ns as f64);
    let mut statistics = Statistics {
        avg: Some(avg),
        min: Some(segments[0].0),
        max: Some(segments[segments.len() - 1].0),
        std: Some((squares.sum::<f64>() / total).sqrt()),
        ..Statistics::default()
    };
    let mut covered = 0;
    let mut percentiles = [50u8, 90, 95, 99].into_iter().peekable();
    for (value, ns) in segments {
        covered += ns;
        while let Some(q) = percentiles.next_if(|&q| covered as f64 / total >= f64::from(q) / 100.0) {
            statistics.set_percentile(q, value);
        }
    }
    Some(statistics)
}

/// Equal to the bit but for mean and deviation, which are summed in another order.
fn check(fast: Option<Statistics>, plain: Option<Statistics>) -> Result<(), TestCaseError> {
    prop_assert_eq!(fast.is_some(), plain.is_some());
    let (Some(fast), Some(plain)) = (fast, plain) else {
        return Ok(());
    };
    let scale = plain.max.unwrap().abs().max(plain.min.unwrap().abs());
    for ((name, fast), (_, plain)) in fast.values().into_iter().zip(plain.values()) {
        match name {
            "avg" | "std" => prop_assert!((fast.unwrap() - plain.unwrap()).abs() <= 1e-12 * scale, "{}", name),
            _ => prop_assert_eq!(fast.map(f64::to_bits), plain.map(f64::to_bits), "{}", name),
        }
    }
    Ok(())
}

const BASE: u64 = 1 << 40;

/// Contributions of a busy run, with many instants that several records share.
fn contributions(most: usize) -> impl Strategy<Value = Vec<Contribution>> {
    let times = || {
        (
            prop_oneof![0u64..300, 0u64..3_000_000].prop_map(|at| BASE + at),
            0u64..2000,
        )
    };
    let weight = || prop_oneof![Just(1.0), 1e-4f64..1e4];
    let gaps = || prop::collection::vec(prop_oneof![Just(0), 1u64..4, 1u64..1000], 0..12);
    let contribution = prop_oneof![
        (times(), weight()).prop_map(|((from, length), weight)| Contribution::Interval(from, from + length, weight)),
        (times(), gaps(), weight()).prop_map(|((from, _), gaps, weight)| Contribution::Rates(from, gaps, weight)),
        (times(), gaps(), weight())
            .prop_map(|((from, length), gaps, weight)| { Contribution::Levels(from, gaps, weight, from + length) }),
    ];
    prop::collection::vec(contribution, 0..most)
}

fn built(contributions: &[Contribution]) -> Curve {
    let mut builder = CurveBuilder::new();
    contributions.iter().for_each(|one| one.add_to(&mut builder));
    builder.build()
}

/// The same in pieces, each of `size` contributions.
fn in_pieces(contributions: &[Contribution], size: usize) -> Vec<Curve> {
    let begin = |one: &Contribution| one.changes().iter().map(|change| change.0).min();
    let mut ordered: Vec<_> = contributions
        .iter()
        .filter_map(|one| Some((begin(one)?, one)))
        .collect();
    ordered.sort_by_key(|one| one.0);
    let mut builder = CurveBuilder::new();
    loop {
        let (mut piece, mut spare) = (Curve::default(), Spare::default());
        let mut pieces = Vec::new();
        for (i, chunk) in ordered.chunks(size).enumerate() {
            chunk.iter().for_each(|one| one.1.add_to(&mut builder));
            let until_ns = ordered.get((i + 1) * size).map(|one| one.0);
            builder.piece(until_ns, &mut spare, &mut piece);
            pieces.push(piece.clone());
        }
        if builder.is_settled() {
            return pieces;
        }
        builder.restart();
    }
}

proptest! {
    #[test]
    fn curves_and_their_statistics_are_those_of_the_plain_way(
        some in contributions(200), others in contributions(60),
        start in 0u64..400_000, length in 0u64..3_000_000, size in 1usize..50,
    ) {
        let [some, others] = [some, others].map(|contributions| {
            let plain = build(contributions.iter().flat_map(Contribution::changes).collect());
            (built(&contributions), plain, in_pieces(&contributions, size))
        });
        for (curve, plain, pieces) in [&some, &others] {
            prop_assert_eq!(curve.breakpoints(), plain.as_slice());
            let joined: Vec<_> = pieces.iter().flat_map(|piece| piece.breakpoints().iter().copied()).collect();
            prop_assert_eq!(joined, plain.as_slice());
            let ends = std::iter::once(0.0).chain(pieces.iter().map(Curve::after));
            prop_assert!(pieces.iter().map(|piece| piece.before).eq(ends.take(pieces.len())));
        }
        let (curve, mask) = (some.0, others.0);
        let window = Window { start_ns: BASE + start, end_ns: BASE + start + length };
        let whole = curve.statistics(window);
        check(whole, statistics(segments(&curve, None, window)))?;
        let active = curve.statistics_while(&mask, window);
        check(active, statistics(segments(&curve, Some(&mask), window)))?;

        let mut first = Cut::first(window, false);
        some.2.iter().for_each(|piece| first.add(piece, None));
        let mut second = first.second(true, false);
        if !second.is_over() {
            some.2.iter().for_each(|piece| second.add(piece, None));
        }
        prop_assert_eq!(second.statistics(), (whole, None));
    }

    #[test]
    fn ratios_are_those_of_the_values(some in contributions(60), others in contributions(60)) {
        let [a, b] = [some, others].map(|contributions| built(&contributions));
        let mut ratio = Curve::default();
        ratio.ratio(&a, &b);
        prop_assert!(ratio.breakpoints().is_sorted_by(|a, b| a.time_ns < b.time_ns));
        prop_assert!(ratio.breakpoints().windows(2).all(|pair| pair[0].value != pair[1].value));
        let at = |curve: &Curve, time: u64| {
            let after = curve.breakpoints().partition_point(|b| b.time_ns <= time);
            after.checked_sub(1).map_or(0.0, |last| curve.breakpoints()[last].value)
        };
        for time in [&a, &b].into_iter().flat_map(|curve| curve.breakpoints()).map(|b| b.time_ns) {
            let divisor = at(&b, time);
            let expected = if divisor > 0.0 { at(&a, time) / divisor } else { 0.0 };
            prop_assert_eq!(at(&ratio, time), expected);
        }
    }
}
