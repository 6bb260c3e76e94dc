//! Answers every call with the least that the contract allows: what is left of a call's time is the crossing.

use aiperf_sdk::prelude::*;

/// Every trait of the contract, doing nothing.
#[derive(Debug)]
pub struct Idle;

impl Endpoint for Idle {
    fn describe(&self) -> Result<EndpointDescription> {
        Ok(EndpointDescription {
            path: String::new(),
            streaming_path: None,
            auth: AuthKind::None,
            auth_header: String::new(),
        })
    }
    fn prepare(&self, _: RequestInfo) -> Result<HttpRequest> {
        Ok(HttpRequest {
            method: String::new(),
            path: None,
            headers: Vec::new(),
            body: Vec::new(),
            parts: Vec::new(),
        })
    }
    /// One empty chunk for each event.
    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut decoded = Decoded::default();
        let events: usize = exchanges.iter().map(|exchange| exchange.ends.len()).sum();
        decoded.chunks.events = (0..events as u32).collect();
        decoded.chunks.kinds = vec![ChunkKind::Text.code(); events];
        decoded.chunks.ends = vec![0; events];
        Ok(decoded)
    }
}

impl Dataset for Idle {
    fn probe(&self, _: &Sample) -> Result<Probe> {
        Ok(Probe {
            accepts: false,
            reason: String::new(),
        })
    }
    fn open(&mut self, _: Box<dyn Source>) -> Result<DatasetInfo> {
        Ok(DatasetInfo {
            conversations: None,
            context: aiperf_sdk::ContextMode::DeltasWithoutResponses,
            trace: false,
            notes: Vec::new(),
        })
    }
    fn next(&mut self, _: u32) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }
    fn order(&self, _: u32, _: u32) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }
}

impl Timing for Idle {
    fn start(&mut self, _: &TimingPlan) -> Result<()> {
        Ok(())
    }
    fn step(&mut self, _: u64, _: &[Event]) -> Result<Step> {
        Ok(Step::default())
    }
    fn intervals(&mut self, _: f64, _: u32) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }
    fn value_at(&self, progress: f64) -> Result<f64> {
        Ok(progress)
    }
}

impl Metric for Idle {
    fn describe(&self) -> Result<MetricFamily> {
        Ok(MetricFamily {
            needs: Vec::new(),
            derive_needs: Vec::new(),
            metrics: vec![MetricSpec::new("idle", "Idle", "count", MetricKind::Record)],
        })
    }
    fn record(&self, _: &Batch<'_>) -> Result<Vec<Column>> {
        Ok(Vec::new())
    }
    fn derive(&self, _: &Window) -> Result<Vec<Option<f64>>> {
        Ok(Vec::new())
    }
}

impl Exporter for Idle {
    fn begin(&mut self, _: &str) -> Result<ExporterNeeds> {
        Ok(ExporterNeeds::default())
    }
    fn write(&mut self, _: &Batch<'_>) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }
    fn write_table(&mut self, _: &str, _: &Batch<'_>) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }
    fn finish(&mut self, _: &str) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }
}

impl GpuCollector for Idle {
    fn poll(&mut self, _: u64, _: Option<HttpAnswer>) -> Result<Poll> {
        Ok(Poll::Wait(1))
    }
}
