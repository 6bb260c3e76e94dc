//! All curves of a window, piece by piece in the order of time.

use super::Summary;
use crate::{
    accumulator::{PhaseAccumulator, Series, presence::Presence},
    catalogue::{Catalogue, Origin},
    composition::Formula,
    curve::{Curve, CurveBuilder, Spare},
    precision::Precision,
};

/// Changes of all curves together that make a piece: few enough for the cache.
const PIECE: usize = 4096;
/// Records that are taken at a time.
const RECORDS: usize = 64;

/// What is at a position of the catalogue in a piece.
pub(super) enum Piece<'a> {
    /// A curve.
    Whole(&'a Curve),
    /// One that counts while another one is positive.
    While(&'a Curve, &'a Curve),
}

/// Where the pieces of a curve come from.
enum Source<'a> {
    /// What records contribute.
    Records(&'a Series),
    /// What they contribute as levels: a series of steps, and one of intervals that end them.
    Held(&'a Series, &'a Series),
    Sum(Vec<usize>),
    Ratio(usize, usize),
    While(usize, usize),
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
    pub(super) fn new(summary: &Summary, accumulator: &'a PhaseAccumulator, selected: Option<&Presence>) -> Self {
        let catalogue = accumulator.catalogue();
        let positions = 0..catalogue.metrics().len();
        let mut needed = vec![false; positions.len()];
        let mut sources = Vec::new();
        for position in positions.rev() {
            if (needed[position] || summary.is_wanted(position))
                && let Some(source) = source(catalogue, accumulator.series(), position)
            {
                match &source {
                    Source::Records(_) | Source::Held(..) => {}
                    Source::Sum(parts) => parts.iter().for_each(|&part| needed[part] = true),
                    Source::Ratio(a, b) | Source::While(a, b) => {
                        [a, b].into_iter().for_each(|&part| needed[part] = true)
                    }
                }
                sources.push((position, source));
            }
        }
        sources.reverse();
        let mut records: Vec<(u64, usize)> = (0..accumulator.starts().len())
            .filter(|&record| selected.is_none_or(|selected| selected.contains(record)))
            .filter_map(|record| {
                let start_ns = accumulator.starts().at(record);
                let begin = |(_, source): &(usize, Source<'_>)| source.begin_ns(record, start_ns);
                Some((sources.iter().filter_map(begin).min()?, record))
            })
            .collect();
        records.sort_unstable();
        Self {
            accumulator,
            sources,
            builders: vec![CurveBuilder::new(); needed.len()],
            pieces: vec![Curve::default(); needed.len()],
            records,
            spare: Spare::default(),
            spare_curve: Curve::default(),
        }
    }

    /// Position of each curve, whether it counts only while another one is positive, and how exact it is.
    pub(super) fn curves(&self) -> impl Iterator<Item = (usize, bool, Option<Precision>)> + '_ {
        self.sources.iter().map(|(position, source)| {
            let precision = match source {
                Source::Records(Series::Steps(steps)) | Source::Held(Series::Steps(steps), _) => {
                    Some(steps.precision())
                }
                _ => None,
            };
            (*position, matches!(source, Source::While(..)), precision)
        })
    }

    /// Shows each piece of each curve by its position, and says whether that was all. If not, what was no more than rounding
    /// became known only on the way, and the curves are to be shown again from the beginning.
    pub(super) fn run(&mut self, mut show: impl FnMut(usize, Piece<'_>)) -> bool {
        self.builders.iter_mut().for_each(CurveBuilder::restart);
        self.pieces.fill(Curve::default());
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
                self.piece(i, until_ns, &mut show);
            }
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

    fn piece(&mut self, i: usize, until_ns: Option<u64>, show: &mut impl FnMut(usize, Piece<'_>)) {
        let (position, source) = &self.sources[i];
        let mut curve = std::mem::take(&mut self.pieces[*position]);
        let pieces = &self.pieces;
        match source {
            Source::Records(_) | Source::Held(..) => {
                self.builders[*position].piece(until_ns, &mut self.spare, &mut curve);
            }
            Source::Sum(parts) => curve.sum(parts.iter().map(|&part| &pieces[part]), &mut self.spare_curve),
            Source::Ratio(dividend, divisor) => curve.ratio(&pieces[*dividend], &pieces[*divisor]),
            Source::While(rate, mask) => show(*position, Piece::While(&pieces[*rate], &pieces[*mask])),
        }
        if !matches!(source, Source::While(..)) {
            show(*position, Piece::Whole(&curve));
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
            Formula::While { curve, mask } => Some(Source::While(at(curve)?, at(mask)?)),
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
