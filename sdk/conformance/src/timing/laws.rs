//! What must hold of every phase.

use std::collections::HashSet;

use aiperf_sdk::{
    Action, Event, Timing,
    timing::{AT_ONCE, DatasetColumns, Outcome, Pick, Returned, TimingPlan},
};

use super::{
    drive::{self, Driven},
    plans::{self, LIMITS, REQUESTS, START_NS},
    spy::is_request,
};
use crate::{
    bench::Bench,
    case::{During, Verdict, told},
};

/// A backlog up to this long may be caught up with.
const BACKLOG_NS: u64 = 10_000_000;

pub(super) fn start(bench: &Bench) -> Verdict {
    let empty = |phase: &str| TimingPlan {
        phase: phase.to_owned(),
        rate: None,
        concurrency: None,
        requests: None,
        dataset: DatasetColumns::default(),
        ..plans::all(bench)[0].filled()
    };
    let mut odd = vec![("nothing to go by", empty("odd"))];
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        odd.push((
            "an odd rate",
            TimingPlan {
                rate: Some(rate),
                ..plans::all(bench)[0].filled()
            },
        ));
    }
    odd.push((
        "a concurrency of 0",
        TimingPlan {
            concurrency: Some(0),
            ..plans::all(bench)[0].filled()
        },
    ));
    for (what, plan) in odd {
        let mut timing = bench.timing()?;
        match timing.start(&plan) {
            Ok(()) => {
                let _ = timing.step(plan.start_ns, &[]);
            }
            Err(error) => ensure!(!error.message.trim().is_empty(), "{what}: refused without a message"),
        }
    }
    match bench.timing()?.step(START_NS, &[]) {
        Ok(step) => fail!("a step before `start` gives {step:?} instead of an error"),
        Err(_) => Ok(()),
    }
}

pub(super) fn completes(bench: &Bench) -> Verdict {
    drive::all(bench)?.iter().try_for_each(complete)
}

fn complete(driven: &Driven) -> Verdict {
    let what = driven.plan.what;
    match &driven.result {
        Ok(run) => ensure!(
            run.sent.len() as u64 == REQUESTS,
            "{what}: {} requests are sent instead of {REQUESTS}",
            run.sent.len()
        ),
        // Told by another case.
        Err(_) if driven.endless.is_some() => {}
        Err(error) => fail!("{what}: {}", told(error)),
    }
    Ok(())
}

pub(super) fn not_early(bench: &Bench) -> Verdict {
    for driven in drive::all(bench)? {
        for (action, at_ns) in timed(&driven) {
            ensure!(
                at_ns == AT_ONCE || at_ns >= START_NS,
                "{}: {} ns before the phase starts: {action:?}",
                driven.plan.what,
                START_NS - at_ns
            );
        }
        // The engine's own view.
        let sent = driven
            .result
            .as_ref()
            .map(|run| run.sent.as_slice())
            .unwrap_or_default();
        if let Some(sent) = sent.iter().find(|sent| sent.at_ns < START_NS) {
            fail!("{}: sent before the phase starts: {sent:?}", driven.plan.what);
        }
    }
    Ok(())
}

/// Actions with a time.
fn timed(driven: &Driven) -> impl Iterator<Item = (&Action, u64)> {
    driven
        .calls
        .iter()
        .flat_map(|call| &call.step.actions)
        .filter_map(|action| Some((action, time_of(action)?)))
}

fn time_of(action: &Action) -> Option<u64> {
    match *action {
        Action::Start { at_ns, .. } | Action::Continue { at_ns, .. } => Some(at_ns),
        _ => None,
    }
}

pub(super) fn not_in_the_past(bench: &Bench) -> Verdict {
    for driven in drive::all(bench)? {
        let mut told_ns = START_NS;
        for call in &driven.calls {
            for action in &call.step.actions {
                let at_ns = time_of(action).unwrap_or(AT_ONCE);
                ensure!(
                    at_ns == AT_ONCE || at_ns.saturating_add(BACKLOG_NS) >= told_ns,
                    "{}: called at {} ns, having been told {told_ns} ns before, it asks for the past: {action:?}",
                    driven.plan.what,
                    call.now_ns
                );
            }
            told_ns = call.now_ns;
        }
    }
    Ok(())
}

pub(super) fn sessions(bench: &Bench) -> Verdict {
    for driven in drive::all(bench)?.into_iter().chain(drive::troubled(bench)?) {
        let mut used = HashSet::new();
        for action in driven.calls.iter().flat_map(|call| &call.step.actions) {
            if let Action::Start { session, .. } = action {
                ensure!(
                    used.insert(*session),
                    "{}: session {session} is started twice",
                    driven.plan.what
                );
            }
        }
    }
    Ok(())
}

