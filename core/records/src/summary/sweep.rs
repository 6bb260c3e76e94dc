//! All curves of a window, piece by piece in the order of time.

use crate::{
    accumulator::{PhaseAccumulator, Series, presence::Presence},
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
    /// What records contribute.
    Records(&'a Series),
    /// What they contribute as levels: a series of steps, and one of intervals that end them.
    Held(&'a Series, &'a Series),
    Sum(Vec<usize>),
    Ratio(usize, usize),
}

/// The curves that are wanted, and those that these are composed of.
pub(super) struct Sweep<'a> {
    accumulator: &'a PhaseAccumulator,
    /// Position in the catalogue and source of each curve; parts stand before what is composed of them.
    sources: Vec<(usize, Source<'a>)>,
    /// By position, as the pieces.
    builders: Vec<CurveBuilder>,
    pieces: Vec<Curve>,
    /// The records with the first instant at which they contribute anything, in this order.
    records: Vec<(u64, usize)>,
    spare: Spare,
    spare_curve: Curve,
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
            spare_curve: Curve::default(),
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
            match source {
                Source::Sum(parts) if needed[*position] => parts.iter().for_each(|&part| needed[part] = true),
                Source::Ratio(a, b) if needed[*position] => [*a, *b].into_iter().for_each(|part| needed[part] = true),
                _ => {}
            }
        }
        self.sources.retain(|(position, _)| needed[*position]);
    }

    /// How exact the curve at a position is, if that depends on how much memory there was.
    pub(super) fn precision(&self, position: usize) -> Option<Precision> {
        let own = self.sources.iter().find(|source| source.0 == position);
        match &own?.1 {
            Source::Records(Series::Steps(steps)) | Source::Held(Series::Steps(steps), _) => Some(steps.precision()),
            _ => None,
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
            let builder = &mut self.builders[*position];
            match source {
                Source::Records(Series::Intervals(intervals)) => intervals.contribute(builder, records(), starts),
                Source::Records(Series::Steps(steps)) => steps.contribute(builder, records(), starts),
                Source::Held(Series::Steps(steps), Series::Intervals(until)) => {
                    steps.contribute_held(builder, until, records(), starts);
                }
                _ => {}
            }
        }
    }

    fn piece(&mut self, i: usize, until_ns: Option<u64>) {
        let (position, source) = &self.sources[i];
        let mut curve = std::mem::take(&mut self.pieces[*position]);
        let pieces = &self.pieces;
        match source {
            Source::Records(_) | Source::Held(..) => {
                self.builders[*position].piece(until_ns, &mut self.spare, &mut curve);
            }
            Source::Sum(parts) => curve.sum(parts.iter().map(|&part| &pieces[part]), &mut self.spare_curve),
            Source::Ratio(dividend, divisor) => curve.ratio(&pieces[*dividend], &pieces[*divisor]),
        }
        self.pieces[*position] = curve;
    }
}

/// Where the curve at a position comes from, if there is one.
fn source<'a>(catalogue: &Catalogue, series: &'a [Series], position: usize) -> Option<Source<'a>> {
    let at = |tag: &String| catalogue.position(tag);
    match (&series[position], &catalogue.metrics()[position].origin) {
        (series @ (Series::Intervals(_) | Series::Steps(_)), _) => Some(Source::Records(series)),
        (_, Origin::Composed(formula)) => match formula {
            Formula::Held { steps, until } => Some(Source::Held(&series[at(steps)?], &series[at(until)?])),
            Formula::Sum(tags) => Some(Source::Sum(tags.iter().filter_map(at).collect())),
            Formula::Ratio { dividend, divisor } => Some(Source::Ratio(at(dividend)?, at(divisor)?)),
            // Not a curve of its own, but a part of one.
            Formula::While { .. } => None,
        },
        _ => None,
    }
}

impl Source<'_> {
    /// The first instant at which a record contributes, if it does.
    fn begin_ns(&self, record: usize, start_ns: u64) -> Option<u64> {
        match self {
            Self::Records(Series::Intervals(intervals)) => Some(intervals.get(record, start_ns)?.0),
            Self::Records(Series::Steps(steps)) => steps.begin_ns(record, start_ns),
            Self::Held(Series::Steps(steps), Series::Intervals(until)) => {
                // What comes after the end counts as just before it.
                let (_, until_ns, _) = until.get(record, start_ns)?;
                Some(steps.begin_ns(record, start_ns)?.min(until_ns.saturating_sub(1)))
            }
            _ => None,
        }
    }
}
