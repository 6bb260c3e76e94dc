//! Setting a run up, and taking it down again.

use std::{sync::Arc, thread::JoinHandle};

use aiperf_config::{RunPlan, Secrets};
use aiperf_http::Clock;
use aiperf_plugin_api::fields;
use crossbeam_channel::unbounded;
use uuid::Uuid;

use super::{
    collectors::Collectors,
    files::{claim_own, write_inputs, write_marker},
    follow::Follow,
    interface::{Observer, RunOutcome, RunRequest},
};
use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, local::LocalBus},
    gpu::GpuManager,
    message::Message,
    processor::{Families, ProcessorSetup, RecordProcessor, TokenCounter, TokenPolicy},
    records_manager::{Artifacts, RecordsManager, RecordsSetup, gpu::SourceLabel},
    services::PluginRequests,
    setup::{Opener, SetupError, data, endpoint::EndpointSetup, http, load, measure, telemetry},
    timing_manager::TimingManager,
    validity::Machine,
    worker::{Worker, WorkerSetup, request::RequestTemplate},
};

/// Runs a plan to its end.
///
/// # Errors
/// When it can't be set up. What fails later is part of the outcome: what was measured until then is reported.
pub fn run(request: RunRequest, observer: &mut dyn Observer) -> Result<RunOutcome, SetupError> {
    let RunRequest {
        plan,
        host,
        urls,
        tokenizer,
        version,
        interrupts,
        calibrated,
    } = request;
    let seed = plan.seed.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().1);
    let opener = Opener {
        plan: &plan,
        host: &host,
        tokenizer: tokenizer.clone(),
        seed,
        requests: Arc::new(PluginRequests::new(&plan.endpoint, &version)),
    };

    // What needs no tokenizer comes first: it may still be loading.
    let endpoint = EndpointSetup::open(&opener)?;
    let template = RequestTemplate::new(
        &plan.endpoint,
        &urls,
        &endpoint.description,
        &version,
        endpoint.streaming,
    )?;
    let (http, http_warnings) = http::options(&plan, &urls)?;
    let mut artifacts = Artifacts::new(&plan.artifacts.dir)?;
    observer.folder_made(artifacts.folder());
    let (collectors, sources): (Vec<_>, Vec<_>) = telemetry::gpu_collectors(&opener, &version)?.into_iter().unzip();
    let families = measure::families(&opener, &endpoint)?;
    let catalogue = Arc::new(measure::catalogue(&opener, &endpoint, &families)?);
    let benchmark_id = Uuid::new_v4().simple().to_string();
    let info = measure::run_info(&opener, &endpoint, &catalogue, &version, benchmark_id);
    let exporters = measure::exporters(&opener, &info)?;
    let exported: Vec<String> = exporters
        .iter()
        .flat_map(|exporter| exporter.needs.columns.iter())
        .filter(|name| *name != crate::records_manager::exporters::ALL_METRICS)
        .cloned()
        .collect();
    let families = Arc::new(Families::new(families, &exported)?);
    let columns = measure::column_map(&families, &catalogue);
    let phases = load::phases(&opener)?;
    let labels = load::labels(&plan.phases);
    // From here on the tokenizer is needed; what is wrong with it is the user's choice, not a plugin's fault.
    tokenizer.get().map_err(SetupError::Tokenizer)?;
    let (store, notes) = data::prepare(&opener, &endpoint)?;
    let sampler = data::sampler(&opener, &store)?;
    opener.check_options()?;
    for note in endpoint.warnings.iter().chain(&http_warnings).chain(&notes) {
        observer.warn(note);
    }
    for package in host.usage() {
        for warning in &package.warnings {
            observer.warn(&format!(
                "plugin package {} {}: {warning}",
                package.package, package.version
            ));
        }
    }
    claim_own(&plan, &mut artifacts)?;
    // Only now is it certain that the run can start: files of an earlier one are not emptied for nothing.
    crate::records_manager::exporters::create_files(&exporters, &mut artifacts)?;
    write_inputs(&endpoint, &store, &plan, &mut artifacts)?;

    let bus: Arc<dyn Bus> = Arc::new(LocalBus::default());
    let (sender, inbox) = unbounded();
    bus.attach(
        ServiceId::only(ServiceKind::SystemController),
        Arc::new(move |message| sender.send(message).is_ok()),
    );
    // Returns are bounded by the credits in flight.
    let (timing_sender, timing_inbox) = unbounded();
    bus.attach(
        ServiceId::only(ServiceKind::TimingManager),
        Arc::new(move |message| timing_sender.send(message).is_ok()),
    );

    let workers = worker_count(&plan);
    let processors = plan.record_processors.unwrap_or_else(|| (workers / 4).max(1));
    let manager = RecordsManager::attach(
        RecordsSetup {
            phases: labels.clone(),
            families: families.clone(),
            catalogue,
            columns,
            exporters,
            gpu: sources.clone(),
            artifacts,
            info: info.clone(),
        },
        &*bus,
    );
    let policy = TokenPolicy {
        server: plan.endpoint.use_server_token_count,
        produces_tokens: endpoint.produces_tokens,
        tokenizes_input: endpoint.tokenizes_input,
    };
    let record_processors: Vec<RecordProcessor> = (0..processors)
        .map(|index| {
            let setup = ProcessorSetup {
                index,
                phases: labels.clone(),
                families: families.clone(),
                counter: TokenCounter::new(policy, tokenizer.clone()),
            };
            RecordProcessor::attach(setup, &*bus)
        })
        .collect();
    let roots = store.roots().clone();
    let dataset = Arc::new(store);
    let secrets = Arc::new(Secrets::of(&plan));
    let mut attached = Vec::new();
    for index in 0..workers {
        let setup = WorkerSetup {
            index,
            endpoint: Box::new(endpoint.instance(&opener)?),
            polls: endpoint.polls,
            template: template.clone(),
            dataset: dataset.clone(),
            models: plan.models.clone(),
            streaming: endpoint.streaming,
            keep_headers: families.plan().iter().any(|name| name == fields::REQUEST_HEADERS),
            secrets: secrets.clone(),
            keep_responses: families.plan().iter().any(|name| name == fields::RESPONSE_EVENTS),
            keep_trace: families.plan().iter().any(|name| name == fields::HTTP_TRACE),
            http: http.clone(),
            processors,
        };
        attached.push(Worker::attach(setup, &*bus));
    }
    let collectors: Vec<GpuManager> = collectors
        .into_iter()
        .map(|setup| GpuManager::attach(setup, &*bus))
        .collect();
    let mut threads = vec![manager.start(&bus)?];
    for processor in record_processors {
        threads.push(processor.start(&bus)?);
    }
    for worker in attached {
        threads.push(worker.start(&bus)?);
    }
    let timing = TimingManager {
        phases,
        roots,
        sampler,
        workers,
        urls: u32::try_from(urls.len()).unwrap_or(u32::MAX),
        inbox: timing_inbox,
        clock: Clock,
    };
    let names: Vec<(String, bool)> = labels.iter().map(|label| (label.name.clone(), label.warmup)).collect();
    let mut follow = Follow {
        inbox,
        interrupts,
        observer,
        names,
        timing: route(&bus, ServiceId::only(ServiceKind::TimingManager))?,
        records: route(&bus, ServiceId::only(ServiceKind::RecordsManager))?,
        collectors: Collectors::new(collector_routes(&bus, sources)?),
        interrupted: false,
        failure: None,
    };
    let mut readers = Vec::new();
    for collector in collectors {
        readers.push(collector.start(&bus)?);
    }
    follow.until_collectors_are_ready();
    // Only the phases are watched: neither waiting for collectors nor the summary is part of what was measured.
    let machine = Machine::watch()?;
    threads.push(timing.spawn(&bus)?);
    follow.until_records_are_in();
    let seen = machine.seen();
    drop(machine);
    follow.until_collectors_have_ended();
    let outcome = follow.report(&info, &host, &plan, seen, &calibrated);
    for (index, reader) in readers.into_iter().enumerate() {
        // A collector that hangs can't be stopped; the process ends without it.
        if follow.collectors.has_ended(index) {
            let _ = reader.join();
        }
    }
    shut_down(&bus, workers, processors, threads, follow.failure.is_some());
    write_marker(&plan, &outcome);
    Ok(outcome)
}

