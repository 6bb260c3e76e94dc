//! A constant, a list and a sum.

use aiperf_sdk::prelude::*;

use crate::behaviour::{Behaviour, no_text};

pub(crate) struct Hostile(pub(crate) Behaviour);

impl Metric for Hostile {
    fn describe(&self) -> Result<MetricFamily> {
        self.0.enter("describe");
        let metric = |tag: &str, kind| MetricSpec::new(tag, tag, "ratio", kind);
        let mut family = MetricFamily {
            needs: vec![fields::START.into()],
            derive_needs: vec!["hostile_value".into()],
            metrics: vec![
                metric("hostile_value", MetricKind::Record),
                metric("hostile_list", MetricKind::List),
                metric("hostile_total", MetricKind::Derived),
            ],
        };
        if self.0.is("no_text") {
            family.metrics[0].header = no_text();
        }
        Ok(family)
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        self.0.enter("record");
        let mut columns = vec![
            Column::f64s((0..batch.len).map(|_| Some(1.0))),
            Column::F64List {
                ends: (1..).take(batch.len).collect(),
                values: vec![2.0; batch.len],
                validity: Vec::new(),
            },
        ];
        let list = |ends: Vec<u32>| Column::F64List {
            ends,
            values: vec![2.0; batch.len],
            validity: Vec::new(),
        };
        let integers = |len: usize| Column::U64 {
            values: vec![1; len],
            validity: Vec::new(),
        };
        let end = u32::try_from(batch.len).unwrap_or(0);
        if self.0.is("column_count") {
            columns.pop();
        }
        if self.0.is("column_short") {
            columns[0] = integers(batch.len - 1);
        }
        if self.0.is("column_long") {
            columns[0] = integers(batch.len + 1);
        }
        if self.0.is("column_validity") {
            columns[0] = Column::U64 {
                values: vec![1; batch.len],
                validity: vec![1; batch.len + 7],
            };
        }
        if self.0.is("column_kind") {
            columns.swap(0, 1);
        }
        if self.0.is("ends_descend") {
            columns[1] = list((0..end).map(|i| end - i).collect());
        }
        if self.0.is("ends_outside") {
            columns[1] = list(vec![u32::MAX; batch.len]);
        }
        if self.0.is("not_finite") {
            columns[0] = Column::f64s((0..batch.len).map(|_| Some(f64::NAN)));
        }
        Ok(columns)
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        self.0.enter("derive");
        if self.0.is("derived_count") {
            return Ok(Vec::new());
        }
        if self.0.is("derived_not_finite") {
            return Ok(vec![Some(f64::INFINITY)]);
        }
        Ok(vec![window.totals.first().and_then(|total| total.sum)])
    }
}
