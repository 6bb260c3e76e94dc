//! The thread that writes the log.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::SystemTime,
};

use aiperf_config::RunPlan;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use jiff::tz::TimeZone;
use tracing::Level;
use tracing_subscriber::{layer::SubscriberExt, registry};

use aiperf_config::Secrets;

use super::{Levels, layer::LogLayer, line::Line};
use crate::terminal::Terminal;

/// Lines that wait for the writer at most.
const QUEUE: usize = 8192;
/// Lines that are kept for the file until its folder exists.
const EARLY: usize = 1000;

enum Job {
    Write(Line),
    /// For the file alone: the console says it in another way.
    Record(Line),
    Open(File),
    Finish,
}

/// The way to the writer.
#[derive(Clone)]
pub(super) struct Queue {
    sender: Sender<Job>,
    dropped: Arc<AtomicU64>,
}

impl Queue {
    pub(super) fn push(&self, line: Line) {
        if let Err(TrySendError::Full(_)) = self.sender.try_send(Job::Write(line)) {
            self.dropped.fetch_add(1, Relaxed);
        }
    }
}

/// The log of a run, for those who add to it.
#[derive(Clone)]
pub(crate) struct Log(Queue);

impl Log {
    /// Starts the log file, with the lines that were written before there was one.
    ///
    /// # Errors
    /// When the file can't be made.
    pub(crate) fn open(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let _ = self.0.sender.send(Job::Open(File::create(path)?));
        Ok(())
    }

    /// Writes to the file what the console is told in another way.
    pub(crate) fn record(&self, level: Level, message: String) {
        let line = Line {
            at: SystemTime::now(),
            level,
            logger: "aiperf",
            message,
        };
        let _ = self.0.sender.send(Job::Record(line));
    }
}

/// The running writer. Dropped, it writes what is left and ends.
pub(crate) struct LogWriter {
    queue: Queue,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    /// Starts the writer and makes it the destination of every event.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(crate) fn start(plan: &RunPlan, terminal: Arc<Terminal>) -> io::Result<(Self, Log)> {
        let (writer, log) = Self::detached(Levels::of(plan), Secrets::of(plan), terminal)?;
        let layer = LogLayer {
            least: Levels::of(plan).least(),
            queue: log.0.clone(),
        };
        // A process has one run: a second destination can't be asked for.
        let _ = tracing::subscriber::set_global_default(registry().with(layer));
        Ok((writer, log))
    }

    fn detached(levels: Levels, secrets: Secrets, terminal: Arc<Terminal>) -> io::Result<(Self, Log)> {
        let (sender, inbox) = bounded(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let queue = Queue {
            sender,
            dropped: dropped.clone(),
        };
        let sinks = Sinks {
            levels,
            secrets,
            terminal,
            file: None,
            early: Vec::new(),
            zone: None,
            dropped,
        };
        let thread = thread::Builder::new()
            .name("log".into())
            .spawn(move || sinks.run(&inbox))?;
        let writer = Self {
            queue: queue.clone(),
            thread: Some(thread),
        };
        Ok((writer, Log(queue)))
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        let _ = self.queue.sender.send(Job::Finish);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Sinks {
    levels: Levels,
    secrets: Secrets,
    terminal: Arc<Terminal>,
    file: Option<BufWriter<File>>,
    early: Vec<String>,
    /// Finding out takes reading files, so that is done here and when it is first needed.
    zone: Option<TimeZone>,
    dropped: Arc<AtomicU64>,
}

impl Sinks {
    fn run(mut self, inbox: &Receiver<Job>) {
        loop {
            let job = match inbox.try_recv() {
                Ok(job) => job,
                Err(_) => {
                    self.flush();
                    let Ok(job) = inbox.recv() else { break };
                    job
                }
            };
            match job {
                Job::Write(line) => self.write(line, true),
                Job::Record(line) => self.write(line, false),
                Job::Open(file) => {
                    self.file = Some(BufWriter::new(file));
                    for line in std::mem::take(&mut self.early) {
                        self.append(line);
                    }
                }
                Job::Finish => break,
            }
        }
        let dropped = self.dropped.load(Relaxed);
        if dropped > 0 {
            let line = Line {
                at: SystemTime::now(),
                level: Level::WARN,
                logger: module_path!(),
                message: format!("{dropped} log lines were dropped: they came faster than they could be written"),
            };
            self.write(line, true);
        }
        self.flush();
    }

    fn write(&mut self, mut line: Line, console: bool) {
        line.message = self.secrets.blot(line.message);
        let zone = self.zone.get_or_insert_with(TimeZone::system).clone();
        if console && line.level <= self.levels.console {
            self.terminal.line(&line.for_console(&zone));
        }
        if line.level <= self.levels.file {
            self.append(line.for_file(&zone));
        }
    }

    fn append(&mut self, line: String) {
        match &mut self.file {
            Some(file) => {
                if let Err(error) = writeln!(file, "{line}") {
                    self.give_up(&error);
                }
            }
            None if self.early.len() < EARLY => self.early.push(line),
            None => {
                self.dropped.fetch_add(1, Relaxed);
            }
        }
    }

    fn flush(&mut self) {
        if let Some(Err(error)) = self.file.as_mut().map(BufWriter::flush) {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        self.file = None;
        self.early = Vec::new();
        self.terminal
            .line(&format!("The log file ends here, it can't be written: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use tracing::level_filters::LevelFilter;

    use super::*;

    #[test]
    fn early_lines_reach_the_file_and_secrets_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/aiperf.log");
        let plan = aiperf_config::parse_profile(&["--url", "mock:", "--api-key", "sk-0123456789"]).unwrap();
        let levels = Levels {
            file: LevelFilter::INFO,
            console: LevelFilter::OFF,
        };
        let (writer, log) = LogWriter::detached(levels, Secrets::of(&plan), Arc::default()).unwrap();
        let dispatch = tracing::Dispatch::new(registry().with(LogLayer {
            least: levels.least(),
            queue: log.0.clone(),
        }));
        tracing::dispatcher::with_default(&dispatch, || {
            tracing::info!("before the file: Bearer sk-0123456789");
            log.open(&path).unwrap();
            tracing::info!(plugin = "chat", count = 3, "after it");
            tracing::debug!("too fine");
            tracing::error!(target: "hyper", "not ours");
        });
        log.record(Level::ERROR, "for the file".into());
        drop(writer);
        let text = fs::read_to_string(path).unwrap();
        let messages: Vec<&str> = text
            .lines()
            .map(|line| &line["YYYY-MM-DD HH:MM:SS.mmm".len()..])
            .collect();
        assert_eq!(
            messages,
            [
                " - aiperf::log::writer::tests - INFO - before the file: Bearer <redacted>",
                " - aiperf::log::writer::tests - INFO - after it plugin=chat count=3",
                " - aiperf - ERROR - for the file",
            ]
        );
    }

    #[test]
    fn a_full_queue_drops_and_counts() {
        let (sender, inbox) = bounded(1);
        let queue = Queue {
            sender,
            dropped: Arc::default(),
        };
        let line = Line {
            at: SystemTime::UNIX_EPOCH,
            level: Level::INFO,
            logger: "aiperf",
            message: String::new(),
        };
        queue.push(line.clone());
        queue.push(line);
        assert_eq!((inbox.len(), queue.dropped.load(Relaxed)), (1, 1));
    }
}
