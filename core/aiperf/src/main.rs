//! The `aiperf` binary: finds the command and prints what comes of it.

mod bundled;
mod failure;
mod mock;
mod profile;
mod signals;

use std::{ffi::OsString, process::ExitCode};

/// Records are made on one thread and freed on another all the time; this allocator does that without a lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.to_string_lossy().into_owned(), rest),
        None => ("--help".to_owned(), &[][..]),
    };
    let done = match command.as_str() {
        "profile" => profile::run(rest),
        "mock-server" => mock::serve(rest),
        "--version" => {
            println!("{}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {
            println!("aiperf profile | mock-server");
            return ExitCode::SUCCESS;
        }
    };
    match done {
        Ok(code) => code.into(),
        Err(failure) => {
            eprint!("{failure}");
            failure.code.into()
        }
    }
}
