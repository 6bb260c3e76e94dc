//! Random streams: one per name, all from the run's seed.
//!
//! The seed of a stream is the first 8 bytes, big endian, of SHA-256 of `"<root>:<name>"`. Streams do not disturb each
//! other: drawing more image sizes never changes a prompt. Everything here gives the same values on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, Normal};
use sha2::{Digest as _, Sha256};

/// The generator behind every stream.
pub type Rng = ChaCha8Rng;

/// Draws after which a bounded normal value is given up and the mean is used instead.
const MAX_REDRAWS: usize = 10_000;

/// Seed of the stream called `name` (for instance `dataset.prompt.length`) under the run's root seed.
pub fn child_seed(root: u64, name: &str) -> u64 {
    let digest = Sha256::digest(format!("{root}:{name}"));
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first)
}

/// The stream called `name` under the run's root seed.
pub fn stream(root: u64, name: &str) -> Rng {
    from_seed(child_seed(root, name))
}

/// A generator from a seed that was derived elsewhere.
pub fn from_seed(seed: u64) -> Rng {
    // Spelled out instead of `seed_from_u64`, whose expansion is the library's business.
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Uniform index in `0..n`; 0 when `n` is 0. The bias, below `n` / 2^64, is of no consequence.
pub fn below(rng: &mut Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Normal value redrawn until it is at least 0; after 10,000 tries the mean. A `stddev` that is not positive gives the
/// mean. Both results are at least 0.
pub fn positive_normal(rng: &mut Rng, mean: f64, stddev: f64) -> f64 {
    let fallback = mean.max(0.0);
    if stddev.is_nan() || stddev <= 0.0 {
        return fallback;
    }
    let Ok(normal) = Normal::new(mean, stddev) else {
        return fallback;
    };
    (0..MAX_REDRAWS)
        .map(|_| normal.sample(rng))
        .find(|value| *value >= 0.0)
        .unwrap_or(fallback)
}

/// Length, token limit or turn count: [`positive_normal`] rounded up, at least 1. Without spread the mean itself,
/// rounded half to even, at least 1.
pub fn positive_normal_integer(rng: &mut Rng, mean: f64, stddev: f64) -> u64 {
    let value = if stddev > 0.0 {
        positive_normal(rng, mean, stddev).ceil()
    } else {
        mean.round_ties_even()
    };
    value.max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn child_seeds_are_the_head_of_a_sha256() {
        // printf '42:dataset.prompt.length' | sha256sum | cut -c1-16, and so on.
        let cases = [
            (42, "dataset.prompt.length", 0x6861_a9f8_7b08_5097),
            (42, "dataset.prompt.corpus", 0x9289_03bc_ec5a_c976),
            (0, "", 0xba76_8b33_1fd8_6cec),
        ];
        for (root, name, seed) in cases {
            assert_eq!(child_seed(root, name), seed, "{root}:{name}");
        }
    }

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |root, name| {
            let mut rng = stream(root, name);
            [rng.next_u64(), rng.next_u64()]
        };
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn the_generator_is_chacha8_of_the_published_test_vector() {
        // eSTREAM vector for ChaCha8, 256-bit key of zeros, IV of zeros: the key stream begins 3e 00 ef 2f 89 5f 40 d6.
        assert_eq!(from_seed(0).next_u64(), 0xd640_5f89_2fef_003e);
    }

    #[test]
    fn below_covers_its_range() {
        let mut rng = stream(7, "below");
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[below(&mut rng, 5)] += 1;
        }
        // 200 expected each, standard deviation below 13.
        assert!(seen.iter().all(|n| (120..280).contains(n)), "{seen:?}");
        assert_eq!(below(&mut rng, 0), 0);
        assert_eq!(below(&mut rng, 1), 0);
    }

    #[test]
    fn without_spread_the_mean_is_rounded_half_to_even() {
        let cases = [(550.0, 550), (2.5, 2), (3.5, 4), (0.0, 1), (0.4, 1), (-3.0, 1)];
        for (mean, length) in cases {
            assert_eq!(positive_normal_integer(&mut from_seed(0), mean, 0.0), length, "{mean}");
            assert_eq!(positive_normal_integer(&mut from_seed(0), mean, -1.0), length, "{mean}");
        }
    }

    #[test]
    fn hopeless_draws_end_with_the_mean() {
        assert_eq!(positive_normal(&mut from_seed(0), -1e9, 1.0), 0.0);
        assert_eq!(positive_normal_integer(&mut from_seed(0), -1e9, 1.0), 1);
        assert_eq!(positive_normal(&mut from_seed(0), 3.0, f64::INFINITY), 3.0);
    }

    #[test]
    fn lengths_spread_around_the_mean_rounded_up() {
        let mut rng = stream(1, "dataset.prompt.length");
        let draws: Vec<f64> = (0..10_000)
            .map(|_| positive_normal_integer(&mut rng, 500.0, 50.0) as f64)
            .collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        let deviation = (draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4).sqrt();
        // Rounding up adds half a token; the standard error of the mean is 0.5.
        assert!((mean - 500.5).abs() < 2.5, "{mean}");
        assert!((deviation - 50.0).abs() < 2.0, "{deviation}");
    }

    proptest! {
        #[test]
        fn values_stay_in_bounds(seed: u64, mean in -10.0_f64..10.0, stddev in 0.0_f64..10.0, n in 1_usize..1000) {
            let mut rng = from_seed(seed);
            prop_assert!(positive_normal(&mut rng, mean, stddev) >= 0.0);
            prop_assert!(positive_normal_integer(&mut rng, mean, stddev) >= 1);
            prop_assert!(below(&mut rng, n) < n);
        }
    }
}
