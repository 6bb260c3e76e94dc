//! Each way to be wrong names the flag.

use aiperf_config::ConfigErrorKind::{self, BadValue, Conflict, Missing, NotSupportedYet, Repeated, Unknown};

use crate::{error, parse};

fn check(cases: &[(&[&str], ConfigErrorKind, &[&str])]) {
    for (arguments, kind, fragments) in cases {
        let error = error(arguments);
        let text = error.to_string();
        assert_eq!(error.kind, *kind, "{arguments:?}: {text}");
        for fragment in *fragments {
            assert!(text.contains(fragment), "{arguments:?}: {text}");
        }
        assert!(text.lines().count() == 1 && text.len() < 400, "{text}");
    }
}

#[test]
fn grammar() {
    let long = format!("--{}", "x".repeat(10_000));
    check(&[
        (&[&long, "y"], Unknown, &["--xxx"]),
        (&["\u{1b}[31m"], Unknown, &["'?[31m'"]),
        (
            &["--concurency", "3"],
            Unknown,
            &["--concurency", "did you mean --concurrency?"],
        ),
        (&["--Streaming"], Unknown, &["--Streaming", "did you mean --streaming?"]),
        (&["--no-streaming"], Unknown, &["--no-streaming"]),
        (&["--qqq"], Unknown, &["--qqq", "--help"]),
        (&["--request"], Unknown, &["--request"]),
        (&["-x"], Unknown, &["-x"]),
        (&["-vvv"], Unknown, &["-vvv"]),
        (&["--"], Unknown, &["--"]),
        (&["stray"], Unknown, &["stray", "--model"]),
        (&["--streaming", "false"], Unknown, &["false", "--streaming=false"]),
        (&["--concurrency", "1", "2"], Unknown, &["2", "--concurrency"]),
        (&["--streaming=maybe"], BadValue, &["--streaming"]),
        (&["--streaming="], BadValue, &["--streaming"]),
        (&["--concurrency"], BadValue, &["--concurrency", "needs a value"]),
        (
            &["--tokenizer", "--streaming"],
            BadValue,
            &["--tokenizer", "needs a value"],
        ),
        (&["--url"], BadValue, &["--url"]),
        (&["--header"], BadValue, &["--header"]),
        (
            &["--concurrency", "1", "--concurrency", "2"],
            Repeated,
            &["--concurrency"],
        ),
        (
            &["--num-requests", "1", "--request-count", "2"],
            Repeated,
            &["--request-count"],
        ),
        (&["--streaming", "--streaming"], Repeated, &["--streaming"]),
        (&["--goodput", "a:1", "b:2"], Unknown, &["b:2", "--goodput"]),
    ]);
}

#[test]
fn not_supported_yet() {
    check(&[
        (
            &["--concurrency", "1,2"],
            NotSupportedYet,
            &["sweeps are not supported yet", "give one value to --concurrency"],
        ),
        (&["--isl", "1 , 2"], NotSupportedYet, &["sweeps", "--isl"]),
        (&["--request-rate=1,2"], NotSupportedYet, &["sweeps", "--request-rate"]),
        (
            &["--ui", "dashboard"],
            NotSupportedYet,
            &["--ui dashboard is not supported yet", "simple"],
        ),
        (
            &["--config", "a.yaml"],
            NotSupportedYet,
            &["--config is not supported yet"],
        ),
        (&["-f", "a.yaml"], NotSupportedYet, &["-f is not supported yet"]),
        (
            &["--fixed-schedule"],
            NotSupportedYet,
            &["--fixed-schedule is not supported yet"],
        ),
        (
            &["--no_fixed_schedule"],
            NotSupportedYet,
            &["--no-fixed-schedule is not supported yet"],
        ),
        (
            &["--num-profile-runs", "1"],
            NotSupportedYet,
            &["--num-profile-runs is not supported yet"],
        ),
        (
            &["--no-auto-plot"],
            NotSupportedYet,
            &["--no-auto-plot is not supported yet"],
        ),
        (
            &["--gpu-telemetry", "pynvml"],
            NotSupportedYet,
            &[
                "--gpu-telemetry 'pynvml' is not in this version",
                "aiperf plugins gpu_collector",
            ],
        ),
        (&["--gpu-telemetry", "a", "AMDSMI"], NotSupportedYet, &["'AMDSMI'"]),
        (&["--gpu-telemetry", "dashboard"], NotSupportedYet, &["'dashboard'"]),
        (
            &["--gpu-telemetry", "a", "fields.csv"],
            NotSupportedYet,
            &["'fields.csv'"],
        ),
        (
            &["--gpu-telemetry", "localhost:9400"],
            NotSupportedYet,
            &["'http://localhost:9400'", "DCGM", "not in this version"],
        ),
    ]);
}

