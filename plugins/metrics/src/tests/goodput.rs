//! Objectives, and the records that meet them.

use aiperf_sdk::{ErrorKind, MetricSpec};

use super::{WHOLE, with};
use crate::testing::{
    Cell::{Int, Real},
    compute, derive, open, row, total,
};

/// Options for goodput: the objectives, and the catalogue that the other families give.
fn goodput_options(slos: &str, facts: &str) -> String {
    let catalogue: Vec<MetricSpec> = ["latency", "length", "count", "throughput", "usage", "schedule"]
        .iter()
        .flat_map(|entry| open(entry, facts).unwrap().describe().unwrap().metrics)
        .collect();
    let facts = facts.trim_matches(['{', '}']);
    let comma = if facts.is_empty() { "" } else { "," };
    format!(
        "{{{facts}{comma}\"slos\":{slos},\"catalogue\":{}}}",
        serde_json::to_string(&catalogue).unwrap()
    )
}

#[test]
fn goodput_of_records() {
    let slos = r#"{"request_latency":250,"output_token_throughput_per_user":20}"#;
    let metric = open("goodput", &goodput_options(slos, "{}")).unwrap();
    let needs = metric.describe().unwrap().needs;
    assert_eq!(needs, ["valid", "output_token_throughput_per_user", "request_latency"]);
    let record = |valid, latency, speed: Option<f64>| {
        let record = row([("valid", Int(valid)), ("request_latency", Int(latency))]);
        with(record, [("output_token_throughput_per_user", speed.map(Real))])
    };
    let values = compute(
        &*metric,
        &[
            record(1, 250_000_000, Some(20.0)),
            record(1, 250_000_001, Some(20.0)),
            record(1, 1, Some(19.99)),
            record(1, 1, None),
            record(0, 1, Some(99.0)),
        ],
    );
    let good: Vec<_> = values.iter().map(|row| row.get("good_request_count")).collect();
    let (yes, no) = (Int(1), Int(0));
    assert_eq!(good, [Some(&yes), Some(&no), Some(&no), Some(&no), None]);

    let span = [
        ("min_request_timestamp", total(1e9)),
        ("max_response_timestamp", total(2e9)),
    ];
    let mut totals = vec![("good_request_count", total(3.0))];
    totals.extend(span);
    let values = derive(&*metric, (4, 2, Some(2_000_000_000)), &totals);
    assert_eq!(values["goodput"], 1.5);
    assert_eq!(values["good_request_fraction"], 0.5);
    let only_errors = derive(&*metric, (0, 2, Some(2_000_000_000)), &[]);
    assert_eq!(
        only_errors.into_iter().collect::<Vec<_>>(),
        [("good_request_fraction".to_owned(), 0.0)]
    );
    assert!(derive(&*metric, (0, 0, Some(1)), &[]).is_empty());
}

#[test]
fn objectives_that_can_not_be_judged_are_refused() {
    for (slos, facts, message, help) in [
        (
            r#"{"time_to_first_tokn":1}"#,
            "{}",
            "`time_to_first_tokn` can't be a service level objective: no metric of that tag exists",
            "`time_to_first_token`",
        ),
        (
            r#"{"time_to_first_token":1}"#,
            WHOLE,
            "`time_to_first_token` can't be a service level objective: it needs a streaming run",
            "",
        ),
        (
            r#"{"inter_chunk_latency":1}"#,
            "{}",
            "it has many values per request",
            "`inter_token_latency`",
        ),
        (r#"{"request_throughput":1}"#, "{}", "it has no value per request", ""),
        (r#"{"error_isl":1}"#, "{}", "it looks at failed requests only", ""),
        (
            r#"{"http_req_total":1}"#,
            "{}",
            "it is not among the metrics of this run",
            "",
        ),
    ] {
        let error = open("goodput", &goodput_options(slos, facts)).err().unwrap();
        assert_eq!(error.kind, ErrorKind::InvalidOptions);
        assert!(error.message.contains(message), "{}", error.message);
        let hint = error.help.unwrap();
        assert!(hint.contains(help), "{hint}");
    }
}
