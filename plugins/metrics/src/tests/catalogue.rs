//! Options, and the tables of the reference.

use aiperf_sdk::{
    Category, ErrorKind, Package,
    metric::{Population, flags},
};

use crate::{
    BuiltIn,
    testing::{open, open_with},
};

#[test]
fn unknown_options_and_entries_are_refused() {
    for entry in BuiltIn::entries() {
        // What the core passes is no option of the user's.
        for option in ["no_such_option", "streaming", "slos"] {
            let options = format!(r#"{{"{option}": {{}}}}"#);
            let error = open_with(&entry.name, &options, "{}").err().unwrap();
            assert_eq!(error.kind, ErrorKind::InvalidOptions);
            assert!(error.message.contains(&format!("`{option}`")), "{}", error.message);
        }
        // A newer core may say more.
        assert!(open(&entry.name, r#"{"later": 1}"#).is_ok(), "{}", entry.name);
    }
    assert!(open("nothing", "{}").is_err());
}

#[test]
fn the_catalogue_is_well_formed() {
    let specs = crate::package::every_spec();
    let mut tags: Vec<&str> = specs.iter().map(|spec| spec.tag.as_str()).collect();
    tags.sort_unstable();
    let count = tags.len();
    tags.dedup();
    assert_eq!(tags.len(), count, "tags are unique");
    for entry in BuiltIn::entries() {
        assert_eq!(entry.category, Category::Metric);
    }
    let spec = |tag: &str| specs.iter().find(|spec| spec.tag == tag).unwrap();
    // (tag, header, short, unit, shown in, group, order, flags) as the reference's tables have them.
    for (tag, header, short, unit, shown, group, order, flags) in [
        (
            "time_to_first_token",
            "Time to First Token",
            "TTFT",
            "ns",
            "ms",
            "default",
            Some(100),
            flags::STREAMING | flags::PRODUCES_TOKENS | flags::ERROR_ADJUSTED | flags::INTEGER,
        ),
        (
            "inter_token_latency",
            "Inter Token Latency",
            "ITL",
            "ns",
            "ms",
            "default",
            Some(400),
            flags::STREAMING | flags::PRODUCES_TOKENS | flags::ERROR_ADJUSTED,
        ),
        (
            "error_isl",
            "Error Input Sequence Length",
            "Error ISL",
            "tokens",
            "tokens",
            "none",
            Some(700),
            flags::TOKENIZES_INPUT | flags::ERROR_ONLY | flags::LARGER_IS_BETTER | flags::INTEGER,
        ),
        (
            "completed_request_count",
            "Completed Requests (Success + Error)",
            "Completed",
            "requests",
            "requests",
            "default",
            Some(1075),
            flags::NOT_PER_RECORD | flags::INTEGER,
        ),
        (
            "benchmark_duration",
            "Benchmark Duration",
            "Duration",
            "ns",
            "sec",
            "none",
            None,
            flags::INTEGER,
        ),
        (
            "total_usage_prompt_audio_seconds",
            "Total Usage Prompt Audio Seconds",
            "Total Usage Prompt Audio Sec",
            "sec",
            "sec",
            "usage",
            Some(2040),
            flags::AUDIO | flags::LARGER_IS_BETTER,
        ),
        (
            "goodput",
            "Goodput",
            "Goodput",
            "requests/sec",
            "requests/sec",
            "default",
            Some(1000),
            flags::GOODPUT,
        ),
        (
            "http_req_data_received",
            "HTTP Data Received",
            "Received",
            "B",
            "KB",
            "none",
            Some(2090),
            flags::INTEGER,
        ),
    ] {
        let known = spec(tag);
        assert_eq!(known.header, header);
        assert_eq!(known.short_header, short, "{tag}");
        assert_eq!(known.unit, unit, "{tag}");
        assert_eq!(known.reported_unit(), shown, "{tag}");
        assert_eq!(known.group, group, "{tag}");
        assert_eq!(known.order, order, "{tag}");
        assert_eq!(known.flags, flags, "{tag}");
    }
    assert_eq!(spec("effective_latency").population, Population::All);
    assert_eq!(spec("effective_concurrency").population, Population::All);
}
