//! Owned record columns and the plan of which ones a run needs.

use aiperf_plugin_api::{ColumnRef, Validity};
use serde::{Deserialize, Serialize};

/// A record column that the core builds. The mask has a byte per record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FieldColumn {
    /// Integers.
    U64 {
        /// One per record; 0 where invalid.
        values: Vec<u64>,
        /// 1 where there is a value.
        mask: Vec<u8>,
    },
    /// Reals.
    F64 {
        /// One per record; 0 where invalid.
        values: Vec<f64>,
        /// 1 where there is a value.
        mask: Vec<u8>,
    },
    /// Texts.
    Text {
        /// End of each record's text.
        ends: Vec<u32>,
        /// All texts, joined.
        text: String,
        /// 1 where there is a value.
        mask: Vec<u8>,
    },
    /// Lists of integers.
    U64List {
        /// End of each record's list.
        ends: Vec<u32>,
        /// All lists, joined.
        values: Vec<u64>,
        /// 1 where there is a value.
        mask: Vec<u8>,
    },
    /// No column of this name exists.
    Missing,
}

impl FieldColumn {
    /// An integer column of a value per record.
    pub fn u64s(values: impl Iterator<Item = Option<u64>>) -> Self {
        let (values, mask) = values
            .map(|value| (value.unwrap_or(0), u8::from(value.is_some())))
            .unzip();
        Self::U64 { values, mask }
    }

    /// A real column of a value per record.
    pub fn f64s(values: impl Iterator<Item = Option<f64>>) -> Self {
        let (values, mask) = values
            .map(|value| (value.unwrap_or(0.0), u8::from(value.is_some())))
            .unzip();
        Self::F64 { values, mask }
    }

    /// A text column. Texts beyond 4 GiB in one batch are cut off as invalid.
    pub fn texts<'a>(values: impl ExactSizeIterator<Item = Option<&'a str>>) -> Self {
        let (mut ends, mut mask) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
        let mut text = String::new();
        for value in values {
            let fits = value.filter(|value| u32::try_from(text.len() + value.len()).is_ok());
            text.push_str(fits.unwrap_or_default());
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            mask.push(u8::from(fits.is_some()));
        }
        Self::Text { ends, text, mask }
    }

    /// A column of short texts, which are written one after the other.
    pub fn written<T>(values: &[T], mut write: impl FnMut(&T, &mut String)) -> Self {
        let mut ends = Vec::with_capacity(values.len());
        let mut text = String::new();
        for value in values {
            write(value, &mut text);
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        Self::Text {
            ends,
            text,
            mask: vec![1; values.len()],
        }
    }

    /// A list column; empty lists are valid.
    pub fn lists<'a>(values: impl ExactSizeIterator<Item = Option<&'a [u64]>>) -> Self {
        let (mut ends, mut mask) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
        let mut all = Vec::new();
        for value in values {
            all.extend_from_slice(value.unwrap_or_default());
            ends.push(u32::try_from(all.len()).unwrap_or(u32::MAX));
            mask.push(u8::from(value.is_some()));
        }
        Self::U64List {
            ends,
            values: all,
            mask,
        }
    }

    /// Borrows it in the form of the contract.
    pub fn borrow(&self) -> ColumnRef<'_> {
        match self {
            Self::U64 { values, mask } => ColumnRef::U64(values, Validity::Mask(mask)),
            Self::F64 { values, mask } => ColumnRef::F64(values, Validity::Mask(mask)),
            Self::Text { ends, text, mask } => ColumnRef::Text(ends, text, Validity::Mask(mask)),
            Self::U64List { ends, values, mask } => ColumnRef::U64List(ends, values, Validity::Mask(mask)),
            Self::Missing => ColumnRef::Missing,
        }
    }
}
