//! How arguments become settings.

use aiperf_config::{DatasetSource, ExportLevel, LogLevel, NormalSpec, RunPlan, Sampling, Ui};
use serde_json::json;

use crate::{parse, plan};

fn isl(plan: &RunPlan) -> NormalSpec {
    match plan.dataset.source {
        DatasetSource::Synthetic { isl, .. } => isl,
        DatasetSource::File { .. } => panic!("synthetic"),
    }
}

#[test]
fn spellings_and_forms_are_equal() {
    let expected = plan(&["--request-count", "3", "--isl", "7"]);
    for arguments in [
        ["--num-requests", "3", "--prompt-input-tokens-mean", "7"].as_slice(),
        &["--request_count=3", "--synthetic_input_tokens_mean=7"],
        &["--isl=7", "--num-requests=3"],
        &["--isl", " 7 ", "--num-requests", "+3"],
        &["--isl", "7,", "--num-requests", "3,"],
    ] {
        let plan = plan(arguments);
        assert_eq!(
            (&plan.phases, isl(&plan)),
            (&expected.phases, isl(&expected)),
            "{arguments:?}"
        );
    }
}

#[test]
fn models_are_a_list() {
    let cases: [(&[&str], &[&str]); 6] = [
        (&["-m", "a"], &["a"]),
        (&["-ma"], &["a"]),
        (&["-m=a"], &["a"]),
        (&["--model", "a,b"], &["a", "b"]),
        (&["--model", "a", "-m", "b, c"], &["a", "b", "c"]),
        (&["--model-names=a", "--url", "h"], &["a"]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(parse(arguments).unwrap().models, expected, "{arguments:?}");
    }
}

#[test]
fn urls_take_several_tokens_and_a_default_scheme() {
    let cases: [(&[&str], &[&str]); 6] = [
        (&[], &["http://localhost:8000"]),
        (
            &["-u", "x", "https://y:1/p?q=1", "z:1"],
            &["http://x", "https://y:1/p?q=1", "http://z:1"],
        ),
        (&["--url", "x,y", "--url=z"], &["http://x", "http://y", "http://z"]),
        (&["-uh:1", "i"], &["http://h:1", "http://i"]),
        (&["--url", "mock:"], &["mock:"]),
        (&["--url", "mock:?ttft=1,2&itl=3"], &["mock:?ttft=1,2&itl=3"]),
    ];
    for (arguments, expected) in cases {
        let urls: Vec<String> = plan(arguments)
            .endpoint
            .urls
            .iter()
            .map(|url| url.expose().to_owned())
            .collect();
        assert_eq!(urls, expected, "{arguments:?}");
    }
}

#[test]
fn switches_take_a_value_only_in_the_same_token() {
    for (argument, expected) in [
        ("--streaming", true),
        ("--streaming=true", true),
        ("--streaming=YES", true),
        ("--streaming=1", true),
        ("--streaming=false", false),
        ("--streaming=0", false),
        ("--streaming=n", false),
    ] {
        assert_eq!(plan(&[argument]).endpoint.streaming, expected, "{argument}");
    }
}

#[test]
fn words_and_names_ignore_case_and_dashes() {
    let plan = plan(&[
        "--endpoint-type=Chat-Embeddings",
        "--dataset-sampling-strategy=SHUFFLE",
        "--export-level=Raw",
        "--log-level=debug",
        "--request-rate=2",
        "--arrival-pattern=Constant",
        "--metric=My-Metric,other",
        "third",
        "--exporter",
        "my-exporter",
        "--timing",
        "Request-Rate",
        "--ui=NONE",
    ]);
    assert_eq!(plan.endpoint.endpoint_type, "chat_embeddings");
    assert_eq!(plan.dataset.sampling, Sampling::Shuffle);
    assert_eq!(plan.artifacts.level, ExportLevel::Raw);
    assert_eq!(plan.log_level, LogLevel::Debug);
    assert_eq!(plan.phases[0].arrival, "constant");
    assert_eq!(plan.plugins.metrics, ["my_metric", "other", "third"]);
    assert_eq!(plan.plugins.exporters, ["my_exporter"]);
    assert_eq!(plan.plugins.timing.as_deref(), Some("request_rate"));
    assert_eq!(plan.ui, Ui::None);
}

#[test]
fn extra_inputs_are_typed_and_keep_their_order() {
    let cases: [(&[&str], &str); 6] = [
        (
            &["--extra-inputs", "z:1", "a:none", "b:True,c:1e3", "d:01", "e:0.5"],
            r#"{"z":1,"a":null,"b":true,"c":"1e3","d":"01","e":0.5}"#,
        ),
        (
            &["--extra-inputs", r#"{"z":[1],"a":{"b":null}}"#, "c:2"],
            r#"{"z":[1],"a":{"b":null},"c":2}"#,
        ),
        (
            &["--extra-inputs", "a.b:1", "--extra-inputs", "a:2", "--extra-inputs=a:3"],
            r#"{"a.b":1,"a":3}"#,
        ),
        (&["--extra-inputs", "a:1 b:2"], r#"{"a":"1 b:2"}"#),
        (&["--extra-inputs", "url:http://h:1"], r#"{"url":"http://h:1"}"#),
        (&["--extra-inputs", "n:-5", "s:"], r#"{"n":-5,"s":""}"#),
    ];
    for (arguments, expected) in cases {
        assert_eq!(
            serde_json::to_string(&plan(arguments).endpoint.extra).unwrap(),
            expected,
            "{arguments:?}"
        );
    }
}

#[test]
fn header_values_are_text() {
    type Pairs<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&[&str], Pairs<'_>); 6] = [
        (
            &["-H", "X-A:1", "X-B: two words"],
            &[("X-A", "1"), ("X-B", "two words")],
        ),
        (&["-HX-A:1"], &[("X-A", "1")]),
        (&["--header", "X-A:1,X-B:true"], &[("X-A", "1"), ("X-B", "true")]),
        (
            &["--header", "Accept: text/html, text/plain"],
            &[("Accept", "text/html, text/plain")],
        ),
        (
            &["--header", r#"{"X-A": 1, "X-B": "a,b", "X-C": true}"#],
            &[("X-A", "1"), ("X-B", "a,b"), ("X-C", "true")],
        ),
        (&["--header", "X-A:1", "--header", "x-a:2"], &[("x-a", "2")]),
    ];
    for (arguments, expected) in cases {
        let plan = plan(arguments);
        assert_eq!(
            plan.endpoint.headers.iter().collect::<Vec<_>>(),
            expected,
            "{arguments:?}"
        );
    }
}

#[test]
fn plugin_flags() {
    let plan = plan(&[
        "--plugin-registry",
        "a.yaml",
        "--plugin-registry=b.yaml",
        "--plugin",
        "Endpoint/my-chat=acme",
        "--plugin-opt",
        "exporter/parquet.level=9",
        "--plugin-opt",
        "exporter/parquet.path=a=b",
        "--plugin-opt=metric/my-metric.windows.size=[1,2]",
        "--wasm-only",
    ]);
    let plugins = plan.plugins;
    assert_eq!(
        plugins.registries,
        [std::path::Path::new("a.yaml"), std::path::Path::new("b.yaml")]
    );
    let pin = &plugins.pins[0];
    assert_eq!(
        (pin.category.as_str(), pin.name.as_str(), pin.package.as_str()),
        ("endpoint", "my_chat", "acme")
    );
    assert_eq!(
        json!(plugins.options),
        json!({"exporter/parquet": {"level": 9, "path": "a=b"}, "metric/my_metric": {"windows.size": [1, 2]}})
    );
    assert!(plugins.wasm_only);
}
