//! Built-in exporters.