pub(super) fn continues(bench: &Bench) -> Verdict {
    for driven in drive::all(bench)?.into_iter().chain(drive::troubled(bench)?) {
        let mut ready = HashSet::new();
        for call in &driven.calls {
            for event in &call.events {
                if let Event::Ready { session, turn, .. } = event {
                    ready.insert((*session, *turn));
                }
            }
            for action in &call.step.actions {
                if let Action::Continue { session, turn, .. } = action {
                    ensure!(
                        ready.remove(&(*session, *turn)),
                        "{}: turn {turn} of session {session} is sent, but it was not ready or has been sent before",
                        driven.plan.what
                    );
                }
            }
        }
    }
    Ok(())
}

pub(super) fn picks(bench: &Bench) -> Verdict {
    for driven in drive::all(bench)? {
        let filled = driven.plan.filled();
        let (count, turns) = (filled.dataset.ends.len(), driven.plan.turns);
        for action in driven.calls.iter().flat_map(|call| &call.step.actions) {
            if let Action::Start { pick, first_turn, .. } = action {
                if let Pick::Index(index) = pick {
                    ensure!(
                        (*index as usize) < count,
                        "{}: conversation {index} of {count} is picked",
                        driven.plan.what
                    );
                }
                ensure!(
                    (*first_turn as usize) < turns,
                    "{}: turn {first_turn} of {turns} is to be the first",
                    driven.plan.what
                );
            }
        }
    }
    Ok(())
}

pub(super) fn refused(bench: &Bench) -> Verdict {
    let mut refusals = 0;
    for driven in drive::troubled(bench)? {
        let mut gone = HashSet::new();
        for call in &driven.calls {
            for event in &call.events {
                if let Event::Refused { session } = event {
                    gone.insert(*session);
                    refusals += 1;
                }
            }
            for action in &call.step.actions {
                if let Action::Start { session, .. } | Action::Continue { session, .. } = action {
                    ensure!(
                        !gone.contains(session),
                        "{}: session {session} was refused, and this is asked for it: {action:?}",
                        driven.plan.what
                    );
                }
            }
        }
    }
    if refusals == 0 {
        skip!("it asks for no start that can be refused");
    }
    Ok(())
}

pub(super) fn wakes(bench: &Bench) -> Verdict {
    for driven in drive::all(bench)?.into_iter().chain(drive::troubled(bench)?) {
        if let Some(problem) = driven.endless {
            fail!("{}: {problem}", driven.plan.what);
        }
    }
    Ok(())
}

pub(super) fn deterministic(bench: &Bench) -> Verdict {
    let pairs = drive::troubled(bench)?.into_iter().zip(drive::troubled(bench)?);
    for (one, two) in pairs {
        for (index, (first, second)) in one.calls.iter().zip(&two.calls).enumerate() {
            ensure!(
                first.now_ns == second.now_ns && first.step == second.step,
                "{}: call {index} asks for {:?}\nin one instance, in another for {:?}",
                one.plan.what,
                first.step,
                second.step
            );
        }
        ensure!(
            one.calls.len() == two.calls.len(),
            "{}: {} calls in one instance, {} in another",
            one.plan.what,
            one.calls.len(),
            two.calls.len()
        );
    }
    Ok(())
}

pub(super) fn failures(bench: &Bench) -> Verdict {
    for driven in drive::troubled(bench)? {
        // A conversation that failed or was cut short sends fewer turns, so a mode that takes each once may end early.
        let enough = match &driven.result {
            Ok(run) => run.sent.len() as u64 * 4 >= REQUESTS,
            Err(_) if driven.endless.is_some() => true,
            Err(error) => driven.plan.recorded && is_through(&driven, &error.message),
        };
        if !enough {
            let told = driven
                .result
                .as_ref()
                .map_or_else(told, |run| format!("{} requests", run.sent.len()));
            fail!("{}, with a server in trouble: {told}", driven.plan.what);
        }
    }
    Ok(())
}

/// The engine has nothing to do because the mode has asked for every conversation.
fn is_through(driven: &Driven, message: &str) -> bool {
    let asked = driven
        .calls
        .iter()
        .flat_map(|call| &call.step.actions)
        .filter(|action| matches!(action, Action::Start { .. }))
        .count();
    message.contains("asks for nothing more") && asked >= driven.plan.filled().dataset.ends.len()
}

pub(super) fn limits(bench: &Bench) -> Verdict {
    let changes = |number: usize| match number % 10 {
        3 => {
            let (kind, value) = LIMITS[number / 10 % LIMITS.len()];
            vec![Event::Limit { kind, value }]
        }
        _ => Vec::new(),
    };
    let ramp = |plan: &mut plans::Plan| {
        if let Some(rate) = plan.rate {
            let steps = 1..=20_u64;
            plan.rates = steps
                .map(|step| (START_NS + step * 100_000_000, rate * (0.5 + step as f64 / 20.0)))
                .collect();
        }
    };
    for driven in drive::all_with(bench, ramp, changes)? {
        for action in driven.calls.iter().flat_map(|call| &call.step.actions) {
            if let Action::SetLimit { kind, value } = action {
                ensure!(*value > 0, "{}: the limit {kind:?} is set to 0", driven.plan.what);
            }
        }
        complete(&driven)?;
    }
    Ok(())
}

