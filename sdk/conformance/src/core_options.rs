//! What the core passes to every entry of a category. An entry must open with it, whatever it makes of it.

use aiperf_sdk::{MetricKind, MetricSpec, metric::flags};
use serde_json::{Value, json};

use crate::subject::{Kind, Subject};

/// In a usual run.
pub(crate) fn usual(subject: &Subject) -> Value {
    match subject.kind {
        Kind::Endpoint => endpoint(json!({}), false, Value::Null),
        Kind::Dataset => dataset(&subject.name, json!(null), true),
        Kind::Metric => metric(&subject.name, true),
        Kind::ArrivalPattern if subject.name == "gamma" => json!({ "smoothness": 1.0 }),
        Kind::GpuCollector => json!({ "interval_ms": 333 }),
        _ => json!({}),
    }
}

/// In other runs, each with what it is about.
pub(crate) fn others(subject: &Subject) -> Vec<(&'static str, Value)> {
    match subject.kind {
        Kind::Endpoint => vec![(
            "every endpoint option set",
            endpoint(
                json!({ "temperature": 0.5, "ignore_eos": true, "stop": ["a", "b"] }),
                true,
                json!("/custom/path"),
            ),
        )],
        Kind::Dataset => vec![(
            "output lengths, no seed, no system messages",
            dataset(&subject.name, normal(9.0, 2.0), false),
        )],
        Kind::Metric => vec![("a run without streaming and tokens", metric(&subject.name, false))],
        Kind::ArrivalPattern if subject.name == "gamma" => vec![("a smoothness of 4", json!({ "smoothness": 4.0 }))],
        _ => Vec::new(),
    }
}

fn endpoint(extra: Value, other: bool, custom_path: Value) -> Value {
    json!({
        "extra": extra,
        "use_legacy_max_tokens": other,
        "use_server_token_count": other,
        "per_chunk_usage": other,
        "custom_path": custom_path,
    })
}

fn normal(mean: f64, stddev: f64) -> Value {
    json!({ "mean": mean, "stddev": stddev })
}

fn dataset(name: &str, osl: Value, usual: bool) -> Value {
    let mut options = json!({
        "seeded": usual,
        "supports_system_message": usual,
        "osl": osl,
    });
    // What only the generator of a run without a file is told.
    if name == "synthetic" {
        options["entries"] = json!(20);
        options["isl"] = normal(40.0, 8.0);
        options["turns"] = normal(2.0, 1.0);
        options["turn_delay_ms"] = normal(100.0, 10.0);
        options["turn_delay_ratio"] = json!(1.0);
    }
    options
}

fn metric(name: &str, usual: bool) -> Value {
    let mut options = json!({
        "streaming": usual,
        "produces_tokens": usual,
        "tokenizes_input": usual,
        "use_server_token_count": !usual,
        "slos": { "request_latency": 100.0 },
    });
    // What only the judge of service level objectives is told.
    if name == "goodput" {
        let latency = MetricSpec {
            display_unit: "ms".to_owned(),
            flags: flags::INTEGER,
            ..MetricSpec::new("request_latency", "Request Latency", "ns", MetricKind::Record)
        };
        options["catalogue"] = json!([latency]);
    }
    options
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aiperf_sdk::{Category, Entry, Package, api::abi};

    use super::*;

    struct Nothing;

    impl Package for Nothing {
        const NAME: &'static str = "nothing";
        const VERSION: &'static str = "1.0.0";

        fn entries() -> Vec<Entry> {
            vec![Entry::new(Category::Endpoint, "nothing")]
        }
    }

    #[test]
    fn the_specification_lists_what_is_passed() {
        let specification = include_str!("../../../docs/plugins/component-specification.md");
        let table = specification.split("| what the core passes |").nth(1).unwrap();
        let documented: BTreeSet<&str> = table
            .lines()
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.split('|').nth(2).unwrap().trim().trim_matches('`'))
            .collect();
        let root = aiperf_sdk::Root::new(abi::root::<Nothing>());
        let mut passed = BTreeSet::new();
        for (kind, name) in Kind::ALL.into_iter().map(|kind| (kind, "any")).chain([
            (Kind::Dataset, "synthetic"),
            (Kind::ArrivalPattern, "gamma"),
            (Kind::Metric, "goodput"),
        ]) {
            let subject = Subject::new(root.clone(), kind, name);
            let others = others(&subject).into_iter().map(|(_, other)| other);
            for core in others.chain([usual(&subject)]) {
                passed.extend(core.as_object().unwrap().keys().cloned());
            }
        }
        assert_eq!(passed.iter().map(String::as_str).collect::<BTreeSet<_>>(), documented);
    }
}
