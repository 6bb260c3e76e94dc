//! What a run left, read back.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::Finished;

impl Finished {
    /// The text of an artifact.
    #[track_caller]
    pub(crate) fn artifact(&self, name: &str) -> String {
        let path = self.artifacts.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}\n{self}", path.display()))
    }

    /// Names of all artifacts, folders as prefixes.
    pub(crate) fn artifact_names(&self) -> Vec<String> {
        let files = super::run::files_below(&self.artifacts);
        let relative = files.iter().map(|file| file.strip_prefix(&self.artifacts).unwrap());
        relative.map(|path| path.to_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        serde_json::from_str(&self.artifact("profile_export_aiperf.json")).unwrap()
    }

    /// Every line of the per-request file.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<Value> {
        let lines = self.artifact("profile_export.jsonl");
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
            .collect()
    }

    /// The lines of the measured phase.
    #[track_caller]
    pub(crate) fn profiling(&self) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| text(record, "/metadata/benchmark_phase") == "profiling");
        records
    }

    /// The rows of the summary table by their first cell; the lines that begin with `Metric` are left out.
    #[track_caller]
    pub(crate) fn table(&self) -> BTreeMap<String, Vec<String>> {
        let text = self.artifact("profile_export_aiperf.csv");
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let rows = reader
            .records()
            .map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
        rows.filter(|row| row[0] != "Metric")
            .map(|mut row| (row.remove(0), row))
            .collect()
    }
}

/// The number at a JSON pointer.
#[track_caller]
pub(crate) fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {pointer} of {value}"))
}

/// The string at a JSON pointer.
#[track_caller]
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_else(|| panic!("no string at {pointer} of {value}"))
}

/// A metric of a record, `None` if it is absent.
pub(crate) fn metric(record: &Value, tag: &str) -> Option<f64> {
    record
        .pointer(&format!("/metrics/{tag}/value"))
        .map(|value| value.as_f64().unwrap())
}

/// The mean (or the value) of a metric in the summary.
#[track_caller]
pub(crate) fn avg(summary: &Value, tag: &str) -> f64 {
    number(summary, &format!("/{tag}/avg"))
}

/// The keys of a JSON object in the order of the text.
#[track_caller]
pub(crate) fn keys(json: &str) -> Vec<String> {
    serde_json::from_str::<Keys>(json).unwrap().0
}

struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Keys;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
