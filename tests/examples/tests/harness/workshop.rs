//! Building with cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The folder of an example.
pub(crate) fn example(name: &str) -> PathBuf {
    root().join("examples").join(name)
}

/// The target folder of the workspace that these tests were built in.
pub(crate) fn target() -> PathBuf {
    let tests = env::current_exe().unwrap();
    tests.ancestors().nth(3).unwrap().to_owned()
}

/// Which compiler builds.
#[derive(Debug, Clone)]
pub(crate) enum Compiler {
    /// The one that built these tests.
    Ours,
    /// Another `rustc`. What it builds is kept apart.
    Other(PathBuf),
}

impl Compiler {
    /// The target folder. All packages of a compiler share one, so that the contract is built once.
    pub(crate) fn target(&self) -> PathBuf {
        target().join(match self {
            Self::Ours => "examples",
            Self::Other(_) => "examples-other-rustc",
        })
    }
}

/// Runs cargo in a folder; it must succeed.
#[track_caller]
pub(crate) fn cargo(compiler: &Compiler, folder: &Path, arguments: &[&str]) {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder).args(arguments);
    cargo.env("CARGO_TARGET_DIR", compiler.target());
    if let Compiler::Other(rustc) = compiler {
        cargo.env("RUSTC", rustc).env_remove("RUSTC_WRAPPER");
    }
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "cargo {} in {}:\n{}{}",
        arguments.join(" "),
        folder.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Makes sure that everything the examples depend on is on this machine, so that what follows can do offline.
pub(crate) fn fetch() {
    static FETCHED: Once = Once::new();
    FETCHED.call_once(|| {
        cargo(
            &Compiler::Ours,
            &example("vendor-inference"),
            &["fetch", "--quiet", "--locked"],
        )
    });
}
