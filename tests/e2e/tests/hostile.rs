//! A plugin that breaks the rules: the run says which entry broke which in which call, keeps what it has measured, and ends.
//! Never a crash, a hang, or a number that is short of something.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::harness::{Finished, Folder, Run, avg, number, plugin_library, text};

const CATEGORIES: [(&str, &str, &str); 8] = [
    (
        "endpoint",
        "hostile",
        "metadata: { endpoint_path: /v1/chat/completions, produces_tokens: true, requires_polling: true }",
    ),
    ("dataset", "hostile", ""),
    ("dataset_sampler", "sequential", ""),
    ("timing", "hostile", ""),
    ("arrival_pattern", "gamma", ""),
    (
        "metric",
        "hostile",
        "metadata: { tags: [hostile_value, hostile_list, hostile_total] }",
    ),
    ("exporter", "hostile", ""),
    ("gpu_collector", "hostile", ""),
];

/// The package in the folder `plugins`, its metrics and exporters with that `on_error`.
fn package(folder: &Folder, on_error: &str) -> String {
    package_of(folder, on_error, &plugin_library("hostile"))
}

/// The same with another file: a library, or a component.
pub(crate) fn package_of(folder: &Folder, on_error: &str, code: &Path) -> String {
    let form = match code.extension() {
        Some(end) if end == "wasm" => "wasm",
        _ => "library",
    };
    let mut registry = format!(
        "schema_version: \"1.0\"\npackages:\n  hostile:\n    version: 1.0.0\n    api: \">=1.0, <2\"\n    \
                        {form}: plugin.so\n"
    );
    for (category, name, more) in CATEGORIES {
        registry.push_str(&format!("{category}:\n  {name}:\n    package: hostile\n"));
        if !more.is_empty() {
            registry.push_str(&format!("    {more}\n"));
        }
        if matches!(category, "metric" | "exporter") {
            registry.push_str(&format!("    on_error: {on_error}\n"));
        }
    }
    let registry = folder.file("plugins/registry.yaml", registry);
    let library = folder.path("plugins/plugin.so");
    // A link saves copying; it can't be made between file systems.
    if fs::hard_link(code, &library).is_err() {
        fs::copy(code, &library).unwrap();
    }
    registry
}

/// The flags that put an entry to use.
pub(crate) fn uses(folder: &Folder, entry: &str) -> String {
    match entry {
        "endpoint/hostile" => "--endpoint-type hostile".into(),
        "dataset/hostile" => {
            let rows = folder.file("rows.txt", "HOSTILE\n");
            format!("--input-file {rows} --custom-dataset-type hostile")
        }
        "dataset_sampler/sequential" => String::new(),
        "timing/hostile" => "--timing hostile".into(),
        "arrival_pattern/gamma" => "--request-rate 500 --arrival-pattern gamma".into(),
        "metric/hostile" => "--metric hostile".into(),
        "exporter/hostile" => "--exporter hostile".into(),
        _ => panic!("{entry}"),
    }
}

/// A run in which an entry does something wrong after it has behaved so often.
fn run(entry: &str, fault: &str, after: u32, on_error: &str, flags: &str) -> Run {
    let folder = Folder::new();
    let registry = package(&folder, on_error);
    let uses = uses(&folder, entry);
    let url = if flags.contains("--url") {
        ""
    } else {
        "--url mock:?tokens=3"
    };
    let line = format!(
        "{url} --concurrency 2 --plugin-registry {registry} {uses} --plugin-opt {entry}.do={fault} \
         --plugin-opt {entry}.after={after} {flags}"
    );
    Run::profile_in(folder, &line)
}

