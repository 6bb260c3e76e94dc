//! Phases to drive. A mode needs to be able to drive one of them.

use aiperf_sdk::{
    testing::{Reply, VirtualEngine, VirtualTurn},
    timing::{DatasetColumns, LimitKind, Outcome, TimingPlan},
};

use crate::{bench::Bench, random::Random};

/// Start of every phase, ns.
pub(super) const START_NS: u64 = 1_000_000_000;

/// Requests of every phase.
pub(super) const REQUESTS: u64 = 400;

const MS: f64 = 1e6;

/// How the modelled server answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Server {
    /// After 10 ms.
    Fast,
    /// After 1 to 500 ms; some requests fail, some are cancelled.
    Troubled,
}

/// A phase.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) what: &'static str,
    pub(super) rate: Option<f64>,
    pub(super) concurrency: Option<u32>,
    pub(super) turns: usize,
    /// Conversations have recorded times, one each 100 ms.
    pub(super) recorded: bool,
    pub(super) server: Server,
    /// Changes of the rate on the way.
    pub(super) rates: Vec<(u64, f64)>,
    pub(super) seed: u64,
}

/// All phases, with a fast server.
pub(super) fn all(bench: &Bench) -> Vec<Plan> {
    let plan = |what, rate, concurrency, turns, recorded| Plan {
        what,
        rate,
        concurrency,
        turns,
        recorded,
        server: Server::Fast,
        rates: Vec::new(),
        seed: bench.options.seed,
    };
    vec![
        plan("50 requests per second, single turns", Some(50.0), None, 1, false),
        plan("8 conversations at a time, single turns", None, Some(8), 1, false),
        plan(
            "50 requests per second, 8 conversations at a time, 3 turns",
            Some(50.0),
            Some(8),
            3,
            false,
        ),
        plan("4 conversations at a time, 3 turns", None, Some(4), 3, false),
        plan(
            "50 requests per second, conversation by conversation",
            Some(50.0),
            Some(1),
            1,
            false,
        ),
        plan("recorded times, single turns", None, None, 1, true),
        plan(
            "recorded times, 8 conversations at a time, 3 turns",
            Some(20.0),
            Some(8),
            3,
            true,
        ),
    ]
}

impl Plan {
    /// Enough conversations for the requests, so that a mode which takes each once gets through.
    fn conversations(&self) -> Vec<Vec<VirtualTurn>> {
        let count = (REQUESTS as usize).div_ceil(self.turns);
        let turn = |conversation: usize, turn: usize| VirtualTurn {
            timestamp_ms: self.recorded.then(|| 100.0 * (conversation * self.turns + turn) as f64),
            delay_ms: (turn > 0 && !self.recorded).then_some(50.0),
        };
        (0..count)
            .map(|conversation| (0..self.turns).map(|index| turn(conversation, index)).collect())
            .collect()
    }

    /// An engine that drives the phase.
    pub(super) fn engine(&self) -> VirtualEngine {
        let mut engine = VirtualEngine::new(self.conversations());
        engine.plan = TimingPlan {
            dataset: DatasetColumns::default(),
            ..self.bare()
        };
        engine.rates.clone_from(&self.rates);
        if self.server == Server::Troubled {
            let mut random = Random::of(self.seed, "timing.server");
            engine.server = Box::new(move |_| troubled(&mut random));
        }
        engine
    }

    fn bare(&self) -> TimingPlan {
        TimingPlan {
            phase: "profiling".to_owned(),
            warmup: false,
            start_ns: START_NS,
            rate: self.rate,
            concurrency: self.concurrency,
            prefill_concurrency: None,
            requests: Some(REQUESTS),
            sessions: None,
            duration_ns: None,
            dataset: DatasetColumns::default(),
            state: String::new(),
        }
    }

    /// The plan as `start` gets it, the dataset filled in.
    pub(super) fn filled(&self) -> TimingPlan {
        let dataset = VirtualEngine::new(self.conversations()).dataset();
        TimingPlan { dataset, ..self.bare() }
    }
}

fn troubled(random: &mut Random) -> Reply {
    let mut reply = Reply::after_ms(1.0 + 499.0 * random.unit());
    reply.latency_ns = reply.latency_ns.max(MS as u64);
    reply.outcome = match random.below(10) {
        0 => Outcome::Failed,
        1 => Outcome::Cancelled,
        _ => Outcome::Completed,
    };
    if random.below(4) == 0 {
        (reply.ttft_ns, reply.tokens) = (None, None);
    }
    reply
}

/// Limits that the core may report.
pub(super) const LIMITS: [(LimitKind, Option<u32>); 4] = [
    (LimitKind::Sessions, Some(1)),
    (LimitKind::Sessions, None),
    (LimitKind::Prefill, Some(3)),
    (LimitKind::Prefill, None),
];
