//! All curves of a window, piece by piece in the order of time.

use crate::{
    accumulator::{
        PhaseAccumulator, Series,
        curves::{Intervals, Steps},
        presence::Presence,
    },
    catalogue::{Catalogue, Origin},
    composition::Formula,
    curve::{Curve, CurveBuilder, Spare},
    precision::Precision,
};

/// Changes of all curves together that make a piece: few enough for the cache.
const PIECE: usize = 8192;
/// Records that are taken at a time.
const RECORDS: usize = 64;

/// Where the pieces of a curve come from.
enum Source<'a> {
    /// What records contribute to one or several metrics.
    Records(Vec<Contribution<'a>>),
    /// Other curves by their positions: what is divided, and by what.
    Ratio(usize, usize),
}

/// What a record adds to a curve.
#[derive(Clone, Copy)]
enum Contribution<'a> {
    Interval(&'a Intervals),
    /// Steps as rates.
    Rates(&'a Steps),
    /// Steps as levels, until the end of an interval.
    Held(&'a Steps, &'a Intervals),
}

/// The curves that are wanted, and those that these are composed of.
pub(super) struct Sweep<'a> {
    accumulator: &'a PhaseAccumulator,
    /// Position in the catalogue and source of each curve; what is divided and by what stand before the ratio.
    sources: Vec<(usize, Source<'a>)>,
    /// By position, as the pieces.
    builders: Vec<CurveBuilder>,
    pieces: Vec<Curve>,
    /// The records with the first instant at which they contribute anything, in this order.
    records: Vec<(u64, usize)>,
    spare: Spare,
}

impl<'a> Sweep<'a> {
    /// Of the curves at some positions of the catalogue, and the selected records.
    pub(super) fn new(
        accumulator: &'a PhaseAccumulator,
        wanted: impl IntoIterator<Item = usize>,
        selected: Option<&Presence>,
    ) -> Self {
        let catalogue = accumulator.catalogue();
        let all = 0..catalogue.metrics().len();
        let (builders, pieces) = (vec![CurveBuilder::new(); all.len()], vec![Curve::default(); all.len()]);
        let sources = all.filter_map(|position| Some((position, source(catalogue, accumulator.series(), position)?)));
        let mut sweep = Self {
            accumulator,
            sources: sources.collect(),
            builders,
            pieces,
            records: Vec::new(),
            spare: Spare::default(),
        };
        sweep.narrow(wanted);
        let mut records: Vec<(u64, usize)> = (0..accumulator.starts().len())
            .filter(|&record| selected.is_none_or(|selected| selected.contains(record)))
            .filter_map(|record| {
                let start_ns = accumulator.starts().at(record);
                let begin = |(_, source): &(usize, Source<'_>)| source.begin_ns(record, start_ns);
                Some((sweep.sources.iter().filter_map(begin).min()?, record))
            })
            .collect();
        records.sort_unstable();
        sweep.records = records;
        sweep
    }

    /// Whether there is a curve at a position.
    pub(super) fn has(accumulator: &PhaseAccumulator, position: usize) -> bool {
        source(accumulator.catalogue(), accumulator.series(), position).is_some()
    }

    /// Leaves out what is not needed for the curves at some positions.
    pub(super) fn narrow(&mut self, wanted: impl IntoIterator<Item = usize>) {
        let mut needed = vec![false; self.pieces.len()];
        wanted.into_iter().for_each(|position| needed[position] = true);
        for (position, source) in self.sources.iter().rev() {
            if let Source::Ratio(dividend, divisor) = *source
                && needed[*position]
            {
                (needed[dividend], needed[divisor]) = (true, true);
            }
        }
        self.sources.retain(|(position, _)| needed[*position]);
    }

    /// How exact the curve at a position is, if that depends on how much memory there was.
    pub(super) fn precision(&self, position: usize) -> Option<Precision> {
        let own = self.sources.iter().find(|source| source.0 == position);
        match &own?.1 {
            Source::Records(contributions) => match contributions[..] {
                [Contribution::Rates(steps) | Contribution::Held(steps, _)] => Some(steps.precision()),
                _ => None,
            },
            Source::Ratio(..) => None,
        }
    }

    /// Shows the curves by their positions, piece by piece, and says whether that was all. If not, what was no more than
    /// rounding became known only on the way, and the curves are to be shown again from the beginning.
    pub(super) fn run(&mut self, mut show: impl FnMut(&[Curve])) -> bool {
        self.builders.iter_mut().for_each(CurveBuilder::restart);
        self.pieces.fill(Curve::default());
        if self.sources.is_empty() {
            return true;
        }
        let (mut next, mut left) = (0, 0);
        loop {
            // At least as much again as what is left from before, which so is looked at few times.
            let mut pending = left;
            while pending < 2 * left + PIECE && next < self.records.len() {
                let end = self.records.len().min(next + RECORDS);
                self.contribute(next..end);
                next = end;
                pending = self.pending();
            }
            let until_ns = self.records.get(next).map(|&(begin_ns, _)| begin_ns);
            for i in 0..self.sources.len() {
                self.piece(i, until_ns);
            }
            show(&self.pieces);
            if until_ns.is_none() {
                return self.builders.iter().all(CurveBuilder::is_settled);
            }
            left = self.pending();
        }
    }

    fn pending(&self) -> usize {
        self.builders.iter().map(CurveBuilder::pending).sum()
    }

    fn contribute(&mut self, range: std::ops::Range<usize>) {
        let starts = self.accumulator.starts();
        let records = || self.records[range.clone()].iter().map(|&(_, record)| record);
        for (position, source) in &self.sources {
            let Source::Records(contributions) = source else {
                continue;
            };
            let builder = &mut self.builders[*position];
            for contribution in contributions {
                match contribution {
                    Contribution::Interval(intervals) => intervals.contribute(builder, records(), starts),
                    Contribution::Rates(steps) => steps.contribute(builder, records(), starts),
                    Contribution::Held(steps, until) => steps.contribute_held(builder, until, records(), starts),
                }
            }
        }
    }

    fn piece(&mut self, i: usize, until_ns: Option<u64>) {
        let (position, source) = &self.sources[i];
        let mut curve = std::mem::take(&mut self.pieces[*position]);
        match source {
            Source::Records(_) => self.builders[*position].piece(until_ns, &mut self.spare, &mut curve),
            Source::Ratio(dividend, divisor) => curve.ratio(&self.pieces[*dividend], &self.pieces[*divisor]),
        }
        self.pieces[*position] = curve;
    }
}

/// Where the curve at a position comes from, if there is one.
fn source<'a>(catalogue: &Catalogue, series: &'a [Series], position: usize) -> Option<Source<'a>> {
    let at = |tag: &String| catalogue.position(tag);
    let contributions = match (&series[position], &catalogue.metrics()[position].origin) {
        (Series::Intervals(intervals), _) => vec![Contribution::Interval(intervals)],
        (Series::Steps(steps), _) => vec![Contribution::Rates(steps)],
        (_, Origin::Composed(formula)) => match formula {
            Formula::Held { steps, until } => match (&series[at(steps)?], &series[at(until)?]) {
                (Series::Steps(steps), Series::Intervals(until)) => vec![Contribution::Held(steps, until)],
                _ => return None,
            },
            Formula::Sum(tags) => {
                let parts = tags.iter().filter_map(|tag| source(catalogue, series, at(tag)?));
                let contributions = parts.flat_map(|part| match part {
                    Source::Records(contributions) => contributions,
                    // Refused by the catalogue.
                    Source::Ratio(..) => Vec::new(),
                });
                contributions.collect()
            }
            Formula::Ratio { dividend, divisor } => return Some(Source::Ratio(at(dividend)?, at(divisor)?)),
            // Not a curve of its own, but a part of one.
            Formula::While { .. } => return None,
        },
        _ => return None,
    };
    Some(Source::Records(contributions))
}

impl Source<'_> {
    /// The first instant at which a record contributes, if it does.
    fn begin_ns(&self, record: usize, start_ns: u64) -> Option<u64> {
        let Self::Records(contributions) = self else {
            return None;
        };
        let begin = |contribution: &Contribution<'_>| contribution.begin_ns(record, start_ns);
        contributions.iter().filter_map(begin).min()
    }
}

impl Contribution<'_> {
    fn begin_ns(&self, record: usize, start_ns: u64) -> Option<u64> {
        match self {
            Self::Interval(intervals) => intervals.begin_ns(record, start_ns),
            Self::Rates(steps) => steps.begin_ns(record, start_ns),
            Self::Held(steps, until) => {
                // What comes after the end counts as just before it.
                let (_, until_ns, _) = until.get(record, start_ns)?;
                Some(steps.begin_ns(record, start_ns)?.min(until_ns.saturating_sub(1)))
            }
        }
    }
}