#[test]
fn values() {
    check(&[
        (&["--concurrency", "0"], BadValue, &["--concurrency '0'", "at least 1"]),
        (
            &["--concurrency", "100.5"],
            BadValue,
            &["--concurrency", "whole number"],
        ),
        (&["--concurrency", "-1"], BadValue, &["--concurrency", "whole number"]),
        (
            &["--concurrency", "4294967296"],
            BadValue,
            &["--concurrency", "4294967295"],
        ),
        (&["--concurrency", ","], BadValue, &["--concurrency"]),
        (&["--num-requests", "1e3"], BadValue, &["--num-requests"]),
        (&["--isl", "0"], BadValue, &["--isl"]),
        (&["--isl", "10.0"], BadValue, &["--isl"]),
        (
            &["--random-seed", "-5"],
            BadValue,
            &["--random-seed '-5'", "at least 0"],
        ),
        (&["--random-seed=abc"], BadValue, &["--random-seed"]),
        (&["--request-rate", "0"], BadValue, &["--request-rate", "above 0"]),
        (&["--request-rate", "1e-300"], BadValue, &["--request-rate", "1e-9"]),
        (
            &["--request-timeout-seconds", "1e300"],
            BadValue,
            &["--request-timeout-seconds", "1e9"],
        ),
        (&["--request-rate", "inf"], BadValue, &["--request-rate"]),
        (&["--request-rate", "nan"], BadValue, &["--request-rate"]),
        (
            &["--benchmark-duration", "10s"],
            BadValue,
            &["--benchmark-duration", "without a unit"],
        ),
        (&["--benchmark-duration", "inf"], BadValue, &["--benchmark-duration"]),
        (
            &["--benchmark-duration", "1", "--benchmark-grace-period", "-1"],
            BadValue,
            &["--benchmark-grace-period", "inf"],
        ),
        (
            &["--request-timeout-seconds", "0"],
            BadValue,
            &["--request-timeout-seconds"],
        ),
        (&["--isl-stddev", "-0.5"], BadValue, &["--isl-stddev"]),
        (
            &["--export-level", "all"],
            BadValue,
            &["--export-level", "summary, records, raw"],
        ),
        (
            &["--export-http-trace", "--export-level", "summary"],
            Conflict,
            &["--export-http-trace", "--export-level summary"],
        ),
        (&["--log-level", "LOUD"], BadValue, &["--log-level", "TRACE"]),
        (&["--endpoint-type", "a b"], BadValue, &["--endpoint-type"]),
        (&["--model", "a,,b"], BadValue, &["--model", "empty item"]),
        (&["--custom-endpoint", "x"], BadValue, &["--custom-endpoint", "/"]),
        (&["--endpoint", ""], BadValue, &["--endpoint"]),
        (&["--url", "a b"], BadValue, &["--url", "blanks"]),
        (&["--url", ""], BadValue, &["--url"]),
        (&["--url", "ftp://x"], BadValue, &["--url", "ftp"]),
        (&["--url", "http://x:0"], BadValue, &["--url", "port 0"]),
        (&["--url", "http://x:65536"], BadValue, &["--url", "http://x:65536"]),
        (&["--url", "http://"], BadValue, &["--url"]),
        (&["--url", "mock:x"], BadValue, &["--url"]),
        (&["--extra-inputs", "stop:x,y"], BadValue, &["--extra-inputs", "JSON"]),
        (&["--extra-inputs", ":1"], BadValue, &["--extra-inputs"]),
        (&["--extra-inputs", "{\"a\":}"], BadValue, &["--extra-inputs", "JSON"]),
        (&["--header", "nothing"], BadValue, &["--header", "Name:value"]),
        (&["--header", "a b:c"], BadValue, &["--header", "a b"]),
        (
            &["--header", "X-A:b\r\nEvil: 1"],
            BadValue,
            &["--header", "X-A", "control"],
        ),
        (&["--header", "{\"X-A\": [1]}"], BadValue, &["--header", "X-A"]),
        (&["--api-key", ""], BadValue, &["--api-key"]),
        (&["--goodput", ""], BadValue, &["--goodput"]),
        (
            &["--goodput", "request_latency"],
            BadValue,
            &["--goodput", "request_latency"],
        ),
        (&["--goodput", "request_latency:"], BadValue, &["--goodput"]),
        (&["--goodput", ":5"], BadValue, &["--goodput"]),
        (&["--goodput", "request_latency:fast"], BadValue, &["--goodput"]),
        (&["--goodput", "a:1:2"], BadValue, &["--goodput"]),
        (&["--goodput", "a:nan"], BadValue, &["--goodput"]),
        (
            &["--input-file", "/no/such/file.jsonl"],
            BadValue,
            &["--input-file", "/no/such/file.jsonl"],
        ),
        (&["--tokenizer", "./no/such/dir"], BadValue, &["--tokenizer", "no such"]),
        (&["--artifact-dir", ""], BadValue, &["--artifact-dir"]),
        (
            &["--profile-export-prefix", ".json"],
            BadValue,
            &["--profile-export-prefix"],
        ),
        (
            &["--plugin", "chat=acme"],
            BadValue,
            &["--plugin", "category/name=package"],
        ),
        (&["--plugin", "endpoint/chat="], BadValue, &["--plugin"]),
        (
            &["--plugin", "endpoint/chat=a", "--plugin", "endpoint/Chat=b"],
            BadValue,
            &["--plugin", "endpoint/chat"],
        ),
        (&["--plugin-opt", "exporter/x.k"], BadValue, &["--plugin-opt"]),
        (
            &["--plugin-opt", "exporter/x=1"],
            BadValue,
            &["--plugin-opt", "category/name.key=value"],
        ),
        (
            &["--plugin-opt", "a/b.c=1", "--plugin-opt", "a/b.c=2"],
            BadValue,
            &["--plugin-opt", "a/b.c"],
        ),
        (&["--plugin-registry="], BadValue, &["--plugin-registry"]),
    ]);
}

