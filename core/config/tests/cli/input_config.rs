//! `input_config` has the shape of the original's, taken from runs of AIPerf 0.13.0 with the same flags.

use serde_json::json;

use crate::{parse, plan};

#[test]
fn a_bare_run_lists_what_it_resolved_to() {
    let config = parse(&["-m", "org/tiny", "--url", "http://127.0.0.1:1"])
        .unwrap()
        .input_config();
    let expected = json!({
        "models": {"items": [{"name": "org/tiny"}]},
        "endpoint": {"urls": ["http://127.0.0.1:1"]},
        "datasets": [{"name": "main", "type": "synthetic", "prompts": {"isl": {"mean": 550.0}}}],
        "phases": [{"name": "profiling", "kind": "profiling", "type": "concurrency", "requests": 10}],
    });
    assert_eq!(config, expected);
    // The order of members is that of the configuration too.
    assert_eq!(config.to_string(), expected.to_string());
}

#[test]
fn explicit_settings_are_listed() {
    let arguments = [
        "--model=org/tiny",
        "--url=http://u:p@127.0.0.1:1?api_key=zzz",
        "--tokenizer=builtin",
        "--isl=10",
        "--osl=20",
        "--osl-stddev=3",
        "--request-count=3",
        "--concurrency=2",
        "--ui=none",
        "--no-gpu-telemetry",
        "--no-server-metrics",
        "--api-key=sk-123",
        "-H",
        "X-Foo:bar",
        "Authorization:abc",
        "--extra-inputs=temperature:0.5",
        "--artifact-dir=out1",
        "--warmup-request-count=2",
        "--random-seed=5",
        "--use-server-token-count",
        "--goodput=request_latency:500",
        "--profile-export-prefix=foo",
        "--streaming",
        "--log-level=trace",
    ];
    let expected = json!({
        "models": {"items": [{"name": "org/tiny"}]},
        "endpoint": {
            "urls": ["http://<redacted>@127.0.0.1:1?api_key=<redacted>"],
            "api_key": "<redacted>",
            "streaming": true,
            "use_server_token_count": true,
            "headers": {"X-Foo": "bar", "Authorization": "<redacted>"},
            "extra": {"temperature": 0.5},
        },
        "datasets": [{
            "name": "main", "type": "synthetic", "entries": 3, "random_seed": 5,
            "prompts": {"isl": {"mean": 10.0}, "osl": {"mean": 20.0, "stddev": 3.0}},
        }],
        "phases": [
            {"name": "warmup", "kind": "warmup", "type": "concurrency", "exclude_from_results": true,
             "requests": 2, "concurrency": 2},
            {"name": "profiling", "kind": "profiling", "type": "concurrency", "requests": 3, "concurrency": 2},
        ],
        "artifacts": {"dir": "out1", "prefix": "foo"},
        "slos": {"request_latency": 500.0},
        "tokenizer": {"name": "builtin"},
        "gpu_telemetry": {"enabled": false},
        "server_metrics": {"enabled": false},
        "runtime": {"ui": "none"},
        "logging": {"level": "TRACE"},
    });
    assert_eq!(
        parse(&arguments).unwrap().input_config().to_string(),
        expected.to_string()
    );
}

#[test]
fn rates_turns_and_levels_are_listed() {
    let arguments = [
        "--model=a,b",
        "--request-rate=5",
        "--benchmark-duration=10",
        "--num-prompts=7",
        "--num-conversations=9",
        "--session-turns-mean=2",
        "--session-turn-delay-mean=50",
        "--session-turn-delay-stddev=5",
        "--session-delay-ratio=0.5",
        "--dataset-sampling-strategy=shuffle",
        "--endpoint-type=completions",
        "--custom-endpoint=/x",
        "--request-timeout-seconds=30",
        "--use-legacy-max-tokens",
        "--arrival-smoothness=2",
        "--workers-max=3",
        "--record-processors=2",
        "--log-level=debug",
        "--export-level=raw",
    ];
    let expected = json!({
        "models": {"items": [{"name": "a"}, {"name": "b"}]},
        "endpoint": {"urls": ["http://localhost:8000"], "type": "completions", "path": "/x", "timeout": 30.0,
            "use_legacy_max_tokens": true},
        "datasets": [{"name": "main", "type": "synthetic", "entries": 7, "sampling": "shuffle",
            "prompts": {"isl": {"mean": 550.0}}, "turns": {"mean": 2.0},
            "turn_delay": {"mean": 50.0, "stddev": 5.0}, "turn_delay_ratio": 0.5}],
        "phases": [{"name": "profiling", "kind": "profiling", "type": "gamma", "duration": 10.0, "sessions": 9,
            "grace_period": 30.0, "rate": 5.0, "smoothness": 2.0}],
        "artifacts": {"records": ["jsonl"], "raw": true},
        "runtime": {"workers": 3, "record_processors": 2},
        "logging": {"level": "DEBUG"},
    });
    assert_eq!(
        parse(&arguments).unwrap().input_config().to_string(),
        expected.to_string()
    );
}

#[test]
fn tls_and_proxy_are_listed() {
    let config = plan(&[
        "--url=https://h",
        "--tls-ca-file=ca.pem",
        "--tls-client-cert=c.pem",
        "--tls-client-key=k.pem",
        "--http-proxy=p:3128",
    ])
    .input_config();
    let expected = json!({
        "urls": ["https://h"],
        "tls": {"ca_file": "ca.pem", "client_cert": "c.pem", "client_key": "k.pem"},
        "http_proxy": "p:3128",
    });
    assert_eq!(config["endpoint"], expected);
    let config = plan(&["--url=https://h", "--insecure"]).input_config();
    assert_eq!(config["endpoint"]["tls"], json!({"insecure": true}));
}

#[test]
fn an_infinite_grace_period_is_written_as_text() {
    let config = plan(&[
        "--benchmark-duration=4",
        "--benchmark-grace-period=inf",
        "--export-level=summary",
    ])
    .input_config();
    assert_eq!(config["phases"][0]["grace_period"], "inf");
    assert_eq!(config["artifacts"], json!({"records": false, "raw": false}));
}

#[test]
fn gpu_collectors_are_listed_without_credentials() {
    let config = plan(&["--gpu-telemetry", "acme", "http://user:hunter2@h:9400/metrics"]).input_config();
    assert_eq!(
        config["gpu_telemetry"],
        json!({"enabled": true, "collector": "acme", "urls": ["http://<redacted>@h:9400/metrics"]})
    );
    let config = plan(&["--gpu-telemetry", "acme", "other", "h:1"]).input_config();
    assert_eq!(
        config["gpu_telemetry"],
        json!({"enabled": true, "collectors": [{"collector": "acme"}, {"collector": "other", "urls": ["http://h:1"]}]})
    );
}
