//! Which threads the system is to run before others.

use rustix::{process::setpriority_process, thread::gettid};

/// Nice value of a thread on whose promptness timestamps or the schedule hang.
pub(crate) const PROMPT: i32 = -10;
/// Nice value of a thread that such a thread hands its work to.
pub(crate) const SOON: i32 = -5;

/// Gives this thread a nice value. Where the process may not, the thread stays as it is; the report says what became of it
/// (`MachineUse::io_priority`). What runs at a real-time priority is not touched by this.
pub(crate) fn prefer_this_thread(nice: i32) {
    let _ = setpriority_process(Some(gettid()), nice);
}
