//! Ten metric families, `ten_0` to `ten_9`, each of the kind that people write: a number and a list from the arrival times of a
//! request's chunks. `bench/guests.py` measures what they cost a run, as a library and as a component.

use aiperf_sdk::prelude::*;

struct Ten;

impl Package for Ten {
    const NAME: &'static str = "ten";
    const VERSION: &'static str = "1.0.0";

    fn entries() -> Vec<Entry> {
        (0..10)
            .map(|number| Entry::new(Category::Metric, format!("ten_{number}")))
            .collect()
    }

    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        let known = Self::entries().into_iter().any(|entry| entry.name == open.entry);
        if !known {
            return Err(open.unknown());
        }
        Ok(Box::new(Pauses(open.entry)))
    }
}

aiperf_sdk::export!(Ten, [Metric]);

/// The longest pause between chunks, and whether it was the last one.
struct Pauses(String);

impl Metric for Pauses {
    fn describe(&self) -> Result<MetricFamily> {
        let spec = |what: &str, unit: &str| {
            let tag = format!("{}_{what}", self.0);
            MetricSpec::new(&tag, &tag, unit, MetricKind::Record)
        };
        Ok(MetricFamily {
            needs: [fields::VALID, fields::END, fields::CONTENT].map(String::from).into(),
            derive_needs: Vec::new(),
            metrics: vec![spec("longest", "ns"), spec("tail", "ns")],
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let valid = |row: &usize| batch.column(0).u64(*row) == Some(1);
        let longest = |row: usize| {
            let times = batch.column(2).u64_list(row)?;
            times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max()
        };
        let tail = |row: usize| {
            let last = *batch.column(2).u64_list(row)?.last()?;
            Some(batch.column(1).u64(row)?.saturating_sub(last))
        };
        Ok(vec![
            Column::u64s((0..batch.len).map(|row| Some(row).filter(valid).and_then(longest))),
            Column::u64s((0..batch.len).map(|row| Some(row).filter(valid).and_then(tail))),
        ])
    }
}
