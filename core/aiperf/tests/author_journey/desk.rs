//! Where the author works, and what is done there.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// A desk: where the author works, with a home of its own. Always in the same place, so that what cargo keeps does not grow.
pub(crate) struct Desk(PathBuf);

/// What a command has come to.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "exit code {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.code, self.stdout, self.stderr
        )
    }
}

impl Desk {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("author_journey").join(name);
        let _ = fs::remove_dir_all(&folder);
        for part in ["home", "work"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        Self(folder.canonicalize().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs the binary in `work`.
    pub(crate) fn aiperf(&self, line: &str) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_aiperf"))
            .args(line.split_whitespace())
            .current_dir(self.path("work"))
            .env_clear()
            .env("HOME", self.path("home"))
            .output()
            .unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs the binary; returns what it printed.
    #[track_caller]
    pub(crate) fn good(&self, line: &str) -> String {
        let ended = self.aiperf(line);
        assert_eq!(ended.code, Some(0), "aiperf {line}: {ended}");
        ended.stdout
    }

    /// Runs the binary, which must end with this code; returns all that it wrote.
    #[track_caller]
    pub(crate) fn bad(&self, line: &str, code: i32) -> String {
        let ended = self.aiperf(line);
        assert_eq!(ended.code, Some(code), "aiperf {line}: {ended}");
        ended.stdout + &ended.stderr
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A target folder that later runs of this test find again: the SDK is built once.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("author_journey_target")
}

#[track_caller]
pub(crate) fn cargo(folder: &Path, arguments: &[&str]) {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(folder)
        .args(arguments)
        .env("CARGO_TARGET_DIR", target())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "cargo {arguments:?}:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Builds a package and puts the library where a build without a target folder of its own would.
#[track_caller]
pub(crate) fn build(package: &Path, crate_name: &str) {
    cargo(package, &["build", "--quiet", "--release", "--offline"]);
    let file = format!("{}{crate_name}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    fs::create_dir_all(package.join("target/release")).unwrap();
    fs::copy(
        target().join("release").join(&file),
        package.join("target/release").join(&file),
    )
    .unwrap();
}

/// What the run reports.
pub(crate) fn summary(desk: &Desk) -> Value {
    let text = fs::read_to_string(desk.path("work/out/profile_export_aiperf.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
