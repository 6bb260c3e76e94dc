//! Tests of plugins without the core: nothing sleeps, no file or socket is opened, and every number is exact.
//!
//! | category | |
//! |---|---|
//! | any | [`open`], [`open_with`]: what an entry is opened with; [`FakeHost`]: services with a toy tokenizer, an arrival pattern, servers |
//! | endpoint | [`request`], [`Response`], [`decode`], [`chunks`] |
//! | dataset | [`source`], [`source_in_pieces`], [`sample`], [`conversations`] |
//! | timing | [`VirtualEngine`]: the part of the core that drives a timing mode, with a modelled server |
//! | metric | [`Batches`]: records as columns; [`compute`], [`window`], [`total`], [`derive()`] |
//! | exporter | [`report()`], [`result`], [`export`], [`Outputs`] |
//! | gpu_collector | [`readings`] |
//!
//! ```
//! use aiperf_sdk::testing::{Reply, VirtualEngine};
//! use aiperf_sdk::{Event, Result, Timing, timing::*};
//!
//! /// Starts a conversation each second.
//! #[derive(Default)]
//! struct EverySecond {
//!     next_ns: u64,
//! }
//!
//! impl Timing for EverySecond {
//!     fn start(&mut self, plan: &TimingPlan) -> Result<()> {
//!         self.next_ns = plan.start_ns;
//!         Ok(())
//!     }
//!     fn step(&mut self, now_ns: u64, _: &[Event]) -> Result<Step> {
//!         let mut actions = Vec::new();
//!         while self.next_ns <= now_ns {
//!             actions.push(Action::Start {
//!                 session: self.next_ns,
//!                 pick: Pick::Next,
//!                 at_ns: self.next_ns,
//!                 on_full: OnFull::Wait,
//!                 max_turns: None,
//!                 max_tokens: None,
//!                 first_turn: 0,
//!                 tree: None,
//!             });
//!             self.next_ns += 1_000_000_000;
//!         }
//!         Ok(Step { actions, next_wake_ns: Some(self.next_ns) })
//!     }
//! }
//!
//! let mut engine = VirtualEngine::single_turn(100);
//! engine.plan.requests = Some(3);
//! engine.server = Box::new(|_| Reply::after_ms(20.0));
//! let run = engine.run(&mut EverySecond::default())?;
//! let sent: Vec<u64> = run.sent.iter().map(|sent| sent.at_ns - engine.plan.start_ns).collect();
//! assert_eq!(sent, [0, 1_000_000_000, 2_000_000_000]);
//! # Ok::<(), aiperf_sdk::PluginError>(())
//! ```

mod engine;
mod exchange;
mod exporter;
mod fake_host;
mod gpu;
mod machine;
mod metric;
mod records;
mod source;

pub use engine::{Reply, Run, Sent, VirtualEngine, VirtualTurn};
pub use exchange::{Response, chunks, decode, request};
pub use exporter::{Outputs, export, report, result};
pub use fake_host::{FakeHost, open, open_with};
pub use gpu::readings;
pub use metric::{Computed, compute, derive, total, window};
pub use records::Batches;
pub use source::{conversations, sample, source, source_in_pieces};
