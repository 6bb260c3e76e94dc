//! The original on the same server, and its statistics recomputed. See `tests/oracle/README.md`.

use aiperf_mock_server::{Server, Settings};
use aiperf_records::{adjusted::error_adjusted, statistics::Statistics};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::harness::{Finished, Folder, Run, number, outside, text};

/// Figures that follow from how connections and reads happen to fall.
const BY_CHANCE: [&str; 2] = ["http_req_chunks_received", "http_req_connection_reused"];

const NAME: &str = "e2e/bytes";

struct Both {
    ours: Finished,
    theirs: Finished,
}

/// Both tools with the same flags, prompts and tokenizer, each against a fresh server with the same script.
fn both(original: &Path, settings: &Settings, flags: &str) -> Both {
    let run = |program: Option<&Path>| {
        let folder = Folder::new();
        let server = Server::spawn(settings.clone()).unwrap();
        tokenizer(&folder);
        let rows: String = (0..8)
            .map(|row| json!({ "text": format!("prompt {row} says {} to the world", "hello ".repeat(row)), "output_length": 9 + row }))
            .map(|row| format!("{row}\n"))
            .collect();
        let file = folder.file("rows.jsonl", rows);
        let line = format!(
            "--url http://{} --model m --tokenizer {NAME} --input-file {file} --custom-dataset-type single_turn \
             --random-seed 1 --no-gpu-telemetry --no-server-metrics {flags}",
            server.addr
        );
        let cache = folder.path("cache");
        let mut run = Run::profile_in(folder, &line)
            .env("HF_HOME", cache)
            .env("HF_HUB_OFFLINE", "1")
            .alone();
        if let Some(program) = program {
            run = run.program(program);
        }
        run.succeed()
    };
    Both {
        ours: run(None),
        theirs: run(Some(original)),
    }
}

