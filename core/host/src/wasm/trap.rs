//! How long a call into a guest may take, and why one ended without an answer, in words.

use super::engine::TICK;
use super::guest::Guest;
use super::inspect::one_line;
use aiperf_plugin_api::host::LogLevel;
use std::time::{Duration, Instant};
use wasmtime::{Error, Store, Trap};

/// Puts a trap into words. The guest's own stack goes to the run's log.
pub(super) fn explain(error: &Error, store: &Store<Guest>, allowed: Duration) -> String {
    let guest = store.data();
    let details = format!("{error:?}");
    if details.contains("wasm backtrace") {
        guest.log(LogLevel::Debug, &details);
    }
    let what = match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => format!("did not return within {} s", allowed.as_secs_f64()),
        Some(Trap::StackOverflow) => "overflowed its stack".to_owned(),
        _ if guest.starved => format!("wanted more than {} MiB of memory", guest.allowed >> 20),
        // Compilers put the stack of large values below everything else, so that its end is the end of memory.
        Some(Trap::MemoryOutOfBounds) => "reached outside its memory, as an endless recursion does".to_owned(),
        Some(Trap::UnreachableCodeReached) if guest.last_words.is_none() => {
            "panicked, or asked the system for something (a file, a clock, output) that no component has".to_owned()
        }
        Some(Trap::UnreachableCodeReached) => "panicked".to_owned(),
        Some(trap) => format!("trapped: {trap}"),
        None => format!("broke the contract: {}", one_line(&error.root_cause().to_string())),
    };
    match &guest.last_words {
        Some(words) => format!("the component {what}; it last said: {}", one_line(words)),
        None => format!("the component {what}"),
    }
}

/// Ends the next call when it has taken this long.
pub(super) fn limit(store: &mut Store<Guest>, allowed: Duration) {
    // At least one tick more than fits.
    let ticks = u64::try_from(allowed.as_nanos() / TICK.as_nanos()).unwrap_or(u64::MAX - 1) + 1;
    store.set_epoch_deadline(ticks);
    store.data_mut().until = Instant::now() + allowed;
}
