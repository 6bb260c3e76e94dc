//! Timing modes, driven by the SDK's virtual engine.
//!
//! * [`plans`]: phases to drive. [`spy`]: a mode whose steps are watched. [`drive`]: both together.
//! * [`laws`]: what must hold of every phase.

mod drive;
mod laws;
mod plans;
mod spy;

use aiperf_sdk::{Event, timing::AT_ONCE};

use crate::{
    bench::Bench,
    case::{Definition, Stop, must, should},
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "TI-1",
        "timing.start",
        "a phase that a mode can't drive is refused by `start` with a message; a step before `start` is an error",
        laws::start,
    ),
    must(
        "TI-2",
        "timing.completes",
        "a phase reaches its number of requests",
        laws::completes,
    ),
    must(
        "TI-3",
        "timing.not_early",
        "nothing is asked for a time before the phase starts",
        laws::not_early,
    ),
    must(
        "TI-4",
        "timing.not_in_the_past",
        "called when it asked to be, a mode asks for nothing more than 10 ms before the time it was told last",
        laws::not_in_the_past,
    ),
    must(
        "TI-5",
        "timing.sessions",
        "a session number is used once in a phase",
        laws::sessions,
    ),
    must(
        "TI-6",
        "timing.continues",
        "a turn is sent only when it is ready, and once",
        laws::continues,
    ),
    must(
        "TI-7",
        "timing.picks",
        "a conversation picked by index exists",
        laws::picks,
    ),
    must(
        "TI-8",
        "timing.refused",
        "a refused conversation is over: nothing more is asked for it, and the phase goes on",
        laws::refused,
    ),
    must(
        "TI-9",
        "timing.wakes",
        "a mode that asks to be called again moves on: a bounded number of calls at one time, and per request",
        laws::wakes,
    ),
    must(
        "TI-10",
        "timing.deterministic",
        "under one seed two instances ask for the same at the same times",
        laws::deterministic,
    ),
    must(
        "TI-11",
        "timing.failures",
        "requests that fail, are cancelled or take long change nothing of the above",
        laws::failures,
    ),
    must(
        "TI-12",
        "timing.limits",
        "changes of the rate and of limits are taken; no limit is moved to 0",
        laws::limits,
    ),
    must(
        "TI-13",
        "timing.done",
        "after `Done` nothing more is asked for",
        laws::done,
    ),
    should(
        "TI-14",
        "timing.late_call",
        "called late, a mode catches up or goes on; it never stops",
        laws::late_call,
    ),
    must(
        "TI-15",
        "timing.odd_events",
        "events about conversations that it doesn't know are survived",
        laws::odd_events,
    ),
    must(
        "TI-16",
        "timing.state",
        "what a phase leaves for the next one can be told, and the next phase starts with it",
        laws::state,
    ),
];

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let mut speeds = Vec::new();
    for plan in plans::all(bench) {
        let drive = || -> aiperf_sdk::Result<u64> {
            let mut timing = bench.timing()?;
            let run = plan.engine().run(&mut *timing)?;
            Ok(run.sent.len() as u64)
        };
        if let Ok(requests) = drive()
            && requests > 0
        {
            let what = format!("start to end ({}, the virtual engine included)", plan.what);
            speeds.push(Speed::measure(what, "request", requests, drive));
            break;
        }
    }
    if let Some(plan) = plans::all(bench).into_iter().find(|plan| {
        bench
            .timing()
            .is_ok_and(|mut timing| timing.start(&plan.filled()).is_ok())
    }) {
        let mut timing = bench.timing()?;
        timing.start(&plan.filled())?;
        let mut now_ns = plan.filled().start_ns.max(AT_ONCE + 1);
        speeds.push(Speed::measure("step with one event", "call", 1, || {
            now_ns += 1_000;
            let session = u64::MAX;
            timing.step(now_ns, &[Event::Ended { session, at_ns: now_ns }])
        }));
    }
    Ok(speeds)
}
