//! Which event was written when: one line of JSON per generation request, written by a thread of its own so that a
//! slow disk delays no event.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;

/// Lines are handed over at this size or this age.
const BLOCK: usize = 64 * 1024;
const AGE_NS: u64 = 100_000_000;

/// What is noted about one generation request: a line of the log, as JSON with these keys.
///
/// All times but `wall_ns` are `CLOCK_MONOTONIC` in nanoseconds, comparable across the processes of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRecord {
    /// The request's `x-request-id`, if it has one.
    pub request_id: Option<String>,
    /// The endpoint's path.
    pub path: Cow<'static, str>,
    /// HTTP status; none if the connection was reset by script.
    pub status: Option<u16>,
    /// When the last byte of the request had been read, in nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    /// The same moment on the monotonic clock.
    pub received_ns: u64,
    /// For each token of a stream the moment just before the `write` of its event; equal within one write. If the
    /// client's window is full the bytes may leave later.
    pub events_ns: Vec<u64>,
    /// The same for the end of the stream, for an answer in one piece, or for a reset; none if it never came to that.
    pub done_ns: Option<u64>,
    /// Whether the system has taken every byte of the answer.
    pub complete: bool,
}

/// A serving thread's end of the log.
#[derive(Debug)]
pub(crate) struct Log {
    /// `None`: no log is kept.
    writer: Option<SyncSender<Vec<u8>>>,
    block: Vec<u8>,
    /// When the oldest line of the block must be handed over.
    deadline: Option<u64>,
}

impl Log {
    pub(crate) fn new(writer: Option<SyncSender<Vec<u8>>>) -> Self {
        Self {
            writer,
            block: Vec::new(),
            deadline: None,
        }
    }

    pub(crate) fn write(&mut self, record: &LogRecord) {
        // Neither writing to a vector nor such a record can fail.
        let _ = serde_json::to_writer(&mut self.block, record);
        self.block.push(b'\n');
        if self.deadline.is_none() {
            self.deadline = Some(monotonic_ns() + AGE_NS);
        }
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
    }

    /// When [`Log::tick`] has something to do.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.deadline
    }

    pub(crate) fn tick(&mut self, now: u64) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        self.deadline = None;
        let Some(writer) = &self.writer else { return };
        match writer.try_send(mem::take(&mut self.block)) {
            Ok(()) => {}
            Err(TrySendError::Full(block)) => {
                // The disk is behind: keep the lines and try again, rather than delay events.
                self.block = block;
                self.deadline = Some(monotonic_ns() + AGE_NS);
            }
            // The writer has failed; stopping the server reports it.
            Err(TrySendError::Disconnected(_)) => self.writer = None,
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(writer) = &self.writer {
            // Fails only if the writer has failed, which stopping the server reports.
            let _ = writer.send(mem::take(&mut self.block));
        }
    }
}

/// Writes blocks until all senders are gone.
pub(crate) fn write_blocks(mut file: File, blocks: &Receiver<Vec<u8>>) -> io::Result<()> {
    for block in blocks {
        file.write_all(&block)?;
    }
    Ok(())
}
