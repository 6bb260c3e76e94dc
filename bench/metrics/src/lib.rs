//! Ten metrics, `ten_0` to `ten_9`, of the kind that people write: a number from the arrival times of a request's chunks. `bench/guests.py` measures what they cost a run, as a library and as a component.

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

/// The longest time without a chunk, up to the end of the request.
struct Pauses(String);

impl Metric for Pauses {
    fn describe(&self) -> Result<MetricFamily> {
        Ok(MetricFamily {
            needs: [fields::VALID, fields::END, fields::CONTENT].map(String::from).into(),
            derive_needs: Vec::new(),
            metrics: vec![MetricSpec::new(&self.0, &self.0, "ns", MetricKind::Record)],
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let longest = |row: usize| {
            let times = batch.column(2).u64_list(row)?;
            let between = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max();
            between.max(Some(batch.column(1).u64(row)?.saturating_sub(*times.last()?)))
        };
        let valid = |row: &usize| batch.column(0).u64(*row) == Some(1);
        let values = (0..batch.len).map(|row| Some(row).filter(valid).and_then(longest));
        Ok(vec![Column::u64s(values)])
    }
}
