//! The plugin contract: ABI-stable types and traits.
