//! A phase, driven from start to end and watched.

use aiperf_sdk::{Event, PluginError, Result, testing::Run};

use super::{
    plans::{self, Plan, Server},
    spy::{Call, Spy},
};
use crate::{
    bench::Bench,
    case::{Stop, told},
};

/// What happened in a phase.
pub(super) struct Driven {
    pub(super) plan: Plan,
    pub(super) calls: Vec<Call>,
    pub(super) endless: Option<String>,
    pub(super) result: Result<Run>,
}

/// Drives a phase.
///
/// # Errors
/// When `start` refuses it.
pub(super) fn drive(
    bench: &Bench,
    plan: Plan,
    extra: fn(usize) -> Vec<Event>,
) -> std::result::Result<Driven, PluginError> {
    bench.timing()?.start(&plan.filled())?;
    let mut spy = Spy::new(bench.timing()?).adding(extra);
    let result = plan.engine().run(&mut spy);
    Ok(Driven {
        plan,
        calls: spy.calls,
        endless: spy.endless,
        result,
    })
}

/// Every phase that the mode takes, with a change to each.
///
/// # Errors
/// Skips the case if it takes none.
pub(super) fn all_with(
    bench: &Bench,
    change: impl Fn(&mut Plan),
    extra: fn(usize) -> Vec<Event>,
) -> std::result::Result<Vec<Driven>, Stop> {
    let (mut driven, mut reasons) = (Vec::new(), Vec::new());
    for mut plan in plans::all(bench) {
        change(&mut plan);
        let what = plan.what;
        match drive(bench, plan, extra) {
            Ok(one) => driven.push(one),
            Err(error) => reasons.push(format!("{what}: {}", told(&error))),
        }
    }
    if driven.is_empty() {
        return Err(Stop::Skipped(format!(
            "`start` refuses every phase of the suite; give the options that it needs\n{}",
            reasons.join("\n")
        )));
    }
    Ok(driven)
}

/// Every phase that the mode takes.
///
/// # Errors
/// As [`all_with`].
pub(super) fn all(bench: &Bench) -> std::result::Result<Vec<Driven>, Stop> {
    all_with(bench, |_| {}, |_| Vec::new())
}

/// Every phase that the mode takes, with a server in trouble.
///
/// # Errors
/// As [`all_with`].
pub(super) fn troubled(bench: &Bench) -> std::result::Result<Vec<Driven>, Stop> {
    all_with(bench, |plan| plan.server = Server::Troubled, |_| Vec::new())
}
