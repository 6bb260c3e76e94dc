use aiperf_contract_tests::TestPackage;
use aiperf_sdk::{
    Action, Event, Package, Result, Timing,
    testing::{Reply, Run, VirtualEngine, VirtualTurn},
    timing::{LimitKind, Step, TimingPlan},
};

use super::{imported, open};

const START: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// Drives the mode directly and through the ABI; both must do the same.
fn run(entry: &str, options: &str, engine: impl Fn() -> VirtualEngine) -> Result<Run> {
    let mut direct = TestPackage::timing(open(entry, options))?;
    let mut crossed = imported().timing(open(entry, options))?;
    let direct = engine().run(&mut *direct);
    let crossed = engine().run(&mut *crossed);
    assert_eq!(direct, crossed);
    crossed
}

fn at_ms(run: &Run) -> Vec<f64> {
    run.sent.iter().map(|sent| (sent.at_ns - START) as f64 / 1e6).collect()
}

fn conversations(count: usize, turns: usize) -> Vec<Vec<VirtualTurn>> {
    vec![vec![VirtualTurn::default(); turns]; count]
}

fn users(turns: usize, rate: f64, requests: u64) -> impl Fn() -> VirtualEngine {
    move || {
        let mut engine = VirtualEngine::new(conversations(3, turns));
        engine.plan.rate = Some(rate);
        engine.plan.requests = Some(requests);
        engine
    }
}

#[test]
fn users_start_at_every_age() {
    // 4 users, conversations of 4 turns, L = 3 and prime to 4; a stagger is 250 ms, a period 1 s.
    // User 0 (age 12) would be through. User 1 (age 9): 1 turn at 750 ms; 2 (age 6): 2 turns from 500 ms;
    // 3 (age 3): 3 turns from 250 ms; the extra one: 4 turns from 0.
    let run = run("user_centric", "{\"users\": 4}", users(4, 4.0, 40)).expect("a run");
    let mut firsts: Vec<(u64, u32, f64)> = Vec::new();
    for (sent, at) in run.sent.iter().zip(at_ms(&run)) {
        if sent.turn == 0 && at < 1_000.0 {
            firsts.push((sent.session, 0, at));
        }
    }
    let turns = |session| run.sent.iter().filter(|sent| sent.session == session).count() as u32;
    for first in &mut firsts {
        first.1 = turns(first.0);
    }
    assert_eq!(firsts, [(4, 4, 0.0), (3, 3, 250.0), (2, 2, 500.0), (1, 1, 750.0)]);
    // Replacements keep the rate: one request each 250 ms, for ever.
    let expected: Vec<f64> = (0..40).map(|n| f64::from(n) * 250.0).collect();
    assert_eq!(at_ms(&run), expected);
}

#[test]
fn users_are_spread_where_their_number_and_the_length_share_a_factor() {
    // 4 users, conversations of 3 turns: L = 2, so slot = i·3 mod 4. User 1 (age 6): 1 turn at order 1; 2 (age 4):
    // 1 turn at order 2; 3 (age 2): 2 turns at order 3; the extra one: 3 turns at order 0.
    let run = run("user_centric", "{\"users\": 4}", users(3, 4.0, 9)).expect("a run");
    let rows: Vec<(u64, u32, f64)> = run
        .sent
        .iter()
        .zip(at_ms(&run))
        .map(|(sent, at)| (sent.session, sent.turn, at))
        .collect();
    assert_eq!(
        rows,
        [
            (4, 0, 0.0),
            (1, 0, 250.0),
            (2, 0, 500.0),
            (3, 0, 750.0),
            (4, 1, 1_000.0),
            // Replacements of users 1 and 2, which had one turn each. Number 5 is that of user 4, due at 3 s.
            (6, 0, 1_250.0),
            (7, 0, 1_500.0),
            (3, 1, 1_750.0),
            (4, 2, 2_000.0),
        ]
    );
}

