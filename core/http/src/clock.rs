//! The clock of the measuring path: monotonic nanoseconds inside, wall time only through anchors.
//!
//! Monotonic time is `CLOCK_MONOTONIC`, which the kernel slews together with `CLOCK_REALTIME`: the difference between
//! the two is constant until somebody steps the wall clock. An [`Anchor`] is one measurement of that difference.

#![allow(
    unsafe_code,
    reason = "clock_gettime, clock_nanosleep and prctl have no safe form in std"
)]

use std::cell::Cell;

/// Two clock readings that differ by less than this were taken undisturbed, in nanoseconds.
const TOLERANCE: u64 = 1_000;

/// A handle to the system clocks. Costs nothing to copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock;

impl Clock {
    /// Monotonic time in nanoseconds. Its zero is arbitrary (the boot of the machine on Linux) but the same for all
    /// processes of one machine.
    #[must_use]
    pub fn now(self) -> u64 {
        read(libc::CLOCK_MONOTONIC)
    }

    /// Wall time in nanoseconds since the Unix epoch. For export only: it may step.
    #[must_use]
    pub fn wall_now(self) -> u64 {
        read(libc::CLOCK_REALTIME)
    }

    /// Wall time of the monotonic instant `mono`, in epoch nanoseconds, by an anchor taken now.
    #[must_use]
    pub fn wall(self, mono: u64) -> u64 {
        self.anchor().wall(mono)
    }

    /// Measures the difference between wall and monotonic time: the narrowest of a few bracketed readings.
    #[must_use]
    pub fn anchor(self) -> Anchor {
        let mut best = self.anchor_once();
        for _ in 0..4 {
            if best.uncertainty < 200 {
                break;
            }
            let next = self.anchor_once();
            if next.uncertainty < best.uncertainty {
                best = next;
            }
        }
        best
    }

    fn anchor_once(self) -> Anchor {
        let before = self.now();
        let wall = self.wall_now();
        let after = self.now();
        let width = after.saturating_sub(before);
        let middle = before + width / 2;
        Anchor {
            offset: wall.wrapping_sub(middle),
            taken_at: before,
            uncertainty: width.div_ceil(2),
        }
    }

    /// Sleeps until the monotonic instant `mono`; the thread may wake some tens of microseconds late.
    pub fn sleep_until(self, mono: u64) {
        sleep(mono);
    }

    /// Sleeps until `spin_ns` before the monotonic instant `mono`, then spins: wakes within about a microsecond of
    /// it on an idle core. 50 µs of spinning cover the kernel's default timer slack.
    pub fn sleep_until_precise(self, mono: u64, spin_ns: u64) {
        sleep(mono.saturating_sub(spin_ns));
        while self.now() < mono {
            std::hint::spin_loop();
        }
    }

    /// Asks the kernel not to batch this thread's timers (the slack is 50 µs otherwise). Linux only; elsewhere a
    /// no-op. A refusal is ignored: spinning covers it.
    pub fn sharpen_timers_of_this_thread(self) {
        #[cfg(target_os = "linux")]
        // SAFETY: PR_SET_TIMERSLACK takes one integer and touches only the calling thread's slack.
        unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
        }
    }
}

/// One measurement of the distance between wall and monotonic time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Wall minus monotonic, modulo 2^64.
    offset: u64,
    /// Monotonic time of the measurement, in nanoseconds.
    pub taken_at: u64,
    /// Largest possible error of the offset, in nanoseconds.
    pub uncertainty: u64,
}

impl Anchor {
    /// Wall time (epoch nanoseconds) of a monotonic instant.
    #[must_use]
    pub fn wall(&self, mono: u64) -> u64 {
        mono.wrapping_add(self.offset)
    }

    /// Monotonic instant of a wall time (epoch nanoseconds).
    #[must_use]
    pub fn mono(&self, wall: u64) -> u64 {
        wall.wrapping_sub(self.offset)
    }

    fn agrees_with(&self, offset: u64) -> bool {
        let difference = self.offset.wrapping_sub(offset) as i64;
        difference.unsigned_abs() <= TOLERANCE + self.uncertainty
    }
}

/// Turns the kernel's receive timestamps, which are wall times, into monotonic ones, and notices steps of the wall
/// clock at every read.
#[derive(Debug)]
pub(crate) struct Converter {
    clock: Clock,
    anchor: Cell<Anchor>,
    /// Since when (monotonic) the anchor's offset is known to hold.
    valid_since: Cell<u64>,
}

impl Converter {
    pub(crate) fn new(clock: Clock) -> Self {
        let anchor = clock.anchor();
        Self {
            clock,
            anchor: Cell::new(anchor),
            valid_since: Cell::new(anchor.taken_at),
        }
    }

