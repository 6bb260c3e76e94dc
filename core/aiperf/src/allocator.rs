//! The allocator of the process.
//!
//! Records are made on one thread and freed on another all the time; this one does that without a lock. It is built without
//! huge pages: where they are given, a run takes 30 MiB more, and the time that it takes to clear them is the run's.

use libmimalloc_sys::{mi_option_set_default, mi_option_t};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay`, which the bindings do not name.
const PURGE_DELAY: mi_option_t = 15;
/// So many streams hold memory that is worth giving back.
const MANY: u32 = 2_000;
/// How long freed memory is then kept for whoever wants some next, in ms. The allocator's own second costs a run of few
/// streams less time; but when thousands of streams end together, what they held would be kept beside their records.
const KEPT_MS: std::ffi::c_long = 10;

/// To be called before there are other threads, with the most requests that there will be at a time.
/// `MIMALLOC_PURGE_DELAY` in the environment goes before.
pub(crate) fn prepare_for(concurrency: Option<u32>) {
    if concurrency.is_none_or(|concurrency| concurrency < MANY) {
        return;
    }
    #[expect(unsafe_code, reason = "the allocator's options have no safe form")]
    // SAFETY: sets a number in the allocator's table of options: any number is valid, the index is within the table, and no
    // other thread is there yet.
    unsafe {
        mi_option_set_default(PURGE_DELAY, KEPT_MS);
    }
}
