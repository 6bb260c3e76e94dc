//! Records as columns, for tests of metrics and exporters.

use aiperf_plugin_api::{Batch, Column, ColumnRef, PluginError, Result, Validity};

/// Records by column name. Values are given per record; `None` is a value that is not known. Every column must have as many
/// values as there are records.
///
/// ```
/// use aiperf_sdk::{fields, testing::Batches};
///
/// let records = Batches::of(3)
///     .u64(fields::VALID, [1, 1, 0])
///     .u64(fields::START, [Some(5), None, Some(9)])
///     .u64_lists(fields::CONTENT, [Some(vec![6, 7]), Some(vec![8]), None])
///     .text(fields::ERROR_TYPE, [None, None, Some("Timeout")]);
/// let mut seen = Vec::new();
/// records.cut(2, &[fields::START, "no_such_column"], |batch| {
///     for i in 0..batch.len {
///         seen.push(batch.column(0).u64(i));
///         assert_eq!(batch.column(1), aiperf_sdk::ColumnRef::Missing);
///     }
///     Ok(())
/// })?;
/// assert_eq!(seen, [Some(5), None, Some(9)]);
/// # Ok::<(), aiperf_sdk::PluginError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Batches {
    len: usize,
    columns: Vec<(String, Values)>,
}

#[derive(Debug, Clone)]
enum Values {
    U64(Vec<Option<u64>>),
    F64(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
    U64List(Vec<Option<Vec<u64>>>),
    F64List(Vec<Option<Vec<f64>>>),
}

/// The values of one batch, laid out as the core does.
struct Laid {
    column: Option<Column>,
    text: Option<(Vec<u32>, String, Vec<u8>)>,
}

impl Batches {
    /// So many records without a column.
    pub fn of(len: usize) -> Self {
        Self {
            len,
            columns: Vec::new(),
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No records at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A column of integers.
    #[must_use]
    pub fn u64<T: Into<Option<u64>>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, Values::U64(values.into_iter().map(Into::into).collect()))
    }

    /// A column of reals.
    #[must_use]
    pub fn f64<T: Into<Option<f64>>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, Values::F64(values.into_iter().map(Into::into).collect()))
    }

    /// A column of texts.
    #[must_use]
    pub fn text<'a, T: Into<Option<&'a str>>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        let values = values.into_iter().map(|text| text.into().map(str::to_owned));
        self.with(name, Values::Text(values.collect()))
    }

    /// A column of lists of integers.
    #[must_use]
    pub fn u64_lists<T: Into<Option<Vec<u64>>>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, Values::U64List(values.into_iter().map(Into::into).collect()))
    }

    /// A column of lists of reals.
    #[must_use]
    pub fn f64_lists<T: Into<Option<Vec<f64>>>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, Values::F64List(values.into_iter().map(Into::into).collect()))
    }

    fn with(mut self, name: &str, values: Values) -> Self {
        self.columns.retain(|(known, _)| known != name);
        self.columns.push((name.to_owned(), values));
        self
    }

    /// Shows the records in batches of at most `size`, with the columns of `names` in this order, as the core does.
    ///
    /// # Errors
    /// Those of `see`; and a column whose length is not the number of records.
    pub fn cut<N: AsRef<str>>(
        &self,
        size: usize,
        names: &[N],
        mut see: impl FnMut(&Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        for (name, values) in &self.columns {
            if values.len() != self.len {
                return Err(PluginError::failed(format!(
                    "the test gives {} values of `{name}` for {} records",
                    values.len(),
                    self.len
                )));
            }
        }
        let size = size.max(1);
        for from in (0..self.len).step_by(size) {
            let to = self.len.min(from + size);
            let laid: Vec<Laid> = names.iter().map(|name| self.lay(name.as_ref(), from, to)).collect();
            let columns: Vec<ColumnRef<'_>> = laid.iter().map(Laid::column).collect();
            see(&Batch {
                len: to - from,
                columns: &columns,
            })?;
        }
        Ok(())
    }

    fn lay(&self, name: &str, from: usize, to: usize) -> Laid {
        let found = self.columns.iter().find(|(known, _)| known == name);
        let (mut column, mut text) = (None, None);
        match found.map(|(_, values)| values) {
            None => {}
            Some(Values::U64(values)) => column = Some(Column::u64s(values[from..to].iter().copied())),
            Some(Values::F64(values)) => column = Some(Column::f64s(values[from..to].iter().copied())),
            Some(Values::U64List(values)) => {
                let (ends, values, validity) = joined(&values[from..to]);
                column = Some(Column::U64List { ends, values, validity });
            }
            Some(Values::F64List(values)) => {
                let (ends, values, validity) = joined(&values[from..to]);
                column = Some(Column::F64List { ends, values, validity });
            }
            Some(Values::Text(values)) => {
                let texts = &values[from..to];
                let bytes: Vec<Option<Vec<u8>>> =
                    texts.iter().map(|text| text.clone().map(String::into_bytes)).collect();
                let (ends, _, validity) = joined(&bytes);
                text = Some((ends, texts.iter().flatten().map(String::as_str).collect(), validity));
            }
        }
        Laid { column, text }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::U64List(values) => values.len(),
            Self::F64List(values) => values.len(),
        }
    }
}

