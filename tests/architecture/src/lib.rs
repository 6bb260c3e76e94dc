//! Tests over the house itself stand in `tests/`.
