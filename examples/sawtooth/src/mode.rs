//! The state machine. It is told the time, and plans a short while ahead.

use aiperf_sdk::{prelude::*, timing::AT_ONCE};

use crate::Teeth;

/// So far ahead starts are handed to the core, which sends each at its time.
const AHEAD_NS: u64 = 200_000_000;

const NS_PER_MS: f64 = 1e6;

/// The timing mode.
#[derive(Debug)]
pub struct Sawtooth {
    teeth: Teeth,
    /// When the phase began; none before.
    start_ns: Option<u64>,
    /// Number of the next request; also of its conversation.
    next: u64,
}

impl Sawtooth {
    /// A mode that follows these due times.
    pub fn new(teeth: Teeth) -> Self {
        Self {
            teeth,
            start_ns: None,
            next: 0,
        }
    }

    fn due_ns(&self, start_ns: u64) -> u64 {
        start_ns.saturating_add(self.teeth.due_ns(self.next))
    }
}

impl Timing for Sawtooth {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        if let Some(rate) = plan.rate {
            return Err(PluginError::input(format!(
                "a request rate of {rate} has no effect on the timing mode `sawtooth`"
            ))
            .with_help("leave out --request-rate; set low_rate and high_rate with --plugin-opt"));
        }
        self.start_ns = Some(plan.start_ns);
        self.next = 0;
        Ok(())
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let start_ns = self
            .start_ns
            .ok_or_else(|| PluginError::failed("`step` before `start`"))?;
        let mut actions = Vec::new();
        for event in events {
            if let Event::Ready {
                session,
                turn,
                at_ns,
                delay_ms,
                ..
            } = *event
            {
                let after = |delay_ms: f64| at_ns.saturating_add((delay_ms * NS_PER_MS).round() as u64);
                let at_ns = delay_ms.map_or(AT_ONCE, after);
                actions.push(Action::Continue { session, turn, at_ns });
            }
        }
        while self.due_ns(start_ns) <= now_ns.saturating_add(AHEAD_NS) {
            // A start that finds no free slot waits; the record then shows how late it was.
            actions.push(Action::start(self.next, self.due_ns(start_ns)));
            self.next += 1;
        }
        Ok(Step {
            actions,
            next_wake_ns: Some(self.due_ns(start_ns).saturating_sub(AHEAD_NS)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SawtoothPackage;
    use aiperf_sdk::testing::{self, Reply, VirtualEngine, VirtualTurn};

    const OPTIONS: &str = r#"{"high_rate": 10, "period_s": 10}"#;

    fn sawtooth(options: &str) -> Result<Box<dyn Timing>> {
        SawtoothPackage::timing(testing::open("sawtooth", options))
    }

    #[test]
    fn requests_are_sent_when_they_are_due() {
        let mut engine = VirtualEngine::single_turn(7);
        engine.plan.requests = Some(102);
        engine.server = Box::new(|_| Reply::after_ms(3_000.0));
        let run = engine.run(&mut *sawtooth(OPTIONS).unwrap()).unwrap();
        let second = |k: usize| {
            let sent = &run.sent[k];
            assert_eq!(sent.intended_ns, sent.at_ns, "request {k} is in time");
            (sent.at_ns - engine.plan.start_ns) as f64 / 1e9
        };
        assert_eq!(
            [0, 2, 8, 32, 50, 58, 100].map(second),
            [0.0, 2.0, 4.0, 8.0, 10.0, 14.0, 20.0]
        );
        // In the first period, the last 2 s hold 18 of the 50 requests, the first 2 s only 2.
        let sent_in = |from: f64, to: f64| (0..50).filter(|&k| (from..to).contains(&second(k))).count();
        assert_eq!((sent_in(0.0, 2.0), sent_in(8.0, 10.0)), (2, 18));
    }

    #[test]
    fn without_a_free_slot_the_intended_time_stays() {
        let mut engine = VirtualEngine::single_turn(7);
        engine.plan.requests = Some(20);
        engine.plan.concurrency = Some(1);
        engine.server = Box::new(|_| Reply::after_ms(1_000.0));
        let run = engine.run(&mut *sawtooth(OPTIONS).unwrap()).unwrap();
        let last = run.sent[18];
        assert_eq!(last.intended_ns - engine.plan.start_ns, 6_000_000_000);
        assert!(last.at_ns > last.intended_ns, "it had to wait");
        assert_eq!(run.refused, 0);
    }

    #[test]
    fn turns_follow_after_their_delay() {
        let later = VirtualTurn {
            delay_ms: Some(250.0),
            ..VirtualTurn::default()
        };
        let mut engine = VirtualEngine::new(vec![vec![VirtualTurn::default(), later, VirtualTurn::default()]]);
        engine.plan.sessions = Some(1);
        engine.server = Box::new(|_| Reply::after_ms(100.0));
        let run = engine.run(&mut *sawtooth(OPTIONS).unwrap()).unwrap();
        let times: Vec<u64> = run
            .sent
            .iter()
            .map(|sent| (sent.at_ns - engine.plan.start_ns) / 1_000_000)
            .collect();
        assert_eq!(times, [0, 350, 450]);
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        let mut engine = VirtualEngine::single_turn(1);
        engine.plan.rate = Some(5.0);
        let error = engine.run(&mut *sawtooth(OPTIONS).unwrap()).unwrap_err();
        assert!(error.help.unwrap().contains("--request-rate"));
        for options in ["{}", r#"{"high_rate": 10, "period_s": 10, "low": 1}"#] {
            assert!(sawtooth(options).is_err(), "{options}");
        }
    }
}
