//! The figures: recomputed from the records, against each other and against the script of the server.

use aiperf_mock_server::{LogRecord, Server, Settings};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

use crate::harness::{Answer, Folder, Run, Scripted, avg, metric, number, text};

const PERCENTILES: [u32; 9] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

#[track_caller]
fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} instead of {expected}"
    );
}

/// Statistics from their definitions: linear interpolation at rank q/100·(n−1), population deviation.
fn statistics(mut values: Vec<f64>) -> HashMap<String, f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let mean = sum / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let mut statistics: HashMap<String, f64> = [
        ("avg", mean),
        ("min", values[0]),
        ("max", values[values.len() - 1]),
        ("sum", sum),
        ("std", variance.sqrt()),
        ("count", n),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for q in PERCENTILES {
        let rank = f64::from(q) / 100.0 * (n - 1.0);
        let (low, high) = (values[rank.floor() as usize], values[rank.ceil() as usize]);
        statistics.insert(format!("p{q}"), low * (1.0 - rank.fract()) + high * rank.fract());
    }
    statistics
}

#[test]
fn the_summary_is_what_the_records_say() {
    for line in [
        "--url mock:?ttft=10&itl=2&jitter=0.8&tokens=12&reasoning=3 --streaming --request-count 60 --concurrency 4 \
         --warmup-request-count 6 --goodput time_to_first_token:12",
        "--url mock:?itl=1&tokens=9&jitter=1 --endpoint-type completions --request-count 30 --request-rate 300",
        "--url mock:?ttft=3&itl=1 --streaming --endpoint-type completions --request-count 30 --osl 10 --osl-stddev 3",
    ] {
        let run = Run::profile(line).succeed();
        let (summary, records) = (run.summary(), run.profiling());
        let mut compared = 0;
        for (tag, entry) in summary
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, value)| value.get("unit").is_some())
        {
            let values: Vec<f64> = records
                .iter()
                .filter_map(|record| record.pointer(&format!("/metrics/{tag}/value")))
                .flat_map(|value| match value {
                    Value::Array(values) => values.iter().map(|value| value.as_f64().unwrap()).collect(),
                    value => vec![value.as_f64().unwrap()],
                })
                .collect();
            // Sums over records have one figure; curves and the like are in no record.
            if values.is_empty() || entry.get("p50").is_none() {
                continue;
            }
            let scale = values.iter().fold(0_f64, |scale, value| scale.max(value.abs()));
            for (name, expected) in statistics(values) {
                let n = if name == "sum" {
                    records.len() as f64 * 32.0
                } else {
                    1.0
                };
                close(
                    &format!("{tag} {name}"),
                    number(entry, &format!("/{name}")),
                    expected,
                    1e-12 * scale * n,
                );
            }
            compared += 1;
        }
        let streaming = line.contains("--streaming");
        assert!(
            compared >= if streaming { 12 } else { 5 },
            "only {compared} metrics compared: {summary}"
        );

        let sum = |tag: &str| records.iter().filter_map(|record| metric(record, tag)).sum::<f64>();
        close(
            "request_count",
            avg(&summary, "request_count"),
            records.len() as f64,
            0.0,
        );
        close(
            "total_osl",
            avg(&summary, "total_osl"),
            sum("output_sequence_length"),
            0.0,
        );
        close(
            "total_isl",
            avg(&summary, "total_isl"),
            sum("input_sequence_length"),
            0.0,
        );
        close(
            "total_output_tokens",
            avg(&summary, "total_output_tokens"),
            sum("output_token_count"),
            0.0,
        );
        if line.contains("--goodput") {
            let good = records
                .iter()
                .filter(|record| metric(record, "time_to_first_token").unwrap() <= 12.0)
                .count();
            close(
                "good_request_count",
                avg(&summary, "good_request_count"),
                good as f64,
                0.0,
            );
            close("good", sum("good_request_count"), good as f64, 0.0);
            let window = window(&summary);
            close(
                "goodput",
                avg(&summary, "goodput"),
                good as f64 / window,
                1e-4 * good as f64 / window,
            );
        }
    }
}

/// The window of the measured phase in seconds, from the times of day in the summary.
fn window(summary: &Value) -> f64 {
    let of_day = |key: &str| {
        let (_, time) = summary[key].as_str().unwrap().split_once('T').unwrap();
        let parts: Vec<f64> = time.split(':').map(|part| part.parse().unwrap()).collect();
        parts[0] * 3600.0 + parts[1] * 60.0 + parts[2]
    };
    let window = of_day("end_time") - of_day("start_time");
    if window < 0.0 { window + 86_400.0 } else { window }
}

