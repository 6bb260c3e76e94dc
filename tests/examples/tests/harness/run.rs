//! One run of the binary.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{root, target};

/// A run that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(90);

/// The `aiperf` to test: `AIPERF_TEST_BINARY`, else the one of this workspace. Cargo cannot be told that tests of one
/// package need the binary of another, so it is asked here, once; it does nothing when the binary is up to date.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = env::var_os("AIPERF_TEST_BINARY") {
            return path.into();
        }
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // What cargo tells this test about itself is not about what is built; build scripts that look would run anew.
        for (name, _) in env::vars_os() {
            let told = ["CARGO_PKG_", "CARGO_MANIFEST_"];
            if name
                .to_str()
                .is_some_and(|name| told.iter().any(|prefix| name.starts_with(prefix)))
            {
                cargo.env_remove(name);
            }
        }
        cargo.current_dir(root()).arg("build").arg("--target-dir").arg(target());
        let status = cargo
            .args(["--quiet", "--locked", "--release", "--package", "aiperf"])
            .status();
        assert!(status.unwrap().success(), "the binary under test does not build");
        target()
            .join("release")
            .join(format!("aiperf{}", env::consts::EXE_SUFFIX))
    })
}

/// Runs `aiperf plugins` in a folder; it must succeed.
#[track_caller]
pub(crate) fn plugins(folder: &Path, line: &str) {
    let mut command = Command::new(binary());
    command.arg("plugins").args(line.split_whitespace()).current_dir(folder);
    let output = command.env_clear().env("HOME", folder).output().unwrap();
    assert!(
        output.status.success(),
        "aiperf plugins {line}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A run that has ended.
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    folder: TempDir,
}

/// Runs `aiperf profile` with the words of a command line, in a fresh folder, to its end.
pub(crate) fn profile(line: &str) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    for name in ["work", "home"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
    let mut command = Command::new(binary());
    command
        .arg("profile")
        .args(line.split_whitespace())
        .args(["--ui", "none", "--artifact-dir"]);
    command
        .arg(folder.path().join("artifacts"))
        .current_dir(folder.path().join("work"));
    command.env_clear().env("HOME", folder.path().join("home"));
    command.stdin(Stdio::null());
    command
        .stdout(File::create(&stdout).unwrap())
        .stderr(File::create(&stderr).unwrap());
    let mut child = command.spawn().unwrap();
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if since.elapsed() > DEADLINE {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let finished = Finished {
        code: status.and_then(|status| status.code()),
        stdout: fs::read_to_string(stdout).unwrap(),
        stderr: fs::read_to_string(stderr).unwrap(),
        folder,
    };
    assert!(status.is_some(), "no end after {DEADLINE:?}: {finished}");
    finished
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
    /// It must have succeeded.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }

    /// A text file of the artifact folder.
    #[track_caller]
    pub(crate) fn artifact(&self, name: &str) -> String {
        let path = self.folder.path().join("artifacts").join(name);
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}: {self}"))
    }

    /// The summary.
    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        serde_json::from_str(&self.artifact("profile_export_aiperf.json")).unwrap()
    }

    /// The records, in the order in which their requests were sent.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<Value> {
        let lines = self.artifact("profile_export.jsonl");
        let mut records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        records.sort_by_key(|record| record["metadata"]["request_start_ns"].as_u64().unwrap());
        records
    }

    /// The mean, or the value, of a metric.
    #[track_caller]
    pub(crate) fn avg(&self, tag: &str) -> f64 {
        let value = self.summary()[tag]["avg"].as_f64();
        value.unwrap_or_else(|| panic!("no {tag}: {self}"))
    }

    /// The run used this entry, and the package was a native one.
    #[track_caller]
    pub(crate) fn used(&self, package: &str, entry: &str) {
        let summary = self.summary();
        let packages = summary["packages"].as_array().unwrap();
        let found = packages.iter().find(|one| one["name"] == package);
        let found = found.unwrap_or_else(|| panic!("no package {package}: {packages:?}"));
        assert_eq!(found["form"], "native", "{found}");
        let entries = found["entries"].as_array().unwrap();
        assert!(entries.iter().any(|one| one == entry), "no {entry}: {found}");
    }
}
