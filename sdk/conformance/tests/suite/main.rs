//! The suite itself: every built-in plugin passes, plugins that are broken on purpose fail exactly where they are broken,
//! and the specification names the same requirements.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests, outside of `#[test]` functions"
)]

mod broken;
mod built_in;
mod specification;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Cases look at the memory of the process, so subjects take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
