//! A collector driven in virtual time.

use aiperf_plugin_api::{
    GpuCollector, HttpAnswer, HttpRequest, PluginError, Result,
    gpu::{Poll, Reading},
};

const NS_PER_MS: u64 = 1_000_000;

/// Polls at one time after which the collector is taken to loop.
const POLLS_AT_ONE_TIME: u32 = 1_000;

/// Polls a collector from time 0 for `duration_ms`, as the core does: a request is answered by `answer` in no time,
/// readings are kept with their time, and only a wait lets time pass. Returns time in ms and readings.
///
/// ```
/// use aiperf_sdk::{prelude::*, testing};
///
/// /// Nothing to read, each 100 ms.
/// #[derive(Default)]
/// struct Idle {
///     told: bool,
/// }
/// impl GpuCollector for Idle {
///     fn poll(&mut self, _now_ns: u64, _: Option<HttpAnswer>) -> Result<Poll> {
///         self.told = !self.told;
///         Ok(if self.told { Poll::Readings(Vec::new()) } else { Poll::Wait(100) })
///     }
/// }
/// let readings = testing::readings(&mut Idle::default(), 250, |_| unreachable!("it asks nothing"))?;
/// let times: Vec<u64> = readings.iter().map(|(ms, _)| *ms).collect();
/// assert_eq!(times, [0, 100, 200]);
/// # Ok::<(), PluginError>(())
/// ```
///
/// # Errors
/// Those of the collector, and one that never waits.
pub fn readings(
    collector: &mut dyn GpuCollector,
    duration_ms: u64,
    mut answer: impl FnMut(&HttpRequest) -> HttpAnswer,
) -> Result<Vec<(u64, Vec<Reading>)>> {
    let (mut now_ms, mut polls, mut scrape, mut all) = (0, 0, None, Vec::new());
    while now_ms <= duration_ms {
        match collector.poll(now_ms * NS_PER_MS, scrape.take())? {
            Poll::Request(request) => scrape = Some(answer(&request)),
            Poll::Readings(readings) => all.push((now_ms, readings)),
            Poll::Wait(ms) => {
                now_ms += ms;
                polls = if ms == 0 { polls } else { 0 };
            }
        }
        polls += 1;
        if polls > POLLS_AT_ONE_TIME {
            return Err(PluginError::failed(format!("the collector never waits at {now_ms} ms")));
        }
    }
    Ok(all)
}
