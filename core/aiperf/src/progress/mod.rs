//! What the user sees while a run goes on: a bar on a terminal, a line every few seconds elsewhere, or nothing.

mod display;
mod estimate;

pub(crate) use display::ProgressDisplay;
