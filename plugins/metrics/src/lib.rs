//! Built-in metrics.
