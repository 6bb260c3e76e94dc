//! The same plugin as a component, with what only a component can be kept from: endless loops, memory bombs, stacks without
//! end. The run survives, says which entry did what, and its other numbers are those of a run without it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use aiperf_guests::Toolchain;

use crate::harness::{Finished, Folder, Run, Started, avg, number, target, text};
use crate::hostile::{package_of, uses};

/// The component; `None` where it cannot be built.
pub(crate) fn component(test: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let toolchain = Toolchain::or_skip(test)?;
    let build = || {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let arguments = ["--locked", "--package", "aiperf-hostile-plugin"];
        let target = target().join("guests");
        toolchain.build(root.as_ref(), &target, "aiperf_hostile_plugin", &arguments)
    };
    Some(BUILT.get_or_init(build).clone())
}

/// A run in which an entry of the component does something wrong after it has behaved so often. Compiled code is kept from
/// one run to the next.
fn run(component: &Path, entry: &str, fault: &str, after: u32, on_error: &str, flags: &str) -> Finished {
    start(component, entry, fault, after, on_error, flags).finish()
}

/// The same, under way.
fn start(component: &Path, entry: &str, fault: &str, after: u32, on_error: &str, flags: &str) -> Started {
    let folder = Folder::new();
    let registry = package_of(&folder, on_error, component);
    let uses = uses(&folder, entry);
    let url = if flags.contains("--url") {
        ""
    } else {
        "--url mock:?tokens=3"
    };
    let line = format!(
        "{url} --concurrency 2 --plugin-registry {registry} {uses} --plugin-opt {entry}.do={fault} \
         --plugin-opt {entry}.after={after} --wasm-timeout 1 --wasm-memory 48 {flags}"
    );
    Run::profile_in(folder, &line)
        .env("XDG_CACHE_HOME", target().join("tmp/wasm-cache"))
        .start()
}

#[test]
fn without_a_fault_every_entry_works() {
    let Some(component) = component("hostile_components::without_a_fault_every_entry_works") else {
        return;
    };
    for entry in [
        "endpoint/hostile",
        "dataset/hostile",
        "timing/hostile",
        "arrival_pattern/gamma",
        "metric/hostile",
        "exporter/hostile",
    ] {
        let run = run(&component, entry, "nothing", 0, "fail", "--request-count 6");
        assert_eq!(run.code, Some(0), "{entry}: {run}");
        assert_eq!(avg(&run.summary(), "request_count"), 6.0, "{entry}: {run}");
        assert!(!run.stdout.contains("unsandboxed"), "{entry}: {run}");
    }
}

#[test]
fn what_may_be_skipped_is_skipped_and_the_run_goes_on() {
    let Some(component) = component("hostile_components::what_may_be_skipped_is_skipped_and_the_run_goes_on") else {
        return;
    };
    for (entry, fault, said) in [
        ("metric/hostile", "spin_in_record", "did not return within 1 s"),
        ("metric/hostile", "hog_in_record", "wanted more than 48 MiB of memory"),
        ("metric/hostile", "overflow_in_record", "reached outside its memory"),
        (
            "metric/hostile",
            "panic_in_record",
            "panicked; it last said: panicked at",
        ),
        ("metric/hostile", "column_long", "rows"),
        ("metric/hostile", "panic_in_derive", "hostile in derive"),
        ("exporter/hostile", "spin_in_write", "did not return within 1 s"),
        ("exporter/hostile", "hog_in_finish", "wanted more than 48 MiB of memory"),
        ("exporter/hostile", "no_text", "utf-8"),
        ("exporter/hostile", "outside", ""),
    ] {
        let run = run(&component, entry, fault, 0, "skip", "--request-count 20");
        let who = format!("{entry} {fault}");
        assert_eq!(run.code, Some(0), "{who}: {run}");
        let summary = run.summary();
        assert_eq!(avg(&summary, "request_count"), 20.0, "{who}: {run}");
        assert_eq!(run.records().len(), 20, "{who}: {run}");
        let words = format!("{}{}", run.stdout, run.stderr);
        let name = format!("{entry} (package hostile 1.0.0)");
        assert!(words.contains(&name) && words.contains(said), "{who}: no {said}: {run}");
        assert!(words.matches(&name).count() <= 3, "{who}: said too often: {run}");
    }
}

