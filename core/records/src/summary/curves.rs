//! The curves of a window.

use std::sync::Arc;

use super::{Summary, metrics::Value};
use crate::{
    accumulator::{PhaseAccumulator, Series, presence::Presence},
    catalogue::{Catalogue, Origin},
    composition::Formula,
    curve::{Curve, CurveBuilder, Segments},
    precision::Precision,
    statistics::Statistics,
};

impl Summary {
    /// Builds the curves that are wanted or needed one after the other, and keeps those that others are composed of until
    /// these are.
    pub(super) fn add_curves(&mut self, accumulator: &PhaseAccumulator, selected: Option<&Presence>) {
        let catalogue = Arc::clone(&self.catalogue);
        let wanted: Vec<bool> = (0..catalogue.metrics().len()).map(|p| self.is_wanted(p)).collect();
        let order = order(&catalogue);
        let last_use = last_use(&catalogue, &wanted, &order);
        // Memory that all curves share.
        let (mut builder, mut segments) = (CurveBuilder::new(), Segments::default());
        let mut curves: Vec<Option<Curve>> = vec![None; catalogue.metrics().len()];
        let starts = accumulator.starts();
        let records = || (0..starts.len()).filter(|&record| selected.is_none_or(|selected| selected.contains(record)));
        for (turn, &position) in order.iter().enumerate() {
            let metric = &catalogue.metrics()[position];
            if !wanted[position] && last_use[position].is_none() {
                continue;
            }
            let series = |tag: &str| catalogue.position(tag).map(|position| &accumulator.series()[position]);
            let curve = |tag: &str| catalogue.position(tag).and_then(|position| curves[position].as_ref());
            let mut precision = None;
            let built = match (&accumulator.series()[position], &metric.origin) {
                (Series::Intervals(intervals), _) => {
                    intervals.contribute(&mut builder, records(), starts);
                    Some(builder.build())
                }
                (Series::Steps(steps), _) => {
                    steps.contribute(&mut builder, records(), starts);
                    precision = Some(steps.precision());
                    Some(builder.build())
                }
                (_, Origin::Composed(Formula::Held { steps, until })) => {
                    if let (Some(Series::Steps(steps)), Some(Series::Intervals(until))) = (series(steps), series(until))
                    {
                        steps.contribute_held(&mut builder, until, records(), starts);
                        precision = Some(steps.precision());
                    }
                    Some(builder.build())
                }
                (_, Origin::Composed(Formula::Sum(tags))) => {
                    Some(builder.sum(tags.iter().filter_map(|tag| curve(tag))))
                }
                (_, Origin::Composed(Formula::Ratio { dividend, divisor })) => curve(dividend)
                    .zip(curve(divisor))
                    .map(|(dividend, divisor)| builder.ratio(dividend, divisor)),
                (_, Origin::Composed(Formula::While { curve: rate, mask })) => {
                    let statistics = curve(rate)
                        .zip(curve(mask))
                        .and_then(|(rate, mask)| segments.statistics_while(rate, mask, self.window));
                    self.set_curve(position, statistics, None);
                    None
                }
                _ => None,
            };
            if let Some(built) = built {
                if wanted[position] {
                    self.set_curve(position, segments.statistics(&built, self.window), precision);
                }
                curves[position] = Some(built);
            }
            for (curve, last) in curves.iter_mut().zip(&last_use) {
                if last.is_none_or(|last| last <= turn)
                    && let Some(curve) = curve.take()
                {
                    builder.recycle(curve);
                }
            }
        }
    }

    fn set_curve(&mut self, position: usize, statistics: Option<Statistics>, precision: Option<Precision>) {
        let per_ns = per_ns(&self.spec(position).unit);
        self.values[position] = statistics.map(|statistics| Value::distribution(statistics.scaled(per_ns), precision));
    }
}

/// The metrics by position: what is composed of curves follows the last of them at once, so that few large curves are held
/// at a time.
fn order(catalogue: &Catalogue) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(catalogue.metrics().len());
    for position in 0..catalogue.metrics().len() {
        if order.contains(&position) {
            continue;
        }
        order.push(position);
        // Those that are ready now may make others ready. Parts stand before what is composed of them.
        for later in position + 1..catalogue.metrics().len() {
            let parts = parts(catalogue, later);
            if !parts.is_empty() && !order.contains(&later) && parts.iter().all(|part| order.contains(part)) {
                order.push(later);
            }
        }
    }
    order
}

/// Positions of the metrics whose curves a metric is composed of.
fn parts(catalogue: &Catalogue, position: usize) -> Vec<usize> {
    match &catalogue.metrics()[position].origin {
        // Held steps come from the records, not from the curve of the steps.
        Origin::Composed(formula) if !matches!(formula, Formula::Held { .. }) => {
            let tags = formula.parts().into_iter();
            tags.filter_map(|tag| catalogue.position(tag)).collect()
        }
        _ => Vec::new(),
    }
}

/// For each metric the turn of the last one that is composed of its curve, as far as any that is wanted needs it.
fn last_use(catalogue: &Catalogue, wanted: &[bool], order: &[usize]) -> Vec<Option<usize>> {
    let mut last_use: Vec<Option<usize>> = vec![None; wanted.len()];
    for (turn, &position) in order.iter().enumerate().rev() {
        if wanted[position] || last_use[position].is_some() {
            for part in parts(catalogue, position) {
                last_use[part].get_or_insert(turn);
            }
        }
    }
    last_use
}

/// Curves are in units per ns; what a value is multiplied by to be per the time unit that a metric's unit names, as in
/// `tokens/sec/user`. 1 if it names none.
fn per_ns(unit: &str) -> f64 {
    unit.split('/')
        .skip(1)
        .find_map(|part| match part {
            "sec" => Some(1e9),
            "ms" => Some(1e6),
            "us" => Some(1e3),
            _ => None,
        })
        .unwrap_or(1.0)
}