#[test]
fn a_slow_answer_delays_its_own_user_alone() {
    // 1 user, 3 turns, one request per second; the first answer takes 1.3 s.
    let engine = || {
        let mut engine = VirtualEngine::new(conversations(1, 3));
        engine.plan.rate = Some(1.0);
        engine.plan.requests = Some(5);
        engine.server = Box::new(|sent| {
            let first = sent.session == 1 && sent.turn == 0;
            Reply::after_ms(if first { 1_300.0 } else { 10.0 })
        });
        engine
    };
    let run = run("user_centric", "{\"users\": 1}", engine).expect("a run");
    let rows: Vec<(u64, u32, f64)> = run
        .sent
        .iter()
        .zip(at_ms(&run))
        .map(|(sent, at)| (sent.session, sent.turn, at))
        .collect();
    // L = 2: user 0 (age 2, done 2) is skipped. The replacement comes at 3 s by the schedule.
    assert_eq!(
        rows,
        [
            (1, 0, 0.0),
            (1, 1, 1_300.0),
            (1, 2, 2_300.0),
            (2, 0, 3_000.0),
            (2, 1, 4_000.0)
        ]
    );
}

fn turn(timestamp_ms: Option<f64>, delay_ms: Option<f64>) -> VirtualTurn {
    VirtualTurn { timestamp_ms, delay_ms }
}

/// Three conversations, not in order of time. Answers take 10 ms.
fn schedule() -> VirtualEngine {
    let mut engine = VirtualEngine::new(vec![
        vec![turn(Some(250.5), None), turn(None, Some(40.0)), turn(None, None)],
        vec![turn(Some(100.0), None), turn(Some(400.25), Some(1.0))],
        vec![turn(Some(250.5), None)],
    ]);
    engine.plan.sessions = Some(3);
    engine
}

#[test]
fn a_schedule_is_kept_to_the_nanosecond() {
    // (options, zero point): the earliest time, an offset, nothing.
    for (options, zero) in [
        ("{}", 100.0),
        ("{\"auto_offset\": false, \"start_offset_ms\": 50.0}", 50.0),
        ("{\"auto_offset\": false}", 0.0),
    ] {
        let run = run("fixed_schedule", options, schedule).expect("a run");
        let rows: Vec<(u32, u32, f64)> = run
            .sent
            .iter()
            .zip(at_ms(&run))
            .map(|(sent, at)| (sent.index, sent.turn, at + zero))
            .collect();
        assert_eq!(
            rows,
            [
                (1, 0, 100.0),
                (0, 0, 250.5),
                (2, 0, 250.5),
                // 40 ms after the return, then at once after the next one.
                (0, 1, 300.5),
                (0, 2, 310.5),
                // Its own time, not its delay.
                (1, 1, 400.25),
            ],
            "{options}"
        );
        assert!(run.sent.iter().all(|sent| sent.intended_ns == sent.at_ns));
    }
}

#[test]
fn limits_delay_a_schedule_but_its_times_stay_intended() {
    let engine = || {
        let mut engine = VirtualEngine::new(vec![vec![turn(Some(5.0), None)], vec![turn(Some(7.0), None)]]);
        engine.plan.sessions = Some(2);
        engine.plan.concurrency = Some(1);
        engine
    };
    let run = run("fixed_schedule", "{}", engine).expect("a run");
    assert_eq!(at_ms(&run), [0.0, 10.0]);
    assert_eq!(run.sent[1].intended_ns, START + 2 * MS);
}

#[test]
fn a_schedule_needs_timestamps() {
    let engine = || VirtualEngine::new(vec![vec![turn(Some(1.0), None)], vec![turn(None, None)]]);
    let error = run("fixed_schedule", "{}", engine).expect_err("no timestamp");
    assert!(error.message.contains("conversation 1"), "{error}");
}

