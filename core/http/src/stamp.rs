//! Stamps of reads, and whether they come late.

use std::cell::Cell;

use crate::clock::{Clock, Converter};
use crate::exchange::Arrival;
use crate::receive::Received;

/// A read that comes so long after the kernel's stamp, in nanoseconds, is late: soon the next token comes, and takes the
/// stamp of the one before.
const LATE: u64 = 8_000_000;
/// Late reads within so many nanoseconds have one cause.
const OCCASION: u64 = 5_000_000;
/// Occasions further apart than this have nothing to do with each other.
const FAR: u64 = 1_000_000_000;
/// Occasions from which on it is more than a hiccup.
const MANY: u32 = 8;

/// The stamp of one read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadStamp {
    /// Number of this read on its socket, counted from 1.
    pub(crate) read: u64,
    /// Monotonic time right after the read.
    pub(crate) user: u64,
    /// Monotonic time at which the kernel received the last segment of this read.
    pub(crate) kernel: Option<u64>,
    /// Nothing of this read arrived before this: the stamp of the previous read, or the start of the last write.
    pub(crate) previous: u64,
    /// The time of the read is wanted, not the kernel's.
    pub(crate) by_user: bool,
}

impl ReadStamp {
    /// Best stamp.
    pub(crate) fn at(&self) -> u64 {
        self.exact().at()
    }

    /// Arrival of something that ended with the last byte of this read.
    pub(crate) fn exact(&self) -> Arrival {
        self.arrival(None)
    }

    /// Arrival of something that was followed by more bytes in the same read.
    pub(crate) fn bounded(&self) -> Arrival {
        self.arrival(Some(self.lower()))
    }

    /// Nothing of this read arrived before this.
    pub(crate) fn lower(&self) -> u64 {
        self.previous.min(self.at())
    }

    /// Arrival of something of which this is the lower bound, if it was followed by more bytes in the same read.
    #[inline]
    pub(crate) fn arrival(&self, lower: Option<u64>) -> Arrival {
        Arrival::with_preference(self.user, self.kernel, lower, self.by_user)
    }
}

/// How the sockets of a client stamp their reads.
pub(crate) struct Stamping {
    pub(crate) clock: Clock,
    /// The time of the read is wanted, not the kernel's.
    pub(crate) by_user: bool,
    converter: Converter,
    /// Occasions on which reads came late, one soon after the other.
    late: Cell<u32>,
    /// The last one.
    late_at: Cell<u64>,
    when_late: Option<fn()>,
}

impl Stamping {
    pub(crate) fn new(clock: Clock, by_user: bool, when_late: Option<fn()>) -> Self {
        Self {
            clock,
            by_user,
            converter: Converter::new(clock),
            late: Cell::new(0),
            late_at: Cell::new(0),
            when_late,
        }
    }

    /// The kernel's stamp of what was received over a socket on which nothing had happened since `since`, in monotonic
    /// nanoseconds.
    pub(crate) fn kernel(&self, received: &Received, since: u64) -> Option<u64> {
        let kernel = self.converter.convert(received.wall, received.user, since);
        if kernel.is_none_or(|kernel| received.user > kernel.saturating_add(LATE)) {
            self.note_late(received.user);
        }
        kernel
    }

    #[cold]
    fn note_late(&self, now: u64) {
        let since = now.saturating_sub(self.late_at.get());
        if since < OCCASION {
            return;
        }
        self.late_at.set(now);
        let before = self.late.get();
        if before < MANY {
            let before = if since > FAR { 0 } else { before };
            self.late.set(before + 1);
            if before + 1 == MANY
                && let Some(tell) = self.when_late
            {
                tell();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    static TOLD: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn it_is_told_once_that_reads_come_late_again_and_again() {
        let stamping = Stamping::new(Clock, false, Some(|| _ = TOLD.fetch_add(1, Relaxed)));
        let mut now = 10 * FAR;
        // One hiccup that many sockets see, then hiccups that are far apart.
        for _ in 0..1000 {
            stamping.note_late(now);
        }
        for _ in 0..2 * MANY {
            now += 2 * FAR;
            stamping.note_late(now);
        }
        assert_eq!(TOLD.load(Relaxed), 0);
        for occasion in 2..3 * MANY {
            now += 2 * OCCASION;
            stamping.note_late(now);
            assert_eq!(TOLD.load(Relaxed), u32::from(occasion >= MANY), "occasion {occasion}");
        }
    }

    #[test]
    fn late_are_reads_long_after_the_stamp_and_those_without_one() {
        let late = |lag: Option<u64>| {
            let stamping = Stamping::new(Clock, false, None);
            let (wall, user) = (Clock.wall_now(), Clock.now());
            let received = Received {
                len: 1,
                filled: false,
                user,
                wall: lag.map_or(0, |lag| wall - lag),
            };
            let stamp = stamping.kernel(&received, user);
            assert_eq!(stamp.is_some(), lag.is_some());
            stamping.late.get() == 1
        };
        assert!(!late(Some(LATE / 2)));
        assert!(late(Some(LATE + 1_000_000)));
        assert!(late(None));
    }
}
