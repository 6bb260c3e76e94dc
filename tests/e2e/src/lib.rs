//! End-to-end tests: they run the binary as a user does.
