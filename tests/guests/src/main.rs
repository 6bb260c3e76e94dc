//! Builds a member of this workspace as a WebAssembly component and prints where it lies: `aiperf-guests PACKAGE TARGET_FOLDER`.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use aiperf_guests::Toolchain;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [package, target] = words.as_slice() else {
        eprintln!("usage: aiperf-guests PACKAGE TARGET_FOLDER");
        return ExitCode::FAILURE;
    };
    let Some(toolchain) = Toolchain::find() else {
        eprintln!(
            "no compiler for {}; see the README of this repository",
            aiperf_guests::TARGET
        );
        return ExitCode::FAILURE;
    };
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let file = toolchain.build(root, Path::new(target), package, &["--locked", "--package", package]);
    println!("{}", file.display());
    ExitCode::SUCCESS
}
