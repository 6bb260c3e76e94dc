//! The curves of a window.

use super::{
    Summary,
    metrics::Value,
    sweep::{Piece, Sweep},
};
use crate::{
    accumulator::{PhaseAccumulator, presence::Presence},
    curve::statistics::{Cut, First, Pass},
};

impl Summary {
    /// Sets the statistics of the curves that are wanted. The curves pass by twice, and none is held as a whole.
    pub(super) fn add_curves(&mut self, accumulator: &PhaseAccumulator, selected: Option<&Presence>) {
        let mut sweep = Sweep::new(self, accumulator, selected);
        let mut first = self.first(&sweep);
        while !sweep.run(|position, piece| take(&mut first, position, &piece)) {
            first = self.first(&sweep);
        }
        let mut second: Vec<_> = first.into_iter().map(|cut| cut?.second()).collect();
        sweep.run(|position, piece| take(&mut second, position, &piece));
        for (position, _, precision) in sweep.curves() {
            if let Some(cut) = second[position].take() {
                let statistics = cut.statistics().scaled(per_ns(&self.spec(position).unit));
                self.values[position] = Some(Value::distribution(statistics, precision));
            }
        }
    }

    /// By position, the first passes of those curves of a sweep that are wanted themselves.
    fn first(&self, sweep: &Sweep<'_>) -> Vec<Option<Cut<First>>> {
        let mut cuts = vec![None; self.values.len()];
        for (position, is_masked, _) in sweep.curves() {
            if self.is_wanted(position) {
                cuts[position] = Some(Cut::first(self.window, !is_masked));
            }
        }
        cuts
    }
}

/// Gives a piece to the curve's pass, if there is one.
fn take<P: Pass>(cuts: &mut [Option<Cut<P>>], position: usize, piece: &Piece<'_>) {
    if let Some(cut) = &mut cuts[position] {
        match *piece {
            Piece::Whole(curve) => cut.add(curve),
            Piece::While(curve, mask) => cut.add_while(curve, mask),
        }
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
