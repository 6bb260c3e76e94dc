//! One answer on its way: plain, streamed, or a reset; what it writes when, and what is noted about it.

use crate::clock::monotonic_ns;
use crate::log::{Log, LogRecord};
use crate::metrics::Running;
use crate::stream::Stream;

/// What a connection has to do next for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing before this time (`CLOCK_MONOTONIC` ns).
    Wait(u64),
    /// Write what was put out, then ask again.
    Write,
    /// Write what was put out, and ask again at this time, or when the other connections have had their turn if it is
    /// past: streams that fall behind keep in step with one another, as those of a batch do.
    WriteUntil(u64),
    /// All is written.
    Done,
    /// Reset the connection.
    Reset,
}

#[derive(Debug)]
pub(crate) enum Answer {
    /// Head and body, written at `due`; empty afterwards.
    Plain {
        due: u64,
        bytes: Vec<u8>,
    },
    Stream(Box<Stream>),
    Reset {
        due: u64,
    },
}

/// An answer with its bookkeeping.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) answer: Answer,
    /// Whether the connection stays open afterwards.
    pub(crate) keep_alive: bool,
    /// Of generation requests, if there is a log.
    pub(crate) record: Option<LogRecord>,
    /// Of generation requests.
    pub(crate) running: Option<Running>,
}

impl Exchange {
    /// Puts into `out`, which is empty, what is due at `now`.
    pub(crate) fn step(&mut self, now: u64, out: &mut Vec<u8>) -> Step {
        let mut end = None;
        let step = match &mut self.answer {
            Answer::Plain { due, .. } | Answer::Reset { due } if *due > now => return Step::Wait(*due),
            Answer::Plain { bytes, .. } if bytes.is_empty() => Step::Done,
            Answer::Plain { bytes, .. } => {
                out.append(bytes);
                end = Some(monotonic_ns());
                Step::Write
            }
            Answer::Reset { .. } => {
                end = Some(now);
                Step::Reset
            }
            Answer::Stream(stream) => stream.step(
                now,
                out,
                self.record.as_mut().map(|record| &mut record.events_ns),
                &mut end,
            ),
        };
        if let (Some(record), Some(end)) = (&mut self.record, end) {
            record.done_ns = Some(end);
        }
        step
    }

    /// Notes the end; `flushed` if the system has taken what was put out so far.
    pub(crate) fn finish(self, flushed: bool, log: &mut Log) {
        if let Some(running) = &self.running {
            running.finished(match &self.answer {
                Answer::Stream(stream) => Some(stream.sent()),
                Answer::Plain { .. } | Answer::Reset { .. } => None,
            });
        }
        if let Some(record) = self.record {
            let complete = flushed && record.done_ns.is_some();
            log.write(&LogRecord { complete, ..record });
        }
    }
}
