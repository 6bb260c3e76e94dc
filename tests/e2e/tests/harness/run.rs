//! One run of the binary in a fresh folder.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::binary;

/// A run that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(300);

/// Runs share the machine, except those whose times are compared with something.
static MACHINE: RwLock<()> = RwLock::new(());

enum Share {
    Among(#[expect(dead_code, reason = "held")] RwLockReadGuard<'static, ()>),
    Alone(#[expect(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>),
}

/// A folder for one run: `work` is the working directory, `tmp` takes temporary files, `home` is empty.
pub(crate) struct Folder {
    root: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "home"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes an input file and returns its path as an argument.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.into_os_string().into_string().unwrap()
    }
}

/// A command to be run.
pub(crate) struct Run {
    folder: Folder,
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    secrets: Vec<String>,
    alone: bool,
    own_artifacts: bool,
}

impl Run {
    /// `aiperf` with the words of a command line as its arguments.
    pub(crate) fn new(folder: Folder, line: &str) -> Self {
        Self {
            folder,
            program: binary().to_owned(),
            arguments: line.split_whitespace().map(OsString::from).collect(),
            environment: Vec::new(),
            secrets: Vec::new(),
            alone: false,
            own_artifacts: false,
        }
    }

    /// `aiperf profile` in a fresh folder.
    pub(crate) fn profile(line: &str) -> Self {
        Self::profile_in(Folder::new(), line)
    }

    /// `aiperf profile` with its artifacts in the `artifacts` of a folder.
    pub(crate) fn profile_in(folder: Folder, line: &str) -> Self {
        let artifacts = folder.path("artifacts");
        let mut run = Self::new(folder, &format!("profile {line} --ui none --artifact-dir"));
        run.own_artifacts = true;
        run.arg(artifacts)
    }

    /// One more argument, blanks and all.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Another program, which must understand the same arguments.
    pub(crate) fn program(mut self, program: &Path) -> Self {
        self.program = program.to_owned();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// What may appear in nothing that the run writes.
    pub(crate) fn secret(mut self, secret: &str) -> Self {
        self.secrets.push(secret.to_owned());
        self
    }

    /// Waits until it has the machine for itself, because its times matter.
    pub(crate) fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Runs to the end.
    pub(crate) fn finish(self) -> Finished {
        self.start().finish()
    }

    /// Runs to the end, which must be a success.
    #[track_caller]
    pub(crate) fn succeed(self) -> Finished {
        let finished = self.finish();
        assert_eq!(finished.code, Some(0), "{finished}");
        finished
    }

    pub(crate) fn start(self) -> Started {
        let share = if self.alone {
            Share::Alone(MACHINE.write().unwrap_or_else(|poisoned| poisoned.into_inner()))
        } else {
            Share::Among(MACHINE.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
        };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(self.folder.path("work"));
        command.env_clear().envs(self.environment);
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.folder.path("home"))
            .env("TMPDIR", self.folder.path("tmp"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        Started {
            stdout: reader(child.stdout.take().unwrap()),
            stderr: reader(child.stderr.take().unwrap()),
            child,
            since: Instant::now(),
            ours: self.program == binary(),
            own_artifacts: self.own_artifacts,
            folder: self.folder,
            secrets: self.secrets,
            share,
        }
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A run under way.
pub(crate) struct Started {
    folder: Folder,
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
    since: Instant,
    ours: bool,
    own_artifacts: bool,
    secrets: Vec<String>,
    share: Share,
}

impl Started {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Ctrl-C, for this process alone.
    pub(crate) fn interrupt(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).unwrap();
    }

    /// Keeps this process from running for a while.
    pub(crate) fn stop_for(&self, time: Duration) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::STOP).unwrap();
        thread::sleep(time);
        kill_process(pid, Signal::CONT).unwrap();
    }

    /// The end, without a word.
    pub(crate) fn kill(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end; the most memory that it had, in MiB, as last seen.
    pub(crate) fn peak_memory(&mut self) -> u64 {
        let mut peak = 0;
        while !self.has_ended() && self.since.elapsed() < DEADLINE {
            let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
            peak = kib.map_or(peak, |kib| kib.parse::<u64>().unwrap() >> 10);
            thread::sleep(Duration::from_millis(5));
        }
        peak
    }

    pub(crate) fn finish(mut self) -> Finished {
        let status = self.wait();
        drop(self.share);
        let finished = Finished {
            code: status.map(|status| status.code().unwrap_or(-1)),
            stdout: self.stdout.join().unwrap(),
            stderr: self.stderr.join().unwrap(),
            artifacts: self.folder.path("artifacts"),
            folder: self.folder,
        };
        assert!(status.is_some(), "no end after {DEADLINE:?}: {finished}");
        if self.ours {
            finished.left_nothing_behind(self.own_artifacts);
        }
        for secret in &self.secrets {
            finished.hides(secret);
        }
        finished
    }

    /// `None`: it had to be killed.
    fn wait(&mut self) -> Option<ExitStatus> {
        while self.since.elapsed() < DEADLINE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        None
    }
}

/// A run that has ended.
pub(crate) struct Finished {
    /// `None` or negative: it did not exit by itself.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The artifact folder.
    pub(crate) artifacts: PathBuf,
    folder: Folder,
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            code, stdout, stderr, ..
        } = self;
        write!(f, "exit code {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

impl Finished {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// No temporary file outlives the run, and nothing is written but artifacts.
    #[track_caller]
    fn left_nothing_behind(&self, own_artifacts: bool) {
        let mut places = vec!["tmp", "home"];
        if own_artifacts {
            places.push("work");
        }
        for place in places {
            let left = files_below(&self.folder.path(place));
            assert!(left.is_empty(), "left behind in {place}: {left:?}\n{self}");
        }
    }

    #[track_caller]
    fn hides(&self, secret: &str) {
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            assert!(!text.contains(secret), "the secret is on {name}: {self}");
        }
        for file in files_below(&self.artifacts) {
            let bytes = fs::read(&file).unwrap();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "the secret is in {}", file.display());
        }
    }
}

/// Everything below a folder that is not a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return files;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
