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
        let order = self.entry.order(self.roots, self.pass)?;
        self.pass = self.pass.wrapping_add(1);
        self.order = order.into_iter();
        self.order
            .next()
            .ok_or_else(|| PluginError::failed("the sampler's order is empty"))
    }
}
