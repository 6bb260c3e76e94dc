//! Names, keys, order and formats of what a run writes.

use serde_json::Value;

use crate::harness::{Finished, Folder, Run, keys};

const STREAMING: &str =
    "--url mock:?ttft=5&itl=1&tokens=8 --streaming --concurrency 2 --request-count 12 --random-seed 7";

/// The metrics that come before the facts of a run.
const FIRST: [&str; 25] = [
    "request_throughput",
    "request_latency",
    "request_count",
    "time_to_first_token",
    "time_to_second_token",
    "inter_token_latency",
    "output_token_throughput",
    "output_token_throughput_per_user",
    "output_sequence_length",
    "input_sequence_length",
    "goodput",
    "good_request_count",
    "output_token_count",
    "reasoning_token_count",
    "min_request_timestamp",
    "max_response_timestamp",
    "inter_chunk_latency",
    "total_output_tokens",
    "total_reasoning_tokens",
    "benchmark_duration",
    "total_isl",
    "total_osl",
    "error_request_count",
    "error_isl",
    "total_error_isl",
];

const STATISTICS: [&str; 15] = [
    "avg", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max", "std", "count", "sum",
];

const COLUMNS: [&str; 14] = [
    "avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std",
];

#[test]
fn names() {
    let all = [
        ".aiperf_results_ready.json",
        "inputs.json",
        "logs/aiperf.log",
        "profile_export.jsonl",
        "profile_export_aiperf.csv",
        "profile_export_aiperf.json",
        "profile_export_console.txt",
    ];
    let prefixed = [
        ".aiperf_results_ready.json",
        "foo.csv",
        "foo.json",
        "foo.jsonl",
        "foo_console.txt",
        "inputs.json",
        "logs/aiperf.log",
    ];
    let summary: Vec<&str> = all.into_iter().filter(|name| *name != "profile_export.jsonl").collect();
    for (flags, expected) in [
        ("", &all[..]),
        ("--export-level records", &all),
        ("--export-level summary", &summary),
        ("--profile-export-prefix dir/foo_console.txt", &prefixed),
    ] {
        let run = Run::profile(&format!("--url mock: --request-count 2 {flags}")).succeed();
        assert_eq!(run.artifact_names(), expected, "{flags}\n{run}");
    }
}

#[test]
fn raw_records_are_written_or_refused() {
    let run = Run::profile("--url mock: --request-count 2 --export-level raw").finish();
    if run.code == Some(0) {
        let lines = run.artifact("profile_export_raw.jsonl");
        assert_eq!(lines.lines().count(), 2, "{run}");
    } else {
        assert!(run.stderr.contains("--export-level raw is not supported yet"), "{run}");
    }
}

#[test]
fn without_a_folder_the_run_names_one() {
    for (flags, folder) in [
        ("--model org/tiny", "org_tiny-openai-chat-concurrency1"),
        ("--model a b --concurrency 3", "a_multi-openai-chat-concurrency3"),
        (
            "--model a --endpoint-type completions --request-rate 500 --arrival-pattern constant",
            "a-openai-completions-request_rate500.0",
        ),
        (
            "--model a --request-rate 500 --concurrency 4",
            "a-openai-chat-concurrency4-request_rate500.0",
        ),
    ] {
        // A list takes one token here; several models are comma-separated.
        let flags = flags.replace("a b", "a,b");
        let line = format!("profile --url mock: --tokenizer builtin --request-count 2 --ui none {flags}");
        let run = Run::new(Folder::new(), &line).succeed();
        let summary = run
            .path("work/artifacts")
            .join(folder)
            .join("profile_export_aiperf.json");
        assert!(summary.is_file(), "no {}\n{run}", summary.display());
        let siblings = std::fs::read_dir(run.path("work/artifacts")).unwrap().count();
        assert_eq!(siblings, 1, "{run}");
    }
}

#[test]
fn summary_keys_stand_in_order() {
    let run = Run::profile(&format!(
        "{STREAMING} --warmup-request-count 2 --goodput request_latency:10000"
    ))
    .succeed();
    let text = run.artifact("profile_export_aiperf.json");
    assert!(!text.ends_with('\n'));
    let found = keys(&text);
    let summary = run.summary();

    let mut expected = vec!["schema_version", "aiperf_version", "benchmark_id"];
    expected.extend(FIRST.into_iter().filter(|tag| found.iter().any(|key| key == tag)));
    expected.extend([
        "input_config",
        "run_info",
        "was_cancelled",
        "is_complete",
        "error_summary",
        "start_time",
        "end_time",
    ]);
    expected.push("warmup_metrics");
    assert_eq!(found[..expected.len()], expected);
    for tag in [
        "goodput",
        "good_request_count",
        "inter_chunk_latency",
        "total_osl",
        "benchmark_duration",
    ] {
        assert!(found.iter().any(|key| key == tag), "no {tag} in {found:?}");
    }
    for absent in [
        "error_request_count",
        "min_request_timestamp",
        "credit_drop_latency",
        "stream_setup_latency",
    ] {
        assert!(!found.iter().any(|key| key == absent), "{absent} in {found:?}");
    }

    assert_eq!(summary["schema_version"], "1.4");
    assert_eq!(summary["was_cancelled"], false);
    assert_eq!(summary["is_complete"], true);
    assert_eq!(summary["error_summary"], Value::Array(Vec::new()));
    assert_eq!(summary["run_info"]["random_seed"], 7);
    assert_eq!(summary["run_info"]["benchmark_id"], summary["benchmark_id"]);
    assert_eq!(summary["input_config"]["slos"]["request_latency"], 10000.0);
    assert!(!text.contains("null"), "{text}");
    let latency: Value = summary["request_latency"].clone();
    assert_eq!(
        keys(&section(&text, "request_latency")),
        [&["unit"], &STATISTICS[..]].concat()
    );
    assert!(latency["count"].is_u64() && latency["avg"].is_f64(), "{latency}");
    assert_eq!(keys(&section(&text, "request_count")), ["unit", "avg"]);
    assert!(text.contains("\"avg\": 12.0"), "whole numbers are floats: {text}");
}

