//! Ctrl-C once and twice.

use aiperf_mock_server::{Server, Settings};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Run, Started, avg, get, prometheus};

fn server(ttft: u64) -> Server {
    Server::spawn(Settings {
        ttft: Duration::from_millis(ttft),
        ..Settings::default()
    })
    .unwrap()
}

fn start(server: &Server) -> Started {
    let line = format!(
        "--url http://{} --model m --tokenizer builtin --streaming --concurrency 3",
        server.addr
    );
    Run::profile(&format!("{line} --benchmark-duration 60")).start()
}

/// Waits until the server has been asked so often.
fn wait_for_requests(address: SocketAddr, count: f64) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while prometheus(&get(address, "/metrics").unwrap(), "mock_requests_total") < count {
        assert!(Instant::now() < deadline, "the run sends nothing");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_in_flight_is_not_waited_for_when_all_has_been_sent() {
    let server = server(80_000);
    let line = format!(
        "--url http://{} --model m --tokenizer builtin --concurrency 3 --request-count 3",
        server.addr
    );
    let run = Run::profile(&line).start();
    wait_for_requests(server.addr, 3.0);
    run.interrupt();
    let asked = Instant::now();
    let run = run.finish();
    assert!(
        asked.elapsed() < Duration::from_secs(40),
        "it went on for {:?}",
        asked.elapsed()
    );
    // Nothing has completed.
    assert_eq!(run.code, Some(1), "{run}");
    let credits = &run.summary()["credits"][0];
    assert_eq!(credits["issued"], 3, "{credits}");
    assert_eq!(credits["cancelled"]["interrupt"], 3, "{credits}");
}

#[test]
fn once_reports() {
    let server = server(20);
    let run = start(&server);
    wait_for_requests(server.addr, 12.0);
    run.interrupt();
    let asked = Instant::now();
    let run = run.finish();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        asked.elapsed() < Duration::from_secs(20),
        "it went on for {:?}",
        asked.elapsed()
    );
    let summary = run.summary();
    assert_eq!(summary["was_cancelled"], true);
    assert_eq!(summary["is_complete"], false);
    assert!(
        summary["incomplete_reason"].as_str().unwrap().contains("interrupt"),
        "{summary}"
    );
    let credits = &summary["credits"][0];
    let count = |key: &str| credits[key].as_u64().unwrap();
    let cancelled: u64 = credits["cancelled"]
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(
        count("issued"),
        count("completed") + count("failed") + cancelled,
        "{credits}"
    );
    assert!(count("completed") >= 9 && count("failed") == 0, "{credits}");
    let whole = run
        .records()
        .iter()
        .filter(|record| record["metadata"]["was_cancelled"] == false)
        .count();
    assert_eq!(whole as u64, count("completed"));
    assert_eq!(avg(&summary, "request_count"), count("completed") as f64);
    let marker = run.artifact(".aiperf_results_ready.json");
    assert!(marker.contains("\"was_cancelled\":true"), "{marker}");
    assert!(run.stdout.contains("Request Latency"), "{run}");
}

#[test]
fn once_without_any_result_is_a_failure() {
    let server = server(60_000);
    let run = start(&server);
    wait_for_requests(server.addr, 3.0);
    run.interrupt();
    let run = run.finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("error:"), "no word about missing results: {run}");
}

#[test]
fn twice_leaves_at_once() {
    let server = server(20);
    let mut run = start(&server);
    wait_for_requests(server.addr, 6.0);
    // Signals merge while one is pending, and the first may be enough to end the run: the second follows at once.
    run.interrupt();
    while !run.has_ended() {
        run.interrupt();
    }
    let run = run.finish();
    assert_eq!(run.code, Some(130), "{run}");
}

#[test]
fn a_killed_run_leaves_its_records() {
    let server = server(20);
    let run = start(&server);
    // Records of the first of them are written by the time that later ones are asked for.
    wait_for_requests(server.addr, 60.0);
    run.kill();
    let run = run.finish();
    assert_eq!(run.code, Some(-1), "{run}");
    let text = run.artifact("profile_export.jsonl");
    let whole = text
        .lines()
        .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
        .count();
    assert!(whole >= 3, "only {whole} of some 57 records were on disk");
}

#[test]
fn the_mock_server_ends_with_the_run() {
    let line = "--url mock:?ttft=20 --streaming --concurrency 3 --benchmark-duration 60";
    let run = Run::profile(line).start();
    let artifacts = run.path("artifacts/profile_export.jsonl");
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(&artifacts).map_or(0, |text| text.lines().count()) < 3 {
        assert!(Instant::now() < deadline, "no records appear while the run goes on");
        thread::sleep(Duration::from_millis(10));
    }
    run.interrupt();
    // The pipes close only when every process that holds them has ended.
    let run = run.finish();
    assert_eq!(run.code, Some(0), "{run}");
}
