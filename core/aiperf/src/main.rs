//! The `aiperf` binary: finds the command and prints what comes of it. Measuring is `aiperf-engine`'s.
//!
//! * [`command`], [`help`]: which command is meant.
//! * [`profile`], with [`tokenizer`], [`signals`], [`progress`], [`closing`]: a benchmark run.
//! * [`calibrate`]: how true the measurements are on this machine.
//! * [`plugins`]: what is registered. [`mock`]: the mock server. [`bundled`]: the plugins linked in.
//! * [`allocator`]: memory. [`open_files`]: their limit.
//! * [`log`], [`terminal`], [`stdout`], [`failure`]: what the user gets to see.

#![deny(unsafe_code)]

mod allocator;
mod bundled;
mod calibrate;
mod closing;
mod command;
mod components;
mod failure;
mod help;
mod log;
mod mock;
mod open_files;
mod plugins;
mod profile;
mod progress;
mod signals;
mod stdout;
mod terminal;
mod tokenizer;

use std::{ffi::OsString, process::ExitCode};

fn main() -> ExitCode {
    open_files::raise_limit();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match command::run(&arguments) {
        Ok(code) => code.into(),
        Err(failure) => {
            terminal::write(&failure.to_string());
            failure.code.into()
        }
    }
}
