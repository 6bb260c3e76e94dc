//! A streamed answer: which SSE messages are due, and their bytes.

use std::io::Write as _;

use crate::answer::Step;
use crate::clock::monotonic_ns;
use crate::schedule::Schedule;
use crate::shape::{Chunks, DONE, Usage};

/// Events due at the same time are written together up to this many bytes.
const COALESCED: usize = 64 * 1024;

/// A stream under way.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The HTTP head, until it is sent with the first event.
    head: Vec<u8>,
    /// Frames messages as HTTP chunks; without, the end of the connection ends the body.
    chunked: bool,
    chunks: Chunks,
    schedule: Schedule,
    /// Counts of the whole answer: `completion` is the number of events.
    total: Usage,
    next: u64,
    ended: bool,
    /// One message, to know its length before it is framed.
    message: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(head: Vec<u8>, chunked: bool, chunks: Chunks, schedule: Schedule, total: Usage) -> Self {
        Self {
            head,
            chunked,
            chunks,
            schedule,
            total,
            next: 0,
            ended: false,
            message: Vec::new(),
        }
    }

    /// Tokens sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.next
    }

    /// Puts into `out`, which is empty, what is due at `now`. `stamps` gets one time per event, read just before the
    /// caller writes; `end` that of the end.
    pub(crate) fn step(
        &mut self,
        now: u64,
        out: &mut Vec<u8>,
        stamps: Option<&mut Vec<u64>>,
        end: &mut Option<u64>,
    ) -> Step {
        if self.ended {
            return Step::Done;
        }
        let from = self.next;
        let mut waits_until = None;
        while self.next < self.total.completion && out.len() < COALESCED {
            let due = self.schedule.event(self.next);
            if due > now {
                waits_until = Some(due);
                break;
            }
            self.token(out);
            // With time between tokens each is a write, and so a segment, of its own, even when late.
            if !self.schedule.at_once() {
                break;
            }
        }
        let may_end = out.is_empty() || (self.schedule.at_once() && out.len() < COALESCED);
        if self.next == self.total.completion && may_end {
            let due = self.schedule.end(self.next);
            if due > now {
                waits_until = Some(due);
            } else {
                self.end(out);
            }
        }
        match waits_until {
            Some(due) if out.is_empty() => return Step::Wait(due),
            _ => {}
        }
        let stamp = monotonic_ns();
        if let Some(stamps) = stamps {
            stamps.extend((from..self.next).map(|_| stamp));
        }
        if self.ended {
            *end = Some(stamp);
        }
        if self.ended || self.schedule.at_once() {
            return Step::Write;
        }
        Step::WriteUntil(if self.next == self.total.completion {
            self.schedule.end(self.next)
        } else {
            self.schedule.event(self.next)
        })
    }

    /// The counts after `tokens` tokens.
    fn usage(&self, tokens: u64) -> Usage {
        Usage {
            completion: tokens,
            reasoning: self.total.reasoning.min(tokens),
            ..self.total
        }
    }

    fn open(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.head);
        if self.chunks.role(self.usage(0), &mut self.message) {
            self.frame(out);
        }
    }

    fn token(&mut self, out: &mut Vec<u8>) {
        if self.next == 0 {
            self.open(out);
        }
        let index = self.next;
        self.next += 1;
        let reasoning = index < self.total.reasoning;
        self.chunks
            .token(index, reasoning, self.usage(self.next), &mut self.message);
        self.frame(out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if self.next == 0 {
            self.open(out);
        }
        let usage = self.usage(self.next);
        self.chunks.finish(usage, &mut self.message);
        self.frame(out);
        if self.chunks.last(usage, &mut self.message) {
            self.frame(out);
        }
        self.message.extend_from_slice(DONE);
        self.frame(out);
        if self.chunked {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        self.ended = true;
    }

    /// Moves the message into `out`.
    fn frame(&mut self, out: &mut Vec<u8>) {
        if self.chunked {
            // Writing to a vector cannot fail.
            let _ = write!(out, "{:x}\r\n", self.message.len());
            out.append(&mut self.message);
            out.extend_from_slice(b"\r\n");
        } else {
            out.append(&mut self.message);
        }
    }
}
