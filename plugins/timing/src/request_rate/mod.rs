//! The mode `request_rate` (load-engine §3.5). With a rate it is a loop of ticks, one request each; without one it is a
//! burst, paced by the slots alone.

mod burst;
mod mode;
mod paced;

pub(crate) use mode::RequestRate;
