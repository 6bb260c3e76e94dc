//! What a run costs the machine, and whether the machine let it run: CPU time, stalls, clock steps. As long as it watches,
//! idle processors are kept awake.

use std::{
    fs::{self, File},
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use aiperf_http::{Clock, clock::Anchor};
use aiperf_plugin_api::validity::MachineUse;

/// How often it looks whether this process runs.
const TICK: Duration = Duration::from_millis(10);
/// Being later than this is a stall, in ns.
const STALL: u64 = 10_000_000;
/// The wall clock was stepped if it is off by more than this, in ns.
const STEP: u64 = 1_000_000;

/// Watches from its making until it is asked.
pub struct Machine {
    clock: Clock,
    anchor: Anchor,
    cpu: Option<CpuTimes>,
    stalls: Arc<Stalls>,
    awake: Option<File>,
}

#[derive(Default)]
struct Stalls {
    over: AtomicBool,
    longest_ns: AtomicU64,
    total_ns: AtomicU64,
}

impl Machine {
    /// Begins to watch.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn watch() -> std::io::Result<Self> {
        let clock = Clock;
        let stalls = Arc::new(Stalls::default());
        let watched = Arc::clone(&stalls);
        thread::Builder::new().name("stall_monitor".into()).spawn(move || {
            while !watched.over.load(Relaxed) {
                let before = clock.now();
                thread::sleep(TICK);
                watched.slept(clock.now().saturating_sub(before));
            }
        })?;
        Ok(Self {
            clock,
            anchor: clock.anchor(),
            cpu: CpuTimes::now(),
            stalls,
            awake: keep_awake(),
        })
    }

    /// What has been seen since.
    pub fn seen(&self) -> MachineUse {
        let cores = thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
        let (own_cores, busy) = match (&self.cpu, CpuTimes::now()) {
            (Some(before), Some(now)) => now.since(before),
            _ => (None, None),
        };
        let now = self.clock.anchor();
        let step = now.wall(0).wrapping_sub(self.anchor.wall(0)) as i64;
        let stepped = step.unsigned_abs() > STEP + now.uncertainty + self.anchor.uncertainty;
        MachineUse {
            cores,
            own_cores,
            busy,
            io_priority: io_priority(),
            kept_awake: self.awake.is_some(),
            longest_stall_ns: self.stalls.longest_ns.load(Relaxed),
            stalled_ns: self.stalls.total_ns.load(Relaxed),
            clock_step_ns: if stepped { step } else { 0 },
        }
    }
}

/// Asks the system, while the file is open, for processors that wake at once: a sleeping one takes tens to hundreds of µs to
/// wake, for which a schedule and the server's answers would wait. `None` where the process may not.
fn keep_awake() -> Option<File> {
    let mut file = File::options().write(true).open("/dev/cpu_dma_latency").ok()?;
    // The wake-up latency that is bearable, in µs, as the kernel's PM QoS interface takes it.
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.stalls.over.store(true, Relaxed);
    }
}

impl Stalls {
    /// A sleep of a tick took so long.
    fn slept(&self, ns: u64) {
        let late = ns.saturating_sub(TICK.as_nanos() as u64);
        if late > STALL {
            self.longest_ns.fetch_max(late, Relaxed);
            self.total_ns.fetch_add(late, Relaxed);
        }
    }
}

/// Ticks of the kernel's accounting.
struct CpuTimes {
    /// Of this process, all threads, user and system.
    own: u64,
    /// Of the machine.
    idle: u64,
    total: u64,
    at_ns: u64,
}

/// Ticks per second in `/proc`, the same on every Linux (`USER_HZ`).
const HERTZ: f64 = 100.0;

impl CpuTimes {
    /// `None` where the system does not tell.
    fn now() -> Option<Self> {
        let machine = fs::read_to_string("/proc/stat").ok()?;
        let (idle, total) = machine_ticks(&machine)?;
        Some(Self {
            own: own_ticks(&fs::read_to_string("/proc/self/stat").ok()?)?,
            idle,
            total,
            at_ns: Clock.now(),
        })
    }

    /// Cores that this process used, and the share of the machine's time that anybody used. `None` where too little time
    /// has passed to tell.
    fn since(&self, before: &Self) -> (Option<f64>, Option<f64>) {
        let seconds = self.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
        let own = self.own.saturating_sub(before.own) as f64 / HERTZ;
        let total = self.total.saturating_sub(before.total);
        let idle = self.idle.saturating_sub(before.idle).min(total);
        // A tenth of a second is ten ticks.
        let enough = seconds >= 0.1 && total >= 10;
        (
            enough.then(|| own / seconds),
            enough.then(|| 1.0 - idle as f64 / total as f64),
        )
    }
}

/// Idle and all ticks of the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal.
fn machine_ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .skip(1)
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    let idle = ticks.get(3)? + ticks.get(4).copied().unwrap_or(0);
    Some((idle, ticks.iter().sum()))
}

/// Priority of the I/O threads of this process, the least preferred of them.
fn io_priority() -> Option<i64> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok())
        .filter_map(|stat| priority_of_io(&stat))
        .max()
}

/// The priority (field 18) of a thread, if it is one that reads sockets.
fn priority_of_io(stat: &str) -> Option<i64> {
    let (name, fields) = stat.rsplit_once(')')?;
    let (_, name) = name.split_once('(')?;
    let reads = name.starts_with("worker_") && name.ends_with("_io");
    fields.split_ascii_whitespace().nth(15).filter(|_| reads)?.parse().ok()
}

/// User and system ticks: fields 14 and 15, counted behind the name, which may hold blanks and parentheses.
fn own_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounting_of_the_kernel() {
        let stat = "cpu  10 1 20 60 5 2 1 1 7 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(machine_ticks(stat), Some((65, 100)));
        assert_eq!(machine_ticks("intr 1\n"), None);
        let stat = "7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 31 11 0 0 20 0 1";
        assert_eq!(own_ticks(stat), Some(42));
        assert_eq!(own_ticks("7 (a"), None);
        let thread = |name: &str| format!("7 ({name}) S 1 2 3 4 5 6 7 8 9 10 31 11 0 0 -11 0 1");
        assert_eq!(priority_of_io(&thread("worker_12_io")), Some(-11));
        assert_eq!(priority_of_io(&thread("worker_12")), None);
        assert_eq!(priority_of_io("7 (worker_0_io"), None);
    }

    #[test]
    fn shares_over_time() {
        let at = |own, idle, total, at_ns| CpuTimes {
            own,
            idle,
            total,
            at_ns,
        };
        let before = at(100, 1000, 2000, 0);
        // 50 ticks in a second are half a core; 150 of 200 ticks were used.
        assert_eq!(
            at(150, 1050, 2200, 1_000_000_000).since(&before),
            (Some(0.5), Some(0.75))
        );
        assert_eq!(at(101, 1001, 2002, 10_000_000).since(&before), (None, None));
    }

    #[test]
    fn only_what_is_late_by_a_tick_is_a_stall() {
        let stalls = Stalls::default();
        for ns in [10_060_000, 19_000_000, 40_000_000, 510_000_000] {
            stalls.slept(ns);
        }
        assert_eq!(stalls.longest_ns.load(Relaxed), 500_000_000);
        assert_eq!(stalls.total_ns.load(Relaxed), 530_000_000);
    }

    #[test]
    fn a_watched_machine_says_something() {
        let machine = Machine::watch().unwrap();
        let seen = machine.seen();
        assert!(seen.cores >= 1);
        assert_eq!(seen.clock_step_ns, 0);
    }
}
