//! Columns: how records cross. A batch is 1 to 1,024 records; its columns stand in the order that the plugin asked for.

/// Which records have a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Validity<'a> {
    /// Every record.
    All,
    /// Those whose byte is not 0.
    Mask(&'a [u8]),
}

impl Validity<'_> {
    /// Record `i` has a value.
    pub fn has(&self, i: usize) -> bool {
        match self {
            Self::All => true,
            Self::Mask(mask) => mask.get(i).is_some_and(|&byte| byte != 0),
        }
    }
}

/// A borrowed column. Lists and texts: record `i` holds `values[ends[i-1]..ends[i]]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnRef<'a> {
    /// Numbers that fit no f64 exactly: nanoseconds, counters.
    U64(&'a [u64], Validity<'a>),
    /// Real numbers.
    F64(&'a [f64], Validity<'a>),
    /// UTF-8 texts.
    Text(&'a [u32], &'a str, Validity<'a>),
    /// Lists of integers.
    U64List(&'a [u32], &'a [u64], Validity<'a>),
    /// Lists of reals.
    F64List(&'a [u32], &'a [f64], Validity<'a>),
    /// The core does not know a column of this name.
    Missing,
}

impl<'a> ColumnRef<'a> {
    /// The unsigned value of record `i`.
    pub fn u64(&self, i: usize) -> Option<u64> {
        match self {
            Self::U64(values, validity) if validity.has(i) => values.get(i).copied(),
            _ => None,
        }
    }

    /// The value of record `i` as a real number.
    pub fn f64(&self, i: usize) -> Option<f64> {
        match self {
            Self::F64(values, validity) if validity.has(i) => values.get(i).copied(),
            Self::U64(values, validity) if validity.has(i) => values.get(i).map(|&value| value as f64),
            _ => None,
        }
    }

    /// The text of record `i`.
    pub fn text(&self, i: usize) -> Option<&'a str> {
        match self {
            Self::Text(ends, text, validity) if validity.has(i) => {
                let (from, to) = span(ends, i)?;
                text.get(from..to)
            }
            _ => None,
        }
    }

    /// The list of integers of record `i`.
    pub fn u64_list(&self, i: usize) -> Option<&'a [u64]> {
        match self {
            Self::U64List(ends, values, validity) if validity.has(i) => {
                let (from, to) = span(ends, i)?;
                values.get(from..to)
            }
            _ => None,
        }
    }

    /// The list of reals of record `i`.
    pub fn f64_list(&self, i: usize) -> Option<&'a [f64]> {
        match self {
            Self::F64List(ends, values, validity) if validity.has(i) => {
                let (from, to) = span(ends, i)?;
                values.get(from..to)
            }
            _ => None,
        }
    }
}

fn span(ends: &[u32], i: usize) -> Option<(usize, usize)> {
    let to = *ends.get(i)? as usize;
    let from = if i == 0 { 0 } else { ends[i - 1] as usize };
    Some((from, to))
}

/// Records of one batch as columns, in the order of the plugin's `needs`.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Number of records.
    pub len: usize,
    /// Columns.
    pub columns: &'a [ColumnRef<'a>],
}

impl<'a> Batch<'a> {
    /// Column `index` of the plugin's `needs`; [`ColumnRef::Missing`] beyond them.
    pub fn column(&self, index: usize) -> ColumnRef<'a> {
        self.columns.get(index).copied().unwrap_or(ColumnRef::Missing)
    }
}

/// An owned column, as metrics return it. Empty validity means that every record has a value.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Column {
    /// Integers.
    U64 {
        /// One per record.
        values: Vec<u64>,
        /// See [`Column`].
        validity: Vec<u8>,
    },
    /// Reals.
    F64 {
        /// One per record.
        values: Vec<f64>,
        /// See [`Column`].
        validity: Vec<u8>,
    },
    /// Lists of integers.
    U64List {
        /// End of each record's list.
        ends: Vec<u32>,
        /// All lists, joined.
        values: Vec<u64>,
        /// See [`Column`].
        validity: Vec<u8>,
    },
    /// Lists of reals.
    F64List {
        /// End of each record's list.
        ends: Vec<u32>,
        /// All lists, joined.
        values: Vec<f64>,
        /// See [`Column`].
        validity: Vec<u8>,
    },
    /// For [`MetricKind::Interval`](crate::MetricKind::Interval): a weight that holds from one time to another.
    Intervals {
        /// Start, ns on the wall clock.
        from: Vec<u64>,
        /// End, ns on the wall clock.
        to: Vec<u64>,
        /// Weight; a rate is per ns.
        weight: Vec<f64>,
        /// See [`Column`].
        validity: Vec<u8>,
    },
    /// For [`MetricKind::Steps`](crate::MetricKind::Steps): steps of equal weight after a start, each as long as its gap.
    Steps {
        /// Start, ns on the wall clock.
        from: Vec<u64>,
        /// End of each record's gaps.
        ends: Vec<u32>,
        /// Gaps in ns, joined.
        gaps: Vec<u64>,
        /// Weight that each gap of non-zero length adds in total.
        weight: Vec<f64>,
        /// See [`Column`].
        validity: Vec<u8>,
    },
}

