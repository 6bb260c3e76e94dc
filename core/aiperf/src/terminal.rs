//! Standard error: log lines, progress and errors share it without writing over each other.

use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use indicatif::ProgressBar;

/// Writes to standard error. Where nobody can read it, nothing can be told, and that is no reason to stop.
pub(crate) fn write(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Standard error during a run: lines go above the progress bar.
#[derive(Default)]
pub(crate) struct Terminal {
    bar: Mutex<Option<ProgressBar>>,
}

impl Terminal {
    /// Writes one line.
    pub(crate) fn line(&self, text: &str) {
        let line = format!("{text}\n");
        match self.bar.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(bar) => bar.suspend(|| write(&line)),
            None => write(&line),
        }
    }

    /// From now on this is the bar that lines go above.
    pub(crate) fn set_bar(&self, bar: Option<ProgressBar>) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }
}
