//! Names of packages, entries and metrics, and the roles entries play.

use aiperf_plugin_api::Category;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A name as the user wrote it, compared as the registry compares: case is ignored and `-` equals `_`.
#[derive(Debug, Clone)]
pub struct Name {
    text: String,
    key: String,
}

impl Name {
    /// Normalises `text` once; `None` unless it consists of letters, digits, `_`, `-` and `.` and starts with a letter
    /// or digit (all ASCII).
    pub fn parse(text: &str) -> Option<Self> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        (starts_well && text.chars().all(legal)).then(|| Self {
            text: text.to_owned(),
            key: text.to_ascii_lowercase().replace('-', "_"),
        })
    }

    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The normalised form: lower case, `_` for `-`.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The part an entry plays in a run: its category, or one of the smaller parts that share a category. Each role is a name
/// space of its own, so that `poisson` can be an arrival pattern and a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Formats requests of one API and reads its responses.
    Endpoint,
    /// Turns a source into conversations.
    Dataset,
    /// Orders conversations; of category dataset.
    Sampler,
    /// Decides when which turn is sent.
    Timing,
    /// Draws the gaps between requests for a timing mode; of category timing.
    ArrivalPattern,
    /// Gives a load level as a function of time; of category timing.
    Ramp,
    /// A family of metrics.
    Metric,
    /// Writes files or console tables from records and the report.
    Exporter,
    /// Reads GPU telemetry.
    GpuCollector,
}

impl Role {
    /// Every role, in the order listings use.
    pub const ALL: [Self; 9] = [
        Self::Endpoint,
        Self::Dataset,
        Self::Sampler,
        Self::Timing,
        Self::ArrivalPattern,
        Self::Ramp,
        Self::Metric,
        Self::Exporter,
        Self::GpuCollector,
    ];

    /// The name used in files, flags and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Dataset => "dataset",
            Self::Sampler => "dataset_sampler",
            Self::Timing => "timing",
            Self::ArrivalPattern => "arrival_pattern",
            Self::Ramp => "ramp",
            Self::Metric => "metric",
            Self::Exporter => "exporter",
            Self::GpuCollector => "gpu_collector",
        }
    }

    /// Reads a role, including AIPerf's own names for the same things.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().replace('-', "_").as_str() {
            "endpoint" => Self::Endpoint,
            "dataset" | "dataset_composer" | "custom_dataset_loader" | "public_dataset_loader" => Self::Dataset,
            "dataset_sampler" => Self::Sampler,
            "timing" | "timing_strategy" => Self::Timing,
            "arrival_pattern" => Self::ArrivalPattern,
            "ramp" => Self::Ramp,
            "metric" | "accumulator" | "analyzer" | "spec_decode_adapter" => Self::Metric,
            "exporter" | "data_exporter" | "console_exporter" | "stream_exporter" | "record_observer" => Self::Exporter,
            "gpu_collector" | "gpu_telemetry_collector" => Self::GpuCollector,
            _ => return None,
        })
    }

    /// The role of an entry in a section of this role whose metadata says `kind`: `timing` entries of kind `arrival` or
    /// `ramp` and `dataset` entries of kind `sampler` play the smaller parts.
    pub fn of_kind(self, kind: &str) -> Self {
        match (self, kind) {
            (Self::Timing, "arrival") => Self::ArrivalPattern,
            (Self::Timing, "ramp") => Self::Ramp,
            (Self::Dataset, "sampler") => Self::Sampler,
            _ => self,
        }
    }

    /// The category of the contract that serves this role.
    pub const fn category(self) -> Category {
        match self {
            Self::Endpoint => Category::Endpoint,
            Self::Dataset | Self::Sampler => Category::Dataset,
            Self::Timing | Self::ArrivalPattern | Self::Ramp => Category::Timing,
            Self::Metric => Category::Metric,
            Self::Exporter => Category::Exporter,
            Self::GpuCollector => Category::GpuCollector,
        }
    }

    /// Whether an entry of this role may say `on_error: skip`. The others would change what is measured.
    pub const fn may_skip(self) -> bool {
        matches!(self, Self::Metric | Self::Exporter)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Up to three of `known` that look like `name`, nearest first.
pub fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = name.to_ascii_lowercase().replace('-', "_");
    let tolerance = wanted.chars().count().div_ceil(3);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let key = candidate.to_ascii_lowercase().replace('-', "_");
            let distance = edit_distance(&wanted, &key);
            let contained = wanted.len() >= 3 && (key.contains(&wanted) || wanted.contains(&key));
            (distance <= tolerance || contained).then_some((distance, candidate))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
        .into_iter()
        .take(3)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}

/// Levenshtein distance in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ignore_case_and_dashes() {
        let written = Name::parse("Acme-Chat").unwrap();
        assert_eq!(written, Name::parse("acme_CHAT").unwrap());
        assert_eq!((written.as_str(), written.key()), ("Acme-Chat", "acme_chat"));
        for bad in ["", "-a", "_a", ".a", "a b", "a/b", "a=b", "ä"] {
            assert!(Name::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn categories_know_the_names_of_the_original() {
        let table = [
            (
                Role::Dataset,
                "dataset dataset_composer custom_dataset_loader public_dataset_loader",
            ),
            (Role::Sampler, "dataset_sampler"),
            (Role::Timing, "timing timing_strategy Timing-Strategy"),
            (Role::ArrivalPattern, "arrival_pattern arrival-pattern"),
            (Role::Ramp, "ramp"),
            (Role::Metric, "metric accumulator analyzer spec_decode_adapter"),
            (
                Role::Exporter,
                "exporter data_exporter console_exporter stream_exporter record_observer",
            ),
            (Role::Endpoint, "endpoint ENDPOINT"),
            (Role::GpuCollector, "gpu_collector gpu_telemetry_collector"),
        ];
        for (role, names) in table {
            for name in names.split(' ') {
                assert_eq!(Role::parse(name), Some(role), "{name}");
            }
        }
        assert_eq!(Role::parse("transport"), None);
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
    }

    #[test]
    fn near_names() {
        let known = ["chat", "completions", "responses", "chat_embeddings"];
        let table: [(&str, &[&str]); 4] = [
            ("chta", &["chat"]),
            ("xyz", &[]),
            ("Completion", &["completions"]),
            ("embeddings", &["chat_embeddings"]),
        ];
        for (name, expected) in table {
            assert_eq!(near(name, known), expected, "{name}");
        }
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
