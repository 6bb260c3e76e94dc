//! The `aiperf` binary.

fn main() {
    println!("aiperf {}", env!("CARGO_PKG_VERSION"));
}
