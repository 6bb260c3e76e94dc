//! Built-in timing modes and arrival patterns.