/// A byte-level tokenizer in the layout of the Hugging Face cache, where both tools find it by name.
fn tokenizer(folder: &Folder) {
    let printable = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut spare = 256..;
    let mut tokens: Vec<String> = (0..256)
        .map(|byte| if printable(byte) { byte } else { spare.next().unwrap() })
        .map(|code| char::from_u32(code).unwrap().to_string())
        .collect();
    let mut merges = Vec::new();
    let letters = || "etaoinshrdlu".chars().map(String::from);
    for (left, right) in letters().flat_map(|left| letters().map(move |right| (left.clone(), right))) {
        tokens.push(format!("{left}{right}"));
        merges.push(json!([left, right]));
    }
    let vocabulary: Map<String, Value> = tokens
        .into_iter()
        .enumerate()
        .map(|(id, token)| (token, json!(id)))
        .collect();
    let bytes = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": bytes, "post_processor": null, "decoder": bytes,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": merges,
        },
    });
    let config = json!({ "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 100_000 });
    let commit = "0".repeat(40);
    let model = format!("cache/hub/models--{}", NAME.replace('/', "--"));
    folder.file(&format!("{model}/refs/main"), &commit);
    folder.file(
        &format!("{model}/snapshots/{commit}/tokenizer.json"),
        tokenizer.to_string(),
    );
    folder.file(
        &format!("{model}/snapshots/{commit}/tokenizer_config.json"),
        config.to_string(),
    );
}

/// The metrics of a summary, or of its warmup.
fn metrics(summary: &Value) -> BTreeMap<&str, &Map<String, Value>> {
    let entries = summary.as_object().unwrap().iter();
    let metrics = entries.filter_map(|(tag, value)| Some((tag.as_str(), value.as_object()?)));
    metrics.filter(|(_, value)| value.contains_key("unit")).collect()
}

/// Weighted by time, gaps included: only their means are comparable.
fn is_curve(tag: &str) -> bool {
    tag != "effective_latency"
        && ["effective_", "active_", "tokens_in_flight"]
            .iter()
            .any(|prefix| tag.starts_with(prefix))
}

/// How far two figures of a unit may lie apart: `None` if they must be equal.
fn jitter(tag: &str, unit: &str) -> Option<(f64, f64)> {
    match unit {
        _ if is_curve(tag) => Some((0.6, 0.5)),
        // Milliseconds: the original is one busy Python process per service.
        "ms" => Some((0.4, 15.0)),
        "sec" => Some((0.5, 0.3)),
        "requests/sec" | "tokens/sec" | "tokens/sec/user" => Some((0.5, 0.0)),
        _ if BY_CHANCE.contains(&tag) => Some((1.0, 1.0)),
        _ => None,
    }
}

/// Same tags, units and counts; the same statistics are there; values are equal. Where time is in them they are near:
/// what lies apart there goes into `apart`, which a busy machine can cause too.
fn compare(ours: &Value, theirs: &Value, complaints: &mut Vec<String>, apart: &mut Vec<String>) {
    let (ours, theirs) = (metrics(ours), metrics(theirs));
    // The original shows 0 while something is active that never is; here it is missing.
    let never_active = |tag: &str| tag.starts_with("active_") && theirs[tag]["avg"] == 0.0;
    for tag in theirs
        .keys()
        .filter(|tag| !ours.contains_key(*tag) && !never_active(tag))
    {
        complaints.push(format!("{tag}: only the original reports it"));
    }
    for tag in ours.keys().filter(|tag| !theirs.contains_key(*tag)) {
        complaints.push(format!("{tag}: the original does not report it"));
    }
    for (tag, mine) in &ours {
        let Some(other) = theirs.get(tag) else { continue };
        let complaint = |what: &str| format!("{tag}: {what}: {mine:?} instead of {other:?}");
        if mine["unit"] != other["unit"] {
            complaints.push(complaint("unit"));
        }
        if mine.keys().collect::<BTreeSet<_>>() != other.keys().collect::<BTreeSet<_>>() {
            complaints.push(complaint("statistics"));
            continue;
        }
        // Extremes, and with them means, are the machine's; the middle is the tool's.
        let jitter = jitter(tag, mine["unit"].as_str().unwrap());
        if mine.get("count") != other.get("count") {
            // A client that reads a whole stream at once has no rate for it.
            let complaints = if jitter.is_some() {
                &mut *apart
            } else {
                &mut *complaints
            };
            complaints.push(complaint("count"));
        }
        let timed_distribution = jitter.is_some() && !is_curve(tag) && other.contains_key("p50");
        for key in if timed_distribution {
            &["p50"][..]
        } else {
            &["avg", "p50"]
        } {
            if is_curve(tag) && *key == "p50" {
                continue;
            }
            let Some(expected) = other.get(*key).and_then(Value::as_f64) else {
                continue;
            };
            let found = mine[*key].as_f64().unwrap();
            let (within, complaints) = match jitter {
                Some((share, least)) => (least + share * expected.abs(), &mut *apart),
                None => (1e-12 * expected.abs(), &mut *complaints),
            };
            if (found - expected).abs() > within {
                complaints.push(complaint(key));
            }
        }
    }
}

/// Metrics and units of the records of the measured phase.
fn record_metrics(run: &Finished) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for record in run.profiling() {
        for (tag, value) in record["metrics"].as_object().unwrap() {
            found.insert((tag.clone(), text(value, "/unit").to_owned()));
        }
    }
    found
}

