//! A family of a latency, its gaps, a count and a rate.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
};

use aiperf_conformance::{Kind, Options, Subject, run};
use aiperf_sdk::{
    Batch, Column, ColumnRef, Metric, MetricFamily, MetricKind, MetricSpec, PluginError, Result,
    api::{Root, abi},
    fields,
    metric::Window,
};

use super::{Fault, failed};

const ALL_OF_RECORD: &[&str] = &[
    "metric.shape",
    "metric.batch_sizes",
    "metric.validity",
    "metric.missing",
    "metric.extremes",
    "metric.errors_only",
    "metric.pure",
];

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("describes_anew", &["metric.describe"]),
    ("bad_tag", &["metric.specs"]),
    ("needs_twice", &["metric.specs"]),
    ("a_column_too_few", ALL_OF_RECORD),
    ("another_kind", ALL_OF_RECORD),
    ("first_of_batch_is_special", &["metric.batch_sizes"]),
    ("looks_under_masks", &["metric.validity", "metric.missing"]),
    ("unknown_is_0", &["metric.missing"]),
    ("overflows", &["metric.extremes"]),
    ("infinite_speed", &["metric.extremes"]),
    ("fails_without_success", &["metric.errors_only"]),
    ("remembers", &["metric.batch_sizes", "metric.validity", "metric.pure"]),
    ("nothing_over_nothing", &["metric.derive_empty", "metric.derive_finite"]),
    ("infinite_rate", &["metric.derive_finite"]),
    ("derives_anew", &["metric.derive_pure"]),
];

pub(super) struct Broken {
    fault: String,
    calls: AtomicU64,
}

impl Broken {
    pub(super) fn new(fault: String) -> Self {
        Self {
            fault,
            calls: AtomicU64::new(0),
        }
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn count(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    fn time(&self, column: &ColumnRef<'_>, i: usize) -> Option<u64> {
        match column {
            ColumnRef::U64(values, _) if self.has("looks_under_masks") => values.get(i).copied(),
            column if self.has("unknown_is_0") => Some(column.u64(i).unwrap_or(0)),
            column => column.u64(i),
        }
    }

    fn latency(&self, batch: &Batch<'_>, i: usize) -> Option<u64> {
        let (start, end) = (self.time(&batch.column(1), i)?, self.time(&batch.column(2), i)?);
        if self.has("overflows") {
            return Some(end - start);
        }
        let latency = end.checked_sub(start)?;
        if i == 0 && self.has("first_of_batch_is_special") {
            return latency.checked_add(1);
        }
        if self.has("remembers") {
            return Some(latency.saturating_add(self.calls.load(Ordering::Relaxed)));
        }
        Some(latency)
    }
}

impl Metric for Broken {
    fn describe(&self) -> Result<MetricFamily> {
        let header = if self.has("describes_anew") {
            format!("Latency {}", self.count())
        } else {
            "Latency".to_owned()
        };
        let tag = if self.has("bad_tag") { "Latency (ms)" } else { "latency" };
        let mut needs = vec![fields::VALID, fields::START, fields::END, fields::CONTENT];
        if self.has("needs_twice") {
            needs.push(fields::START);
        }
        Ok(MetricFamily {
            needs: needs.into_iter().map(str::to_owned).collect(),
            derive_needs: vec!["requests".to_owned()],
            metrics: vec![
                MetricSpec::new(tag, header, "ns", MetricKind::Record),
                MetricSpec::new("gaps", "Gaps", "ns", MetricKind::List),
                MetricSpec::new("requests", "Requests", "requests", MetricKind::Sum),
                MetricSpec::new("rate", "Rate", "requests/sec", MetricKind::Derived),
                MetricSpec::new("speed", "Speed", "1/ns", MetricKind::Max),
            ],
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        if self.has("remembers") {
            self.count();
        }
        let valid = batch.column(0);
        let succeeded = |i: usize| valid.u64(i) == Some(1);
        if self.has("fails_without_success") && batch.len > 200 && !(0..batch.len).any(succeeded) {
            return Err(PluginError::failed("nothing succeeded"));
        }
        let latency: Vec<Option<u64>> = (0..batch.len).map(|i| self.latency(batch, i)).collect();
        let speed = latency.iter().map(|latency| {
            let latency = (*latency)?;
            if latency == 0 && !self.has("infinite_speed") {
                return None;
            }
            Some(1.0 / latency as f64)
        });
        let speed = Column::f64s(speed);
        let (mut ends, mut values, mut validity) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..batch.len {
            let content = batch.column(3).u64_list(i);
            validity.push(u8::from(content.is_some()));
            for pair in content.unwrap_or_default().windows(2) {
                values.push(pair[1].saturating_sub(pair[0]));
            }
            ends.push(values.len() as u32);
        }
        let latency = if self.has("another_kind") {
            Column::Intervals {
                from: vec![0; batch.len],
                to: vec![0; batch.len],
                weight: vec![1.0; batch.len],
                validity: Vec::new(),
            }
        } else {
            Column::u64s(latency)
        };
        let mut columns = vec![
            latency,
            Column::U64List { ends, values, validity },
            Column::u64s((0..batch.len).map(|i| Some(u64::from(succeeded(i))))),
            speed,
        ];
        if self.has("a_column_too_few") {
            columns.pop();
        }
        Ok(columns)
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let sum = window.totals.first().and_then(|total| total.sum);
        let seconds = window.duration_ns.map(|ns| ns as f64 / 1e9);
        let rate = match self.fault.as_str() {
            "nothing_over_nothing" => Some(sum.unwrap_or(0.0) / seconds.unwrap_or(0.0)),
            "infinite_rate" => sum.zip(seconds.filter(|&s| s > 0.0)).map(|(sum, s)| sum / s),
            "derives_anew" => Some(self.count() as f64),
            _ => sum
                .zip(seconds.filter(|&s| s > 0.0))
                .map(|(sum, s)| sum / s)
                .filter(|rate| rate.is_finite()),
        };
        Ok(vec![rate])
    }
}

#[test]
fn tags_must_be_those_of_the_registry_file() {
    let declared = |tags: &[&str]| {
        let root = Root::new(abi::root::<super::Broken>());
        let mut subject = Subject::new(root, Kind::Metric, "good");
        subject.metadata.insert("tags".to_owned(), tags.into());
        let options = Options {
            only: vec!["metric.specs".to_owned()],
            speed: false,
            ..Options::default()
        };
        run(&subject, &options)
    };
    let all = ["latency", "gaps", "requests", "rate", "speed"];
    assert!(declared(&all).passed());
    let conformance = declared(&all[..4]);
    assert_eq!(failed(&conformance), BTreeSet::from(["metric.specs"]));
    assert!(conformance.cases[0].detail.contains("`speed`"), "{conformance}");
}