fn collector_routes(bus: &Arc<dyn Bus>, sources: Vec<SourceLabel>) -> Result<Vec<(SourceLabel, Route)>, SetupError> {
    (0..)
        .zip(sources)
        .map(|(index, label)| {
            Ok((
                label,
                route(bus, ServiceId::nth(ServiceKind::GpuTelemetryManager, index))?,
            ))
        })
        .collect()
}

fn route(bus: &Arc<dyn Bus>, id: ServiceId) -> Result<Route, SetupError> {
    Ok(bus.route(id).map_err(std::io::Error::other)?)
}

fn shut_down(bus: &Arc<dyn Bus>, workers: u32, processors: u32, threads: Vec<JoinHandle<()>>, failed: bool) {
    let all = (0..workers)
        .map(|index| ServiceId::nth(ServiceKind::Worker, index))
        .chain((0..processors).map(|index| ServiceId::nth(ServiceKind::RecordProcessor, index)))
        .chain([ServiceId::only(ServiceKind::RecordsManager)]);
    for id in all {
        if let Ok(route) = bus.route(id) {
            let _ = route.send(Message::Shutdown);
        }
    }
    for thread in threads {
        // After a failure a thread may hang in the plugin that failed; the process ends without it.
        if !failed || thread.is_finished() {
            let _ = thread.join();
        }
    }
}

/// `max(1, min(floor(0.75 · cpus) − 1, 32))`, capped to what the load can use and to what the user allows.
fn worker_count(plan: &RunPlan) -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    let formula = ((0.75 * cpus).floor() as u32).saturating_sub(1).clamp(1, 32);
    let concurrency = plan.phases.iter().filter_map(|phase| phase.concurrency).max();
    formula
        .min(plan.workers.unwrap_or(u32::MAX))
        .min(concurrency.unwrap_or(u32::MAX))
        .max(1)
}
