//! Metrics that are not one number per record.

use aiperf_sdk::{
    Batch, Column, Metric, MetricFamily, MetricKind, MetricSpec, Result, fields,
    metric::{Population, Window},
};

fn spec(tag: &str, unit: &str, kind: MetricKind) -> MetricSpec {
    MetricSpec {
        tag: tag.to_owned(),
        header: tag.to_owned(),
        short_header: String::new(),
        unit: unit.to_owned(),
        display_unit: String::new(),
        kind,
        population: Population::All,
        group: "default".to_owned(),
        order: Some(7),
        flags: 0,
    }
}

fn family(needs: &[&str], derive_needs: &[&str], metrics: Vec<MetricSpec>) -> MetricFamily {
    MetricFamily {
        needs: needs.iter().map(|&name| name.to_owned()).collect(),
        derive_needs: derive_needs.iter().map(|&name| name.to_owned()).collect(),
        metrics,
    }
}

/// Gaps between content responses (a list per record), and their share of the window (derived).
pub struct ChunkGaps;

impl Metric for ChunkGaps {
    fn describe(&self) -> Result<MetricFamily> {
        let metrics = vec![
            spec("chunk_gaps", "ns", MetricKind::List),
            spec("gap_share", "ratio", MetricKind::Derived),
        ];
        Ok(family(&[fields::CONTENT], &["chunk_gaps"], metrics))
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let content = batch.column(0);
        let (mut ends, mut values, mut validity) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..batch.len {
            let times = content.u64_list(i).unwrap_or_default();
            values.extend(times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])));
            ends.push(u32::try_from(values.len()).unwrap_or(u32::MAX));
            validity.push(u8::from(times.len() > 1));
        }
        Ok(vec![Column::U64List { ends, values, validity }])
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let sum = window.totals.first().and_then(|total| total.sum);
        let share = |(sum, length)| sum / length as f64;
        Ok(vec![sum.zip(window.duration_ns).map(share)])
    }
}

/// Requests in flight, and tokens per ns while they come: curves over time.
pub struct Busy;

impl Metric for Busy {
    fn describe(&self) -> Result<MetricFamily> {
        let metrics = vec![
            spec("busy", "requests", MetricKind::Interval),
            spec("flow", "tokens/sec", MetricKind::Steps),
        ];
        let needs = [fields::START_WALL, fields::START, fields::END, fields::CONTENT];
        Ok(family(&needs, &[], metrics))
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (mut first, mut ends, mut gaps) = (Vec::new(), Vec::new(), Vec::<u64>::new());
        let mut has_gaps = Vec::new();
        for i in 0..batch.len {
            let wall = batch.column(0).u64(i).unwrap_or(0);
            let start = batch.column(1).u64(i).unwrap_or(0);
            let end = batch.column(2).u64(i).unwrap_or(start);
            from.push(wall);
            to.push(wall + (end - start));
            let times = batch.column(3).u64_list(i).unwrap_or_default();
            first.push(times.first().map_or(0, |&at| wall + (at - start)));
            gaps.extend(times.windows(2).map(|pair| pair[1] - pair[0]));
            ends.push(u32::try_from(gaps.len()).unwrap_or(u32::MAX));
            has_gaps.push(u8::from(times.len() > 1));
        }
        let ones = vec![1.0; batch.len];
        Ok(vec![
            Column::Intervals {
                from,
                to,
                weight: ones.clone(),
                validity: Vec::new(),
            },
            Column::Steps {
                from: first,
                ends,
                gaps,
                weight: ones,
                validity: has_gaps,
            },
        ])
    }
}
