//! What the records of a phase show about how exactly they were timed.

use aiperf_plugin_api::{
    ColumnRef, fields,
    validity::{Fidelity, Quantiles},
};
use hdrhistogram::Histogram;

use crate::{columns::FieldColumn, records_manager::exporters::ColumnMap};

/// Streams with fewer messages say nothing about bursts.
const STREAM: u64 = 8;
/// A client that looks within this time cannot be what joined messages that came apart, in ns.
const PROMPT: u64 = 1_000_000;

/// Collects the records of a phase.
pub struct Observed {
    columns: Columns,
    fidelity: Fidelity,
    schedule_lag: Lags,
    latency: Lags,
    client_lag: Lags,
    send: Lags,
    /// First and last start.
    starts: Option<(u64, u64)>,
}

/// Where the columns are.
#[derive(Debug, Clone, Copy)]
struct Columns {
    intended: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    valid: Option<usize>,
    send: Option<usize>,
    lag: Option<usize>,
    messages: Option<usize>,
    bounded: Option<usize>,
    kind: Option<usize>,
    message: Option<usize>,
}

impl Observed {
    /// The names of the columns it reads.
    pub const COLUMNS: [&'static str; 10] = [
        fields::INTENDED,
        fields::START,
        fields::END,
        fields::VALID,
        fields::SEND_BRACKET,
        fields::CLIENT_LAG,
        fields::MESSAGES,
        fields::MESSAGES_BOUNDED,
        fields::ERROR_TYPE,
        fields::ERROR_MESSAGE,
    ];

    /// Nothing yet.
    pub fn new(map: &ColumnMap) -> Self {
        Self {
            columns: Columns {
                intended: map.field(fields::INTENDED),
                start: map.field(fields::START),
                end: map.field(fields::END),
                valid: map.field(fields::VALID),
                send: map.field(fields::SEND_BRACKET),
                lag: map.field(fields::CLIENT_LAG),
                messages: map.field(fields::MESSAGES),
                bounded: map.field(fields::MESSAGES_BOUNDED),
                kind: map.field(fields::ERROR_TYPE),
                message: map.field(fields::ERROR_MESSAGE),
            },
            fidelity: Fidelity::default(),
            schedule_lag: Lags::default(),
            latency: Lags::default(),
            client_lag: Lags::default(),
            send: Lags::default(),
            starts: None,
        }
    }

    /// Adds a batch of `len` records.
    pub fn add(&mut self, len: usize, batch: &[FieldColumn]) {
        let column = |position: Option<usize>| {
            position
                .and_then(|position| batch.get(position))
                .map_or(ColumnRef::Missing, FieldColumn::borrow)
        };
        let at = self.columns;
        let (intended, start, end, valid) = (column(at.intended), column(at.start), column(at.end), column(at.valid));
        let (send, lag) = (column(at.send), column(at.lag));
        let (messages, bounded) = (column(at.messages), column(at.bounded));
        let (kind, message) = (column(at.kind), column(at.message));
        for row in 0..len {
            let Some(started) = start.u64(row).filter(|&started| started > 0) else {
                continue;
            };
            let fidelity = &mut self.fidelity;
            fidelity.requests += 1;
            let (first, last) = self.starts.get_or_insert((started, started));
            (*first, *last) = ((*first).min(started), (*last).max(started));
            if let Some(intended) = intended.u64(row) {
                self.schedule_lag.add(started.saturating_sub(intended));
                if valid.u64(row) == Some(1)
                    && let Some(end) = end.u64(row)
                {
                    self.latency.add(end.saturating_sub(intended));
                }
            }
            if let Some(width) = send.u64(row) {
                self.send.add(width);
            }
            let lag = lag.u64(row);
            if let Some(lag) = lag {
                fidelity.kernel_stamped += 1;
                self.client_lag.add(lag);
            }
            let (messages, bounded) = (messages.u64(row).unwrap_or(0), bounded.u64(row).unwrap_or(0));
            fidelity.messages += messages;
            fidelity.bounded_messages += bounded;
            if messages >= STREAM {
                fidelity.streams += 1;
                if 2 * bounded > messages && lag.is_none_or(|lag| lag < PROMPT) {
                    fidelity.bursty_streams += 1;
                }
            }
            let no_port = message
                .text(row)
                .is_some_and(|message| message.contains("no local port"));
            if no_port || kind.text(row) == Some("TooManyOpenFilesError") {
                fidelity.exhausted += 1;
            }
        }
    }