/// What is amiss, unless the run ends with code 3 and one message that names entry, package and call.
fn amiss(run: &Finished, entry: &str, call: &str, what: &str) -> Option<String> {
    // An arrival pattern fails inside a call of the timing mode, which stands first.
    let message = format!("{entry} (package hostile 1.0.0): {call}: ");
    let error = run.stderr.lines().find(|line| line.starts_with("error: "));
    let said = error.and_then(|error| error.split(&message).nth(1));
    if run.code != Some(3) {
        Some(format!("the exit code is {:?}", run.code))
    } else if run.stderr.matches("error:").count() != 1 {
        Some("that is not one message".into())
    } else if !said.is_some_and(|said| said.contains(what)) {
        Some(format!("no {message}…{what}"))
    } else if !run.stderr.contains("the plugin's") {
        Some("it does not say whose fault it is".into())
    } else {
        None
    }
}

/// Cases of entry, fault, call, and a part of the message; each is a run of its own.
#[track_caller]
fn all_fail(cases: &[(&str, &str, &str, &str)], flags: &str) {
    let complaints: Vec<String> = cases
        .iter()
        .filter_map(|(entry, fault, call, what)| {
            let run = run(entry, fault, 0, "fail", &format!("--request-count 4 {flags}")).finish();
            amiss(&run, entry, call, what).map(|amiss| format!("{entry} {fault}: {amiss}: {run}"))
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "{} of {}\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
}

#[test]
fn without_a_fault_every_entry_works() {
    let folder = Folder::new();
    let registry = package(&folder, "fail");
    let all: Vec<String> = CATEGORIES[..7]
        .iter()
        .filter(|(category, ..)| *category != "arrival_pattern")
        .map(|(category, name, _)| uses(&folder, &format!("{category}/{name}")))
        .collect();
    let line = format!(
        "--url mock:?tokens=3 --concurrency 2 --request-count 6 --plugin-registry {registry} {}",
        all.join(" ")
    );
    let run = Run::profile_in(folder, &line).succeed();
    let summary = run.summary();
    assert_eq!(
        (avg(&summary, "request_count"), avg(&summary, "hostile_total")),
        (6.0, 6.0)
    );
    assert_eq!(run.artifact("hostile.txt"), "record\n".repeat(6) + "end\n");
    assert_eq!(run.records().len(), 6);
}

#[test]
fn a_panic_in_any_call_ends_the_run() {
    let mut cases = Vec::new();
    for (entry, calls) in [
        (
            "endpoint/hostile",
            &["open", "describe", "prepare", "next", "decode"][..],
        ),
        ("dataset/hostile", &["open", "open_source", "next"]),
        ("dataset_sampler/sequential", &["open", "order"]),
        ("timing/hostile", &["open", "start", "step", "state"]),
        ("arrival_pattern/gamma", &["open", "intervals"]),
        ("metric/hostile", &["open", "describe", "record", "derive"]),
        ("exporter/hostile", &["open", "begin", "write", "finish"]),
    ] {
        cases.extend(calls.iter().map(|call| (entry, *call)));
    }
    let cases: Vec<(&str, String, &str)> = cases
        .into_iter()
        .map(|(entry, call)| {
            (
                entry,
                format!("panic_in_{call}"),
                if call == "open_source" { "open" } else { call },
            )
        })
        .collect();
    let cases: Vec<_> = cases
        .iter()
        .map(|(entry, fault, call)| (*entry, fault.as_str(), *call, "the plugin panicked: hostile in"))
        .collect();
    all_fail(&cases, "");
}

#[test]
fn a_panic_while_entries_are_listed_is_a_package_that_cannot_be_opened() {
    let run = run("endpoint/hostile", "none", 0, "fail", "--request-count 1")
        .env("HOSTILE_ENTRIES", "panic")
        .finish();
    assert_eq!(run.code, Some(3), "{run}");
    for part in [
        "error: cannot open plugin package hostile 1.0.0 for endpoint/hostile: ",
        "the plugin panicked: hostile in entries",
        "likely cause: a fault in the plugin",
    ] {
        assert!(run.stderr.contains(part), "no {part}: {run}");
    }
}

#[test]
fn a_panic_in_drop_changes_nothing() {
    for (category, name, _) in &CATEGORIES[..7] {
        let run = run(
            &format!("{category}/{name}"),
            "panic_in_drop",
            0,
            "fail",
            "--request-count 4",
        )
        .succeed();
        assert_eq!(avg(&run.summary(), "request_count"), 4.0, "{category}: {run}");
    }
}

#[test]
fn a_panic_while_a_source_is_probed_is_named() {
    let folder = Folder::new();
    let registry = package(&folder, "fail");
    let rows = folder.file("rows.txt", "HOSTILE\n");
    let line = format!(
        "--url mock: --request-count 1 --input-file {rows} --plugin-registry {registry} \
         --plugin-opt dataset/hostile.do=panic_in_probe"
    );
    let run = Run::profile_in(folder, &line).finish();
    assert_eq!(amiss(&run, "dataset/hostile", "probe", "panicked"), None, "{run}");
}

#[test]
fn requests_that_would_go_astray_are_never_sent() {
    let prepare = |fault, what| ("endpoint/hostile", fault, "prepare", what);
    all_fail(
        &[
            ("endpoint/hostile", "foreign_path", "describe", "http://192.0.2.1/v1"),
            prepare("method_break", "method"),
            prepare("path_break", "blanks or line breaks"),
            prepare("path_absolute", "no path on its server"),
            prepare("path_other_host", "no path on its server"),
            prepare("header_name_break", "header name"),
            prepare("header_value_break", "line break"),
            prepare("header_host", "`Host`, which is the core's"),
            prepare("header_length", "`Content-Length`, which is the core's"),
            prepare("header_chunked", "`transfer-encoding`, which is the core's"),
            ("endpoint/hostile", "poll_other_host", "next", "no path on its server"),
        ],
        "",
    );
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    let decode = |fault, what| ("endpoint/hostile", fault, "decode", what);
    let record = |fault, what| ("metric/hostile", fault, "record", what);
    let next = |fault, what| ("dataset/hostile", fault, "next", what);
    all_fail(
        &[
            decode("chunk_count", "1 events, 0 kinds and 1 ends"),
            decode("chunk_ends", "do not divide"),
            decode("chunk_lost", "do not divide"),
            decode("chunk_event", "event 4294967295 of 1 events"),
            decode("chunk_order", "do not ascend"),
            decode("fact_nan", "`speed` of NaN"),
            record("column_count", "1 columns for 2 metrics"),
            record("column_short", "rows"),
            record("column_long", "rows"),
            record("column_validity", "validity bytes"),
            record("column_kind", "column 0 of another kind"),
            record("ends_descend", "list ends"),
            record("ends_outside", "list ends"),
            record("not_finite", "not finite"),
            (
                "metric/hostile",
                "derived_count",
                "derive",
                "0 values for 1 derived metrics",
            ),
            ("metric/hostile", "derived_not_finite", "derive", "not finite"),
            next("delay_nan", "delay_ms NaN"),
            next("delay_negative", "delay_ms -1"),
            next("time_infinite", "timestamp_ms inf"),
            next("fact_nan", "the fact `f` of NaN"),
            next("too_many", "257 conversations; 256 were asked for"),
            ("dataset_sampler/sequential", "outside", "order", "conversation 4 of 4"),
            ("dataset_sampler/sequential", "empty", "order", "no order"),
            ("arrival_pattern/gamma", "few_intervals", "intervals", "0 intervals"),
        ],
        "",
    );
}

#[test]
fn texts_that_are_none_are_refused() {
    let endpoint = |fault, call| ("endpoint/hostile", fault, call, "a text that is not UTF-8");
    all_fail(
        &[
            endpoint("no_text_in_path", "prepare"),
            endpoint("no_text_in_header", "prepare"),
            endpoint("no_text_in_chunks", "decode"),
            endpoint("no_text_in_label", "decode"),
            endpoint("no_text_in_reply", "decode"),
            endpoint("no_text_in_error", "decode"),
            ("dataset/hostile", "no_text", "next", "a text that is not UTF-8"),
            ("metric/hostile", "no_text", "describe", "a text that is not UTF-8"),
            ("exporter/hostile", "no_text", "write", "a text that is not UTF-8"),
        ],
        "",
    );
}

#[test]
fn impossible_requests_of_a_timing_mode_end_the_run() {
    let step = |fault, what| ("timing/hostile", fault, "step", what);
    all_fail(
        &[
            step("same_session", "session 1 was started twice"),
            step("no_such_session", "turn 0 of session 99"),
            step("no_such_turn", "turn 4294967295 of session 1"),
            step("no_such_root", "conversation 4294967295 was asked for"),
            step("no_slots", "asks for nothing more"),
            step("stalled", "asks for nothing more"),
        ],
        "",
    );
}

#[test]
fn outputs_stay_in_the_folder_and_off_the_files_of_others() {
    let write = |fault, what| ("exporter/hostile", fault, "write", what);
    let begin = |fault, what| ("exporter/hostile", fault, "begin", what);
    all_fail(
        &[
            write("outside", "\"../outside.txt\""),
            write("absolute", "\"/tmp/outside.txt\""),
            begin("begin_outside", "\"../outside.txt\""),
        ],
        "",
    );
    for (fault, owner) in [
        ("taken", "`profile_export.jsonl` is written by exporter/record_export"),
        ("reserved", "`.aiperf_results_ready.json` is written by aiperf itself"),
        ("log", "`logs/aiperf.log` is written by aiperf itself"),
        (
            "begin_taken",
            "`profile_export.jsonl` is written by exporter/record_export",
        ),
        ("begin_reserved", "`inputs.json` is written by aiperf itself"),
    ] {
        let run = run("exporter/hostile", fault, 0, "fail", "--request-count 4").finish();
        assert_eq!(run.code, Some(3), "{run}");
        assert!(
            run.stderr.contains("error: exporter/hostile (package hostile 1.0.0)"),
            "{run}"
        );
        assert!(run.stderr.contains(owner), "{run}");
        for line in fs::read_to_string(run.artifacts.join("profile_export.jsonl"))
            .unwrap_or_default()
            .lines()
        {
            assert!(line.starts_with('{'), "{run}");
        }
    }
}

#[test]
fn a_symbolic_link_in_the_artifact_folder_is_not_followed() {
    let folder = Folder::new();
    let registry = package(&folder, "fail");
    let victim = folder.file("victim.txt", "untouched");
    fs::create_dir(folder.path("artifacts")).unwrap();
    std::os::unix::fs::symlink(&victim, folder.path("artifacts/link.txt")).unwrap();
    let line = format!(
        "--url mock: --request-count 2 --exporter hostile --plugin-registry {registry} --plugin-opt exporter/hostile.do=link"
    );
    let run = Run::profile_in(folder, &line).finish();
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("`link.txt` is no name for an artifact"), "{run}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
}

#[test]
fn large_and_odd_outputs_are_written_as_they_are() {
    let whole = run("exporter/hostile", "enormous", 0, "fail", "--request-count 2").succeed();
    let length = fs::metadata(whole.artifacts.join("hostile.txt")).unwrap().len();
    assert_eq!(length, (64 << 20) + "record\nrecord\nend\n".len() as u64);
    let odd = run("exporter/hostile", "binary_on_console", 0, "fail", "--request-count 2").succeed();
    assert!(odd.stdout.contains("h\u{fffd}\n"), "{odd}");
}

/// Runs of twenty requests, two at a time at 30 ms each, in which an entry fails after it has behaved so often.
fn fails_midway(entry: &str, fault: &str, after: u32) -> Finished {
    let run = run(
        entry,
        fault,
        after,
        "fail",
        "--request-count 20 --url mock:?ttft=30&tokens=3",
    );
    run.finish()
}

#[test]
fn what_was_measured_before_a_failure_is_reported() {
    for (entry, fault, call, after) in [
        ("endpoint/hostile", "panic_in_decode", "decode", 5),
        ("endpoint/hostile", "chunk_event", "decode", 5),
        ("timing/hostile", "panic_in_step", "step", 5),
        ("timing/hostile", "no_such_session", "step", 5),
        ("metric/hostile", "panic_in_record", "record", 2),
        ("metric/hostile", "column_short", "record", 2),
        ("metric/hostile", "panic_in_derive", "derive", 0),
        ("exporter/hostile", "panic_in_write", "write", 2),
        ("exporter/hostile", "panic_in_finish", "finish", 0),
    ] {
        let run = fails_midway(entry, fault, after);
        let who = format!("{entry} {fault}");
        assert_eq!(run.code, Some(3), "{who}: {run}");
        let message = format!("{entry} (package hostile 1.0.0): {call}: ");
        assert!(run.stderr.contains(&format!("error: {message}")), "{who}: {run}");
        let summary = run.summary();
        let credits = &summary["credits"][0];
        let count = |name: &str| credits[name].as_u64().unwrap();
        let cancelled: u64 = credits["cancelled"]
            .as_object()
            .unwrap()
            .values()
            .map(|n| n.as_u64().unwrap())
            .sum();
        assert_eq!(
            count("issued"),
            count("completed") + count("failed") + cancelled,
            "{who}: {credits}"
        );
        assert!(count("completed") >= 2, "{who}: {credits}");
        // Every request that came back is on disk, and the figures are of exactly those that succeeded.
        let records = run.records();
        assert_eq!(records.len() as u64, count("issued"), "{who}: {run}");
        let valid = records.iter().filter(|record| record["error"].is_null()).count();
        assert_eq!(valid as u64, count("completed"), "{who}: {run}");
        assert_eq!(avg(&summary, "request_count"), valid as f64, "{who}: {run}");
        if !matches!(call, "finish") {
            assert_eq!(
                summary["is_complete"],
                call == "derive" && summary["is_complete"] == true,
                "{who}: {run}"
            );
        }
        let marker = run.artifact(".aiperf_results_ready.json");
        assert!(marker.contains("\"partial\":true"), "{who}: {marker}");
        assert!(run.stdout.contains("Request Latency"), "{who}: {run}");
    }
}

#[test]
fn what_may_be_skipped_is_skipped_and_counted() {
    let skipped = |entry: &str, fault: &str, after: u32| {
        run(
            entry,
            fault,
            after,
            "skip",
            "--request-count 20 --url mock:?ttft=30&tokens=3",
        )
        .succeed()
    };
    for (entry, fault) in [
        ("metric/hostile", "panic_in_record"),
        ("metric/hostile", "column_long"),
        ("metric/hostile", "panic_in_derive"),
        ("exporter/hostile", "panic_in_write"),
        ("exporter/hostile", "outside"),
        ("exporter/hostile", "panic_in_finish"),
    ] {
        let run = skipped(entry, fault, 0);
        let summary = run.summary();
        let who = format!("{entry} {fault}");
        assert_eq!(avg(&summary, "request_count"), 20.0, "{who}: {run}");
        assert_eq!(run.records().len(), 20, "{who}: {run}");
        let name = format!("{entry} (package hostile 1.0.0)");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(&name), "{who}: nothing is said: {run}");
        assert!(said.matches(&name).count() <= 3, "{who}: said too often: {run}");
        assert!(
            summary.get("hostile_value").is_none() || !fault.contains("record"),
            "{who}: {run}"
        );
        if fault != "panic_in_finish" {
            let packages = summary["packages"].as_array().unwrap();
            let package = packages
                .iter()
                .find(|package| text(package, "/name") == "hostile")
                .unwrap();
            assert!(number(package, "/skipped") >= 1.0, "{who}: {package}");
        }
        if entry.starts_with("metric") {
            let warnings = summary["warnings"].to_string();
            assert!(warnings.contains(&name), "{who}: {warnings}");
        }
    }
    // Records before the failure count, those after it are missing, and the report says how many.
    let run = skipped("metric/hostile", "panic_in_record", 2);
    let summary = run.summary();
    let values = number(&summary, "/hostile_value/count");
    let missing = format!("was skipped for {} records", 20.0 - values);
    assert!((1.0..20.0).contains(&values), "{run}");
    assert!(summary["warnings"].to_string().contains(&missing), "{missing}: {run}");
}

#[test]
fn an_endpoint_that_refuses_fails_the_request_and_not_the_run() {
    let run = run("endpoint/hostile", "refuse", 3, "fail", "--request-count 8").succeed();
    let summary = run.summary();
    assert_eq!(summary["credits"][0]["completed"], 3, "{run}");
    assert_eq!(summary["credits"][0]["failed"], 5, "{run}");
    let message = text(&summary, "/error_summary/0/error_details/message");
    assert_eq!(
        message,
        "endpoint/hostile (package hostile 1.0.0): decode: I will not read this"
    );
}

#[test]
fn a_plugin_that_ends_the_process_leaves_the_records() {
    let run = run(
        "metric/hostile",
        "abort_in_record",
        5,
        "fail",
        "--request-count 200 --url mock:?ttft=12&tokens=3",
    );
    let run = run.finish();
    assert_eq!(run.code, Some(-1), "{run}");
    assert!(run.records().len() >= 5, "{run}");
}

#[test]
fn a_library_that_aborts_on_panic_is_announced() {
    let folder = Folder::new();
    let registry = package(&folder, "fail");
    let mut bytes = fs::read(folder.path("plugins/plugin.so")).unwrap();
    let record = super::plugins::record(&bytes, b"hostile\0").unwrap();
    bytes[record + 12] = 0;
    fs::remove_file(folder.path("plugins/plugin.so")).unwrap();
    folder.file("plugins/plugin.so", bytes);
    let line = format!("--url mock: --request-count 2 --metric hostile --plugin-registry {registry}");
    let run = Run::profile_in(folder, &line).succeed();
    let warning = "plugin package hostile 1.0.0: built with panic=abort: a panic in it ends the whole run";
    assert!(run.stderr.contains(warning), "{run}");
}

/// Starts a run that would not end, waits until it says that it measures, interrupts it, and waits for its end.
#[track_caller]
fn ends_on_interrupt(entry: &str, fault: &str, flags: &str, interrupts: u32) -> Finished {
    let mut started = run(entry, fault, 0, "fail", flags).start();
    let log = started.path("artifacts/profile_export.jsonl");
    let deadline = Instant::now() + Duration::from_secs(30);
    // The file is emptied when everything is set up and the phase begins.
    while !log.exists() && !started.has_ended() {
        assert!(Instant::now() < deadline, "{entry} {fault}: the run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    started.interrupt();
    let asked = Instant::now();
    if interrupts > 1 {
        while !started.has_ended() {
            started.interrupt();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let run = started.finish();
    assert!(
        asked.elapsed() < Duration::from_secs(40),
        "{entry} {fault}: it went on: {run}"
    );
    run
}

#[test]
fn runs_that_would_not_end_can_be_stopped() {
    for (entry, fault) in [
        ("timing/hostile", "wake_in_the_past"),
        ("endpoint/hostile", "poll_for_ever"),
        ("endpoint/hostile", "poll_next_century"),
    ] {
        let run = ends_on_interrupt(entry, fault, "--request-count 4", 1);
        assert_eq!(run.code, Some(1), "{entry} {fault}: {run}");
        assert!(run.stderr.contains("interrupted"), "{entry} {fault}: {run}");
        // A request that was still being polled is none that succeeded.
        assert_eq!(run.summary()["credits"][0]["completed"], 0, "{entry} {fault}: {run}");
    }
    let run = ends_on_interrupt("timing/hostile", "ask_for_ever", "--benchmark-duration 60", 1);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.summary()["was_cancelled"], true, "{run}");
}

#[test]
fn a_call_that_never_returns_is_left_by_the_second_interrupt() {
    let run = ends_on_interrupt("timing/hostile", "hang_in_step", "--request-count 4", 2);
    assert_eq!(run.code, Some(130), "{run}");
}