#[test]
fn flags_that_cannot_take_effect() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let file = file.path().to_str().unwrap();
    check(&[
        (&["--tls-ca-file", "ca.pem"], Conflict, &["--tls-ca-file", "https"]),
        (&["--insecure", "--url", "h:1"], Conflict, &["--insecure", "https"]),
        (
            &["--url", "https://h", "--tls-client-key", "key.pem"],
            Conflict,
            &["--tls-client-key", "--tls-client-cert"],
        ),
        (
            &["--url", "https://h", "--tls-ca-file", "ca.pem", "--insecure"],
            Conflict,
            &["--tls-ca-file", "--insecure"],
        ),
        (
            &["--url", "mock:", "--http-proxy", "http://u:hunter2@p:1"],
            Conflict,
            &["--http-proxy", "mock:"],
        ),
        (&["--url", "https://h", "--tls-ca-file="], BadValue, &["--tls-ca-file"]),
        (
            &["--benchmark-grace-period", "3"],
            Conflict,
            &["--benchmark-grace-period", "--benchmark-duration"],
        ),
        (
            &["--arrival-smoothness", "2"],
            Conflict,
            &["--arrival-smoothness", "--request-rate"],
        ),
        (
            &["--vllm-burstiness", "2"],
            Conflict,
            &["--vllm-burstiness", "--request-rate"],
        ),
        (
            &["--arrival-pattern", "constant"],
            Conflict,
            &["--arrival-pattern", "--request-rate"],
        ),
        (
            &[
                "--arrival-smoothness",
                "2",
                "--request-rate",
                "3",
                "--arrival-pattern",
                "poisson",
            ],
            Conflict,
            &["--arrival-smoothness", "gamma"],
        ),
        (
            &["--request-rate", "5", "--arrival-pattern", "concurrency-burst"],
            Conflict,
            &["--arrival-pattern", "--request-rate"],
        ),
        (&["--osl-stddev", "3"], Conflict, &["--osl-stddev", "--osl"]),
        (
            &["--per-chunk-usage"],
            Conflict,
            &["--per-chunk-usage", "--use-server-token-count"],
        ),
        (
            &["--per-chunk-usage", "--use-server-token-count"],
            Conflict,
            &["--per-chunk-usage", "--streaming"],
        ),
        (
            &[
                "--per-chunk-usage",
                "--use-server-token-count",
                "--streaming",
                "--endpoint-type",
                "completions",
            ],
            Conflict,
            &["--per-chunk-usage", "chat"],
        ),
        (
            &["--custom-dataset-type", "single_turn"],
            Conflict,
            &["--custom-dataset-type", "--input-file"],
        ),
        (
            &["--input-file", file, "--isl", "5"],
            Conflict,
            &["--isl", "--input-file"],
        ),
        (
            &["--input-file", file, "--isl-stddev", "5"],
            Conflict,
            &["--isl-stddev", "--input-file"],
        ),
        (
            &["--input-file", file, "--session-turns-mean", "2"],
            Conflict,
            &["--session-turns-mean"],
        ),
        (
            &["--input-file", file, "--session-turns-stddev", "2"],
            Conflict,
            &["--session-turns-stddev"],
        ),
        (
            &["--input-file", file, "--session-turn-delay-mean", "2"],
            Conflict,
            &["--session-turn-delay-mean"],
        ),
        (
            &["--input-file", file, "--session-turn-delay-stddev", "2"],
            Conflict,
            &["--session-turn-delay-stddev"],
        ),
        (
            &["--input-file", file, "--session-delay-ratio", "2"],
            Conflict,
            &["--session-delay-ratio"],
        ),
        (
            &["--session-turn-delay-mean", "20"],
            Conflict,
            &["--session-turn-delay-mean", "--conversation-turn-mean"],
        ),
        (
            &["--session-turns-mean", "2", "--session-delay-ratio", "2"],
            Conflict,
            &["--session-delay-ratio"],
        ),
        (
            &["--warmup-concurrency", "2"],
            Conflict,
            &["--warmup-concurrency", "--warmup-request-count"],
        ),
        (
            &["--warmup-request-rate", "2"],
            Conflict,
            &["--warmup-request-rate", "--warmup-duration"],
        ),
        (
            &["--warmup-arrival-pattern", "gamma"],
            Conflict,
            &["--warmup-arrival-pattern"],
        ),
        (&["--warmup-grace-period", "2"], Conflict, &["--warmup-grace-period"]),
        (
            &["--warmup-request-count", "1", "--warmup-grace-period", "2"],
            Conflict,
            &["--warmup-grace-period", "--warmup-duration"],
        ),
        (
            &["--warmup-request-count", "1", "--warmup-arrival-pattern", "constant"],
            Conflict,
            &["--warmup-arrival-pattern", "--warmup-request-rate"],
        ),
        (
            &[
                "--warmup-request-count",
                "1",
                "--warmup-arrival-pattern",
                "concurrency_burst",
                "--warmup-request-rate",
                "2",
            ],
            Conflict,
            &["--warmup-arrival-pattern", "--warmup-request-rate"],
        ),
        (&["--tokenizer", "none"], Conflict, &["--tokenizer", "--input-file"]),
        (
            &[
                "--tokenizer",
                "none",
                "--input-file",
                file,
                "--use-server-token-count=false",
            ],
            Conflict,
            &["--tokenizer", "--use-server-token-count=false"],
        ),
        (&["-v", "--log-level", "INFO"], Conflict, &["--log-level", "-v"]),
        (&["-v", "-vv"], Conflict, &["-v", "-vv"]),
    ]);
}

