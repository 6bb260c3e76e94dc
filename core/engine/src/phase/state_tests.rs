//! The machine in virtual time, with figures worked out by hand.

use aiperf_plugin_api::timing::{Action, Event, LimitKind, OnFull, Outcome, Pick};
use proptest::prelude::*;

use super::{
    limits::StopConditions,
    state::{PhaseSetup, PhaseState, RootTurns, TimingFault},
};
use crate::message::{CancelReason, Credit, CreditReturn};

const START: u64 = 1_000;

fn roots(turns: &[usize]) -> RootTurns {
    RootTurns {
        conversation: (0..u32::try_from(turns.len()).expect("few"))
            .map(|index| index * 10)
            .collect(),
        turns: turns
            .iter()
            .map(|count| (0..*count).map(|turn| (None, (turn > 0).then_some(5.0))).collect())
            .collect(),
    }
}

fn phase(concurrency: Option<u32>, stop: StopConditions, turns: &[usize]) -> PhaseState<impl FnMut() -> u32 + use<>> {
    leading(0, concurrency, stop, turns)
}

/// Its credits are issued `lead_ns` before they are due.
fn leading(
    lead_ns: u64,
    concurrency: Option<u32>,
    stop: StopConditions,
    turns: &[usize],
) -> PhaseState<impl FnMut() -> u32 + use<>> {
    let setup = PhaseSetup {
        index: 3,
        start_ns: START,
        concurrency,
        stop,
        grace_ns: Some(50),
        urls: 2,
        lead_ns,
    };
    let (mut next, count) = (0, u32::try_from(turns.len()).expect("few"));
    PhaseState::new(setup, roots(turns), move || {
        let root = next % count;
        next += 1;
        root
    })
}

fn start(session: u64, at_ns: u64, on_full: OnFull) -> Action {
    Action::Start {
        session,
        pick: Pick::Next,
        at_ns,
        on_full,
        max_turns: None,
        max_tokens: None,
        first_turn: 0,
        tree: None,
    }
}

fn returned(id: u64, outcome: Outcome) -> CreditReturn {
    let cancelled = (outcome == Outcome::Cancelled).then_some(CancelReason::GracePeriod);
    CreditReturn {
        id,
        phase: 3,
        worker: 0,
        outcome,
        cancelled,
        latency_ns: None,
        ttft_ns: None,
        tokens: None,
    }
}

fn requests(count: u64) -> StopConditions {
    StopConditions {
        requests: Some(count),
        ..Default::default()
    }
}

fn fire<S: FnMut() -> u32>(phase: &mut PhaseState<S>, now: u64) -> Vec<Credit> {
    let mut credits = Vec::new();
    phase.fire(now, &mut credits).expect("no fault");
    credits
}

#[test]
fn what_is_due_is_issued_and_not_before() {
    let mut phase = phase(None, requests(9), &[1, 1]);
    phase
        .ask(
            vec![start(1, START + 20, OnFull::Wait), start(0, START + 10, OnFull::Wait)],
            None,
        )
        .expect("asked");
    assert_eq!(phase.next_deadline(), Some(START + 10));
    assert!(fire(&mut phase, START + 9).is_empty());
    let credits = fire(&mut phase, START + 25);
    let seen: Vec<_> = credits
        .iter()
        .map(|c| (c.id, c.session, c.conversation, c.url, c.intended_ns, c.issued_ns))
        .collect();
    assert_eq!(
        seen,
        [
            (0, 0, 0, 0, START + 10, START + 25),
            (1, 1, 10, 1, START + 20, START + 25)
        ]
    );
}

#[test]
fn a_full_house_refuses_or_keeps_waiting() {
    let mut phase = phase(Some(1), requests(9), &[1]);
    let actions = vec![
        start(0, START, OnFull::Wait),
        start(1, START, OnFull::Refuse),
        start(2, START, OnFull::Wait),
    ];
    phase.ask(actions, None).expect("asked");
    assert_eq!(fire(&mut phase, START).len(), 1);
    let events = phase.take_events();
    assert!(
        matches!(
            events[..],
            [Event::Started { session: 0, .. }, Event::Refused { session: 1 }]
        ),
        "{events:?}"
    );
    phase.on_return(&returned(0, Outcome::Completed), START + 7);
    let credits = fire(&mut phase, START + 7);
    assert_eq!(
        credits
            .iter()
            .map(|credit| (credit.session, credit.intended_ns))
            .collect::<Vec<_>>(),
        [(2, START)]
    );
}

