//! Samplers.

use aiperf_sdk::Dataset;

use crate::{
    bench::Bench,
    case::{Definition, During, Stop, Verdict, must},
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "SA-1",
        "sampler.pure",
        "an order is a function of the number of conversations and the pass, under the run's seed",
        pure,
    ),
    must(
        "SA-2",
        "sampler.range",
        "an order names only conversations that exist",
        range,
    ),
    must(
        "SA-3",
        "sampler.not_empty",
        "an order of at least one conversation is not empty; one of none is empty or refused",
        not_empty,
    ),
];

const SIZES: [u32; 7] = [1, 2, 3, 10, 97, 1_000, 100_000];
const PASSES: [u32; 5] = [0, 1, 2, 1_000_000, u32::MAX];

fn order(sampler: &dyn Dataset, conversations: u32, pass: u32) -> Result<Vec<u32>, Stop> {
    sampler
        .order(conversations, pass)
        .during(format_args!("pass {pass} over {conversations} conversations"))
}

fn pure(bench: &Bench) -> Verdict {
    let one = bench.dataset()?;
    let mut asked = Vec::new();
    for size in SIZES {
        for pass in PASSES {
            asked.push((size, pass, order(&*one, size, pass)?));
        }
    }
    // Backwards and in another instance: no pass may need the ones before it.
    let two = bench.dataset()?;
    for (size, pass, expected) in asked.iter().rev() {
        for (instance, which) in [(&one, "the same"), (&two, "another")] {
            let again = order(&**instance, *size, *pass)?;
            if let Some(at) = (0..again.len().max(expected.len())).find(|&i| again.get(i) != expected.get(i)) {
                fail!(
                    "pass {pass} over {size} conversations, asked again of {which} instance, differs at place {at}: \
                     {:?} instead of {:?}",
                    again.get(at),
                    expected.get(at)
                );
            }
        }
    }
    Ok(())
}

fn range(bench: &Bench) -> Verdict {
    let sampler = bench.dataset()?;
    for size in SIZES {
        for pass in PASSES {
            let order = order(&*sampler, size, pass)?;
            if let Some(index) = order.iter().find(|&&index| index >= size) {
                fail!("pass {pass} over {size} conversations names conversation {index}");
            }
        }
    }
    Ok(())
}

fn not_empty(bench: &Bench) -> Verdict {
    let sampler = bench.dataset()?;
    for size in SIZES {
        for pass in PASSES {
            ensure!(
                !order(&*sampler, size, pass)?.is_empty(),
                "pass {pass} over {size} conversations is empty"
            );
        }
    }
    let none = sampler.order(0, 0).unwrap_or_default();
    ensure!(none.is_empty(), "the order of no conversations is {none:?}");
    Ok(())
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let sampler = bench.dataset()?;
    Ok(vec![Speed::measure("order", "conversation", 10_000, || {
        sampler.order(10_000, 1)
    })])
}
