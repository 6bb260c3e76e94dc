//! What is tested.

use aiperf_sdk::{Category, api::Root};
use serde::Serialize;
use serde_json::{Map, Value};

/// What an entry provides. A category may have several kinds; the entry's metadata says which (`kind: sampler`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An endpoint.
    Endpoint,
    /// A dataset that makes conversations.
    Dataset,
    /// A dataset entry that orders conversations.
    Sampler,
    /// A timing mode.
    TimingMode,
    /// A timing entry that gives intervals.
    ArrivalPattern,
    /// A timing entry that gives the shape of a ramp.
    Ramp,
    /// A metric family.
    Metric,
    /// An exporter.
    Exporter,
    /// A GPU collector.
    GpuCollector,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Endpoint,
        Self::Dataset,
        Self::Sampler,
        Self::TimingMode,
        Self::ArrivalPattern,
        Self::Ramp,
        Self::Metric,
        Self::Exporter,
        Self::GpuCollector,
    ];

    /// The kind of an entry of a category whose metadata says `kind`; `None` for a kind that the category doesn't have.
    pub fn of(category: Category, kind: Option<&str>) -> Option<Self> {
        Some(match (category, kind) {
            (Category::Endpoint, None) => Self::Endpoint,
            (Category::Dataset, None) => Self::Dataset,
            (Category::Dataset, Some("sampler")) => Self::Sampler,
            (Category::Timing, None) => Self::TimingMode,
            (Category::Timing, Some("arrival")) => Self::ArrivalPattern,
            (Category::Timing, Some("ramp")) => Self::Ramp,
            (Category::Metric, None) => Self::Metric,
            (Category::Exporter, None) => Self::Exporter,
            (Category::GpuCollector, None) => Self::GpuCollector,
            _ => return None,
        })
    }

    /// The category it belongs to.
    pub const fn category(self) -> Category {
        match self {
            Self::Endpoint => Category::Endpoint,
            Self::Dataset | Self::Sampler => Category::Dataset,
            Self::TimingMode | Self::ArrivalPattern | Self::Ramp => Category::Timing,
            Self::Metric => Category::Metric,
            Self::Exporter => Category::Exporter,
            Self::GpuCollector => Category::GpuCollector,
        }
    }
}

/// An entry of an open package.
#[derive(Clone)]
pub struct Subject {
    /// The package.
    pub root: Root,
    /// What the entry provides.
    pub kind: Kind,
    /// Name of the entry.
    pub name: String,
    /// Metadata of the entry in its registry file; may be empty.
    pub metadata: Map<String, Value>,
    /// Options of the user; for entries that can't be opened without.
    pub options: Map<String, Value>,
}

impl Subject {
    /// An entry without metadata and options.
    pub fn new(root: Root, kind: Kind, name: impl Into<String>) -> Self {
        Self {
            root,
            kind,
            name: name.into(),
            metadata: Map::new(),
            options: Map::new(),
        }
    }

    /// `category/name`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.kind.category(), self.name)
    }
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject")
            .field("package", &self.root.name())
            .field("entry", &self.label())
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