    /// What was observed.
    pub fn fidelity(&self) -> Fidelity {
        let rate = self.starts.and_then(|(first, last)| {
            let seconds = last.saturating_sub(first) as f64 / 1e9;
            (seconds > 0.0).then(|| (self.fidelity.requests - 1) as f64 / seconds)
        });
        Fidelity {
            schedule_lag_ns: self.schedule_lag.quantiles(),
            latency_from_schedule_ns: self.latency.quantiles(),
            client_lag_ns: self.client_lag.quantiles(),
            send_bracket_ns: self.send.quantiles(),
            achieved_rate: rate,
            ..self.fidelity.clone()
        }
    }
}

/// Times up to about an hour, with three significant digits; longer ones count as an hour.
#[derive(Default)]
struct Lags(Option<Histogram<u64>>);

/// In ns.
const LONGEST: u64 = 3_600_000_000_000;

impl Lags {
    fn add(&mut self, ns: u64) {
        if self.0.is_none() {
            // The bounds are valid, so it can be made.
            self.0 = Histogram::new_with_bounds(1, LONGEST, 3).ok();
        }
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(ns.min(LONGEST));
        }
    }

    fn quantiles(&self) -> Option<Quantiles> {
        let histogram = self.0.as_ref()?;
        Some(Quantiles {
            p50: histogram.value_at_quantile(0.5),
            p99: histogram.value_at_quantile(0.99),
            max: histogram.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_by_hand() {
        let map = ColumnMap::new(&Observed::COLUMNS.map(str::to_owned), Vec::new());
        let mut observed = Observed::new(&map);
        let u64s = |values: [Option<u64>; 4]| FieldColumn::u64s(values.into_iter());
        let batch = [
            u64s([Some(100), Some(200), Some(300), Some(400)]),
            // The last one was never sent.
            u64s([Some(110), Some(200), Some(1_000_000_300), Some(0)]),
            u64s([Some(1110), Some(700), Some(1_000_000_400), Some(0)]),
            u64s([Some(1), Some(1), Some(0), Some(0)]),
            u64s([Some(5), None, Some(7), None]),
            u64s([Some(20), Some(2_000_000), None, None]),
            u64s([Some(10), Some(10), Some(2), None]),
            u64s([Some(6), Some(6), Some(2), None]),
            FieldColumn::texts([None, None, Some("TooManyOpenFilesError"), None].into_iter()),
            FieldColumn::texts([None, None, Some("x"), None].into_iter()),
        ];
        observed.add(4, &batch);
        let fidelity = observed.fidelity();
        assert_eq!(
            (fidelity.requests, fidelity.kernel_stamped, fidelity.exhausted),
            (3, 2, 1)
        );
        assert_eq!((fidelity.messages, fidelity.bounded_messages), (22, 14));
        // The second stream was joined by a client that looked late.
        assert_eq!((fidelity.streams, fidelity.bursty_streams), (2, 1));
        let lag = fidelity.schedule_lag_ns.unwrap();
        assert_eq!((lag.p50, lag.max / 1_000_000), (10, 1000));
        assert_eq!(fidelity.latency_from_schedule_ns.unwrap().max, 1010);
        assert_eq!(fidelity.send_bracket_ns.unwrap().max, 7);
        // Two starts after the first within 1.00000019 s.
        assert!((fidelity.achieved_rate.unwrap() - 2.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_observed_is_nothing_said() {
        let observed = Observed::new(&ColumnMap::new(&[], Vec::new()));
        assert_eq!(observed.fidelity(), Fidelity::default());
    }
}