#[test]
fn a_model_is_needed_unless_the_server_is_the_mock() {
    let error = parse(&["--url", "h"]).unwrap_err();
    assert_eq!(error.kind, Missing);
    assert!(error.to_string().contains("--model"), "{error}");
    assert!(parse(&["--url", "mock:", "h"]).is_err());
    assert!(parse(&[]).is_err());
    assert!(parse(&["--url", "mock:"]).is_ok());
}

#[test]
fn the_first_warmup_flag_typed_is_the_one_named() {
    let text = error(&["--warmup-request-rate", "2", "--warmup-concurrency", "2"]).to_string();
    assert!(text.starts_with("--warmup-request-rate"), "{text}");
}

#[test]
#[cfg(unix)]
fn arguments_that_are_not_text_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let error = aiperf_config::parse_profile(&[OsStr::new("--model"), OsStr::from_bytes(b"\xff")]).unwrap_err();
    assert!(error.to_string().contains("argument 2"), "{error}");
}

#[test]
fn gpu_collectors() {
    check(&[
        (&["--gpu-telemetry"], BadValue, &["--gpu-telemetry", "needs a value"]),
        (&["--gpu-telemetry", "a b"], BadValue, &["--gpu-telemetry", "letters"]),
        (
            &["--gpu-telemetry", "a", "ftp://h:1"],
            BadValue,
            &["--gpu-telemetry", "scheme ftp"],
        ),
        (
            &["--gpu-telemetry", "a", "mock:"],
            BadValue,
            &["--gpu-telemetry 'mock:'", "no GPUs"],
        ),
        (
            &["--gpu-telemetry", "a-b", "--gpu-telemetry=A_B"],
            BadValue,
            &["--gpu-telemetry", "a_b was named twice"],
        ),
        (
            &["--gpu-telemetry", "a", "h:1", "http://h:1"],
            BadValue,
            &["'http://h:1'", "twice"],
        ),
        (
            &["--gpu-telemetry", "a", "--no-gpu-telemetry"],
            Conflict,
            &["--gpu-telemetry: contradicts --no-gpu-telemetry"],
        ),
    ]);
}
