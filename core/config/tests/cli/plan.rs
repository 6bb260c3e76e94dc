//! What settings mean: defaults, inheritance, names.

use std::path::{Path, PathBuf};

use aiperf_config::{
    DatasetSource, ExportLevel, GpuCollectorPlan, LogLevel, NormalSpec, PhaseKind, PhasePlan, RunPlan, Sampling,
    TokenizerChoice, Ui, UrlSpec,
};

use crate::{parse, plan};

fn profiling(arguments: &[&str]) -> PhasePlan {
    match plan(arguments).first_profiling_phase() {
        Some(phase) => phase.clone(),
        None => panic!("{arguments:?}: no profiling phase"),
    }
}

fn warmup(arguments: &[&str]) -> PhasePlan {
    let plan = plan(arguments);
    assert_eq!(plan.phases.len(), 2);
    plan.phases[0].clone()
}

#[test]
fn a_model_is_enough() {
    let plan = plan(&[]);
    assert_eq!(plan.models, ["m"]);
    assert_eq!(
        plan.endpoint.urls,
        [UrlSpec::Server("http://localhost:8000".to_owned())]
    );
    assert_eq!(plan.endpoint.endpoint_type, "chat");
    assert_eq!(plan.endpoint.timeout_s, 21_600.0);
    assert!(!plan.endpoint.streaming && plan.endpoint.api_key.is_none());
    assert_eq!(plan.tokenizer, TokenizerChoice::ModelCache("m".to_owned()));
    assert_eq!(plan.dataset.sampling, Sampling::Sequential);
    assert_eq!(
        plan.dataset.source,
        DatasetSource::Synthetic {
            entries: 100,
            isl: NormalSpec {
                mean: 550.0,
                stddev: 0.0
            },
            osl: None,
            turns: NormalSpec { mean: 1.0, stddev: 0.0 },
            turn_delay_ms: NormalSpec { mean: 0.0, stddev: 0.0 },
            turn_delay_ratio: 1.0,
        }
    );
    assert_eq!(
        plan.phases,
        [PhasePlan {
            name: "profiling".to_owned(),
            kind: PhaseKind::Profiling,
            timing: "request_rate".to_owned(),
            arrival: "concurrency_burst".to_owned(),
            rate: None,
            smoothness: None,
            concurrency: Some(1),
            requests: Some(10),
            sessions: None,
            duration_s: None,
            grace_s: None,
        }]
    );
    assert_eq!((plan.ui, plan.log_level, plan.seed), (Ui::Auto, LogLevel::Info, None));
    assert_eq!((plan.workers, plan.record_processors), (None, None));
    assert_eq!(plan.artifacts.level, ExportLevel::Records);
    assert!(plan.slos.is_empty());
    assert_eq!(plan.explicit.iter().collect::<Vec<_>>(), ["model-names"]);
}

#[test]
fn arrival_patterns() {
    type Arrival<'a> = (&'a [&'a str], &'a str, Option<f64>, Option<f64>, Option<u32>);
    let cases: [Arrival<'_>; 7] = [
        (&["--concurrency", "4"], "concurrency_burst", None, None, Some(4)),
        (
            &["--arrival-pattern", "concurrency-burst"],
            "concurrency_burst",
            None,
            None,
            Some(1),
        ),
        (&["--request-rate", "5"], "poisson", Some(5.0), None, None),
        (
            &["--request-rate", "5", "--concurrency", "4"],
            "poisson",
            Some(5.0),
            None,
            Some(4),
        ),
        (
            &["--request-rate", "5", "--arrival-pattern", "constant"],
            "constant",
            Some(5.0),
            None,
            None,
        ),
        (
            &["--request-rate", "5", "--arrival-smoothness", "2"],
            "gamma",
            Some(5.0),
            Some(2.0),
            None,
        ),
        (
            &["--request-rate", "5", "--request-rate-mode", "gamma"],
            "gamma",
            Some(5.0),
            Some(1.0),
            None,
        ),
    ];
    for (arguments, arrival, rate, smoothness, concurrency) in cases {
        let phase = profiling(arguments);
        assert_eq!(phase.arrival, arrival, "{arguments:?}");
        assert_eq!(
            (phase.rate, phase.smoothness, phase.concurrency),
            (rate, smoothness, concurrency),
            "{arguments:?}"
        );
    }
}

