//! The binary under test and the plugin libraries.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The categories that are built as shared libraries, too.
pub(crate) const LIBRARIES: [&str; 5] = ["endpoints", "datasets", "timing", "metrics", "exporters"];

/// The `aiperf` to test: `AIPERF_TEST_BINARY`, else the one of this workspace in the profile of the tests.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match env::var_os("AIPERF_TEST_BINARY") {
        Some(path) => path.into(),
        None => built().join(format!("aiperf{}", env::consts::EXE_SUFFIX)),
    })
}

/// The built-in plugins of a category as a shared library, or the `hostile` plugin.
pub(crate) fn plugin_library(category: &str) -> PathBuf {
    let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    built().join(format!("{prefix}aiperf_{category}_plugin{suffix}"))
}

/// The target folder of the workspace that these tests were built in.
pub(crate) fn target() -> PathBuf {
    let tests = env::current_exe().unwrap();
    tests.ancestors().nth(3).unwrap().to_owned()
}

/// The plugins of the contract's own tests.
pub(crate) fn test_plugins() -> PathBuf {
    let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    built().join(format!("{prefix}aiperf_contract_tests{suffix}"))
}

/// The folder with the built files. Cargo cannot be told that tests of one package need the binary of another, so it is
/// asked here, once; it does nothing when they are up to date.
fn built() -> &'static Path {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(build)
        .as_deref()
        .expect("the binary under test does not build")
}

fn build() -> Option<PathBuf> {
    let tests = env::current_exe().unwrap();
    let folder = tests.parent().and_then(Path::parent).unwrap();
    let profile = match folder.file_name().and_then(|name| name.to_str()).unwrap() {
        "debug" => "dev",
        other => other,
    };
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
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    cargo.args([
        "build",
        "--quiet",
        "--locked",
        "--profile",
        profile,
        "--package",
        "aiperf",
        "--package",
        "aiperf-contract-tests",
    ]);
    for category in LIBRARIES.into_iter().chain(["hostile"]) {
        cargo.args(["--package", &format!("aiperf-{category}-plugin")]);
    }
    cargo.arg("--target-dir").arg(folder.parent().unwrap());
    cargo.status().unwrap().success().then(|| folder.to_owned())
}
