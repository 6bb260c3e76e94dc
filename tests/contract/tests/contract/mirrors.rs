//! What crosses comes back as it was: through the ABI's mirrors and, where a type has a JSON form, through JSON.

use aiperf_sdk::{
    Action, Column, Conversation, Event, Media, Turn,
    api::{abi::timing::FlatEvent, mirror::Mirror},
    conversation::{Branch, ContextMode},
    timing::{DatasetColumns, LimitKind, OnFull, Outcome, Pick, Returned, Step, TimingPlan},
};
use proptest::{collection::vec, option, prelude::*};

fn crossed<T: Mirror>(value: T) -> T {
    T::from_abi(value.into_abi()).expect("UTF-8")
}

fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-z\u{e9}\u{1f600}\"\\\\\n]{0,6}").expect("a pattern")
}

fn real() -> impl Strategy<Value = f64> {
    prop_oneof![
        proptest::num::f64::NORMAL,
        proptest::num::f64::ZERO,
        proptest::num::f64::SUBNORMAL
    ]
}

fn media() -> impl Strategy<Value = Vec<Media>> {
    let one = (text(), vec(text(), 0..3), vec(text(), 0..3));
    vec(
        one.prop_map(|(name, contents, uuids)| Media { name, contents, uuids }),
        0..3,
    )
}

fn turn() -> impl Strategy<Value = Turn> {
    let payload = (
        media(),
        media(),
        media(),
        media(),
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(text()),
    );
    let request = (
        text(),
        option::of(text()),
        vec((text(), text()), 0..3),
        option::of(text()),
        option::of(any::<u32>()),
    );
    let rest = (
        option::of(real()),
        option::of(real()),
        any::<bool>(),
        any::<bool>(),
        vec((text(), real()), 0..3),
        vec((text(), any::<u32>()), 0..3),
    );
    (payload, request, rest).prop_map(|(payload, request, rest)| {
        let (texts, images, audios, videos, raw_messages, raw_tools, raw_system, raw_payload) = payload;
        let (role, extra_body, extra_headers, model, max_tokens) = request;
        let (timestamp_ms, delay_ms, reset_context, no_request, facts, after) = rest;
        Turn {
            role,
            texts,
            images,
            audios,
            videos,
            raw_messages,
            raw_tools,
            raw_system,
            raw_payload,
            extra_body,
            extra_headers,
            model,
            max_tokens,
            timestamp_ms,
            delay_ms,
            after,
            reset_context,
            no_request,
            facts,
        }
    })
}

fn branch() -> impl Strategy<Value = Branch> {
    let fields = (
        option::of(any::<u32>()),
        vec(text(), 0..3),
        any::<(bool, bool)>(),
        option::of(any::<u32>()),
        vec(real(), 0..3),
    );
    fields.prop_map(|(turn, children, (fork, at_send), join_at, delays_ms)| Branch {
        turn,
        children,
        fork,
        join_at,
        at_send,
        delays_ms,
    })
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let context = prop_oneof![
        Just(ContextMode::DeltasWithoutResponses),
        Just(ContextMode::DeltasWithResponses),
        Just(ContextMode::MessageArrayWithResponses),
    ];
    let fields = (
        text(),
        vec(turn(), 0..3),
        context,
        option::of(text()),
        option::of(text()),
        vec(branch(), 0..3),
        any::<bool>(),
        vec((text(), text()), 0..3),
    );
    fields.prop_map(
        |(id, turns, context, system_message, user_context, branches, root, labels)| Conversation {
            id,
            turns,
            context,
            system_message,
            user_context,
            branches,
            root,
            labels,
        },
    )
}

