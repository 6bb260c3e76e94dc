//! `parse_profile` from the outside: grammar, meaning, secrets.

mod errors;
mod flag_list;
mod grammar;
mod input_config;
mod plan;
mod robustness;
mod secrets;

use aiperf_config::{ConfigError, RunPlan, parse_profile};

/// Parses the arguments as they stand.
fn parse(arguments: &[&str]) -> Result<RunPlan, ConfigError> {
    parse_profile(arguments)
}

/// The plan of these arguments with `--model m` in front.
fn plan(arguments: &[&str]) -> RunPlan {
    let arguments: Vec<&str> = ["--model", "m"].iter().chain(arguments).copied().collect();
    parse(&arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// The error of these arguments with `--model m` in front.
fn error(arguments: &[&str]) -> ConfigError {
    let arguments: Vec<&str> = ["--model", "m"].iter().chain(arguments).copied().collect();
    match parse(&arguments) {
        Ok(_) => panic!("{arguments:?} was accepted"),
        Err(error) => error,
    }
}
