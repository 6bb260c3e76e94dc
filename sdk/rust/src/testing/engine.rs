//! The virtual engine: what is set up before a run, and what a run says.

use aiperf_plugin_api::{
    PluginError, Result, Timing,
    timing::{DatasetColumns, LimitKind, Outcome, TimingPlan},
};

use super::machine::Machine;

const NS_PER_MS: f64 = 1e6;

/// A turn of a conversation, as a timing mode sees it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VirtualTurn {
    /// Recorded time in ms.
    pub timestamp_ms: Option<f64>,
    /// Think time before the turn in ms.
    pub delay_ms: Option<f64>,
}

/// How the modelled server answers a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reply {
    /// From send to return, ns.
    pub latency_ns: u64,
    /// From send to first content, ns.
    pub ttft_ns: Option<u64>,
    /// Output tokens.
    pub tokens: Option<u64>,
    /// How it ends.
    pub outcome: Outcome,
}

impl Reply {
    /// A valid response after so many ms, its first content after half of them.
    pub fn after_ms(latency_ms: f64) -> Self {
        Self {
            latency_ns: (latency_ms * NS_PER_MS).round() as u64,
            ttft_ns: Some((latency_ms * NS_PER_MS / 2.0).round() as u64),
            tokens: Some(1),
            outcome: Outcome::Completed,
        }
    }
}

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Conversation instance, as numbered by the timing mode.
    pub session: u64,
    /// Root conversation of the dataset.
    pub index: u32,
    /// Turn.
    pub turn: u32,
    /// It is the last turn of the conversation instance.
    pub last: bool,
    /// When the schedule wanted it to be sent.
    pub intended_ns: u64,
    /// When it was sent.
    pub at_ns: u64,
    /// Limit on output tokens that the timing mode set.
    pub max_tokens: Option<u32>,
    /// Requests in flight, this one included.
    pub in_flight: u32,
    /// Slots in use, that of this one included.
    pub sessions: u32,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Requests in the order in which they were sent.
    pub sent: Vec<Sent>,
    /// Starts that were refused.
    pub refused: u64,
    /// Calls of [`Timing::step`].
    pub steps: u64,
    /// Limits that were moved: when, which, to what.
    pub limits: Vec<(u64, LimitKind, u32)>,
    /// Notes of the timing mode.
    pub notes: Vec<String>,
    /// When the last request had returned.
    pub end_ns: u64,
}

/// The part of the core that drives a timing mode, in virtual time: slots, stop conditions, a sequential sampler and a
/// modelled server. It follows the rules of the core: returns at a time are handled before what is due at it, waiting
/// starts come before others, and a refused start does not move the sampler. Prefill slots and branches are left out.
pub struct VirtualEngine {
    /// What the timing mode is started with. Its limit and stop conditions are enforced; its `dataset` is filled in.
    pub plan: TimingPlan,
    /// Root conversations.
    pub conversations: Vec<Vec<VirtualTurn>>,
    /// The server: how it answers a request.
    pub server: Box<dyn FnMut(&Sent) -> Reply>,
    /// Ramp of the rate: when, and the new rate; ascending.
    pub rates: Vec<(u64, f64)>,
}

impl VirtualEngine {
    /// An engine over conversations. The phase starts at 1 s, without rate, limit or stop condition; the server takes
    /// 10 ms.
    pub fn new(conversations: Vec<Vec<VirtualTurn>>) -> Self {
        Self {
            plan: TimingPlan {
                phase: "profiling".to_owned(),
                warmup: false,
                start_ns: 1_000_000_000,
                rate: None,
                concurrency: None,
                prefill_concurrency: None,
                requests: None,
                sessions: None,
                duration_ns: None,
                dataset: DatasetColumns::default(),
                state: String::new(),
            },
            conversations,
            server: Box::new(|_| Reply::after_ms(10.0)),
            rates: Vec::new(),
        }
    }

    /// An engine over `count` conversations of one turn.
    pub fn single_turn(count: usize) -> Self {
        Self::new(vec![vec![VirtualTurn::default()]; count])
    }

    /// The conversations as the plan shows them to a timing mode.
    pub fn dataset(&self) -> DatasetColumns {
        let mut columns = DatasetColumns::default();
        for turns in &self.conversations {
            for turn in turns {
                columns.timestamps_ms.push(turn.timestamp_ms.unwrap_or(f64::NAN));
                columns.delays_ms.push(turn.delay_ms.unwrap_or(f64::NAN));
            }
            columns.ends.push(columns.delays_ms.len() as u32);
        }
        columns
    }

    /// Drives a timing mode from start to end.
    ///
    /// # Errors
    /// Those of the timing mode; what it must not do (an unknown conversation, a turn that can't be sent, a session
    /// started twice); and a run that does not end because nothing is asked for.
    pub fn run(&mut self, timing: &mut dyn Timing) -> Result<Run> {
        if self.conversations.iter().any(Vec::is_empty) {
            return Err(PluginError::input("a conversation without turns"));
        }
        self.plan.dataset = self.dataset();
        timing.start(&self.plan)?;
        Machine::new(self).run(timing)
    }
}
