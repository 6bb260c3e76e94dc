//! `aiperf-instructions CASE TIMES` calls a hot function so many times, for callgrind to count.

#![forbid(unsafe_code)]

mod records;
mod responses;

use std::process::ExitCode;

/// Does something as many times as it is told.
type Case = fn(usize);

/// All cases; `tests/counted.rs` knows what each may take.
const CASES: &[(&str, Case)] = &[
    ("sse", responses::sse),
    ("response", responses::response),
    ("decode", responses::decode),
    ("metrics", records::metrics),
    ("accumulate", records::accumulate),
    ("curves", records::curves),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let case = arguments
        .next()
        .and_then(|name| CASES.iter().find(|case| case.0 == name));
    let times = arguments.next().and_then(|times| times.parse().ok());
    if let (Some((_, case)), Some(times)) = (case, times) {
        case(times);
        return ExitCode::SUCCESS;
    }
    let names: Vec<&str> = CASES.iter().map(|case| case.0).collect();
    eprintln!(
        "usage: aiperf-instructions CASE TIMES, CASE being one of {}",
        names.join(", ")
    );
    ExitCode::FAILURE
}
