//! Built-in endpoints.
