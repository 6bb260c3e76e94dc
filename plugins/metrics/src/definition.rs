//! One metric: its facts and its formula.

use aiperf_sdk::{
    MetricKind, MetricSpec,
    metric::{Population, Total, Window, flags},
};

use crate::inputs::Inputs;

/// How a metric comes about.
pub(crate) enum Formula<I: Inputs> {
    /// A whole number per record.
    Integer(for<'a> fn(&I::Row<'a>) -> Option<u64>),
    /// A real number per record.
    Real(for<'a> fn(&I::Row<'a>) -> Option<f64>),
    /// Whole numbers per record, appended to the list; `false` if the record has no value.
    Integers(for<'a> fn(&I::Row<'a>, &mut Vec<u64>) -> bool),
    /// What a record contributes to a curve.
    Interval(for<'a> fn(&I::Row<'a>) -> Option<Interval>),
    /// What a record contributes to a curve step by step; the formula fills in the gaps.
    Steps(for<'a> fn(&I::Row<'a>, &mut Vec<u64>) -> Option<Steps>),
    /// A value per window, from the totals of the tags.
    Derived(&'static [&'static str], fn(&Totals<'_>) -> Option<f64>),
}

/// A weight from one time to another, in ns on the wall clock.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Interval {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) weight: f64,
}

impl Interval {
    /// `None` if it has no length.
    pub(crate) fn new(from: u64, to: u64, weight: f64) -> Option<Self> {
        (to > from).then_some(Self { from, to, weight })
    }

    /// The weight spread over the interval, per ns.
    pub(crate) fn rate(self) -> Option<Self> {
        let length = self.to.checked_sub(self.from).filter(|&ns| ns > 0)? as f64;
        Some(Self {
            weight: self.weight / length,
            ..self
        })
    }
}

/// Steps after a start, in ns on the wall clock; their gaps go beside.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Steps {
    pub(crate) from: u64,
    /// Of each step.
    pub(crate) weight: f64,
}

/// A metric and its formula.
pub(crate) struct Definition<I: Inputs> {
    pub(crate) spec: MetricSpec,
    /// Flags that decide, beside those of the spec, whether the metric applies: what it reads may not exist without them.
    pub(crate) requires: u64,
    pub(crate) formula: Formula<I>,
}

