//! Ramps.

use crate::{
    bench::Bench,
    case::{Definition, During, Stop, Verdict, must},
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must("RA-1", "ramp.range", "the share lies between 0 and 1", range),
    must(
        "RA-2",
        "ramp.monotone",
        "the share never falls as the ramp goes on",
        monotone,
    ),
    must("RA-3", "ramp.end", "at the end of the ramp the share is 1", end),
    must(
        "RA-4",
        "ramp.pure",
        "the share is a function of the progress, under the run's seed",
        pure,
    ),
    must(
        "RA-5",
        "ramp.outside",
        "a progress outside 0 to 1 is refused or gives a share from 0 to 1",
        outside,
    ),
];

const STEPS: u32 = 10_000;

fn progress() -> impl DoubleEndedIterator<Item = f64> {
    (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS))
}

fn shares(bench: &Bench) -> Result<Vec<(f64, f64)>, Stop> {
    let ramp = bench.timing()?;
    progress()
        .map(|progress| Ok((progress, ramp.value_at(progress).during(format_args!("at {progress}"))?)))
        .collect()
}

fn range(bench: &Bench) -> Verdict {
    for (progress, share) in shares(bench)? {
        ensure!((0.0..=1.0).contains(&share), "at {progress} the share is {share}");
    }
    Ok(())
}

fn monotone(bench: &Bench) -> Verdict {
    for pair in shares(bench)?.windows(2) {
        ensure!(
            pair[0].1 <= pair[1].1,
            "from {} to {} the share falls from {} to {}",
            pair[0].0,
            pair[1].0,
            pair[0].1,
            pair[1].1
        );
    }
    Ok(())
}

fn end(bench: &Bench) -> Verdict {
    let share = bench.timing()?.value_at(1.0)?;
    ensure!((share - 1.0).abs() <= 1e-9, "at the end the share is {share}");
    Ok(())
}

fn pure(bench: &Bench) -> Verdict {
    let shares = shares(bench)?;
    let other = bench.timing()?;
    for (progress, share) in shares.into_iter().rev() {
        let again = other.value_at(progress)?;
        ensure!(
            again == share,
            "at {progress} the share is {share}; asked in another order, {again}"
        );
    }
    Ok(())
}

fn outside(bench: &Bench) -> Verdict {
    let ramp = bench.timing()?;
    for progress in [
        -1.0,
        -1e-9,
        1.000_001,
        2.0,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ] {
        if let Ok(share) = ramp.value_at(progress) {
            ensure!((0.0..=1.0).contains(&share), "at {progress} the share is {share}");
        }
    }
    Ok(())
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let ramp = bench.timing()?;
    Ok(vec![Speed::measure("value_at", "call", 1, || ramp.value_at(0.3))])
}
