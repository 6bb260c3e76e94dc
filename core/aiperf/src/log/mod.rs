//! The log of a run: a file in the artifact folder, and the more severe lines on the console.
//!
//! Whoever logs pays for the message and one send on a bounded queue; [`writer`] formats and writes on a thread of its
//! own. When the queue is full a line is dropped and counted: the log must not slow the run. Only targets of this
//! project are logged, so that no dependency can write what it sees of requests, and [`secrets`] that the plan holds are
//! blotted out of every line.

mod layer;
mod line;
mod writer;

pub(crate) use writer::{Log, LogWriter};

use aiperf_config::{LogLevel, RunPlan};
use tracing::level_filters::LevelFilter;

/// Least severe levels that go to the file and to the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Levels {
    file: LevelFilter,
    console: LevelFilter,
}

impl Levels {
    /// A level that was asked for holds for both; without one the console shows warnings only.
    fn of(plan: &RunPlan) -> Self {
        let asked = ["log-level", "verbose", "extra-verbose"]
            .into_iter()
            .any(|setting| plan.is_explicit(setting));
        let file = filter(plan.log_level);
        Self {
            file,
            console: if asked { file } else { LevelFilter::WARN },
        }
    }

    /// The least severe level that goes anywhere.
    fn least(self) -> LevelFilter {
        self.file.max(self.console)
    }
}

/// The original has more levels than there are kinds of lines here: those between two kinds mean the next severe one.
fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Trace => LevelFilter::TRACE,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Notice | LogLevel::Warning => LevelFilter::WARN,
        LogLevel::Success | LogLevel::Error | LogLevel::Critical => LevelFilter::ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_shows_warnings_unless_a_level_is_asked_for() {
        for (flags, file, console) in [
            (&[][..], LevelFilter::INFO, LevelFilter::WARN),
            (&["-v"], LevelFilter::DEBUG, LevelFilter::DEBUG),
            (&["-vv"], LevelFilter::TRACE, LevelFilter::TRACE),
            (&["--log-level", "info"], LevelFilter::INFO, LevelFilter::INFO),
            (&["--log-level", "notice"], LevelFilter::WARN, LevelFilter::WARN),
            (&["--log-level", "CRITICAL"], LevelFilter::ERROR, LevelFilter::ERROR),
        ] {
            let plan = aiperf_config::parse_profile(&[&["--url", "mock:"], flags].concat()).unwrap();
            assert_eq!(Levels::of(&plan), Levels { file, console }, "{flags:?}");
        }
    }
}