#[test]
fn an_adaptive_mode_finds_the_limit_and_holds_it() {
    // An answer takes 10 ms while up to 4 requests are in flight, else 2.5 ms per request in flight. With at most 15 ms
    // allowed, 5 (12.5 ms) pass and 7 (17.5 ms) don't.
    let engine = || {
        let mut engine = VirtualEngine::new(conversations(1, 1));
        engine.server = Box::new(|sent| Reply::after_ms((2.5 * f64::from(sent.in_flight)).max(10.0)));
        engine
    };
    let options = "{\"max\": 20, \"step\": 2, \"window_ms\": 1000, \"sustain_ms\": 3000, \"latency_ms\": 15.0}";
    let run = run("adaptive", options, engine).expect("a run");
    let limits: Vec<(u64, LimitKind, u32)> = run
        .limits
        .iter()
        .map(|&(at_ns, kind, value)| ((at_ns - START) / MS, kind, value))
        .collect();
    let sessions = LimitKind::Sessions;
    assert_eq!(
        limits,
        [
            (0, sessions, 1),
            (1_000, sessions, 3),
            (2_000, sessions, 5),
            (3_000, sessions, 7),
            (4_000, sessions, 5)
        ]
    );
    assert_eq!(run.notes.last().map(String::as_str), Some("{\"end\":\"completed\"}"));
    assert_eq!(
        run.notes.len(),
        4 + 3 + 1,
        "windows of the search, windows of the hold, the end"
    );
    let last = run.sent.last().expect("requests").at_ns;
    // A slot that comes free at the very end is filled before the mode is asked; what is in flight returns.
    let over = START + 7_000 * MS;
    assert!(last <= over && run.end_ns >= over, "{last} {}", run.end_ns);
    let held = run.sent.iter().filter(|sent| sent.at_ns > START + 5_000 * MS);
    assert!(held.clone().count() > 100 && held.clone().all(|sent| sent.in_flight <= 5));
}

#[test]
fn an_adaptive_mode_gives_up_where_nothing_passes() {
    let engine = || VirtualEngine::new(conversations(1, 1));
    let options = "{\"max\": 4, \"step\": 1, \"window_ms\": 100, \"sustain_ms\": 100, \"latency_ms\": 9.0}";
    let run = run("adaptive", options, engine).expect("a run");
    assert_eq!(
        run.notes,
        ["{\"concurrency\":1,\"passed\":false}", "{\"end\":\"failed\"}"]
    );
    assert_eq!(run.sent.len(), 11, "one each 10 ms, from 0 to 100 ms");
}

#[test]
fn what_an_entry_does_not_provide_is_said() {
    let mut mode = imported().timing(open("fixed_schedule", "")).expect("the mode");
    let error = mode.intervals(1.0, 1).expect_err("no pattern");
    assert_eq!(error.kind, aiperf_sdk::ErrorKind::Unsupported);
    assert_eq!(
        mode.value_at(0.5).expect_err("no ramp").kind,
        aiperf_sdk::ErrorKind::Unsupported
    );
}

/// Starts conversations 0 and 1 of one tree, and 2 on its own.
struct Tree(Vec<Action>);

impl Timing for Tree {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        for session in 0..3 {
            let mut start = Action::start(session, plan.start_ns);
            if let Action::Start { tree, .. } = &mut start {
                *tree = (session < 2).then_some(7);
            }
            self.0.push(start);
        }
        Ok(())
    }
    fn step(&mut self, _: u64, _: &[Event]) -> Result<Step> {
        Ok(Step {
            actions: std::mem::take(&mut self.0),
            next_wake_ns: None,
        })
    }
}

#[test]
fn conversations_of_a_tree_share_a_slot() {
    let mut engine = VirtualEngine::single_turn(3);
    engine.plan.concurrency = Some(1);
    engine.plan.sessions = Some(3);
    // Conversation 0 takes 10 ms, 1 takes 20 ms: the tree holds the slot until the last of them ends.
    engine.server = Box::new(|sent| Reply::after_ms(10.0 * (sent.session + 1) as f64));
    let run = engine.run(&mut Tree(Vec::new())).expect("a run");
    assert_eq!(at_ms(&run), [0.0, 0.0, 20.0]);
    assert!(run.sent.iter().all(|sent| sent.sessions == 1));
}
