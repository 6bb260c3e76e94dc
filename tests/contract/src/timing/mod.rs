//! Timing modes of the load-engine reference that are not built in.

mod adaptive;
mod fixed_schedule;
mod user_centric;

pub use adaptive::Adaptive;
pub use fixed_schedule::FixedSchedule;
pub use user_centric::UserCentric;
