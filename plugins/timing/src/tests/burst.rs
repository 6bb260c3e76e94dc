use aiperf_sdk::{
    testing::{Reply, Run, VirtualEngine},
    timing::LimitKind,
};

use super::{MS, request_rate, two_turns};

/// A different latency for each request, 1 to 97 ms.
fn uneven(engine: &mut VirtualEngine) {
    engine.server = Box::new(|sent| Reply::after_ms((1 + sent.session * 37 % 97) as f64));
}

fn sent_ms(run: &Run) -> Vec<(u64, u32, u64)> {
    let ms = |at_ns: u64| (at_ns - 1_000_000_000) / MS;
    run.sent
        .iter()
        .map(|sent| (sent.session, sent.turn, ms(sent.at_ns)))
        .collect()
}

#[test]
fn every_slot_is_always_in_use() {
    for concurrency in [1, 2, 7, 100] {
        let mut engine = VirtualEngine::single_turn(10);
        engine.plan.concurrency = Some(concurrency);
        engine.plan.requests = Some(1_000);
        uneven(&mut engine);
        let run = engine.run(&mut *request_rate("concurrency_burst")).expect("a run");
        assert_eq!(run.sent.len(), 1_000);
        for (i, sent) in run.sent.iter().enumerate() {
            // Slots that come free together are filled one after the other, at the same time, unless it is over.
            let next_ns = run.sent.get(i + 1).map_or(sent.at_ns, |next| next.at_ns);
            let filling = next_ns == sent.at_ns && sent.in_flight < concurrency;
            assert!(sent.in_flight == concurrency || filling, "request {i}");
            assert_eq!(sent.intended_ns, sent.at_ns, "a burst follows no schedule");
        }
        assert!(
            run.sent[..concurrency as usize]
                .iter()
                .all(|sent| sent.at_ns == engine.plan.start_ns)
        );
        assert!(run.steps <= 1_001, "{} steps: one per conversation at most", run.steps);
    }
}

#[test]
fn conversations_take_turns_in_the_order_of_the_sampler() {
    let mut engine = VirtualEngine::single_turn(3);
    engine.plan.concurrency = Some(2);
    engine.plan.requests = Some(7);
    let run = engine.run(&mut *request_rate("concurrency_burst")).expect("a run");
    let indices: Vec<u32> = run.sent.iter().map(|sent| sent.index).collect();
    assert_eq!(indices, [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn a_conversation_holds_its_slot_while_it_thinks() {
    let mut engine = VirtualEngine::new(two_turns(5, 30.0));
    engine.plan.concurrency = Some(1);
    engine.plan.sessions = Some(2);
    let run = engine.run(&mut *request_rate("concurrency_burst")).expect("a run");
    // Each request takes 10 ms; the second turn follows 30 ms after the first has returned.
    assert_eq!(sent_ms(&run), [(0, 0, 0), (0, 1, 40), (1, 0, 50), (1, 1, 90)]);
    assert_eq!(run.sent[1].intended_ns, engine.plan.start_ns + 40 * MS);
}

#[test]
fn a_raised_limit_is_filled_at_once() {
    /// Raises the limit from 1 to 40 at 25 ms.
    struct Raised(Box<dyn aiperf_sdk::Timing>, bool);
    impl aiperf_sdk::Timing for Raised {
        fn start(&mut self, plan: &aiperf_sdk::timing::TimingPlan) -> aiperf_sdk::Result<()> {
            self.0.start(plan)
        }
        fn step(&mut self, now_ns: u64, events: &[aiperf_sdk::Event]) -> aiperf_sdk::Result<aiperf_sdk::timing::Step> {
            let mut step = self.0.step(now_ns, events)?;
            let at_ns = 1_000_000_000 + 25 * MS;
            if now_ns >= at_ns && !self.1 {
                self.1 = true;
                let kind = LimitKind::Sessions;
                step.actions.push(aiperf_sdk::Action::SetLimit { kind, value: 40 });
            }
            step.next_wake_ns = (!self.1).then_some(at_ns);
            Ok(step)
        }
    }
    let mut engine = VirtualEngine::single_turn(1);
    engine.plan.concurrency = Some(1);
    engine.plan.requests = Some(42);
    let run = engine
        .run(&mut Raised(request_rate("concurrency_burst"), false))
        .expect("a run");
    let at: Vec<u64> = sent_ms(&run).into_iter().map(|(_, _, at)| at).collect();
    assert_eq!(at[..3], [0, 10, 20]);
    assert_eq!(at[3..], [25; 39], "all but one slot were free");
}

#[test]
fn the_duration_ends_the_burst() {
    let mut engine = VirtualEngine::single_turn(1);
    engine.plan.concurrency = Some(1);
    engine.plan.duration_ns = Some(35 * MS);
    let run = engine.run(&mut *request_rate("concurrency_burst")).expect("a run");
    assert_eq!(sent_ms(&run).len(), 4, "at 0, 10, 20 and 30 ms");
    assert_eq!(run.end_ns, engine.plan.start_ns + 40 * MS, "the last one returns");
}
