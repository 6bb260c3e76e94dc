//! Hands the compiler's own version text to the crate, so that every plugin can say what built it.

use std::{env, process::Command};

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let text = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown rustc".into());
    println!("cargo:rustc-env=AIPERF_RUSTC={}", text.trim());
    println!("cargo:rerun-if-changed=build.rs");
}