/// Our statistics of the values in its records are its summary, as JSON and as CSV.
fn recompute(run: &Finished, complaints: &mut Vec<String>) -> usize {
    let (summary, table, records) = (
        run.summary(),
        run.artifact("profile_export_aiperf.csv"),
        run.profiling(),
    );
    let errors = records.iter().filter(|record| record.get("error").is_some()).count();
    let mut compared = 0;
    for (tag, entry) in metrics(&summary) {
        let source = tag.strip_prefix("adj_").unwrap_or(tag);
        let values = records
            .iter()
            .filter_map(|record| record.pointer(&format!("/metrics/{source}/value")));
        let mut values: Vec<f64> = values
            .flat_map(|value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]))
            .map(|value| value.as_f64().unwrap())
            .collect();
        let scale = values.iter().fold(0_f64, |scale, value| scale.max(value.abs()));
        let statistics = if tag.starts_with("adj_") {
            error_adjusted(&mut values, errors as u64)
        } else if entry.contains_key("p50") {
            Statistics::of(&mut values)
        } else {
            continue;
        };
        let Some(statistics) = statistics else { continue };
        compared += 1;
        let mut complain = |what: &str, found: &dyn std::fmt::Debug, expected: &dyn std::fmt::Debug| {
            complaints.push(format!("{tag} {what} recomputed: {found:?} instead of {expected:?}"));
        };
        if entry.get("count").and_then(Value::as_u64) != statistics.count {
            complain("count", &statistics.count, &entry.get("count"));
        }
        let mut cells = Vec::new();
        for (name, found) in statistics.values() {
            let expected = entry.get(name).and_then(Value::as_f64);
            // A deviation is as exact as the values it comes from.
            let scale = if name == "std" {
                scale
            } else {
                expected.unwrap_or(0.0).abs()
            };
            let equal = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12 * scale,
                (found, expected) => found == expected,
            };
            if !equal {
                complain(name, &found, &expected);
            }
            cells.push(found.map_or(String::new(), |value| format!("{value:.2}")));
        }
        let row = format!(",{}\r\n", cells.join(","));
        if !table.contains(&row) {
            complain("CSV row", &row, &table);
        }
    }
    compared
}

/// What differs between the two tools, and what lies too far apart in time.
fn differences(original: &Path, settings: &Settings, flags: &str) -> (Vec<String>, Vec<String>) {
    let Both { ours, theirs } = both(original, settings, flags);
    let (mine, other) = (ours.summary(), theirs.summary());
    let (mut found, mut apart) = (Vec::new(), Vec::new());
    compare(&mine, &other, &mut found, &mut apart);
    if other.get("warmup_metrics").is_some() {
        // Too few to compare times.
        compare(
            &mine["warmup_metrics"],
            &other["warmup_metrics"],
            &mut found,
            &mut Vec::new(),
        );
    }
    let (recorded, expected) = (record_metrics(&ours), record_metrics(&theirs));
    if recorded != expected {
        let difference: Vec<_> = recorded.symmetric_difference(&expected).collect();
        found.push(format!("records differ in {difference:?}"));
    }
    let names = |run: &Finished| run.table().into_keys().collect::<BTreeSet<_>>();
    for row in names(&ours).difference(&names(&theirs)) {
        found.push(format!("the original has no row {row:?}"));
    }
    if mine["error_summary"] != other["error_summary"] {
        found.push(format!(
            "errors: {} instead of {}",
            mine["error_summary"], other["error_summary"]
        ));
    }
    assert_eq!(
        number(&mine, "/completed_request_count/avg"),
        number(&other, "/completed_request_count/avg")
    );
    let compared = recompute(&theirs, &mut found);
    assert!(compared >= 15, "{flags}: only {compared} metrics recomputed");
    (found, apart)
}

#[test]
fn both_tools_agree() {
    let Some(original) = outside("oracle", "AIPERF_TEST_ORACLE") else {
        return;
    };
    let timed = Settings {
        ttft: Duration::from_millis(40),
        itl: Duration::from_millis(5),
        reasoning: 2,
        ..Settings::default()
    };
    let failing = Settings {
        error_rate: 0.3,
        seed: 5,
        ..timed.clone()
    };
    for (name, settings, flags) in [
        (
            "chat, streaming",
            &timed,
            "--streaming --concurrency 3 --request-count 24 --warmup-request-count 4 --goodput request_latency:2000",
        ),
        (
            "completions",
            &timed,
            "--endpoint-type completions --concurrency 2 --request-count 12",
        ),
        // One at a time, so that the same requests fail.
        ("failures", &failing, "--streaming --request-count 20"),
    ] {
        // Values must be equal each time; times may lie apart when something else has the machine, but not always.
        for attempt in 1.. {
            let (found, apart) = differences(&original, settings, flags);
            assert!(found.is_empty(), "{name} differs:\n{}", found.join("\n"));
            if apart.is_empty() {
                break;
            }
            assert!(attempt < 3, "{name}, each time:\n{}", apart.join("\n"));
        }
    }
}
