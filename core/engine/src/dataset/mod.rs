//! The dataset: the bytes that a user named ([`source`]), and the prepared conversations ([`store`]), which workers read
//! without holding them all in memory.

pub mod source;
pub mod store;

pub use source::FileSource;
pub use store::{DatasetError, DatasetStore};
