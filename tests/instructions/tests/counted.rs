//! What the hot functions may take, in instructions that callgrind counts: the same on a busy machine as on an idle one.
//! A change that needs more says so by raising its bound here.

#![allow(clippy::unwrap_used, reason = "a test that can't run its program is to fail")]

use std::process::Command;

/// Case, what is counted, instructions of one of it when the bound was set (about 15 % below it), bound.
const BOUNDS: &[(&str, &str, u64, u64)] = &[
    ("sse", "stream of 20 events", 7_522, 8_650),
    ("response", "response of 21 reads", 9_858, 11_350),
    ("decode", "answer of 16 tokens", 15_962, 18_350),
    ("metrics", "batch of 256 records", 263_876, 303_500),
    ("accumulate", "batch of 256 records", 438_141, 504_000),
    ("curves", "batch of 256 records, looked at twice", 3_427_625, 3_940_000),
];

/// Instructions that a case takes when done so many times.
fn counted(case: &str, times: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_aiperf-instructions"))
        .args([case, &times.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {said}");
    let count = said.lines().find_map(|line| line.split_once("Collected : "));
    count.unwrap().1.trim().parse().unwrap()
}

#[test]
fn hot_functions_take_no_more_than_they_may() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let what = "instructions of hot functions are not counted: valgrind is not installed";
        assert!(std::env::var_os("AIPERF_TEST_REQUIRE_ALL").is_none(), "{what}");
        eprintln!("skipped: {what}");
        return;
    }
    let (few, many) = (20, 60);
    let faults: Vec<String> = BOUNDS
        .iter()
        .filter_map(|&(case, what, before, bound)| {
            let each = counted(case, many).saturating_sub(counted(case, few)) / (many - few);
            println!("{case}: {each} instructions per {what} (bound {bound})");
            (each > bound)
                .then(|| format!("{case}: {each} instructions per {what}, {before} when the bound was set to {bound}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