impl Column {
    /// A real column from optional values.
    pub fn f64s(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (values, validity) = values
            .into_iter()
            .map(|value| (value.unwrap_or(0.0), u8::from(value.is_some())))
            .unzip();
        Self::F64 { values, validity }
    }

    /// An integer column from optional values.
    pub fn u64s(values: impl IntoIterator<Item = Option<u64>>) -> Self {
        let (values, validity) = values
            .into_iter()
            .map(|value| (value.unwrap_or(0), u8::from(value.is_some())))
            .unzip();
        Self::U64 { values, validity }
    }

    /// Borrows a value or list column; `None` for intervals and steps.
    pub fn borrow(&self) -> Option<ColumnRef<'_>> {
        fn mask(validity: &[u8]) -> Validity<'_> {
            if validity.is_empty() {
                Validity::All
            } else {
                Validity::Mask(validity)
            }
        }
        Some(match self {
            Self::U64 { values, validity } => ColumnRef::U64(values, mask(validity)),
            Self::F64 { values, validity } => ColumnRef::F64(values, mask(validity)),
            Self::U64List { ends, values, validity } => ColumnRef::U64List(ends, values, mask(validity)),
            Self::F64List { ends, values, validity } => ColumnRef::F64List(ends, values, mask(validity)),
            Self::Intervals { .. } | Self::Steps { .. } => return None,
        })
    }

    /// Checks that the column fits a batch of `len` records: lengths, ends in order and inside, finite reals.
    ///
    /// # Errors
    /// What is wrong, as a fragment.
    pub fn check(&self, len: usize) -> std::result::Result<(), String> {
        let lengths = |rows: usize, validity: &[u8]| {
            if rows != len || !(validity.is_empty() || validity.len() == len) {
                return Err(format!(
                    "a column of {rows} rows and {} validity bytes for {len} records",
                    validity.len()
                ));
            }
            Ok(())
        };
        let ordered = |ends: &[u32], values: usize| {
            let inside = ends.last().copied().unwrap_or(0) as usize == values;
            if !inside || ends.windows(2).any(|pair| pair[0] > pair[1]) {
                return Err(format!("list ends that do not divide {values} values"));
            }
            Ok(())
        };
        let finite = |values: &[f64], validity: &[u8]| {
            let bad = values
                .iter()
                .enumerate()
                .any(|(i, value)| !value.is_finite() && validity.get(i).is_none_or(|&byte| byte != 0));
            if bad {
                Err("a value that is not finite".to_owned())
            } else {
                Ok(())
            }
        };
        match self {
            Self::U64 { values, validity } => lengths(values.len(), validity),
            Self::F64 { values, validity } => {
                lengths(values.len(), validity)?;
                finite(values, validity)
            }
            Self::U64List { ends, values, validity } => {
                lengths(ends.len(), validity)?;
                ordered(ends, values.len())
            }
            Self::F64List { ends, values, validity } => {
                lengths(ends.len(), validity)?;
                ordered(ends, values.len())?;
                finite(values, &[])
            }
            Self::Intervals {
                from,
                to,
                weight,
                validity,
            } => {
                lengths(from.len(), validity)?;
                lengths(to.len(), validity)?;
                lengths(weight.len(), validity)?;
                finite(weight, validity)
            }
            Self::Steps {
                from,
                ends,
                gaps,
                weight,
                validity,
            } => {
                lengths(from.len(), validity)?;
                lengths(ends.len(), validity)?;
                lengths(weight.len(), validity)?;
                ordered(ends, gaps.len())?;
                finite(weight, validity)
            }
        }
    }
}