#[test]
fn rates_refer_to_the_window_of_the_phase() {
    let run = Run::profile("--url mock:?ttft=10&itl=1&done_delay=20 --streaming --request-count 24 --concurrency 3")
        .succeed();
    let summary = run.summary();
    let window = window(&summary);
    // Both times are rounded to a microsecond.
    for (rate, total) in [
        ("request_throughput", "request_count"),
        ("output_token_throughput", "total_osl"),
        ("input_token_throughput", "total_isl"),
    ] {
        close(rate, avg(&summary, total) / avg(&summary, rate), window, 2.1e-6);
    }
    let tokens = avg(&summary, "total_isl") + avg(&summary, "total_osl");
    close(
        "total",
        tokens / avg(&summary, "total_token_throughput"),
        window,
        2.1e-6,
    );
    // The window holds the end of the streams, the span from first send to last token does not.
    assert!(avg(&summary, "benchmark_duration") <= window - 0.015, "{summary}");
}

#[test]
fn parts_of_a_request_add_up() {
    let run =
        Run::profile("--url mock:?ttft=8&itl=2&jitter=0.5&tokens=10 --streaming --request-count 30 --concurrency 3")
            .succeed();
    let records = run.profiling();
    assert_eq!(records.len(), 30);
    for record in &records {
        let of = |tag: &str| metric(record, tag).unwrap_or_else(|| panic!("no {tag} in {record}"));
        let decode = of("decode_duration");
        let gaps = record
            .pointer("/metrics/inter_chunk_latency/value")
            .unwrap()
            .as_array()
            .unwrap();
        let osl = of("output_sequence_length");
        close("osl", osl, 10.0, 0.0);
        close(
            "latency",
            of("request_latency"),
            of("time_to_first_token") + decode,
            1e-9 * of("request_latency"),
        );
        close(
            "gaps",
            gaps.iter().map(|gap| gap.as_f64().unwrap()).sum(),
            decode,
            1e-9 * decode,
        );
        close("itl", of("inter_token_latency") * (osl - 1.0), decode, 1e-9 * decode);
        close("ttst", of("time_to_second_token"), gaps[0].as_f64().unwrap(), 0.0);
        close(
            "tps",
            of("output_token_throughput_per_user"),
            1e3 / of("inter_token_latency"),
            1e-6,
        );
        close(
            "e2e",
            of("e2e_output_token_throughput"),
            osl * 1e3 / of("request_latency"),
            1e-6,
        );
        close(
            "prefill",
            of("prefill_throughput_per_user"),
            of("input_sequence_length") * 1e3 / of("time_to_first_token"),
            1e-6,
        );
        assert!(of("time_to_first_token") <= of("request_latency"));
    }
}

#[test]
fn one_token_has_no_decode() {
    let run = Run::profile("--url mock:?ttft=5&tokens=1 --streaming --request-count 6").succeed();
    for record in run.profiling() {
        assert_eq!(metric(&record, "output_sequence_length"), Some(1.0));
        assert_eq!(
            metric(&record, "time_to_first_token"),
            metric(&record, "request_latency")
        );
        assert_eq!(metric(&record, "decode_duration"), Some(0.0));
        for absent in [
            "inter_token_latency",
            "time_to_second_token",
            "output_token_throughput_per_user",
        ] {
            assert_eq!(metric(&record, absent), None, "{record}");
        }
    }
    let summary = run.summary();
    for absent in [
        "inter_token_latency",
        "time_to_second_token",
        "output_token_throughput_per_user",
    ] {
        assert!(summary.get(absent).is_none(), "{absent}: {summary}");
    }
}

#[test]
fn a_late_end_of_stream_is_no_latency() {
    let run = Run::profile("--url mock:?ttft=5&itl=1&tokens=4&done_delay=50 --streaming --request-count 9").succeed();
    let mut tails = Vec::new();
    for record in run.profiling() {
        let latency = metric(&record, "request_latency").unwrap();
        let span = number(&record, "/metadata/request_end_ns") - number(&record, "/metadata/request_start_ns");
        let tail = span / 1e6 - latency;
        let http = metric(&record, "http_req_duration").unwrap() - latency;
        assert!(http >= tail - 5.0, "{record}");
        tails.push(tail);
    }
    // Most of them: what the server sends late itself is not the client's.
    tails.sort_by(f64::total_cmp);
    assert!(tails[4] >= 48.0, "{tails:?}");
    let summary = run.summary();
    let effective = avg(&summary, "effective_latency") - avg(&summary, "request_latency");
    assert!(effective >= 48.0, "{summary}");
}

