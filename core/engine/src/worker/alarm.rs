//! Waking at an instant of the monotonic clock. The runtime's own timers count in milliseconds; this one is as precise as
//! the system wakes a thread.

pub(super) use system::Alarm;

#[cfg(target_os = "linux")]
mod system {
    use std::{io, os::fd::OwnedFd};

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::{Interest, unix::AsyncFd};

    /// A timer of the system among the sockets of the runtime.
    pub(in super::super) struct Alarm {
        timer: AsyncFd<OwnedFd>,
    }

    impl Alarm {
        /// Needs a runtime around it.
        #[expect(
            deprecated,
            reason = "its successor is unsafe for the sake of types whose descriptor may change; that of an `OwnedFd` can't"
        )]
        pub(in super::super) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK.union(TimerfdFlags::CLOEXEC);
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            Ok(Self {
                timer: AsyncFd::with_interest(timer, Interest::READABLE)?,
            })
        }

        /// Waits until `at_ns`; may return early. A system that refuses makes it return at once.
        pub(in super::super) async fn until(&self, at_ns: u64) {
            let once = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec {
                    tv_sec: (at_ns / 1_000_000_000).cast_signed(),
                    tv_nsec: (at_ns % 1_000_000_000).cast_signed(),
                },
            };
            if timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &once).is_err() {
                return;
            }
            // Setting it anew unmarks an expiry that was never read, so nothing need be read.
            if let Ok(mut ready) = self.timer.readable().await {
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{io, time::Duration};

    use aiperf_http::Clock;

    /// The runtime's timer.
    pub(in super::super) struct Alarm;

    impl Alarm {
        pub(in super::super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits until `at_ns`, to a millisecond.
        pub(in super::super) async fn until(&self, at_ns: u64) {
            let left = Duration::from_nanos(at_ns.saturating_sub(Clock.now()));
            tokio::time::sleep(left).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use aiperf_http::Clock;

    use super::*;

    #[test]
    fn it_can_be_set_anew_and_rings_again() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let alarm = Alarm::new().unwrap();
            let begin = Clock.now();
            // Given up before it rings: the next setting counts.
            let far = alarm.until(begin + 3_600_000_000_000);
            assert!(
                tokio::time::timeout(std::time::Duration::from_millis(1), far)
                    .await
                    .is_err()
            );
            for step in 1..=3 {
                let at = begin + step * 3_000_000;
                while Clock.now() < at {
                    alarm.until(at).await;
                }
            }
            // The past rings at once.
            alarm.until(begin).await;
        });
    }
}