pub(super) fn done(bench: &Bench) -> Verdict {
    let (mut seen, all) = (false, drive::all(bench)?);
    for driven in all {
        let mut done = false;
        for action in driven.calls.iter().flat_map(|call| &call.step.actions) {
            ensure!(
                !(done && is_request(action)),
                "{}: after `Done` it asks for {action:?}",
                driven.plan.what
            );
            done |= matches!(action, Action::Done);
        }
        seen |= done;
    }
    if !seen {
        skip!("it is never done: stop conditions of the core end its phases");
    }
    Ok(())
}

/// A second passes between calls, whatever the mode asked for.
pub(super) fn late_call(bench: &Bench) -> Verdict {
    let mut refusals = Vec::new();
    let mut driven = 0;
    for plan in plans::all(bench) {
        let mut timing = bench.timing()?;
        if let Err(error) = timing.start(&plan.filled()) {
            refusals.push(told(&error));
            continue;
        }
        driven += 1;
        let (mut now_ns, mut asked, mut over) = (START_NS, 0, false);
        for _ in 0..50 {
            now_ns += 1_000_000_000;
            let step = timing.step(now_ns, &[])?;
            asked += step.actions.iter().filter(|action| is_request(action)).count();
            over |= step.actions.contains(&Action::Done) || step.next_wake_ns.is_none();
        }
        // Only a mode that waits for events may stay silent.
        ensure!(
            asked > 0 && (over || asked >= 10),
            "{}: called once a second for 50 s, it asks for {asked} requests",
            plan.what
        );
    }
    if driven == 0 {
        skip!("`start` refuses every phase of the suite: {}", refusals.join("; "));
    }
    Ok(())
}

pub(super) fn state(bench: &Bench) -> Verdict {
    for plan in plans::all(bench) {
        let mut timing = bench.timing()?;
        if timing.start(&plan.filled()).is_err() {
            continue;
        }
        timing.step(START_NS, &[])?;
        let state = timing.state().during("`state` once a phase has ended")?;
        let next = |state: &str| TimingPlan {
            state: state.to_owned(),
            ..plan.filled()
        };
        bench
            .timing()?
            .start(&next(&state))
            .during(format_args!("{}: `start` with the state {state:?}", plan.what))?;
        // Not its own: an error is an answer; a panic is noted.
        for state in ["{", "nonsense", "[1]"] {
            let _ = bench.timing()?.start(&next(state));
        }
    }
    Ok(())
}

pub(super) fn odd_events(bench: &Bench) -> Verdict {
    for plan in plans::all(bench) {
        let mut timing = bench.timing()?;
        if timing.start(&plan.filled()).is_err() {
            continue;
        }
        let first = timing.step(START_NS, &[])?;
        feed(&mut *timing, &first.actions)?;
    }
    Ok(())
}

/// Events of conversations that were never started, of turns that don't exist, and with numbers of any size.
fn feed(timing: &mut dyn Timing, asked: &[Action]) -> Verdict {
    let asked = asked.iter().find_map(|action| match action {
        Action::Start { session, .. } => Some(*session),
        _ => None,
    });
    let mut now_ns = START_NS;
    for session in [Some(u64::MAX), Some(123_456), asked].into_iter().flatten() {
        let returned = |outcome, latency_ns| {
            Event::Returned(Returned {
                session,
                turn: u32::MAX,
                last: true,
                outcome,
                at_ns: START_NS,
                latency_ns,
                ttft_ns: latency_ns,
                tokens: latency_ns,
            })
        };
        let events = [
            returned(Outcome::Completed, Some(u64::MAX)),
            returned(Outcome::Completed, Some(0)),
            returned(Outcome::Failed, None),
            returned(Outcome::Cancelled, None),
            Event::Started {
                session,
                at_ns: START_NS,
                index: u32::MAX,
                turns: 0,
            },
            Event::Ready {
                session,
                turn: u32::MAX,
                at_ns: START_NS,
                delay_ms: Some(f64::MAX),
                timestamp_ms: Some(-1.0),
            },
            Event::Ready {
                session,
                turn: 0,
                at_ns: START_NS,
                delay_ms: Some(0.0),
                timestamp_ms: Some(1e30),
            },
            Event::Refused { session },
            Event::Ended {
                session,
                at_ns: START_NS,
            },
        ];
        for event in events {
            now_ns += 1_000_000;
            // An error is an answer; a panic is noted.
            let _ = timing.step(now_ns, &[event]);
        }
    }
    Ok(())
}
