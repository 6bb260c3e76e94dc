//! Secrets appear in no output.

use crate::{error, parse, plan};

const ARGUMENTS: [&str; 19] = [
    "--api-key",
    "hunter2-key",
    "--url",
    "http://user:hunter2-pass@h:1?api_key=hunter2-query&model=x",
    "user:hunter2-bare@i",
    "--header",
    "Authorization: Bearer hunter2-bearer",
    "X-Plain: seen, twice",
    "-H",
    r#"{"X-Token": "hunter2-token"}"#,
    "--extra-inputs",
    "api_key:hunter2-extra,top_k:5",
    "--plugin-opt",
    "exporter/otlp.api_key=hunter2-opt",
    "--plugin-opt=exporter/otlp.url=http://c:1",
    "--plugin-opt=timing/request_rate.token=hunter2-inline",
    "--goodput",
    "request_latency:5",
    "--http-proxy=http://user:hunter2-proxy@p:3128",
];

#[test]
fn a_plan_exposes_secrets_only_when_asked() {
    let plan = plan(&ARGUMENTS);
    assert_eq!(plan.endpoint.api_key.as_ref().unwrap().expose(), "hunter2-key");
    assert_eq!(
        plan.endpoint.urls[0].expose(),
        "http://user:hunter2-pass@h:1?api_key=hunter2-query&model=x"
    );
    assert!(
        plan.endpoint
            .headers
            .iter()
            .any(|header| header == ("Authorization", "Bearer hunter2-bearer"))
    );
    assert_eq!(plan.plugins.options_of("exporter", "otlp").0["api_key"], "hunter2-opt");
}

#[test]
fn nothing_printed_or_written_holds_a_secret() {
    let mut plan = plan(&ARGUMENTS);
    assert!(!plan.command_line.contains("hunter2"), "{}", plan.command_line);
    let input_config = plan.input_config().to_string();
    assert!(!input_config.contains("hunter2"), "{input_config}");
    for seen in [
        "top_k",
        "seen, twice",
        "http://c:1",
        "<redacted>@h:1",
        "<redacted>@p:3128",
    ] {
        assert!(input_config.contains(seen), "{seen}: {input_config}");
    }
    // Extra inputs are part of the request body and stand in the plan in clear.
    plan.endpoint.extra.clear();
    for text in [
        format!("{plan:?}"),
        serde_json::to_string(&plan).unwrap(),
        plan.endpoint.urls[0].to_string(),
    ] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn the_command_line_reads_back() {
    let plan = plan(&ARGUMENTS);
    assert_eq!(
        plan.command_line,
        "aiperf profile --model m --api-key '<redacted>' \
         --url 'http://<redacted>@h:1?api_key=<redacted>&model=x' '<redacted>@i' \
         --header 'Authorization:<redacted>' 'X-Plain: seen, twice' -H '{\"X-Token\":\"<redacted>\"}' \
         --extra-inputs 'api_key:<redacted>,top_k:5' --plugin-opt 'exporter/otlp.api_key=<redacted>' \
         --plugin-opt=exporter/otlp.url=http://c:1 --plugin-opt='timing/request_rate.token=<redacted>' \
         --goodput request_latency:5 --http-proxy='http://<redacted>@p:3128'"
    );
    let plan = parse(&["-ma b", "--streaming=false", "-u", "mock:?a=1"]).unwrap();
    assert_eq!(
        plan.command_line,
        "aiperf profile -m'a b' --streaming=false -u 'mock:?a=1'"
    );
}

#[test]
fn errors_hold_no_secret() {
    let cases: [&[&str]; 12] = [
        &["--api-key", "hunter2", "--concurrency", "0"],
        &["--api-key=hunter2\n"],
        &["--api-key", "part", "hunter2"],
        &["--api-key", "a", "--api-key", "hunter2"],
        &["--url", "http://u:hunter2@h:0"],
        &["--url", "http://u:hunter2/x@h"],
        &["--url", "ftp://u:hunter2@h"],
        &["--url", "u:hunter2@h h"],
        &["--header", "Authorization:", "Bearer", "hunter2"],
        &["--header", "{\"Authorization\": \"hunter2\""],
        &["--extra-inputs", "api_key:x,hunter2"],
        &["--plugin-opt", "exporter/x=hunter2"],
    ];
    for arguments in cases {
        let error = error(arguments);
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{arguments:?}: {error:?}"
        );
    }
}
