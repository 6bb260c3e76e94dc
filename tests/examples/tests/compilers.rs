//! A library built by another compiler than the host's works.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use aiperf_host::Role;
use aiperf_plugin_api::record::RUSTC;

use crate::examples::run_acme;
use crate::harness::{Compiler, Package};

/// What a compiler says about itself; `None` if it can't be run.
fn version(rustc: &Path) -> Option<String> {
    let output = Command::new(rustc).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// A compiler that isn't the one of this build: the one named by `AIPERF_TEST_OTHER_RUSTC`, the distribution's, or the
/// nightly of rustup.
fn other_rustc() -> Option<(PathBuf, String)> {
    if let Some(named) = env::var_os("AIPERF_TEST_OTHER_RUSTC") {
        let named = PathBuf::from(named);
        let version = version(&named).unwrap_or_else(|| panic!("AIPERF_TEST_OTHER_RUSTC: {} fails", named.display()));
        return Some((named, version));
    }
    let nightly = Command::new("rustup")
        .args(["which", "--toolchain", "nightly", "rustc"])
        .output();
    let nightly = nightly.ok().filter(|output| output.status.success());
    let nightly = nightly.and_then(|output| String::from_utf8(output.stdout).ok());
    let candidates = [
        Some(PathBuf::from("/usr/bin/rustc")),
        nightly.map(|path| path.trim().into()),
    ];
    candidates
        .into_iter()
        .flatten()
        .filter_map(|rustc| version(&rustc).map(|version| (rustc, version)))
        .find(|(_, version)| version != RUSTC)
}

#[test]
fn a_library_of_another_compiler_works() {
    let Some((rustc, version)) = other_rustc() else {
        let message = "SKIPPED a_library_of_another_compiler_works: there is no compiler but that of this build; install \
                       Debian's `rustc-web`, run `rustup toolchain install nightly`, or set AIPERF_TEST_OTHER_RUSTC";
        let required = env::var_os("AIPERF_TEST_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "{message}");
        // Past the capture of the test runner, which would swallow it.
        writeln!(std::io::stderr(), "{message}").unwrap();
        return;
    };
    let package = Package::of_example("vendor-inference", "acme-inference", &Compiler::Other(rustc));
    let info = package.version_info(Role::Endpoint, "acme_generate");
    assert_eq!(
        (info.rustc.as_str(), info.package.as_str()),
        (version.as_str(), "acme-inference")
    );
    assert!(info.unwinds);
    let run = run_acme(&package, "--api-key acme-key --request-count 4 --streaming").succeeded();
    run.used("acme-inference", "endpoint/acme_generate");
    assert_eq!(run.avg("output_sequence_length"), 7.0);
}
