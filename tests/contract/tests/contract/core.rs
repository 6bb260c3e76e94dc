//! The SDK's virtual engine does what the core's phase does: what authors test with it holds in a run.

use std::{collections::BTreeMap, sync::Arc};

use aiperf_engine::{
    message::{Credit, CreditReturn},
    phase::{PhaseSetup, PhaseState, RootTurns, StopConditions},
};
use aiperf_sdk::{
    Package, Timing,
    api::{Root, abi},
    testing::{FakeHost, Reply, Sent, VirtualEngine, VirtualTurn},
    timing::AT_ONCE,
};

use super::{imported, open, open_with};

/// Session, root, turn, sent, intended.
type Row = (u64, u32, u32, u64, u64);

/// Latency in ms of a request: session, turn, requests in flight.
type Server = fn(u64, u32, u32) -> f64;

fn uneven(session: u64, turn: u32, _: u32) -> f64 {
    (1 + (session * 37 + u64::from(turn) * 11) % 97) as f64
}

fn loaded(_: u64, _: u32, in_flight: u32) -> f64 {
    (2.5 * f64::from(in_flight)).max(10.0)
}

/// Runs a phase of the core in virtual time.
fn by_core(engine: &VirtualEngine, server: Server, timing: &mut dyn Timing) -> Vec<Row> {
    let plan = &engine.plan;
    let roots = engine.conversations.len() as u32;
    let turns = |turns: &Vec<VirtualTurn>| turns.iter().map(|turn| (turn.timestamp_ms, turn.delay_ms)).collect();
    let setup = PhaseSetup {
        index: 0,
        start_ns: plan.start_ns,
        concurrency: plan.concurrency,
        stop: StopConditions {
            requests: plan.requests,
            sessions: plan.sessions,
            duration_ns: plan.duration_ns,
        },
        grace_ns: None,
        urls: 1,
        lead_ns: 0,
    };
    let dataset = RootTurns {
        conversation: (0..roots).collect(),
        turns: engine.conversations.iter().map(turns).collect(),
    };
    let mut sampled = 0;
    let mut phase = PhaseState::new(setup, dataset, || {
        sampled += 1;
        (sampled - 1) % roots
    });
    timing.start(plan).expect("a start");

    let (mut rows, mut flying) = (Vec::new(), BTreeMap::<(u64, u64), CreditReturn>::new());
    let mut now_ns = plan.start_ns;
    while !phase.is_complete() {
        while let Some(entry) = flying.first_entry()
            && entry.key().0 <= now_ns
        {
            phase.on_return(&entry.remove(), now_ns);
        }
        let mut credits: Vec<Credit> = Vec::new();
        phase.fire(now_ns, &mut credits).expect("no fault");
        for credit in credits {
            let latency_ms = server(credit.session, credit.turn, flying.len() as u32 + 1);
            let reply = Reply::after_ms(latency_ms);
            let returned = CreditReturn {
                id: credit.id,
                phase: 0,
                worker: 0,
                outcome: reply.outcome,
                cancelled: None,
                latency_ns: Some(reply.latency_ns),
                ttft_ns: reply.ttft_ns,
                tokens: reply.tokens,
            };
            flying.insert((now_ns + reply.latency_ns, credit.id), returned);
            let intended_ns = Some(credit.intended_ns)
                .filter(|&at_ns| at_ns != AT_ONCE)
                .unwrap_or(now_ns);
            rows.push((credit.session, credit.conversation, credit.turn, now_ns, intended_ns));
        }
        if phase.wants_step(now_ns) {
            let step = timing.step(now_ns, &phase.take_events()).expect("a step");
            phase.ask(step.actions, step.next_wake_ns).expect("no fault");
            continue;
        }
        let landing = flying.keys().next().map(|&(at_ns, _)| at_ns);
        match landing.into_iter().chain(phase.next_deadline()).min() {
            Some(next_ns) => now_ns = now_ns.max(next_ns),
            None => break,
        }
    }
    rows
}

