//! GPU collectors as the controller sees them: which are ready, which have ended, and why.

use aiperf_plugin_api::report::gpu::GpuSection;

use crate::{
    bus::Route,
    message::{GpuEnd, Message},
    records_manager::gpu::SourceLabel,
};

/// A collector.
struct Collector {
    label: SourceLabel,
    route: Route,
    ready: bool,
    end: Option<GpuEnd>,
}

/// The collectors of a run.
#[derive(Default)]
pub(super) struct Collectors {
    collectors: Vec<Collector>,
    closed: bool,
}

impl Collectors {
    pub(super) fn new(collectors: impl IntoIterator<Item = (SourceLabel, Route)>) -> Self {
        let collector = |(label, route)| Collector {
            label,
            route,
            ready: false,
            end: None,
        };
        Self {
            collectors: collectors.into_iter().map(collector).collect(),
            closed: false,
        }
    }

    pub(super) fn ready(&mut self, index: u32) {
        if let Some(collector) = self.collectors.get_mut(index as usize) {
            collector.ready = true;
        }
    }

    /// Takes in the end of a collector; a warning if it failed.
    pub(super) fn ended(&mut self, end: GpuEnd) -> Option<String> {
        let collector = self.collectors.get_mut(end.index as usize)?;
        let warning = end
            .error
            .as_ref()
            .map(|error| format!("{}: {error}; it is switched off for this run", named(&collector.label)));
        collector.end = Some(end);
        warning
    }

    /// Those that have neither read nor ended.
    pub(super) fn not_ready(&self) -> Vec<String> {
        let waiting = self.collectors.iter().filter(|one| !one.ready && one.end.is_none());
        waiting.map(|one| named(&one.label)).collect()
    }

    /// All have ended.
    pub(super) fn all_ended(&self) -> bool {
        self.collectors.iter().all(|one| one.end.is_some())
    }

    /// The collector has ended, and so will its thread.
    pub(super) fn has_ended(&self, index: usize) -> bool {
        self.collectors.get(index).is_some_and(|one| one.end.is_some())
    }

    /// Tells all to read once more and end. The first call counts.
    pub(super) fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for collector in &self.collectors {
            // One that has gone has said why.
            let _ = collector.route.send(Message::CloseGpu);
        }
    }

    /// Completes the report's section with what only the controller knows, and says what the user should know.
    pub(super) fn complete(&self, section: &mut GpuSection) -> Vec<String> {
        let mut warnings = Vec::new();
        for (collector, source) in self.collectors.iter().zip(&mut section.sources) {
            let name = named(&collector.label);
            match &collector.end {
                None => {
                    let problem = "it did not come to an end with the run; its last readings may be missing";
                    warnings.push(format!("{name}: {problem}"));
                    source.error = Some(problem.to_owned());
                }
                Some(end) => {
                    if let Some(error) = &end.error {
                        warnings.push(format!(
                            "{name}: {error}; it was switched off after {} readings",
                            source.polls
                        ));
                        source.error = Some(error.clone());
                    } else if end.unasked {
                        warnings.push(format!("{name}: it was given a source and never asked it"));
                    } else if source.polls == 0 {
                        warnings.push(format!("{name}: it read nothing"));
                    }
                }
            }
        }
        warnings
    }
}

fn named(label: &SourceLabel) -> String {
    format!("GPU telemetry of {} ({})", label.collector, label.source)
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use aiperf_plugin_api::report::gpu::GpuSource;

    use super::*;
    use crate::bus::{ServiceId, ServiceKind};

    fn end(index: u32, error: Option<&str>, unasked: bool) -> GpuEnd {
        GpuEnd {
            index,
            error: error.map(str::to_owned),
            unasked,
        }
    }

    #[test]
    fn what_became_of_collectors_is_told() {
        let closed = Arc::new(AtomicU32::new(0));
        let names = ["good", "failed", "unasked", "silent", "stuck"];
        let mut collectors = Collectors::new((0..).zip(names).map(|(index, name)| {
            let closed = closed.clone();
            let id = ServiceId::nth(ServiceKind::GpuTelemetryManager, index);
            let route = Route::new(
                id,
                Arc::new(move |message| {
                    closed.fetch_add(u32::from(message == Message::CloseGpu), Ordering::Relaxed);
                    true
                }),
            );
            let label = SourceLabel {
                source: "s".into(),
                collector: name.into(),
            };
            (label, route)
        }));
        collectors.ready(0);
        collectors.ready(9);
        let warning = collectors.ended(end(1, Some("no driver"), false)).unwrap();
        assert_eq!(
            warning,
            "GPU telemetry of failed (s): no driver; it is switched off for this run"
        );
        assert_eq!(collectors.not_ready().len(), 3);
        collectors.close();
        collectors.close();
        assert_eq!(closed.load(Ordering::Relaxed), 5);
        for done in [end(0, None, false), end(2, None, true), end(3, None, false)] {
            assert_eq!(collectors.ended(done), None);
        }
        assert!(!collectors.all_ended() && collectors.has_ended(0) && !collectors.has_ended(4));

        let source = |(polls, name): (u64, &str)| GpuSource {
            source: "s".into(),
            collector: name.into(),
            polls: if name == "silent" { 0 } else { polls + 1 },
            error: None,
        };
        let mut section = GpuSection {
            sources: (0..).zip(names).map(source).collect(),
            phases: Vec::new(),
        };
        let warnings = collectors.complete(&mut section);
        let parts = [
            "failed (s): no driver; it was switched off after 2",
            "never asked",
            "read nothing",
            "come to an end",
        ];
        assert_eq!(warnings.len(), parts.len(), "{warnings:?}");
        for (warning, part) in warnings.iter().zip(parts) {
            assert!(warning.contains(part), "{part}: {warning}");
        }
        let errors: Vec<bool> = section.sources.iter().map(|source| source.error.is_some()).collect();
        assert_eq!(errors, [false, true, false, false, true]);
    }
}
