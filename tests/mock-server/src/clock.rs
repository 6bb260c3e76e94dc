//! The clocks, and an alarm that is precise to microseconds.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` in nanoseconds: comparable with other processes of this machine, which `std`'s `Instant` hides.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds since the Unix epoch.
pub(crate) fn wall_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

fn nanoseconds(time: rustix::time::Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// A delay as the clocks count it. Settings keep delays below an hour, so nothing is cut.
pub(crate) fn delay_ns(delay: Duration) -> u64 {
    u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) use alarm::Alarm;

/// A timer descriptor in the readiness queue: the queue's own timeout counts in milliseconds and is subject to timer
/// slack, this is not.
#[cfg(target_os = "linux")]
mod alarm {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::Duration;

    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };

    pub(crate) struct Alarm {
        timer: OwnedFd,
        /// 0 when disarmed.
        armed: u64,
    }

    impl Alarm {
        pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let timer = timerfd_create(
                TimerfdClockId::Monotonic,
                TimerfdFlags::NONBLOCK.union(TimerfdFlags::CLOEXEC),
            )?;
            registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
            Ok(Self { timer, armed: 0 })
        }

        /// Sees to it that a wait returns at `deadline` (`CLOCK_MONOTONIC` ns) or earlier; answers the timeout to wait with.
        pub(crate) fn arm(&mut self, deadline: Option<u64>) -> io::Result<Option<Duration>> {
            // Without a deadline an old one may still fire: a needless wake costs less than disarming.
            if let Some(wanted) = deadline
                && wanted != self.armed
            {
                let it_value = Timespec {
                    tv_sec: (wanted / 1_000_000_000).cast_signed(),
                    tv_nsec: (wanted % 1_000_000_000).cast_signed(),
                };
                let once = Itimerspec {
                    it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                    it_value,
                };
                timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
                self.armed = wanted;
            }
            Ok(None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod alarm {
    use std::io;
    use std::time::Duration;

    use mio::{Registry, Token};

    pub(crate) struct Alarm;

    impl Alarm {
        pub(crate) fn new(_: &Registry, _: Token) -> io::Result<Self> {
            Ok(Self)
        }

        /// The queue's own timeout has to do here.
        pub(crate) fn arm(&mut self, deadline: Option<u64>) -> io::Result<Option<Duration>> {
            Ok(deadline.map(|deadline| Duration::from_nanos(deadline.saturating_sub(super::monotonic_ns()))))
        }
    }
}
