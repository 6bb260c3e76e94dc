//! The order in which root conversations are taken: one call of the sampler entry per pass.

use aiperf_plugin_api::{Dataset, PluginError};

/// Root conversations in the order of a sampler.
pub struct Sampler {
    entry: Box<dyn Dataset>,
    roots: u32,
    pass: u32,
    order: std::vec::IntoIter<u32>,
}

impl Sampler {
    /// A sampler over so many roots.
    pub fn new(entry: Box<dyn Dataset>, roots: u32) -> Self {
        Self {
            entry,
            roots,
            pass: 0,
            order: Vec::new().into_iter(),
        }
    }

    /// The next root.
    ///
    /// # Errors
    /// When the sampler fails or returns no order of the roots.
    pub fn next_root(&mut self) -> Result<u32, PluginError> {
        if let Some(root) = self.order.next() {
            return Ok(root);
        }
        // One root has one order: no need to ask before each request.
        if self.roots == 1 && self.pass > 0 {
            return Ok(0);
        }
        let order = self.entry.order(self.roots, self.pass)?;
        self.pass = self.pass.wrapping_add(1);
        self.order = order.into_iter();
        self.order
            .next()
            .ok_or_else(|| PluginError::failed("the sampler's order is empty"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use aiperf_plugin_api::{Conversation, Result};

    use super::*;

    /// Backwards, and nothing from the third pass on.
    struct Backwards(Arc<AtomicU32>);

    impl Dataset for Backwards {
        fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(if pass < 2 {
                (0..conversations).rev().collect()
            } else {
                Vec::new()
            })
        }
        fn next(&mut self, _: u32) -> Result<Vec<Conversation>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn a_sampler_is_asked_once_for_each_pass_and_for_one_root_once() {
        for (roots, expected, asked) in [(3, vec![2, 1, 0, 2, 1, 0], 2), (1, vec![0; 6], 1)] {
            let calls = Arc::<AtomicU32>::default();
            let mut sampler = Sampler::new(Box::new(Backwards(calls.clone())), roots);
            let taken: Vec<u32> = (0..6).map(|_| sampler.next_root().unwrap()).collect();
            assert_eq!((taken, calls.load(Ordering::Relaxed)), (expected, asked));
            assert_eq!(sampler.next_root().is_err(), roots > 1);
        }
    }
}