#[test]
fn times_are_those_of_the_server() {
    let folder = Folder::new();
    let log = folder.path("log.jsonl");
    let settings = Settings {
        ttft: Duration::from_millis(30),
        itl: Duration::from_millis(4),
        jitter: 0.5,
        tokens: 12,
        log: Some(log.clone()),
        ..Settings::default()
    };
    let server = Server::spawn(settings).unwrap();
    let line = format!(
        "--url http://{} --model m --tokenizer builtin --streaming --request-count 40",
        server.addr
    );
    let run = Run::profile_in(folder, &line).alone().succeed();
    server.stop().unwrap();
    let log: HashMap<String, LogRecord> = std::fs::read_to_string(log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<LogRecord>(line).unwrap())
        .map(|record| (record.request_id.clone().unwrap(), record))
        .collect();
    let mut lags = Vec::new();
    for record in run.profiling() {
        let logged = &log[text(&record, "/metadata/x_request_id")];
        let ms = |from: u64, to: u64| (to - from) as f64 / 1e6;
        let ttft = metric(&record, "time_to_first_token").unwrap();
        // The request is sent before it is read, and an event arrives after it is written.
        let least = ms(logged.received_ns, logged.events_ns[0]);
        assert!(ttft >= least, "TTFT {ttft} ms, but the server took {least} ms");
        lags.push(ttft - least);
        assert_eq!(logged.events_ns.len(), 12);
        let decode = metric(&record, "decode_duration").unwrap();
        lags.push((decode - ms(logged.events_ns[0], logged.events_ns[11])).abs());
    }
    lags.sort_by(f64::total_cmp);
    assert!(lags[lags.len() / 2] < 3.0, "client and server disagree by {lags:?} ms");
}

#[test]
fn failed_requests_count_as_infinitely_slow() {
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let server = Scripted::new(move |_| {
        if seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 4 == 3 {
            Answer::json(503, r#"{"error":{"message":"busy","type":"server_error"}}"#)
        } else {
            Answer::chat("four words are here")
        }
    });
    let run = Run::profile(&format!(
        "--url {} --model m --tokenizer builtin --request-count 16",
        server.url()
    ))
    .succeed();
    let summary = run.summary();
    assert_eq!(avg(&summary, "request_count"), 12.0);
    assert_eq!(avg(&summary, "error_request_count"), 4.0);
    assert_eq!(avg(&summary, "completed_request_count"), 16.0);
    assert_eq!(avg(&summary, "request_error_rate"), 25.0);
    let adjusted = &summary["adj_request_latency"];
    assert_eq!(adjusted["count"], 16);
    // Rank 0.75·15 = 11.25, so the slowest success; rank 0.9·15 = 13.5 is a failure.
    assert_eq!(number(adjusted, "/p75"), number(&summary, "/request_latency/max"));
    assert_eq!(number(adjusted, "/min"), number(&summary, "/request_latency/min"));
    for absent in ["avg", "sum", "max", "std", "p90", "p95", "p99"] {
        assert!(adjusted.get(absent).is_none(), "{absent}: {adjusted}");
    }
}

#[test]
fn counts_of_the_server_are_taken_when_asked_for() {
    let run = Run::profile(
        "--url mock:?tokens=7&reasoning=5&ttft=1 --streaming --request-count 5 --use-server-token-count --isl 40",
    )
    .succeed();
    let summary = run.summary();
    for record in run.profiling() {
        assert_eq!(metric(&record, "output_token_count"), Some(7.0), "{record}");
        assert_eq!(metric(&record, "reasoning_token_count"), Some(5.0), "{record}");
        assert_eq!(metric(&record, "output_sequence_length"), Some(12.0), "{record}");
        assert_eq!(
            metric(&record, "input_sequence_length"),
            metric(&record, "usage_prompt_tokens"),
            "{record}"
        );
        assert_eq!(metric(&record, "usage_completion_tokens"), Some(12.0), "{record}");
    }
    assert!(summary.get("usage_discrepancy_count").is_none(), "{summary}");
}

#[test]
fn synthetic_prompts_have_exactly_the_tokens_asked_for() {
    let run = Run::profile("--url mock: --request-count 20 --isl 123 --osl 6").succeed();
    for record in run.profiling() {
        assert_eq!(metric(&record, "input_sequence_length"), Some(123.0), "{record}");
        assert_eq!(metric(&record, "output_sequence_length"), Some(6.0), "{record}");
    }
}
