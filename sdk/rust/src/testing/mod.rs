//! Tests of timing plugins in virtual time: nothing sleeps, and every number is exact.
//!
//! * [`VirtualEngine`]: the part of the core that drives a timing mode, with a modelled server.
//! * [`VirtualHost`]: services of the core, with seeds of its own and any arrival pattern.
//!
//! ```
//! use aiperf_sdk::testing::{Reply, VirtualEngine};
//! # use aiperf_sdk::{Event, Result, Timing, timing::*};
//! # struct EverySecond;
//! # impl Timing for EverySecond {
//! #     fn start(&mut self, _: &TimingPlan) -> Result<()> { Ok(()) }
//! #     fn step(&mut self, now_ns: u64, _: &[Event]) -> Result<Step> {
//! #         let start = Action::Start {
//! #             session: now_ns, pick: Pick::Next, at_ns: now_ns, on_full: OnFull::Wait,
//! #             max_turns: None, max_tokens: None, first_turn: 0,
//! #         };
//! #         Ok(Step { actions: vec![start], next_wake_ns: Some(now_ns + 1_000_000_000) })
//! #     }
//! # }
//! let mut engine = VirtualEngine::single_turn(100);
//! engine.plan.requests = Some(3);
//! engine.server = Box::new(|_| Reply::after_ms(20.0));
//! let run = engine.run(&mut EverySecond)?;
//! let sent: Vec<u64> = run.sent.iter().map(|sent| sent.at_ns - engine.plan.start_ns).collect();
//! assert_eq!(sent, [0, 1_000_000_000, 2_000_000_000]);
//! # Ok::<(), aiperf_sdk::PluginError>(())
//! ```

mod engine;
mod host;
mod machine;

pub use engine::{Reply, Run, Sent, VirtualEngine, VirtualTurn};
pub use host::VirtualHost;
