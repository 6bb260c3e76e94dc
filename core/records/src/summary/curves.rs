//! The curves of a window.

use super::{Summary, metrics::Value, sweep::Sweep};
use crate::{
    accumulator::{PhaseAccumulator, presence::Presence},
    catalogue::Origin,
    composition::Formula,
    curve::{
        Curve,
        statistics::{Cut, Pass},
    },
    precision::Precision,
    statistics::Statistics,
};

/// A curve, and the metrics that are statistics of it, all by their positions in the catalogue.
struct Wanted {
    curve: usize,
    /// The metric of the whole window.
    whole: Option<usize>,
    /// The curve that tells what is active, and the metric of that part.
    active: Option<(usize, usize)>,
}

impl Wanted {
    /// The curves that it takes.
    fn curves(&self) -> impl Iterator<Item = usize> + use<> {
        [Some(self.curve), self.active.map(|(mask, _)| mask)]
            .into_iter()
            .flatten()
    }
}

impl Summary {
    /// Sets the statistics of the curves that are wanted. The curves pass by twice, and none is held as a whole; what the
    /// first time has left open decides which ones pass again.
    pub(super) fn add_curves(&mut self, accumulator: &PhaseAccumulator, selected: Option<&Presence>) {
        let wanted = self.wanted_curves(accumulator);
        let mut sweep = Sweep::new(accumulator, wanted.iter().flat_map(Wanted::curves), selected);
        let precisions: Vec<_> = wanted.iter().map(|wanted| sweep.precision(wanted.curve)).collect();

        let begin = || {
            wanted
                .iter()
                .map(|wanted| Cut::first(self.window, wanted.active.is_some()))
        };
        let mut first: Vec<_> = begin().collect();
        while !sweep.run(|pieces| take(&wanted, &mut first, pieces)) {
            first = begin().collect();
        }
        let end = |(wanted, first): (&Wanted, Cut<_>)| first.second(wanted.whole.is_some(), wanted.active.is_some());
        let mut second: Vec<_> = wanted.iter().zip(first).map(end).collect();
        let open = wanted.iter().zip(&second).filter(|(_, second)| !second.is_over());
        sweep.narrow(open.flat_map(|(wanted, _)| wanted.curves()));
        sweep.run(|pieces| take(&wanted, &mut second, pieces));

        for ((wanted, precision), second) in wanted.iter().zip(precisions).zip(second) {
            let (whole, active) = second.statistics();
            self.set_curve(wanted.whole, whole, precision);
            self.set_curve(wanted.active.map(|(_, metric)| metric), active, None);
        }
    }

    fn set_curve(&mut self, metric: Option<usize>, statistics: Option<Statistics>, precision: Option<Precision>) {
        if let (Some(metric), Some(statistics)) = (metric, statistics) {
            let statistics = statistics.scaled(per_ns(&self.spec(metric).unit));
            self.values[metric] = Some(Value::distribution(statistics, precision));
        }
    }

    fn wanted_curves(&self, accumulator: &PhaseAccumulator) -> Vec<Wanted> {
        let metrics = || (0..self.values.len()).filter(|&metric| self.is_wanted(metric));
        let whole = |curve| Wanted {
            curve,
            whole: Some(curve),
            active: None,
        };
        let curves = metrics().filter(|&metric| Sweep::has(accumulator, metric));
        let mut wanted: Vec<Wanted> = curves.map(whole).collect();
        for metric in metrics() {
            if let Origin::Composed(Formula::While { curve, mask }) = &self.catalogue.metrics()[metric].origin
                && let (Some(curve), Some(mask)) = (self.catalogue.position(curve), self.catalogue.position(mask))
            {
                let active = Some((mask, metric));
                match wanted.iter_mut().find(|one| one.curve == curve && one.active.is_none()) {
                    Some(one) => one.active = active,
                    None => wanted.push(Wanted {
                        curve,
                        whole: None,
                        active,
                    }),
                }
            }
        }
        wanted
    }
}

/// Gives the pieces, by their positions, to the passes of the curves.
fn take<P: Pass>(wanted: &[Wanted], cuts: &mut [Cut<P>], pieces: &[Curve]) {
    for (wanted, cut) in wanted.iter().zip(cuts) {
        cut.add(&pieces[wanted.curve], wanted.active.map(|(mask, _)| &pieces[mask]));
    }
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