fn by_sdk(mut engine: VirtualEngine, server: Server, timing: &mut dyn Timing) -> Vec<Row> {
    engine.server = Box::new(move |sent| Reply::after_ms(server(sent.session, sent.turn, sent.in_flight)));
    let row = |sent: Sent| (sent.session, sent.index, sent.turn, sent.at_ns, sent.intended_ns);
    engine.run(timing).expect("a run").sent.into_iter().map(row).collect()
}

fn request_rate(pattern: &str) -> Box<dyn Timing> {
    let arrivals = aiperf_timing::BuiltIn::timing(open(pattern, "")).expect("a pattern");
    let host = Arc::new(FakeHost::new().with_arrivals(arrivals));
    let root = Root::new(abi::root::<aiperf_timing::BuiltIn>());
    root.timing(open_with("request_rate", "", host)).expect("the mode")
}

fn plan(rate: Option<f64>, concurrency: Option<u32>, requests: Option<u64>) -> VirtualEngine {
    let second = VirtualTurn {
        delay_ms: Some(7.25),
        ..VirtualTurn::default()
    };
    let first = |timestamp_ms| VirtualTurn {
        timestamp_ms: Some(timestamp_ms),
        ..VirtualTurn::default()
    };
    let mut engine = VirtualEngine::new(vec![
        vec![first(20.5), second, second],
        vec![first(3.0)],
        vec![first(20.5), second],
    ]);
    engine.plan.rate = rate;
    engine.plan.concurrency = concurrency;
    engine.plan.requests = requests;
    engine
}

#[test]
fn both_engines_send_the_same_at_the_same_time() {
    let adaptive = "{\"max\": 20, \"step\": 2, \"window_ms\": 1000, \"sustain_ms\": 3000, \"latency_ms\": 15.0}";
    let test_mode = |entry: &'static str, options: &'static str| -> Box<dyn Fn() -> Box<dyn Timing>> {
        Box::new(move || imported().timing(open(entry, options)).expect("the mode"))
    };
    let built_in =
        |pattern: &'static str| -> Box<dyn Fn() -> Box<dyn Timing>> { Box::new(move || request_rate(pattern)) };
    let sessions = |sessions| {
        let mut engine = plan(None, Some(3), None);
        engine.plan.sessions = Some(sessions);
        engine
    };
    let timed = |duration_ms: u64| {
        let mut engine = plan(Some(130.0), Some(4), None);
        engine.plan.duration_ns = Some(duration_ms * 1_000_000);
        engine
    };
    let cases: [(&str, _, Server, &dyn Fn() -> VirtualEngine); 8] = [
        ("burst, requests", built_in("constant"), uneven, &|| {
            plan(None, Some(5), Some(500))
        }),
        ("burst, sessions", built_in("constant"), uneven, &|| sessions(40)),
        ("constant, free", built_in("constant"), uneven, &|| {
            plan(Some(90.0), None, Some(500))
        }),
        ("poisson, refused", built_in("poisson"), uneven, &|| {
            plan(Some(200.0), Some(3), Some(500))
        }),
        ("gamma, for a time", built_in("gamma"), uneven, &|| timed(2_500)),
        ("users", test_mode("user_centric", "{\"users\": 7}"), uneven, &|| {
            plan(Some(60.0), None, Some(300))
        }),
        ("schedule", test_mode("fixed_schedule", ""), uneven, &|| sessions(3)),
        ("adaptive", test_mode("adaptive", adaptive), loaded, &|| {
            plan(None, None, None)
        }),
    ];
    for (name, mode, server, engine) in &cases {
        let mut prepared = engine();
        prepared.plan.dataset = prepared.dataset();
        let core = by_core(&prepared, *server, &mut *mode());
        let sdk = by_sdk(engine(), *server, &mut *mode());
        assert!(core.len() >= 6, "{name}: {} requests", core.len());
        assert_eq!(core, sdk, "{name}");
    }
}
