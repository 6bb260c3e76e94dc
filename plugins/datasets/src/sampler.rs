//! Samplers: the order in which conversations are taken.

use aiperf_sdk::{Dataset, Host, Result};
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they come.
    Sequential,
    /// Each draw from all of them, with replacement.
    Random,
    /// Each once per pass, in an order of that pass.
    Shuffle,
}

/// A sampler.
pub(crate) struct Sampler {
    order: Order,
    seed: u64,
}

impl Sampler {
    /// A sampler with the run's seed.
    pub(crate) fn new(order: Order, host: &dyn Host) -> Self {
        let seed = match order {
            Order::Sequential => 0,
            Order::Random => host.seed("dataset.sampler.random"),
            Order::Shuffle => host.seed("dataset.sampler.shuffle"),
        };
        Self { order, seed }
    }
}

impl Dataset for Sampler {
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        // Passes are independent streams of one generator: no pass needs the ones before it.
        rng.set_stream(pass.into());
        let mut order: Vec<u32> = (0..conversations).collect();
        match self.order {
            Order::Sequential => {}
            Order::Random => order.fill_with(|| rng.random_range(0..conversations)),
            Order::Shuffle => order.shuffle(&mut rng),
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHost;

    fn sampler(order: Order, seed: u64) -> Sampler {
        Sampler::new(order, &TestHost::seeded(seed))
    }

    #[test]
    fn sequential_is_the_order_of_the_dataset() {
        assert_eq!(sampler(Order::Sequential, 1).order(4, 7).unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn shuffle_takes_each_once_and_differs_by_pass_and_seed() {
        let shuffle = sampler(Order::Shuffle, 1);
        let (first, second) = (shuffle.order(100, 0).unwrap(), shuffle.order(100, 1).unwrap());
        for order in [&first, &second] {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        }
        assert_ne!(first, second);
        assert_ne!(first, sampler(Order::Shuffle, 2).order(100, 0).unwrap());
        assert_eq!(first, sampler(Order::Shuffle, 1).order(100, 0).unwrap(), "pure");
    }

    #[test]
    fn random_draws_with_replacement_and_uniformly() {
        let random = sampler(Order::Random, 1);
        let order = random.order(100, 0).unwrap();
        assert_eq!((order.len(), order.iter().all(|&i| i < 100)), (100, true));
        let distinct: std::collections::HashSet<u32> = order.into_iter().collect();
        // Expected 63.4 with a standard deviation of 3.1; without replacement it would be 100.
        assert!((40..90).contains(&distinct.len()), "{}", distinct.len());
        let ones = (0..2_000)
            .filter(|&pass| random.order(2, pass).unwrap()[0] == 1)
            .count();
        // 1,000 expected, standard deviation 22.
        assert!((800..1_200).contains(&ones), "{ones}");
    }

    #[test]
    fn nothing_gives_nothing() {
        for order in [Order::Sequential, Order::Random, Order::Shuffle] {
            assert!(sampler(order, 1).order(0, 0).unwrap().is_empty());
        }
    }
}