#[test]
fn stop_conditions_combine() {
    type Stops = (Option<u64>, Option<u64>, Option<f64>, Option<f64>);
    let cases: [(&[&str], Stops); 7] = [
        (&[], (Some(10), None, None, None)),
        (&["--request-count", "3"], (Some(3), None, None, None)),
        (&["--num-sessions", "3"], (None, Some(3), None, None)),
        (&["--benchmark-duration", "2.5"], (None, None, Some(2.5), Some(30.0))),
        (
            &["--benchmark-duration", "2", "--benchmark-grace-period", "0"],
            (None, None, Some(2.0), Some(0.0)),
        ),
        (
            &["--benchmark-duration", "2", "--benchmark-grace-period", "inf"],
            (None, None, Some(2.0), None),
        ),
        (
            &[
                "--benchmark-duration",
                "2",
                "--request-count",
                "3",
                "--num-conversations",
                "4",
            ],
            (Some(3), Some(4), Some(2.0), Some(30.0)),
        ),
    ];
    for (arguments, expected) in cases {
        let phase = profiling(arguments);
        assert_eq!(
            (phase.requests, phase.sessions, phase.duration_s, phase.grace_s),
            expected,
            "{arguments:?}"
        );
    }
}

#[test]
fn warmup_inherits_from_profiling() {
    let phase = warmup(&["--warmup-request-count", "3"]);
    assert_eq!((phase.name.as_str(), phase.kind), ("warmup", PhaseKind::Warmup));
    assert_eq!(
        (phase.requests, phase.arrival.as_str(), phase.concurrency),
        (Some(3), "concurrency_burst", Some(1))
    );

    let phase = warmup(&["--warmup-duration", "3", "--concurrency", "8", "--request-rate", "5"]);
    assert_eq!(
        (phase.duration_s, phase.grace_s, phase.requests),
        (Some(3.0), None, None)
    );
    assert_eq!(
        (phase.arrival.as_str(), phase.rate, phase.concurrency),
        ("poisson", Some(5.0), Some(8))
    );

    let phase = warmup(&[
        "--num-warmup-sessions",
        "3",
        "--request-rate",
        "5",
        "--arrival-smoothness",
        "2",
    ]);
    assert_eq!(
        (phase.sessions, phase.arrival.as_str(), phase.smoothness),
        (Some(3), "gamma", Some(2.0))
    );
    assert_eq!(phase.concurrency, None);
}

#[test]
fn warmup_flags_override() {
    let phase = warmup(&[
        "--warmup-request-count",
        "3",
        "--warmup-concurrency",
        "2",
        "--warmup-request-rate",
        "7",
    ]);
    assert_eq!(
        (phase.arrival.as_str(), phase.rate, phase.concurrency),
        ("poisson", Some(7.0), Some(2))
    );

    let phase = warmup(&[
        "--warmup-duration",
        "3",
        "--warmup-grace-period",
        "4",
        "--num-warmup-requests",
        "5",
    ]);
    assert_eq!(
        (phase.duration_s, phase.grace_s, phase.requests),
        (Some(3.0), Some(4.0), Some(5))
    );

    let rate = [
        "--request-rate",
        "5",
        "--warmup-request-count",
        "3",
        "--warmup-arrival-pattern",
    ];
    let phase = warmup(&[rate.as_slice(), &["gamma"]].concat());
    assert_eq!(
        (phase.arrival.as_str(), phase.rate, phase.smoothness),
        ("gamma", Some(5.0), Some(1.0))
    );
    let phase = warmup(&[rate.as_slice(), &["concurrency_burst"]].concat());
    assert_eq!(
        (phase.arrival.as_str(), phase.rate, phase.concurrency),
        ("concurrency_burst", None, Some(1))
    );

    // Profiling's default limit of 1 is not inherited by a warmup with a rate of its own.
    let phase = warmup(&["--warmup-request-count", "3", "--warmup-request-rate", "7"]);
    assert_eq!(phase.concurrency, None);
}