fn limit_kind() -> impl Strategy<Value = LimitKind> {
    prop_oneof![Just(LimitKind::Sessions), Just(LimitKind::Prefill)]
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = prop_oneof![
        Just(Outcome::Completed),
        Just(Outcome::Failed),
        Just(Outcome::Cancelled)
    ];
    let times = (
        any::<u64>(),
        option::of(any::<u64>()),
        option::of(any::<u64>()),
        option::of(any::<u64>()),
    );
    let id = any::<(u64, u32)>();
    prop_oneof![
        any::<(u64, u64, u32, u32)>().prop_map(|(session, at_ns, index, turns)| Event::Started {
            session,
            at_ns,
            index,
            turns
        }),
        (id, any::<bool>(), outcome, times).prop_map(|((session, turn), last, outcome, times)| {
            let (at_ns, latency_ns, ttft_ns, tokens) = times;
            Event::Returned(Returned {
                session,
                turn,
                last,
                outcome,
                at_ns,
                latency_ns,
                ttft_ns,
                tokens,
            })
        }),
        (id, any::<u64>(), option::of(real()), option::of(real())).prop_map(
            |((session, turn), at_ns, delay_ms, timestamp_ms)| Event::Ready {
                session,
                turn,
                at_ns,
                delay_ms,
                timestamp_ms
            }
        ),
        any::<u64>().prop_map(|session| Event::Refused { session }),
        any::<(u64, u64)>().prop_map(|(session, at_ns)| Event::Ended { session, at_ns }),
        (limit_kind(), option::of(any::<u32>())).prop_map(|(kind, value)| Event::Limit { kind, value }),
        (any::<u64>(), real()).prop_map(|(at_ns, rate)| Event::Rate { at_ns, rate }),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let pick = prop_oneof![Just(Pick::Next), any::<u32>().prop_map(Pick::Index)];
    let on_full = prop_oneof![Just(OnFull::Wait), Just(OnFull::Refuse)];
    let limits = (
        option::of(any::<u32>()),
        option::of(any::<u32>()),
        any::<u32>(),
        option::of(any::<u64>()),
    );
    prop_oneof![
        (any::<(u64, u64)>(), pick, on_full, limits).prop_map(|((session, at_ns), pick, on_full, limits)| {
            let (max_turns, max_tokens, first_turn, tree) = limits;
            Action::Start {
                session,
                pick,
                at_ns,
                on_full,
                max_turns,
                max_tokens,
                first_turn,
                tree,
            }
        }),
        any::<(u64, u32, u64)>().prop_map(|(session, turn, at_ns)| Action::Continue { session, turn, at_ns }),
        any::<u64>().prop_map(|session| Action::Revoke { session }),
        (limit_kind(), any::<u32>()).prop_map(|(kind, value)| Action::SetLimit { kind, value }),
        text().prop_map(Action::Note),
        Just(Action::Done),
    ]
}

fn column() -> impl Strategy<Value = Column> {
    let (validity, ends) = (|| vec(0..2_u8, 0..4), || vec(any::<u32>(), 0..4));
    let (u64s, f64s) = (|| vec(any::<u64>(), 0..6), || vec(real(), 0..6));
    prop_oneof![
        (u64s(), validity()).prop_map(|(values, validity)| Column::U64 { values, validity }),
        (f64s(), validity()).prop_map(|(values, validity)| Column::F64 { values, validity }),
        (ends(), u64s(), validity()).prop_map(|(ends, values, validity)| Column::U64List { ends, values, validity }),
        (ends(), f64s(), validity()).prop_map(|(ends, values, validity)| Column::F64List { ends, values, validity }),
        (u64s(), u64s(), f64s(), validity()).prop_map(|(from, to, weight, validity)| Column::Intervals {
            from,
            to,
            weight,
            validity
        }),
        (u64s(), ends(), u64s(), f64s(), validity()).prop_map(|(from, ends, gaps, weight, validity)| Column::Steps {
            from,
            ends,
            gaps,
            weight,
            validity
        }),
    ]
}

proptest! {
    #[test]
    fn conversations(conversation in conversation()) {
        let json = serde_json::to_string(&conversation).expect("JSON");
        prop_assert_eq!(&serde_json::from_str::<Conversation>(&json).expect("a conversation"), &conversation);
        prop_assert_eq!(crossed(conversation.clone()), conversation);
    }

    #[test]
    fn events(event in event()) {
        let flat = FlatEvent::from(event.clone());
        let json = serde_json::to_string(&flat).expect("JSON");
        prop_assert_eq!(serde_json::from_str::<FlatEvent>(&json).expect("an event"), flat);
        prop_assert_eq!(crossed(event.clone()), event);
    }

    #[test]
    fn steps(actions in vec(action(), 0..4), next_wake_ns in option::of(any::<u64>())) {
        let step = Step { actions, next_wake_ns };
        prop_assert_eq!(crossed(step.clone()), step);
    }

    #[test]
    fn columns(column in column()) {
        prop_assert_eq!(crossed(column.clone()), column);
    }
}

#[test]
fn numbers_that_are_none_stay_so() {
    let plan = TimingPlan {
        phase: "p".to_owned(),
        warmup: true,
        start_ns: u64::MAX,
        rate: Some(0.1),
        concurrency: None,
        prefill_concurrency: Some(2),
        requests: None,
        sessions: Some(u64::MAX),
        duration_ns: None,
        dataset: DatasetColumns {
            ends: vec![2],
            timestamps_ms: vec![f64::NAN, 1.0],
            delays_ms: vec![-0.0, f64::NAN],
            parents: vec![u32::MAX],
        },
        state: "{}".to_owned(),
    };
    let back = crossed(plan.clone());
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back.dataset.timestamps_ms), bits(&plan.dataset.timestamps_ms));
    assert_eq!(bits(&back.dataset.delays_ms), bits(&plan.dataset.delays_ms));
    assert_eq!((back.phase.as_str(), back.warmup, back.start_ns), ("p", true, u64::MAX));
    assert_eq!(
        (back.rate, back.concurrency, back.prefill_concurrency),
        (Some(0.1), None, Some(2))
    );
    assert_eq!(
        (back.requests, back.sessions, back.duration_ns),
        (None, Some(u64::MAX), None)
    );
}

#[test]
fn codes_of_a_newer_peer_become_the_variant_for_them() {
    assert_eq!(Outcome::from_abi(200), Ok(Outcome::Failed));
    assert_eq!(ContextMode::from_abi(200), Ok(ContextMode::DeltasWithoutResponses));
}