impl Laid {
    fn column(&self) -> ColumnRef<'_> {
        if let Some((ends, text, validity)) = &self.text {
            return ColumnRef::Text(ends, text, Validity::Mask(validity));
        }
        let column = self.column.as_ref().and_then(Column::borrow);
        column.unwrap_or(ColumnRef::Missing)
    }
}

/// Ends, all values, and validity.
fn joined<T: Clone>(lists: &[Option<Vec<T>>]) -> (Vec<u32>, Vec<T>, Vec<u8>) {
    let (mut ends, mut values, mut validity) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        values.extend(list.iter().flatten().cloned());
        ends.push(values.len() as u32);
        validity.push(u8::from(list.is_some()));
    }
    (ends, values, validity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_column_reads_back_at_every_cut() {
        let records = Batches::of(4)
            .u64("u", [Some(1), None, Some(3), Some(4)])
            .f64("f", [0.5, 1.5, 2.5, 3.5])
            .text("t", [Some("ä"), Some(""), None, Some("bc")])
            .u64_lists("ul", [Some(vec![1, 2]), None, Some(vec![]), Some(vec![3])])
            .f64_lists("fl", [vec![0.5], vec![], vec![1.0, 2.0], vec![]]);
        for size in [1, 2, 3, 4, 100] {
            let mut rows = Vec::new();
            records
                .cut(size, &["t", "u", "f", "ul", "fl"], |batch| {
                    assert!(batch.len <= size);
                    for i in 0..batch.len {
                        let column = |index| batch.column(index);
                        rows.push((
                            column(0).text(i).map(str::to_owned),
                            column(1).u64(i),
                            column(2).f64(i),
                            column(3).u64_list(i).map(<[u64]>::to_vec),
                            column(4).f64_list(i).map(<[f64]>::to_vec),
                        ));
                    }
                    Ok(())
                })
                .unwrap();
            let text = |text: &str| Some(text.to_owned());
            assert_eq!(
                rows,
                [
                    (text("ä"), Some(1), Some(0.5), Some(vec![1, 2]), Some(vec![0.5])),
                    (text(""), None, Some(1.5), None, Some(vec![])),
                    (None, Some(3), Some(2.5), Some(vec![]), Some(vec![1.0, 2.0])),
                    (text("bc"), Some(4), Some(3.5), Some(vec![3]), Some(vec![])),
                ],
                "batches of {size}"
            );
        }
    }

    #[test]
    fn a_column_of_another_length_is_a_mistake_of_the_test() {
        let error = Batches::of(2).u64("u", [1]).cut(1, &["u"], |_| Ok(())).unwrap_err();
        assert!(error.message.contains("1 values of `u` for 2 records"), "{error}");
    }
}