#[test]
fn timing_plugins_get_their_options() {
    let plan = plan(&[
        "--timing",
        "Acme-Burst",
        "--plugin-opt",
        "timing/acme-burst.size=3",
        "--plugin-opt",
        "timing/other.size=4",
        "--warmup-request-count",
        "1",
    ]);
    let (warmup, profiling) = (&plan.phases[0], &plan.phases[1]);
    assert_eq!((profiling.timing.as_str(), profiling.concurrency), ("acme_burst", None));
    let options = plan.plugins.options_of("timing", &profiling.timing);
    assert_eq!(serde_json::to_string(&options).unwrap(), r#"{"size":3}"#);
    assert_eq!(warmup.timing, "request_rate");
    assert!(plan.plugins.options_of("timing", &warmup.timing).0.is_empty());
    assert_eq!(plan.artifacts.dir, Path::new("artifacts/m-openai-chat-acme_burst"));
}

#[test]
fn entries_follow_conversations_then_requests() {
    let cases: [(&[&str], u32); 5] = [
        (&[], 100),
        (&["--request-count", "20"], 20),
        (&["--request-count", "20", "--num-conversations", "7"], 7),
        (
            &[
                "--request-count",
                "20",
                "--num-conversations",
                "7",
                "--num-prompts",
                "5",
            ],
            5,
        ),
        (&["--benchmark-duration", "7"], 100),
    ];
    for (arguments, expected) in cases {
        match plan(arguments).dataset.source {
            DatasetSource::Synthetic { entries, .. } => assert_eq!(entries, expected, "{arguments:?}"),
            DatasetSource::File { .. } => panic!("synthetic"),
        }
    }
}

#[test]
fn synthetic_shape() {
    let plan = plan(&[
        "--isl=10",
        "--isl-stddev=1.5",
        "--osl=20",
        "--osl-stddev=3",
        "--session-turns-mean=2",
        "--session-turns-stddev=1",
        "--session-turn-delay-mean=50",
        "--session-turn-delay-stddev=5",
        "--session-delay-ratio=0.5",
        "--random-seed=7",
    ]);
    assert_eq!(
        plan.dataset.source,
        DatasetSource::Synthetic {
            entries: 100,
            isl: NormalSpec {
                mean: 10.0,
                stddev: 1.5
            },
            osl: Some(NormalSpec {
                mean: 20.0,
                stddev: 3.0
            }),
            turns: NormalSpec { mean: 2.0, stddev: 1.0 },
            turn_delay_ms: NormalSpec {
                mean: 50.0,
                stddev: 5.0
            },
            turn_delay_ratio: 0.5,
        }
    );
    assert_eq!(plan.seed, Some(7));
}

#[test]
fn a_file_takes_format_entries_and_output_length() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let source = |arguments: &[&str]| plan(&[&["--input-file", path], arguments].concat()).dataset.source;
    let bare = DatasetSource::File {
        path: path.into(),
        format: None,
        entries: None,
        osl: None,
    };
    assert_eq!(source(&[]), bare);
    assert_eq!(
        source(&[
            "--custom-dataset-type",
            "Random-Pool",
            "--num-prompts",
            "5",
            "--osl",
            "6"
        ]),
        DatasetSource::File {
            path: path.into(),
            format: Some("random_pool".to_owned()),
            entries: Some(5),
            osl: Some(NormalSpec::constant(6.0))
        }
    );
    assert!(
        plan(&["--input-file", path, "--tokenizer", "none"])
            .endpoint
            .use_server_token_count
    );
}

#[test]
fn tokenizer_choices() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let cases: [(&str, TokenizerChoice); 4] = [
        ("builtin", TokenizerChoice::Builtin),
        ("o200k_base", TokenizerChoice::Builtin),
        ("org/name", TokenizerChoice::ModelCache("org/name".to_owned())),
        (dir, TokenizerChoice::Path(PathBuf::from(dir))),
    ];
    for (typed, expected) in cases {
        assert_eq!(plan(&["--tokenizer", typed]).tokenizer, expected);
    }
    assert_eq!(
        parse(&["-m", dir]).unwrap().tokenizer,
        TokenizerChoice::Path(PathBuf::from(dir))
    );
    // A model name that looks like a placeholder is still looked up; nothing is swapped silently.
    assert_eq!(
        parse(&["-m", "test"]).unwrap().tokenizer,
        TokenizerChoice::ModelCache("test".to_owned())
    );
}

#[test]
fn the_mock_server_needs_neither_model_nor_tokenizer() {
    let plan = parse(&["--url", "mock:?itl=5"]).unwrap();
    assert_eq!(plan.models, ["mock-model"]);
    assert_eq!(plan.tokenizer, TokenizerChoice::Builtin);
    assert_eq!(plan.endpoint.urls, [UrlSpec::Mock("mock:?itl=5".to_owned())]);
    assert_eq!(
        plan.artifacts.dir,
        Path::new("artifacts/mock-model-openai-chat-concurrency1")
    );
    let plan = parse(&["--url", "mock:", "-m", "a", "--tokenizer", "org/b"]).unwrap();
    assert_eq!(plan.models, ["a"]);
    assert_eq!(plan.tokenizer, TokenizerChoice::ModelCache("org/b".to_owned()));
}

