//! How many requests are sent, when, and what becomes of each.

use aiperf_mock_server::{LogRecord, Server, Settings};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::harness::{Finished, Folder, Run, avg, get, number, prometheus, text};

/// A run against a server that keeps a log.
fn logged(settings: Settings, flags: &str) -> (Finished, Vec<LogRecord>) {
    let folder = Folder::new();
    let path = folder.path("log.jsonl");
    let server = Server::spawn(Settings {
        log: Some(path.clone()),
        ..settings
    })
    .unwrap();
    let line = format!("--url http://{} --model m --tokenizer builtin {flags}", server.addr);
    let run = Run::profile_in(folder, &line).succeed();
    server.stop().unwrap();
    let log = std::fs::read_to_string(path).unwrap();
    (
        run,
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    )
}

fn milliseconds(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Issued, completed, failed and cancelled credits of a phase.
#[track_caller]
fn credits(run: &Finished, kind: &str) -> [u64; 4] {
    let summary = run.summary();
    let phase = summary["credits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|phase| phase["kind"] == kind)
        .unwrap();
    let count = |key: &str| phase[key].as_u64().unwrap();
    let cancelled = phase["cancelled"]
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum();
    let [issued, completed, failed] = ["issued", "completed", "failed"].map(count);
    assert_eq!(issued, completed + failed + cancelled, "{summary}");
    [issued, completed, failed, cancelled]
}

#[test]
fn every_endpoint_with_and_without_a_stream() {
    for endpoint in ["chat", "completions"] {
        for streaming in ["", "--streaming"] {
            let flags = format!("--endpoint-type {endpoint} {streaming} --request-count 15 --concurrency 4");
            let (run, log) = logged(
                Settings {
                    tokens: 5,
                    ..Settings::default()
                },
                &flags,
            );
            let path = if endpoint == "chat" {
                "/v1/chat/completions"
            } else {
                "/v1/completions"
            };
            assert_eq!(log.len(), 15);
            for record in &log {
                assert_eq!((&*record.path, record.status, record.complete), (path, Some(200), true));
                assert_eq!(record.events_ns.len(), if streaming.is_empty() { 0 } else { 5 });
            }
            assert_eq!(credits(&run, "profiling"), [15, 15, 0, 0]);
            let (summary, records) = (run.summary(), run.records());
            assert_eq!(records.len(), 15);
            assert_eq!(avg(&summary, "total_osl"), 75.0);
            assert_eq!(
                summary.get("time_to_first_token").is_some(),
                !streaming.is_empty(),
                "{flags}: {summary}"
            );
            // What the server read is what the records name.
            let asked: BTreeSet<_> = log.iter().map(|record| record.request_id.clone().unwrap()).collect();
            let named: BTreeSet<_> = records
                .iter()
                .map(|record| text(record, "/metadata/x_request_id").to_owned())
                .collect();
            assert_eq!(asked, named);
            assert_eq!(asked.len(), 15, "identifiers repeat");
            let numbers: BTreeSet<u64> = records
                .iter()
                .map(|record| number(record, "/metadata/session_num") as u64)
                .collect();
            assert_eq!(numbers, (0..15).collect());
        }
    }
}

#[test]
fn the_mock_server_runs_as_a_program_of_its_own() {
    let folder = Folder::new();
    let address: std::net::SocketAddr = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap()
    };
    let server = Run::new(
        folder,
        &format!("mock-server --port {} --ttft-ms 5 --tokens 3", address.port()),
    )
    .start();
    let up = (0..500).any(|_| {
        std::thread::sleep(milliseconds(10));
        get(address, "/health").is_ok()
    });
    assert!(up, "{}", server.finish());
    let run = Run::profile(&format!(
        "--url {address} --model m --tokenizer builtin --streaming --request-count 8"
    ))
    .succeed();
    assert_eq!(avg(&run.summary(), "total_osl"), 24.0);
    assert_eq!(
        prometheus(&get(address, "/metrics").unwrap(), "mock_requests_total"),
        8.0
    );
    server.interrupt();
    let server = server.finish();
    assert_eq!(server.code, Some(0), "{server}");
}

#[test]
fn concurrency_is_a_ceiling_that_is_reached() {
    let (_, log) = logged(
        Settings {
            ttft: milliseconds(30),
            ..Settings::default()
        },
        "--streaming --concurrency 4 --request-count 24",
    );
    let mut edges: Vec<(u64, i32)> = log
        .iter()
        .flat_map(|record| [(record.received_ns, 1), (record.done_ns.unwrap(), -1)])
        .collect();
    edges.sort_unstable();
    let (mut open, mut most) = (0, 0);
    for (_, step) in edges {
        open += step;
        most = most.max(open);
    }
    assert_eq!(most, 4);
}

#[test]
fn a_rate_spaces_requests() {
    let line = "--url mock: --request-rate 100 --request-count 40 --arrival-pattern";
    let run = Run::profile(&format!("{line} constant")).succeed();
    let mut issued: Vec<f64> = run
        .records()
        .iter()
        .map(|record| number(record, "/metadata/credit_issued_ns"))
        .collect();
    issued.sort_by(f64::total_cmp);
    assert_eq!(issued.len(), 40);
    for (index, at) in issued.iter().enumerate() {
        let due = index as f64 * 1e7;
        // Never early; late only as far as the machine is. The first one may be late too, by up to the 10 ms that a
        // schedule catches up, and the others seem early by as much. Virtual time proves the schedule to the nanosecond.
        assert!(
            at - issued[0] >= due - 1.1e7,
            "credit {index} came {} ns early",
            due - (at - issued[0])
        );
    }

    for pattern in ["poisson", "gamma --arrival-smoothness 4"] {
        let run = Run::profile(&format!("{line} {pattern}")).succeed();
        assert_eq!(credits(&run, "profiling"), [40, 40, 0, 0]);
    }
    // A burst knows no rate.
    let run =
        Run::profile("--url mock: --arrival-pattern concurrency_burst --concurrency 5 --request-count 40").succeed();
    assert_eq!(credits(&run, "profiling"), [40, 40, 0, 0]);
}

#[test]
fn warmup_is_not_measured() {
    let (run, log) = logged(
        Settings {
            tokens: 4,
            ..Settings::default()
        },
        "--streaming --request-count 20 --concurrency 2 --warmup-request-count 5 --warmup-concurrency 1",
    );
    assert_eq!(log.len(), 25);
    assert_eq!(credits(&run, "warmup"), [5, 5, 0, 0]);
    assert_eq!(credits(&run, "profiling"), [20, 20, 0, 0]);
    let summary = run.summary();
    assert_eq!(avg(&summary, "request_count"), 20.0);
    assert_eq!(avg(&summary["warmup_metrics"], "request_count"), 5.0);
    assert_eq!(number(&summary, "/request_latency/count"), 20.0);
    let phases: Vec<_> = run
        .records()
        .iter()
        .map(|record| text(record, "/metadata/benchmark_phase").to_owned())
        .collect();
    assert_eq!(phases.iter().filter(|phase| *phase == "warmup").count(), 5);
    assert_eq!(phases.len(), 25);
    assert!(
        !run.artifact("profile_export_aiperf.csv")
            .to_lowercase()
            .contains("warmup")
    );
}

#[test]
fn warmup_for_a_time_and_a_duration_without_a_count() {
    let run = Run::profile(
        "--url mock:?ttft=20 --streaming --concurrency 2 --warmup-duration 0.3 --benchmark-duration 0.6 \
         --benchmark-grace-period 10",
    )
    .succeed();
    let [issued, completed, failed, cancelled] = credits(&run, "profiling");
    assert_eq!((failed, cancelled), (0, 0));
    assert!(issued == completed && issued >= 2, "{run}");
    // 2 users, 20 ms each: no more than 30 each in 0.6 s.
    assert!(issued <= 62, "{issued} requests in 0.6 s");
    assert!(credits(&run, "warmup")[1] >= 2);
}

#[test]
fn the_end_of_grace_cancels_and_counts() {
    let run = Run::profile(
        "--url mock:?ttft=1000 --streaming --concurrency 4 --benchmark-duration 1.5 --benchmark-grace-period 0.1",
    )
    .succeed();
    assert_eq!(credits(&run, "profiling"), [8, 4, 0, 4]);
    let summary = run.summary();
    let cancelled = &summary["credits"][0]["cancelled"];
    assert_eq!(
        cancelled.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["grace_period"],
        "{summary}"
    );
    // Each is told of, none is measured, and the window waited for them.
    let (cut, whole): (Vec<_>, Vec<_>) = run
        .records()
        .into_iter()
        .partition(|record| record["metadata"]["was_cancelled"] == true);
    assert_eq!((cut.len(), whole.len()), (4, 4));
    for record in cut {
        assert!(
            record.pointer("/metrics/request_latency").is_none() && record.get("error").is_some(),
            "{record}"
        );
    }
    assert_eq!(number(&summary, "/effective_latency/count"), 4.0);
    assert_eq!(number(&summary, "/request_latency/count"), 4.0);
    assert_eq!(avg(&summary, "request_count"), 4.0);
    assert!(summary.get("error_request_count").is_none(), "{summary}");
    let window = 4.0 / avg(&summary, "request_throughput");
    assert!(window >= 1.59, "the window ends after {window} s");
}

#[test]
fn no_grace_is_no_grace() {
    let run = Run::profile(
        "--url mock:?ttft=400 --streaming --concurrency 3 --benchmark-duration 0.7 --benchmark-grace-period 0",
    )
    .succeed();
    let [issued, completed, failed, cancelled] = credits(&run, "profiling");
    assert_eq!((failed, cancelled), (0, 3), "issued {issued}, completed {completed}");
}

#[test]
fn the_seed_decides_everything() {
    let run = |seed: &str| {
        let line = format!("--url mock: --request-count 12 --isl 60 --isl-stddev 20 --osl 9 --osl-stddev 3 {seed}");
        Run::profile(&line).succeed()
    };
    let lengths = |run: &Finished| {
        let mut lengths: Vec<(u64, u64, u64)> = run
            .records()
            .iter()
            .map(|record| {
                let of = |pointer: &str| number(record, pointer) as u64;
                (
                    of("/metadata/session_num"),
                    of("/metrics/input_sequence_length/value"),
                    of("/metrics/output_sequence_length/value"),
                )
            })
            .collect();
        lengths.sort_unstable();
        lengths
    };
    let (a, b, other) = (run("--random-seed 5"), run("--random-seed 5"), run("--random-seed 6"));
    assert_eq!(a.artifact("inputs.json"), b.artifact("inputs.json"));
    assert_eq!(lengths(&a), lengths(&b));
    assert_ne!(a.artifact("inputs.json"), other.artifact("inputs.json"));
    assert_ne!(run("").artifact("inputs.json"), run("").artifact("inputs.json"));
}

#[test]
fn requests_go_round_the_servers() {
    let servers = [(); 3].map(|()| Server::spawn(Settings::default()).unwrap());
    let urls: Vec<String> = servers.iter().map(|server| format!("http://{}", server.addr)).collect();
    let run = Run::profile(&format!(
        "--url {} --model m --tokenizer builtin --request-count 30",
        urls.join(" ")
    ))
    .succeed();
    assert_eq!(avg(&run.summary(), "request_count"), 30.0);
    for server in &servers {
        assert_eq!(
            prometheus(&get(server.addr, "/metrics").unwrap(), "mock_requests_total"),
            10.0
        );
    }
}

#[test]
fn goodput_counts_requests_that_meet_every_objective() {
    for (slos, good) in [
        ("request_latency:60000", 10.0),
        ("time_to_first_token:5", 0.0),
        ("request_latency:60000 time_to_first_token:5", 0.0),
        ("output_sequence_length:4 request_latency:60000", 10.0),
        ("output_sequence_length:5", 0.0),
    ] {
        let line = "--url mock:?ttft=20&tokens=4 --streaming --request-count 10";
        let summary = Run::profile(line).arg("--goodput").arg(slos).succeed().summary();
        assert_eq!(avg(&summary, "good_request_count"), good, "{slos}");
        assert_eq!(avg(&summary, "good_request_fraction"), good / 10.0, "{slos}");
        let expected = good / 10.0 * avg(&summary, "request_throughput");
        assert!(
            (avg(&summary, "goodput") - expected).abs() <= 1e-9 * expected,
            "{slos}: {}",
            summary["goodput"]
        );
    }
}

#[test]
fn several_workers_and_processors_lose_nothing() {
    let run = Run::profile(
        "--url mock:?tokens=3 --streaming --concurrency 32 --request-count 600 --workers-max 3 --record-processors 2",
    )
    .succeed();
    assert_eq!(credits(&run, "profiling"), [600, 600, 0, 0]);
    let records = run.records();
    assert_eq!(records.len(), 600);
    let ids: BTreeSet<&str> = records
        .iter()
        .map(|record| text(record, "/metadata/x_request_id"))
        .collect();
    assert_eq!(ids.len(), 600);
    let first: &Value = &records[0];
    assert!(text(first, "/metadata/worker_id").starts_with("worker_"), "{first}");
    assert!(
        text(first, "/metadata/record_processor_id").starts_with("record_processor_"),
        "{first}"
    );
}
