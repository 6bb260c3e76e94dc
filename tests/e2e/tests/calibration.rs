//! `aiperf calibrate`, what later runs make of it, and the trace that it rests on.

use std::fs;

use serde_json::Value;

use crate::harness::{Folder, Run};

/// Lags are errors of measurement: a loaded machine makes them large, but never negative beyond what clocks may disagree
/// by, and never without a value.
fn plausible(spread: &Value) {
    for key in ["p50", "p99", "max"] {
        let ms = spread[key].as_f64().unwrap_or_else(|| panic!("no {key}: {spread}"));
        assert!((-0.1..60_000.0).contains(&ms), "{key}: {spread}");
    }
}

#[test]
fn a_quick_calibration_is_whole_and_is_kept() {
    let folder = Folder::new();
    let data = folder.path("data");
    let run = Run::new(folder, "calibrate --quick --all --output json")
        .env("XDG_DATA_HOME", &data)
        .alone()
        .succeed();
    let table: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    let kept = fs::read_to_string(data.join("aiperf/calibration.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), table);
    assert_eq!(table["not_measured"], serde_json::json!([]), "{table}");
    let rows = table["rows"].as_array().unwrap();
    let loads: Vec<String> = rows.iter().map(|row| row["load"].to_string()).collect();
    assert_eq!(
        loads,
        [
            r#"{"streams":10}"#,
            r#"{"streams":100}"#,
            r#"{"constant":200.0}"#,
            r#"{"poisson":200.0}"#
        ]
    );
    for row in rows {
        assert_eq!(row["left_out"], 0, "{row}");
        for token in ["first_token_lag_ms", "last_token_lag_ms"] {
            plausible(&row[token]["reported"]);
            plausible(&row[token]["user"]);
            // The kernel has a segment before anybody can read it.
            assert!(
                row[token]["reported"]["p99"].as_f64() <= row[token]["user"]["p99"].as_f64(),
                "{row}"
            );
        }
        for share in ["kernel_share", "bounded_share"] {
            assert!((0.0..=1.0).contains(&row[share].as_f64().unwrap()), "{row}");
        }
    }
    for (row, requests) in rows.iter().zip([10, 100, 200, 200]) {
        assert_eq!(row["requests"], requests, "{row}");
    }
    for row in &rows[..2] {
        plausible(&row["itl_error_ms"]);
        assert!(row.get("schedule").is_none(), "{row}");
    }
    for row in &rows[2..] {
        assert!(row.get("itl_error_ms").is_none(), "{row}");
        plausible(&row["schedule"]["send_lag_ms"]);
        // On average at the rate asked for, within what a random schedule of 200 and a loaded machine do to it.
        let achieved = row["schedule"]["achieved_rate"].as_f64().unwrap();
        assert!((100.0..300.0).contains(&achieved), "{row}");
    }
    let cv = |row: &Value| row["schedule"]["gap_cv"].as_f64().unwrap();
    assert!(
        cv(&rows[2]) < cv(&rows[3]),
        "even gaps are more even than random ones: {table}"
    );
}

/// A table of this machine in which loads up to 100 streams and 200 requests per second were within bounds, or nothing was.
fn kept_calibration(folder: &Folder, within: bool) {
    let text = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap();
    let spread = serde_json::json!({ "p50": 0.0, "p99": 0.0, "max": 0.0 });
    let lag = serde_json::json!({ "reported": spread, "user": spread });
    let row = |load: Value| {
        serde_json::json!({
            "load": load, "requests": 1, "left_out": 0, "events_per_s": 9000.0,
            "first_token_lag_ms": lag, "last_token_lag_ms": lag, "kernel_share": 1.0, "bounded_share": 0.0,
            "out_of_bounds": if within { vec![] } else { vec!["late"] },
        })
    };
    let table = serde_json::json!({
        "version": "0", "date": "2026-01-01T00:00:00Z",
        "machine": {
            "host": text("hostname").trim_end(),
            "cpus": std::thread::available_parallelism().unwrap().get(),
            "kernel": "any",
        },
        "bounds": { "first_token_lag_ms": 1.0, "itl_error_ms": 0.1, "send_lag_ms": 1.0 },
        "rows": [row(serde_json::json!({"streams": 100})), row(serde_json::json!({"constant": 200.0}))],
        "not_measured": [],
    });
    folder.file("data/aiperf/calibration.json", table.to_string());
}

#[test]
fn a_run_beyond_the_calibration_says_so() {
    for (within, expected) in [(true, false), (false, true)] {
        let folder = Folder::new();
        kept_calibration(&folder, within);
        let data = folder.path("data");
        let run = Run::profile_in(
            folder,
            "--url mock:?ttft=50&itl=5&tokens=8 --streaming --request-count 2",
        )
        .env("XDG_DATA_HOME", data)
        .succeed();
        let reason = run.summary()["validity"]["reasons"]
            .as_array()
            .and_then(|reasons| reasons.iter().find(|reason| reason["code"] == "uncalibrated").cloned());
        assert_eq!(reason.is_some(), expected, "{run}");
        if let Some(reason) = reason {
            let message = reason["message"].as_str().unwrap();
            assert!(message.contains("concurrent requests"), "{message}");
            assert_eq!(reason["severity"], "suspect");
            assert!(run.stdout.contains("beyond what was calibrated"), "{run}");
        }
    }
    let folder = Folder::new();
    folder.file("data/aiperf/calibration.json", "{");
    let data = folder.path("data");
    let run = Run::profile_in(folder, "--url mock: --request-count 1")
        .env("XDG_DATA_HOME", data)
        .succeed();
    assert!(run.stderr.contains("the calibration can't be read"), "{run}");
}

#[test]
fn the_trace_is_added_on_request() {
    let line = "--url mock:?ttft=5&itl=2&tokens=4 --streaming --request-count 3";
    let without = Run::profile(line).succeed().artifact("profile_export.jsonl");
    assert!(!without.contains("trace_data"), "{without}");
    let with = Run::profile(&format!("{line} --export-http-trace"))
        .succeed()
        .artifact("profile_export.jsonl");
    assert_eq!(with.lines().count(), 3);
    for line in with.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let trace = &record["trace_data"];
        let mono = &trace["monotonic_ns"];
        let (first, last) = (&mono["first_content"], &mono["last_content"]);
        let order = [
            &mono["credit_issued"],
            &mono["credit_received"],
            &mono["request_start"],
            &mono["send_start"],
            &mono["send_end"],
            &first["user"],
            &last["user"],
        ];
        let times: Vec<u64> = order.iter().map(|time| time.as_u64().expect(line)).collect();
        assert!(times.is_sorted(), "{line}");
        // Credits are issued ahead of their time, requests never sent before it.
        assert!(mono["intended"].as_u64().unwrap() <= times[2], "{line}");
        for stamp in [first, last] {
            if let Some(kernel) = stamp["kernel"].as_u64() {
                assert!(kernel <= stamp["user"].as_u64().unwrap(), "{line}");
            }
        }
        assert_eq!(mono["content_count"], 4, "{line}");
        // The same instant on either clock.
        assert_eq!(
            trace["request_send_start_ns"], record["metadata"]["request_start_ns"],
            "{line}"
        );
        let chunks = trace["response_chunks"].as_array().unwrap();
        let bytes: u64 = chunks.iter().map(|chunk| chunk[1].as_u64().unwrap()).sum();
        assert_eq!(trace["response_bytes_total"], bytes, "{line}");
        assert_eq!(trace["response_chunks_count"], chunks.len(), "{line}");
    }
    let refused = Run::profile("--url mock: --export-http-trace --export-level summary").finish();
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("--export-http-trace"), "{refused}");
}