    /// The monotonic time of a packet that the kernel stamped `wall` (0: no stamp) and that was read at `user`. The
    /// packet can't be older than `since`, the last activity on its socket. None when the stamp is missing, or when
    /// the wall clock was stepped since then, so that nobody knows by which of the two clocks it was stamped.
    pub(crate) fn convert(&self, wall: u64, user: u64, since: u64) -> Option<u64> {
        if wall == 0 {
            return None;
        }
        self.check(self.clock.wall_now().wrapping_sub(user));
        if since < self.valid_since.get() {
            return None;
        }
        plausible(self.anchor.get().mono(wall), user)
    }

    /// Compares a fresh, cheap reading of the offset with the anchor. A reading that disagrees was either disturbed
    /// (the thread lost its core in between) or tells of a step: a careful measurement decides.
    fn check(&self, offset: u64) {
        if self.anchor.get().agrees_with(offset) {
            return;
        }
        let fresh = self.clock.anchor();
        if !self.anchor.get().agrees_with(fresh.offset) {
            self.anchor.set(fresh);
            self.valid_since.set(fresh.taken_at);
        }
    }
}

/// A packet can't arrive after it was read. A hair's breadth is rounding; more means that the stamp is not usable.
fn plausible(kernel: u64, user: u64) -> Option<u64> {
    (kernel <= user.saturating_add(TOLERANCE)).then(|| kernel.min(user))
}

fn read(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to; both clock ids exist on every supported system, so the call
    // can't fail.
    unsafe {
        libc::clock_gettime(id, &mut time);
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_os = "linux")]
fn sleep(until: u64) {
    let time = libc::timespec {
        tv_sec: (until / 1_000_000_000) as libc::time_t,
        tv_nsec: (until % 1_000_000_000) as libc::c_long,
    };
    // An absolute deadline: an interrupted sleep is simply repeated, and one that lies in the past returns at once.
    // SAFETY: `time` is a valid timespec; the remaining-time pointer may be null, and is ignored for absolute sleeps.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

#[cfg(not(target_os = "linux"))]
fn sleep(until: u64) {
    let left = until.saturating_sub(Clock.now());
    if left > 0 {
        std::thread::sleep(std::time::Duration::from_nanos(left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_converts_both_ways() {
        let anchor = Anchor {
            offset: 1_700_000_000_000_000_000,
            taken_at: 5,
            uncertainty: 20,
        };
        assert_eq!(anchor.wall(1_000), 1_700_000_000_000_001_000);
        assert_eq!(anchor.mono(1_700_000_000_000_001_000), 1_000);
    }

    #[test]
    fn wall_follows_the_system_clock() {
        let before = Clock.wall_now();
        let anchor = Clock.anchor();
        let wall = anchor.wall(Clock.now());
        let after = Clock.wall_now();
        let slack = anchor.uncertainty;
        assert!(
            wall + slack >= before && wall <= after + slack,
            "{before} {wall} {after} {anchor:?}"
        );
    }

    #[test]
    fn precise_sleep_never_returns_early() {
        for lead in [0, 1_000, 300_000, 2_000_000] {
            let until = Clock.now() + lead;
            Clock.sleep_until_precise(until, 50_000);
            assert!(Clock.now() >= until);
        }
        Clock.sleep_until_precise(0, 50_000);
    }

    #[test]
    fn a_packet_cannot_arrive_after_its_read() {
        for (kernel, user, expected) in [
            (900, 1_000, Some(900)),
            (1_000, 1_000, Some(1_000)),
            (1_400, 1_000, Some(1_000)),
            (2_001, 1_000, None),
            (u64::MAX - 5, 1_000, None),
        ] {
            assert_eq!(plausible(kernel, user), expected, "{kernel} {user}");
        }
    }

    #[test]
    fn a_stamp_of_zero_is_missing() {
        assert_eq!(Converter::new(Clock).convert(0, Clock.now(), u64::MAX), None);
    }

    #[test]
    fn stamps_from_before_a_step_are_dropped_and_later_ones_are_right_again() {
        let converter = Converter::new(Clock);
        let before_the_step = Clock.now();
        // As if the wall clock had been an hour ahead until now.
        let mut anchor = converter.anchor.get();
        anchor.offset = anchor.offset.wrapping_add(3_600_000_000_000);
        converter.anchor.set(anchor);

        let (wall, user) = (Clock.wall_now(), Clock.now());
        assert_eq!(converter.convert(wall, user, before_the_step), None);

        let since = Clock.now();
        let wall = Clock.wall_now();
        let user = Clock.now();
        let kernel = converter
            .convert(wall, user, since)
            .expect("a stamp of the stepped clock");
        assert!(
            kernel + 2 * TOLERANCE >= since && kernel <= user,
            "{since} {kernel} {user}"
        );
    }
}