/// The text of a member of the outermost object.
fn section(text: &str, key: &str) -> String {
    let start = text.find(&format!("\n  \"{key}\": {{")).unwrap();
    let object = &text[start..];
    let open = object.find('{').unwrap();
    let close = object.find("\n  }").unwrap();
    object[open..close + 4].to_owned()
}

#[test]
fn the_table_is_the_summary_in_text() {
    let run = Run::profile(STREAMING).succeed();
    let text = run.artifact("profile_export_aiperf.csv");
    assert!(
        text.ends_with("\r\n") && !text.replace("\r\n", "").contains('\n'),
        "lines end in CR LF"
    );
    let sections: Vec<&str> = text.split("\r\n\r\n").collect();
    let [distributions, values] = sections[..] else {
        panic!("two sections: {text}")
    };

    let summary = run.summary();
    let mut metrics: Vec<(&String, &Value)> = summary
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| value.get("unit").is_some())
        .collect();
    metrics.sort_by_key(|(tag, _)| *tag);
    let (with, without): (Vec<_>, Vec<_>) = metrics.iter().partition(|(_, value)| value.get("p50").is_some());
    let cell = |value: &Value, key: &str| {
        value
            .get(key)
            .map_or(String::new(), |v| format!("{:.2}", v.as_f64().unwrap()))
    };

    let mut lines = distributions.lines();
    assert_eq!(lines.next().unwrap(), format!("Metric,{}", COLUMNS.join(",")));
    assert_eq!(lines.clone().count(), with.len(), "{text}");
    for (line, (tag, value)) in lines.zip(with) {
        let expected: Vec<String> = COLUMNS.iter().map(|column| cell(value, column)).collect();
        assert!(line.ends_with(&format!(",{}", expected.join(","))), "{tag}: {line}");
    }
    let mut lines = values.trim_end().lines();
    assert_eq!(lines.next().unwrap(), "Metric,Value");
    assert_eq!(lines.clone().count(), without.len(), "{text}");
    for (line, (tag, value)) in lines.zip(without) {
        assert!(line.ends_with(&format!(",{}", cell(value, "avg"))), "{tag}: {line}");
    }
    assert!(text.contains("\r\nTime to First Token (ms),"));
    assert!(text.contains("\r\nRequest Count,12.00\r\n"));
}

#[test]
fn record_keys_stand_in_order() {
    let run = Run::profile(STREAMING).succeed();
    for line in run.artifact("profile_export.jsonl").lines() {
        assert_eq!(keys(line), ["metadata", "metrics"]);
        let record: Value = serde_json::from_str(line).unwrap();
        let metadata = line
            .split_once("\"metadata\":")
            .unwrap()
            .1
            .split_once(",\"metrics\"")
            .unwrap()
            .0;
        assert_eq!(
            keys(metadata),
            [
                "session_num",
                "x_request_id",
                "x_correlation_id",
                "conversation_id",
                "turn_index",
                "credit_issued_ns",
                "request_start_ns",
                "request_ack_ns",
                "request_end_ns",
                "worker_id",
                "record_processor_id",
                "benchmark_phase",
                "phase_index",
                "profiling_index",
                "phase_name",
                "phase_kind",
                "was_cancelled",
                "context_overflow_skip",
                "agent_depth",
                "root_correlation_id",
            ]
        );
        assert!(
            !line.contains(": ") && !line.contains("null"),
            "compact, without nulls: {line}"
        );
        assert!(record["metrics"]["output_sequence_length"]["value"].is_u64(), "{line}");
        assert!(record["metrics"]["request_latency"]["value"].is_f64(), "{line}");
        assert_eq!(
            record["metrics"]["inter_chunk_latency"]["value"]
                .as_array()
                .unwrap()
                .len(),
            7,
            "{line}"
        );
        for absent in [
            "request_count",
            "credit_drop_latency",
            "stream_setup_latency",
            "requested_osl",
        ] {
            assert!(record["metrics"].get(absent).is_none(), "{absent}: {line}");
        }
    }
}

#[test]
fn the_console_shows_the_tables_and_where_the_files_are() {
    let run = Run::profile(STREAMING).succeed();
    let tables = run.artifact("profile_export_console.txt");
    assert!(
        tables.contains("LLM Metrics") && tables.contains("Time to First Token (ms)"),
        "{tables}"
    );
    let normal = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert!(normal(&run.stdout).contains(normal(&tables).trim_end()), "{run}");
    for file in ["profile_export_aiperf.csv", "profile_export_aiperf.json"] {
        assert!(shown(&run, file), "{file}: {run}");
    }
}

fn shown(run: &Finished, file: &str) -> bool {
    run.stdout.contains(run.artifacts.join(file).to_str().unwrap())
}

#[test]
fn the_marker_says_that_all_is_written() {
    let run = Run::profile("--url mock: --request-count 2").succeed();
    let marker: Value = serde_json::from_str(&run.artifact(".aiperf_results_ready.json")).unwrap();
    assert_eq!(
        marker,
        serde_json::json!({ "ready": true, "was_cancelled": false, "partial": false })
    );
}
