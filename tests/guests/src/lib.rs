//! Builds plugins as WebAssembly components, for the tests.
//!
//! Two ways: a toolchain that has the target `wasm32-unknown-unknown`, or one that builds the standard library along with the
//! guest (Debian's `rustc-web`, `cargo-web`, `rust-web-src`, `rust-web-llvm`). Where there is neither, a test says that it was
//! skipped; with `AIPERF_TEST_REQUIRE_ALL=1` it fails.
#![forbid(unsafe_code)]

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target of guests.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// A way to build guests.
#[derive(Debug, Clone)]
pub enum Toolchain {
    /// The usual compiler has the target's libraries.
    Installed,
    /// Another compiler has the sources of the standard library.
    BuildStd {
        /// The linker: that of the usual compiler, since Debian's is in a package of its own.
        linker: PathBuf,
    },
}

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

impl Toolchain {
    /// The first way that is there.
    pub fn find() -> Option<Self> {
        let libraries = PathBuf::from(rustc(&["--print", "target-libdir", "--target", TARGET])?);
        if libraries.is_dir() {
            return Some(Self::Installed);
        }
        let there = [DEBIAN_RUSTC, DEBIAN_CARGO, DEBIAN_SOURCES]
            .iter()
            .all(|file| Path::new(file).is_file());
        // `libdir` of the host's target is ROOT/lib/rustlib/HOST/lib.
        let own = PathBuf::from(rustc(&["--print", "target-libdir"])?);
        let linker = own.parent()?.join("bin/rust-lld");
        (there && linker.is_file()).then_some(Self::BuildStd { linker })
    }

    /// As [`Toolchain::find`]; without one the test is skipped, and says so.
    ///
    /// # Panics
    /// Without one where nothing may be skipped.
    pub fn or_skip(test: &str) -> Option<Self> {
        let found = Self::find();
        if found.is_none() {
            let message = format!(
                "SKIPPED {test}: no compiler for {TARGET}; have a toolchain with that target, or Debian's rustc-web, \
                 cargo-web, rust-web-src and rust-web-llvm"
            );
            let required = env::var_os("AIPERF_TEST_REQUIRE_ALL").is_some_and(|value| value == "1");
            assert!(!required, "{message}");
            // Past the capture of the test runner, which would swallow it. Nobody may be listening.
            let _ = writeln!(std::io::stderr(), "{message}");
        }
        found
    }

    /// Builds the package in `folder` and returns its component, or core module. All guests share `target`.
    ///
    /// # Panics
    /// When it does not build.
    pub fn build(&self, folder: &Path, target: &Path, crate_name: &str, arguments: &[&str]) -> PathBuf {
        let mut cargo = match self {
            Self::Installed => Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
            Self::BuildStd { linker } => {
                let mut cargo = Command::new(DEBIAN_CARGO);
                cargo
                    .args(["-Z", "build-std=std,panic_abort"])
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("RUSTC", DEBIAN_RUSTC)
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
                cargo
            }
        };
        let output = cargo
            .current_dir(folder)
            .args(["build", "--quiet", "--release", "--target", TARGET])
            .args(arguments)
            .env("CARGO_TARGET_DIR", target)
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTUP_TOOLCHAIN")
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) => panic!("cargo can't be started: {error}"),
        };
        assert!(
            output.status.success(),
            "{} as a component:\n{}",
            folder.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        let file = format!("{}.wasm", crate_name.replace('-', "_"));
        target.join(TARGET).join("release").join(file)
    }
}

fn rustc(arguments: &[&str]) -> Option<String> {
    let output = Command::new("rustc").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
