//! Tells the host its own target triple: Rust offers no constant for it, and registry files name libraries by it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!(
        "cargo:rustc-env=AIPERF_TARGET={}",
        std::env::var("TARGET").unwrap_or_default()
    );
}
