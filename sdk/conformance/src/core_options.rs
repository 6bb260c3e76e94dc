//! The options that the core passes to every entry of a category. An entry must open with them, whatever it makes of them.

use aiperf_sdk::{MetricKind, MetricSpec, metric::flags};
use serde_json::{Map, Value, json};

use crate::subject::{Kind, Subject};

/// Options of a usual run.
pub(crate) fn usual(subject: &Subject) -> Value {
    match subject.kind {
        Kind::Endpoint => endpoint(json!({}), false, Value::Null),
        Kind::Dataset => dataset(&subject.name, json!(null), true),
        Kind::Metric => metric(&subject.name, true),
        Kind::ArrivalPattern if subject.name == "gamma" => json!({ "smoothness": 1.0 }),
        Kind::GpuCollector => json!({ "core.interval_ms": 333 }),
        _ => json!({}),
    }
}

/// Options of other runs, each with what it is about.
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

/// Options as an instance gets them: the user's over the core's.
pub(crate) fn merged(core: Value, user: &Map<String, Value>) -> Value {
    let mut options = match core {
        Value::Object(options) => options,
        _ => Map::new(),
    };
    options.extend(user.clone());
    Value::Object(options)
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
    use super::*;

    #[test]
    fn the_user_has_the_last_word() {
        let user = json!({ "a": 1, "c": null });
        let merged = merged(json!({ "a": 0, "b": 2 }), user.as_object().unwrap());
        assert_eq!(merged, json!({ "a": 1, "b": 2, "c": null }));
    }
}