#[test]
fn credits_are_issued_ahead_of_their_time() {
    let mut phase = leading(5, None, requests(9), &[1, 1]);
    phase
        .ask(
            vec![start(0, START + 10, OnFull::Wait), start(1, 0, OnFull::Wait)],
            Some(START + 20),
        )
        .expect("asked");
    assert_eq!(phase.horizon(START), START + 5);
    // What has no time of its own is intended when it is issued, not at the horizon.
    let times = |credits: Vec<Credit>| -> Vec<_> {
        credits
            .iter()
            .map(|credit| (credit.session, credit.intended_ns, credit.issued_ns))
            .collect()
    };
    assert_eq!(times(fire(&mut phase, START + 1)), [(1, START + 1, START + 1)]);
    assert_eq!(phase.next_deadline(), Some(START + 5));
    assert_eq!(times(fire(&mut phase, START + 5)), [(0, START + 10, START + 5)]);
    phase.take_events();
    assert_eq!(phase.next_deadline(), Some(START + 15));
    assert!(!phase.wants_step(START + 14) && phase.wants_step(START + 15));
}

#[test]
fn a_conversation_holds_its_slot_until_its_last_turn_returns() {
    let mut phase = phase(Some(1), requests(9), &[2]);
    phase
        .ask(vec![start(0, START, OnFull::Wait), start(1, START, OnFull::Wait)], None)
        .expect("asked");
    fire(&mut phase, START);
    phase.take_events();
    phase.on_return(&returned(0, Outcome::Failed), START + 5);
    let events = phase.take_events();
    assert!(
        matches!(
            events[..],
            [
                Event::Returned(_),
                Event::Ready {
                    session: 0,
                    turn: 1,
                    delay_ms: Some(5.0),
                    ..
                }
            ]
        ),
        "{events:?}"
    );
    // Whoever wants to be asked again has not stalled.
    phase.ask(Vec::new(), Some(START + 6)).expect("asked");
    assert!(
        fire(&mut phase, START + 5).is_empty(),
        "the slot is held during think time"
    );
    phase
        .ask(
            vec![Action::Continue {
                session: 0,
                turn: 1,
                at_ns: START + 8,
            }],
            None,
        )
        .expect("asked");
    assert_eq!(fire(&mut phase, START + 8)[0].turn, 1);
    phase.on_return(&returned(1, Outcome::Completed), START + 9);
    assert_eq!(fire(&mut phase, START + 9)[0].session, 1);
}

#[test]
fn a_request_count_cuts_conversations_a_session_count_finishes_them() {
    // (stop, credits issued in all)
    for (stop, expected) in [
        (requests(3), 3),
        (
            StopConditions {
                sessions: Some(2),
                ..Default::default()
            },
            4,
        ),
    ] {
        let mut phase = phase(Some(2), stop, &[2, 2, 2]);
        phase
            .ask(
                (0..5).map(|session| start(session, START, OnFull::Wait)).collect(),
                None,
            )
            .expect("asked");
        let mut flying = fire(&mut phase, START);
        let mut issued = flying.len();
        let mut now = START;
        while let Some(credit) = flying.pop() {
            now += 1;
            phase.on_return(&returned(credit.id, Outcome::Completed), now);
            let ready = phase.take_events().into_iter().filter_map(|event| match event {
                Event::Ready { session, turn, .. } => Some(Action::Continue {
                    session,
                    turn,
                    at_ns: now,
                }),
                _ => None,
            });
            phase.ask(ready.collect(), None).expect("asked");
            let more = fire(&mut phase, now);
            issued += more.len();
            flying.extend(more);
        }
        assert_eq!((issued, phase.is_complete()), (expected, true), "{stop:?}");
        assert_eq!(phase.sessions_in_flight(), 0, "{stop:?}");
    }
}

#[test]
fn after_duration_and_grace_what_is_in_flight_is_named_once() {
    let stop = StopConditions {
        duration_ns: Some(100),
        ..Default::default()
    };
    let mut phase = phase(None, stop, &[1]);
    phase
        .ask(
            vec![start(0, START, OnFull::Wait), start(1, START + 100, OnFull::Wait)],
            None,
        )
        .expect("asked");
    assert_eq!(fire(&mut phase, START).len(), 1);
    assert!(fire(&mut phase, START + 100).is_empty(), "the time is over");
    assert!(phase.sending_complete() && !phase.is_complete());
    assert_eq!(phase.next_deadline(), Some(START + 150));
    assert!(phase.overdue(START + 149).is_empty());
    assert_eq!(phase.overdue(START + 150), [0]);
    assert!(phase.overdue(START + 151).is_empty());
    phase.on_return(&returned(0, Outcome::Cancelled), START + 152);
    assert!(phase.is_complete());
    let counts = phase.counts();
    assert_eq!((counts.issued, counts.cancelled_grace, counts.returned()), (1, 1, 1));
}