#[test]
fn default_directories() {
    let cases: [(&[&str], &str); 7] = [
        (
            &["-m", "org/tiny", "--concurrency", "2"],
            "artifacts/org_tiny-openai-chat-concurrency2",
        ),
        (
            &["-m", "org/mock-a", "--request-rate", "50"],
            "artifacts/org_mock-a-openai-chat-request_rate50.0",
        ),
        (
            &["-m", "a,b", "--request-rate", "2.5", "--concurrency", "4"],
            "artifacts/a_multi-openai-chat-concurrency4-request_rate2.5",
        ),
        (
            &["-m", "a", "--endpoint-type", "nim-embeddings"],
            "artifacts/a-openai-nim_embeddings-concurrency1",
        ),
        (
            &["-m", "a", "--warmup-request-count", "1", "--warmup-concurrency", "9"],
            "artifacts/a-openai-chat-concurrency1",
        ),
        (&["-m", "a", "--artifact-dir", "out/x"], "out/x"),
        (&["-m", "a", "--output-artifact-dir=artifacts"], "artifacts"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(
            parse(arguments).unwrap().artifacts.dir,
            Path::new(expected),
            "{arguments:?}"
        );
    }
}

#[test]
fn export_names() {
    let plan = plan(&[
        "--artifact-dir",
        "d",
        "--profile-export-file",
        "x/foo_raw.jsonl",
        "--export-level",
        "raw",
    ]);
    assert_eq!(plan.artifacts.raw_jsonl(), Path::new("d/foo_raw.jsonl"));
    assert_eq!(plan.artifacts.summary_json(), Path::new("d/foo.json"));
    assert_eq!(plan.artifacts.level, ExportLevel::Raw);
}

#[test]
fn goodput_objectives() {
    let cases: [(&str, &[(&str, f64)]); 4] = [
        ("request_latency:250", &[("request_latency", 250.0)]),
        ("a:1 b:2.5", &[("a", 1.0), ("b", 2.5)]),
        ("  a:1\tb:2  a:3 ", &[("a", 3.0), ("b", 2.0)]),
        ("a:1e2", &[("a", 100.0)]),
    ];
    for (text, expected) in cases {
        let slos = plan(&["--goodput", text]).slos;
        let slos: Vec<(&str, f64)> = slos.iter().map(|(tag, threshold)| (tag.as_str(), *threshold)).collect();
        assert_eq!(slos, expected, "{text}");
    }
}

#[test]
fn verbosity() {
    let cases: [(&[&str], LogLevel, Ui); 6] = [
        (&["-v"], LogLevel::Debug, Ui::Simple),
        (&["--extra-verbose"], LogLevel::Trace, Ui::Simple),
        (&["-vv", "--ui", "none"], LogLevel::Trace, Ui::None),
        (&["--verbose=false", "-vv"], LogLevel::Trace, Ui::Simple),
        (&["--log-level", "warning"], LogLevel::Warning, Ui::Auto),
        (&["--ui-type", "simple"], LogLevel::Info, Ui::Simple),
    ];
    for (arguments, level, ui) in cases {
        let plan = plan(arguments);
        assert_eq!((plan.log_level, plan.ui), (level, ui), "{arguments:?}");
    }
}

#[test]
fn every_log_level_is_understood() {
    for name in [
        "TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL",
    ] {
        assert_eq!(plan(&["--log-level", name]).log_level.name(), name);
    }
}

#[test]
fn a_plan_survives_serialisation() {
    let plan = plan(&[
        "--url",
        "mock:?itl=5",
        "h:1",
        "--extra-inputs",
        "z:1,a:0.1",
        "--header",
        "X-A:1",
        "--goodput",
        "request_latency:250.5",
        "--request-rate",
        "0.1",
        "--benchmark-duration",
        "3",
        "--warmup-request-count",
        "3",
        "--plugin-opt",
        "exporter/x.level=9",
    ]);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<RunPlan>(&text).unwrap(), plan);
}

#[test]
fn urls_belong_to_the_collector_before_them() {
    let collector = |name: &str, sources: &[&str]| GpuCollectorPlan {
        name: name.to_owned(),
        sources: sources.iter().map(|url| UrlSpec::Server((*url).to_owned())).collect(),
    };
    for (arguments, expected) in [
        (&[][..], vec![]),
        (&["--no-gpu-telemetry"], vec![]),
        (&["--gpu-telemetry", "Acme-GPU"], vec![collector("acme_gpu", &[])]),
        (
            &["--gpu-telemetry", "acme_gpu", "http://127.0.0.1:9400"],
            vec![collector("acme_gpu", &["http://127.0.0.1:9400"])],
        ),
        (
            &[
                "--gpu-telemetry",
                "a,h:1,https://h/x",
                "b",
                "--gpu-telemetry",
                "c",
                "h:1",
            ],
            vec![
                collector("a", &["http://h:1", "https://h/x"]),
                collector("b", &[]),
                collector("c", &["http://h:1"]),
            ],
        ),
    ] {
        assert_eq!(plan(arguments).gpu_collectors, expected, "{arguments:?}");
    }
}