#[test]
fn traps_without_end_do_no_harm() {
    let Some(component) = component("hostile_components::traps_without_end_do_no_harm") else {
        return;
    };
    // An endpoint that traps on each response: those requests fail, with the reason; after 100 the entry is given up.
    let flags = "--request-count 60 --url mock:?tokens=3";
    let some = run(&component, "endpoint/hostile", "panic_in_decode", 1, "fail", flags);
    assert_eq!(some.code, Some(0), "{some}");
    let summary = some.summary();
    let (good, bad) = (avg(&summary, "request_count"), avg(&summary, "error_request_count"));
    assert_eq!(good + bad, 60.0, "{some}");
    assert!(good >= 20.0 && bad >= 20.0, "{good} and {bad}: {some}");
    let errors = summary["error_summary"].to_string();
    assert!(
        errors.contains("endpoint/hostile (package hostile 1.0.0): decode") && errors.contains("hostile in decode"),
        "{errors}"
    );
    let all = run(
        &component,
        "endpoint/hostile",
        "panic_in_decode",
        0,
        "fail",
        "--request-count 400",
    );
    assert_eq!(all.code, Some(3), "{all}");
    assert!(all.stderr.contains("started anew 100 times, it is given up"), "{all}");
    let all = run(
        &component,
        "metric/hostile",
        "panic_in_record",
        0,
        "skip",
        "--request-count 400 --record-processors 1",
    );
    assert_eq!(all.code, Some(0), "{all}");
    let packages = all.summary()["packages"].clone();
    let hostile = packages
        .as_array()
        .unwrap()
        .iter()
        .find(|one| text(one, "/name") == "hostile");
    assert!(number(hostile.unwrap(), "/skipped") >= 1.0, "{packages}");
}

#[test]
fn memory_that_was_taken_is_given_back() {
    let Some(component) = component("hostile_components::memory_that_was_taken_is_given_back") else {
        return;
    };
    // Two records every 150 ms, and 48 MiB each time: 960 MiB if they stayed.
    let flags = "--request-count 40 --record-processors 1 --url mock:?tokens=3&ttft=150";
    let mut run = start(&component, "metric/hostile", "hog_in_record", 0, "skip", flags);
    let peak = run.peak_memory();
    let run = run.finish();
    assert_eq!(run.code, Some(0), "{run}");
    let packages = run.summary()["packages"].clone();
    let hostile = packages
        .as_array()
        .unwrap()
        .iter()
        .find(|one| text(one, "/name") == "hostile");
    let traps = number(hostile.unwrap(), "/skipped");
    assert!(traps >= 15.0, "{traps} traps: {run}");
    assert!(peak > 0 && peak < 400, "{peak} MiB after {traps} traps");
}

#[test]
fn what_may_not_be_skipped_ends_the_run_by_name() {
    let Some(component) = component("hostile_components::what_may_not_be_skipped_ends_the_run_by_name") else {
        return;
    };
    for (entry, fault, call, said) in [
        ("endpoint/hostile", "panic_in_open", "open", "hostile in open"),
        (
            "endpoint/hostile",
            "spin_in_describe",
            "describe",
            "did not return within 1 s",
        ),
        ("endpoint/hostile", "header_value_break", "prepare", "line break"),
        (
            "endpoint/hostile",
            "path_other_host",
            "prepare",
            "no path on its server",
        ),
        (
            "endpoint/hostile",
            "header_host",
            "prepare",
            "`Host`, which is the core's",
        ),
        ("endpoint/hostile", "chunk_ends", "decode", "do not divide"),
        ("dataset/hostile", "spin_in_next", "next", "did not return within 10 s"),
        (
            "dataset/hostile",
            "hog_in_next",
            "next",
            "wanted more than 48 MiB of memory",
        ),
        (
            "dataset/hostile",
            "too_many",
            "next",
            "257 conversations; 256 were asked for",
        ),
        ("timing/hostile", "spin_in_step", "step", "did not return within 1 s"),
        (
            "timing/hostile",
            "overflow_in_step",
            "step",
            "reached outside its memory",
        ),
        (
            "metric/hostile",
            "overflow_in_record",
            "record",
            "reached outside its memory",
        ),
        ("metric/hostile", "no_text", "describe", "utf-8"),
        ("exporter/hostile", "panic_in_write", "write", "hostile in write"),
    ] {
        let run = run(&component, entry, fault, 0, "fail", "--request-count 4");
        let who = format!("{entry} {fault}");
        assert_eq!(run.code, Some(3), "{who}: {run}");
        let message = format!("{entry} (package hostile 1.0.0): {call}: ");
        let error = run.stderr.lines().find(|line| line.starts_with("error: "));
        let words = error.and_then(|error| error.split(&message).nth(1));
        assert!(
            words.is_some_and(|words| words.contains(said)),
            "{who}: no {message}...{said}: {run}"
        );
    }
}