impl<I: Inputs> Definition<I> {
    /// A whole number per record. Like all constructors: in the default group, unordered, over valid records.
    pub(crate) fn integer(
        tag: &str,
        header: &str,
        short_header: &str,
        unit: &str,
        formula: for<'a> fn(&I::Row<'a>) -> Option<u64>,
    ) -> Self {
        let spec = spec(tag, header, short_header, unit, MetricKind::Record, flags::INTEGER);
        Self {
            spec,
            requires: 0,
            formula: Formula::Integer(formula),
        }
    }

    /// A time per record in ns, reported in ms.
    pub(crate) fn time(
        tag: &str,
        header: &str,
        short_header: &str,
        formula: for<'a> fn(&I::Row<'a>) -> Option<u64>,
    ) -> Self {
        Self::integer(tag, header, short_header, "ns", formula).shown_in("ms")
    }

    /// A real number per record.
    pub(crate) fn real(
        tag: &str,
        header: &str,
        short_header: &str,
        unit: &str,
        formula: for<'a> fn(&I::Row<'a>) -> Option<f64>,
    ) -> Self {
        Self {
            spec: spec(tag, header, short_header, unit, MetricKind::Record, 0),
            requires: 0,
            formula: Formula::Real(formula),
        }
    }

    /// Whole numbers per record.
    pub(crate) fn integers(
        tag: &str,
        header: &str,
        short_header: &str,
        unit: &str,
        formula: for<'a> fn(&I::Row<'a>, &mut Vec<u64>) -> bool,
    ) -> Self {
        Self {
            spec: spec(tag, header, short_header, unit, MetricKind::List, flags::INTEGER),
            requires: 0,
            formula: Formula::Integers(formula),
        }
    }

    /// An interval of a curve per record.
    pub(crate) fn interval(
        tag: &str,
        header: &str,
        unit: &str,
        formula: for<'a> fn(&I::Row<'a>) -> Option<Interval>,
    ) -> Self {
        Self {
            spec: spec(tag, header, "", unit, MetricKind::Interval, 0),
            requires: 0,
            formula: Formula::Interval(formula),
        }
    }

    /// Steps of a curve per record.
    pub(crate) fn steps(
        tag: &str,
        header: &str,
        unit: &str,
        formula: for<'a> fn(&I::Row<'a>, &mut Vec<u64>) -> Option<Steps>,
    ) -> Self {
        Self {
            spec: spec(tag, header, "", unit, MetricKind::Steps, 0),
            requires: 0,
            formula: Formula::Steps(formula),
        }
    }

    /// A value per window, from the totals of `needs`.
    pub(crate) fn derived(
        tag: &str,
        header: &str,
        short_header: &str,
        unit: &str,
        needs: &'static [&'static str],
        formula: fn(&Totals<'_>) -> Option<f64>,
    ) -> Self {
        Self {
            spec: spec(tag, header, short_header, unit, MetricKind::Derived, 0),
            requires: 0,
            formula: Formula::Derived(needs, formula),
        }
    }

    pub(crate) fn shown_in(mut self, unit: &str) -> Self {
        unit.clone_into(&mut self.spec.display_unit);
        self
    }

    pub(crate) fn kind(mut self, kind: MetricKind) -> Self {
        self.spec.kind = kind;
        self
    }

    pub(crate) fn population(mut self, population: Population) -> Self {
        self.spec.population = population;
        self
    }

    pub(crate) fn group(mut self, group: &str) -> Self {
        group.clone_into(&mut self.spec.group);
        self
    }

    pub(crate) fn order(mut self, order: i32) -> Self {
        self.spec.order = Some(order);
        self
    }

    pub(crate) fn requires(mut self, flags: u64) -> Self {
        self.requires = flags;
        self
    }

    pub(crate) fn flags(mut self, flags: u64) -> Self {
        self.spec.flags |= flags;
        self
    }
}

fn spec(tag: &str, header: &str, short_header: &str, unit: &str, kind: MetricKind, flags: u64) -> MetricSpec {
    MetricSpec {
        tag: tag.to_owned(),
        header: header.to_owned(),
        short_header: short_header.to_owned(),
        unit: unit.to_owned(),
        display_unit: String::new(),
        kind,
        population: Population::Valid,
        group: "default".to_owned(),
        order: None,
        flags,
    }
}

/// What a derived metric is computed from.
pub(crate) struct Totals<'a> {
    pub(crate) window: &'a Window,
    pub(crate) tags: &'a [String],
}

impl Totals<'_> {
    fn total(&self, tag: &str) -> Option<&Total> {
        let index = self.tags.iter().position(|known| known == tag)?;
        self.window.totals.get(index)
    }

    /// Sum of a metric; `None` if no record had a value.
    pub(crate) fn sum(&self, tag: &str) -> Option<f64> {
        self.total(tag).filter(|total| total.count > 0)?.sum
    }

    /// Time from the first request to the last response in ns, as the records tell it. `None` unless it is positive.
    pub(crate) fn records_span_ns(&self) -> Option<f64> {
        let first = self.total("min_request_timestamp")?.min?;
        let last = self.total("max_response_timestamp")?.max?;
        (last > first).then_some(last - first)
    }

    /// `amount` per second of the window. Only where the records span a time at all, as in the original, so that a rate
    /// never stands beside a missing duration.
    pub(crate) fn per_second(&self, amount: f64) -> Option<f64> {
        self.records_span_ns()?;
        let seconds = self.window.duration_ns.filter(|&ns| ns > 0)? as f64 / 1e9;
        Some(amount / seconds)
    }
}
