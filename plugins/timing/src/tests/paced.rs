use aiperf_sdk::{
    Timing,
    testing::{Reply, Run, VirtualEngine},
    timing::Action,
};

use super::{MS, request_rate, two_turns};

const START: u64 = 1_000_000_000;

fn sent_ms(run: &Run) -> Vec<(u64, u32, u64)> {
    let row = |sent: &aiperf_sdk::testing::Sent| (sent.session, sent.turn, (sent.at_ns - START) / MS);
    run.sent.iter().map(row).collect()
}

#[test]
fn a_constant_rate_is_exact_to_the_nanosecond() {
    let mut engine = VirtualEngine::single_turn(10);
    engine.plan.rate = Some(7.0);
    engine.plan.requests = Some(1_000);
    let run = engine.run(&mut *request_rate("constant")).expect("a run");
    assert_eq!(run.sent.len(), 1_000);
    for (i, sent) in run.sent.iter().enumerate() {
        // The first one comes one interval after the start; n/7 s is never half a nanosecond.
        let n = i as u64 + 1;
        let due = START + (2 * n * 1_000_000_000 + 7) / 14;
        assert_eq!((sent.at_ns, sent.intended_ns), (due, due), "request {n}");
    }
    assert_eq!(run.refused, 0);
}

#[test]
fn poisson_arrivals_do_not_wait_for_answers() {
    let mut engine = VirtualEngine::single_turn(10);
    engine.plan.rate = Some(1_000.0);
    engine.plan.requests = Some(50_000);
    engine.server = Box::new(|_| Reply::after_ms(500.0));
    let run = engine.run(&mut *request_rate("poisson")).expect("a run");
    let times = std::iter::once(START).chain(run.sent.iter().map(|sent| sent.at_ns));
    let times: Vec<u64> = times.collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean {mean} ns");
    assert!(
        (variance.sqrt() / mean - 1.0).abs() < 0.03,
        "cv {}",
        variance.sqrt() / mean
    );
}

#[test]
fn waiting_turns_go_first_and_use_ticks() {
    // Ticks each 100 ms; a request takes 50 ms; a second turn may follow 120 ms after the first has returned:
    // session 0 is ready at 270 and takes the tick at 300, session 1 is ready at 370 and takes the one at 400.
    let mut engine = VirtualEngine::new(two_turns(10, 120.0));
    engine.plan.rate = Some(10.0);
    engine.plan.requests = Some(6);
    engine.server = Box::new(|_| Reply::after_ms(50.0));
    let run = engine.run(&mut *request_rate("constant")).expect("a run");
    assert_eq!(
        sent_ms(&run),
        [
            (0, 0, 100),
            (1, 0, 200),
            (0, 1, 300),
            (1, 1, 400),
            (2, 0, 500),
            (3, 0, 600)
        ]
    );
    assert!(run.sent.iter().all(|sent| sent.intended_ns == sent.at_ns));
}

#[test]
fn waiting_turns_are_first_come_first_served() {
    // Session 0 thinks longer than session 1: ready at 110 + 500 = 610 and at 210 + 10 = 220 ms.
    let mut conversations = two_turns(2, 500.0);
    conversations[1][1].delay_ms = Some(10.0);
    let mut engine = VirtualEngine::new(conversations);
    engine.plan.rate = Some(10.0);
    engine.plan.sessions = Some(2);
    let run = engine.run(&mut *request_rate("constant")).expect("a run");
    assert_eq!(sent_ms(&run), [(0, 0, 100), (1, 0, 200), (1, 1, 300), (0, 1, 700)]);
}

#[test]
fn a_tick_without_a_free_slot_is_lost() {
    // One slot, 250 ms per request, a tick each 100 ms: two of three ticks find no slot. The conversation is kept.
    let mut engine = VirtualEngine::single_turn(10);
    engine.plan.rate = Some(10.0);
    engine.plan.concurrency = Some(1);
    engine.plan.requests = Some(3);
    engine.server = Box::new(|_| Reply::after_ms(250.0));
    let run = engine.run(&mut *request_rate("constant")).expect("a run");
    let sent: Vec<(u32, u64)> = run
        .sent
        .iter()
        .map(|sent| (sent.index, (sent.at_ns - START) / MS))
        .collect();
    assert_eq!(sent, [(0, 100), (1, 400), (2, 700)]);
    assert_eq!(run.refused, 4);
}

/// Times of the starts of a step.
fn starts(mode: &mut dyn Timing, now_ns: u64) -> Vec<u64> {
    let step = mode.step(now_ns, &[]).expect("a step");
    let time = |action: &Action| match action {
        Action::Start { at_ns, .. } => Some((at_ns - START) / MS),
        _ => None,
    };
    step.actions.iter().filter_map(time).collect()
}

#[test]
fn a_backlog_of_more_than_10_ms_is_forgotten() {
    let mut mode = request_rate("constant");
    let mut plan = VirtualEngine::single_turn(1).plan;
    plan.rate = Some(1_000.0);
    mode.start(&plan).expect("a start");
    assert!(starts(&mut *mode, START).is_empty());
    assert_eq!(starts(&mut *mode, START + 3 * MS), [1, 2, 3], "caught up with");
    assert_eq!(starts(&mut *mode, START + 50 * MS), [50], "4 ms was due 46 ms ago");
    assert_eq!(
        starts(&mut *mode, START + 61 * MS),
        (51..=61).collect::<Vec<_>>(),
        "just 10 ms"
    );
}

#[test]
fn a_new_rate_takes_effect_at_once() {
    // One per second until 100 ms, then ten: the next tick is at min(1000, 100 + 100). The same rate again is ignored.
    let mut engine = VirtualEngine::single_turn(1);
    engine.plan.rate = Some(1.0);
    engine.plan.requests = Some(3);
    engine.rates = vec![
        (START + 100 * MS, 10.0),
        (START + 250 * MS, 10.0),
        (START + 320 * MS, 100.0),
    ];
    let run = engine.run(&mut *request_rate("constant")).expect("a run");
    let at: Vec<u64> = sent_ms(&run).into_iter().map(|(_, _, at)| at).collect();
    assert_eq!(at, [200, 300, 330]);
}
