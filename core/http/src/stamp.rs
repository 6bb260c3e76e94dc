//! Stamps of reads, and whether they come late.

use std::cell::Cell;

use crate::clock::{Clock, Converter};
use crate::exchange::Arrival;
use crate::receive::Received;

/// A read that comes so long after the kernel's stamp, in nanoseconds, is late: by now the next token may have come, and
/// have taken the stamp of the one before.
const LATE: u64 = 16_000_000;
/// Late reads from which on it is more than a hiccup.
const MANY: u32 = 32;

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
    late: Cell<u32>,
    when_late: Option<fn()>,
}

impl Stamping {
    pub(crate) fn new(clock: Clock, by_user: bool, when_late: Option<fn()>) -> Self {
        Self {
            clock,
            by_user,
            converter: Converter::new(clock),
            late: Cell::new(0),
            when_late,
        }
    }

    /// The kernel's stamp of what was received over a socket on which nothing had happened since `since`, in monotonic
    /// nanoseconds.
    pub(crate) fn kernel(&self, received: &Received, since: u64) -> Option<u64> {
        let kernel = self.converter.convert(received.wall, received.user, since);
        if kernel.is_none_or(|kernel| received.user > kernel.saturating_add(LATE)) {
            self.note_late();
        }
        kernel
    }

    #[cold]
    fn note_late(&self) {
        let late = self.late.get() + 1;
        self.late.set(late.min(MANY));
        if late == MANY
            && let Some(tell) = self.when_late
        {
            tell();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    static TOLD: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn it_is_told_once_that_reads_come_late_or_without_a_stamp() {
        let stamping = Stamping::new(Clock, false, Some(|| _ = TOLD.fetch_add(1, Relaxed)));
        let read = |wall_lag: Option<u64>| {
            let (wall, user) = (Clock.wall_now(), Clock.now());
            let received = Received {
                len: 1,
                filled: false,
                user,
                wall: wall_lag.map_or(0, |lag| wall - lag),
            };
            stamping.kernel(&received, user)
        };
        for _ in 0..2 * MANY {
            assert!(read(Some(LATE / 2)).is_some());
        }
        assert_eq!(TOLD.load(Relaxed), 0);
        for late in 1..3 * MANY {
            let stamp = read((late % 2 == 0).then_some(LATE + 1_000_000));
            assert_eq!(stamp.is_some(), late % 2 == 0);
            assert_eq!(TOLD.load(Relaxed), u32::from(late >= MANY), "after {late}");
        }
    }
}