#[test]
fn what_a_mode_must_not_do() {
    let twice = vec![start(0, START, OnFull::Wait), start(0, START, OnFull::Wait)];
    let root = Action::Start {
        session: 0,
        pick: Pick::Index(5),
        at_ns: START,
        on_full: OnFull::Wait,
        max_turns: None,
        max_tokens: None,
        first_turn: 0,
        tree: None,
    };
    let turn = Action::Continue {
        session: 4,
        turn: 1,
        at_ns: START,
    };
    let cases = [
        (twice, TimingFault::StartedTwice(0)),
        (vec![root], TimingFault::NoSuchRoot(5, 1)),
        (vec![turn], TimingFault::NoSuchTurn(4, 1)),
        (vec![], TimingFault::Stalled),
    ];
    for (actions, expected) in cases {
        let mut phase = phase(None, requests(9), &[2]);
        phase.ask(actions, None).expect("asked");
        assert_eq!(phase.fire(START, &mut Vec::new()), Err(expected));
    }
}

#[test]
fn done_ends_a_phase_once_all_has_come_back() {
    let mut phase = phase(None, requests(9), &[1]);
    phase
        .ask(vec![start(0, START, OnFull::Wait), Action::Done], None)
        .expect("asked");
    fire(&mut phase, START);
    phase.on_return(&returned(0, Outcome::Completed), START + 1);
    assert!(!phase.is_complete());
    assert!(phase.wants_step(START + 1), "the mode hears of the return");
    phase.take_events();
    fire(&mut phase, START + 1);
    assert!(phase.is_complete());
}

proptest! {
    /// Whatever the order of starts, returns and time: every credit ends once, the house is never overfull, and the phase
    /// ends with all slots free.
    #[test]
    fn credits_end_once(
        limit in 1_u32..5,
        turns in proptest::collection::vec(1_usize..4, 1..4),
        stop in 1_u64..20,
        picks in proptest::collection::vec((0_usize..8, 0_u8..10), 1..200),
    ) {
        let mut phase = phase(Some(limit), requests(stop), &turns);
        let (mut now, mut next, mut flying, mut issued) = (START, 0, Vec::new(), 0);
        for (pick, luck) in picks {
            now += 1;
            if !phase.sending_complete() {
                let on_full = if luck < 5 { OnFull::Wait } else { OnFull::Refuse };
                let mut actions = vec![start(next, now, on_full)];
                next += 1;
                actions.extend(phase.take_events().into_iter().filter_map(|event| match event {
                    Event::Ready { session, turn, .. } => Some(Action::Continue { session, turn, at_ns: now }),
                    _ => None,
                }));
                phase.ask(actions, None).expect("asked");
            }
            let credits = fire(&mut phase, now);
            issued += credits.len();
            flying.extend(credits);
            prop_assert!(phase.sessions_in_flight() <= limit);
            if !flying.is_empty() {
                let credit: Credit = flying.swap_remove(pick % flying.len());
                let outcome = if luck == 9 { Outcome::Failed } else { Outcome::Completed };
                phase.on_return(&returned(credit.id, outcome), now);
                phase.on_return(&returned(credit.id, outcome), now);
            }
        }
        phase.close();
        for credit in flying {
            phase.on_return(&returned(credit.id, Outcome::Cancelled), now);
        }
        prop_assert!(phase.is_complete());
        prop_assert_eq!(phase.sessions_in_flight(), 0);
        prop_assert_eq!(phase.counts().issued, issued as u64);
        prop_assert_eq!(phase.counts().returned(), issued as u64);
        prop_assert!(issued as u64 <= stop);
    }
}

#[test]
fn those_who_wait_for_a_slot_that_never_comes_are_stalled() {
    let no_slots = Action::SetLimit {
        kind: LimitKind::Sessions,
        value: 0,
    };
    for done in [false, true] {
        let mut phase = phase(None, requests(2), &[1]);
        let mut actions = vec![no_slots.clone(), start(0, START, OnFull::Wait)];
        actions.extend(done.then_some(Action::Done));
        phase.ask(actions, None).expect("fits");
        let _ = phase.take_events();
        let mut credits = Vec::new();
        assert_eq!(phase.fire(START, &mut credits), Err(TimingFault::Stalled));
        assert!(credits.is_empty());
    }
    // A mode that will be asked again may still raise the limit.
    let mut phase = phase(None, requests(2), &[1]);
    phase
        .ask(vec![no_slots, start(0, START, OnFull::Wait)], Some(START + 100))
        .expect("fits");
    let _ = phase.take_events();
    assert!(fire(&mut phase, START).is_empty());
}

#[test]
fn a_mode_that_asks_for_ever_does_not_fill_the_memory() {
    let mut phase = phase(Some(1), requests(u64::MAX), &[1]);
    let mut asked = 0;
    let fault = loop {
        let actions = (0..1_000).map(|i| start(asked + i, START, OnFull::Wait)).collect();
        if let Err(fault) = phase.ask(actions, None) {
            break fault;
        }
        asked += 1_000;
        assert!(asked <= 200_000, "it takes everything");
    };
    assert_eq!(fault, TimingFault::TooMany);
    assert!(asked >= 100_000 - 1_000, "{asked}");
}
