//! Serves until interrupted: `cargo run --release -p aiperf-mock-server --example serve -- --port 8000 --ttft-ms 20`.

use std::error::Error;

use aiperf_mock_server::{Settings, help, listening_line, run};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--help") {
        print!("{}", help());
        return Ok(());
    }
    let settings = Settings::from_args(args.into_iter())?;
    run(settings, |addr| println!("{}", listening_line(addr)))?;
    Ok(())
}
