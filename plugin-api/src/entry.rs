//! Categories and entries: what a package registers.

contract_enum! {
    /// The six categories.
    pub enum Category: u8 {
        /// Formats requests, reads responses.
        Endpoint = 0,
        /// Turns bytes, or nothing, into conversations; or orders them.
        Dataset = 1,
        /// Decides when to send; or gives the intervals or the ramp for another that does.
        Timing = 2,
        /// Computes values from records.
        Metric = 3,
        /// Writes records and reports.
        Exporter = 4,
        /// Reads GPU counters.
        GpuCollector = 5,
    } else Endpoint
}

impl Category {
    /// All categories, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Endpoint,
        Self::Dataset,
        Self::Timing,
        Self::Metric,
        Self::Exporter,
        Self::GpuCollector,
    ];

    /// The key of the category in a registry file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Dataset => "dataset",
            Self::Timing => "timing",
            Self::Metric => "metric",
            Self::Exporter => "exporter",
            Self::GpuCollector => "gpu_collector",
        }
    }
}

impl std::fmt::Display for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

contract! {
    /// One thing that a package provides. The registry file must declare exactly the entries that the library registers.
    #[derive(Eq)]
    pub struct Entry / EntryAbi {
        /// The category.
        pub category: Category,
        /// The name in that category: lower case, digits and `_`.
        pub name: String,
    }
}

impl Entry {
    /// An entry.
    pub fn new(category: Category, name: impl Into<String>) -> Self {
        Self {
            category,
            name: name.into(),
        }
    }
}
