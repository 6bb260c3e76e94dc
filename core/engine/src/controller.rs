//! The system controller: sets a run up, follows it, ends it, and says how it went.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use aiperf_config::{RunPlan, Secrets, UrlSpec};
use aiperf_host::PluginHost;
use aiperf_http::{Clock, Options};
use aiperf_plugin_api::{
    Endpoint, fields,
    report::{ErrorGroup, PackageUse, PhaseReport, Report, RunInfo},
};
use crossbeam_channel::{Receiver, never, select, unbounded};
use uuid::Uuid;

use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, local::LocalBus},
    dataset::DatasetStore,
    message::{CancelReason, ExportDone, Failure, Message, PhasesReport, Progress},
    processor::{Families, ProcessorSetup, RecordProcessor, TokenCounter, TokenPolicy},
    records_manager::{ArtifactError, Artifacts, RecordsManager, RecordsSetup},
    services::SharedTokenizer,
    setup::{Opener, SetupError, data, endpoint::EndpointSetup, load, measure},
    timing_manager::TimingManager,
    worker::{Worker, WorkerSetup, request::RequestTemplate},
};

/// After a service has failed, the others get so long to bring their records home.
const ABORT_PATIENCE: Duration = Duration::from_secs(5);
/// Summaries and exports may take long; a service that says nothing for this long is lost.
const REPORT_PATIENCE: Duration = Duration::from_secs(300);

/// Everything that a run needs from outside.
pub struct RunRequest {
    /// What to do.
    pub plan: RunPlan,
    /// Plugins.
    pub host: Arc<PluginHost>,
    /// Base URLs: the plan's, with the mock server's address in place of `mock:`.
    pub urls: Vec<UrlSpec>,
    /// The tokenizer, perhaps still loading.
    pub tokenizer: Arc<SharedTokenizer>,
    /// Version of this tool.
    pub version: String,
    /// Each message is a request to stop.
    pub interrupts: Receiver<()>,
}

/// Sees a run happen.
pub trait Observer {
    /// A phase goes on: its name and whether it is a warmup.
    fn progress(&mut self, phase: &str, warmup: bool, progress: &Progress) {
        let _ = (phase, warmup, progress);
    }
    /// Something the user should know now.
    fn warn(&mut self, message: &str) {
        let _ = message;
    }
    /// The first interrupt has been taken in.
    fn interrupted(&mut self) {}
    /// The artifact folder exists now.
    fn folder_made(&mut self, folder: &Path) {
        let _ = folder;
    }
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// Texts for the console, in order.
    pub console: Vec<String>,
    /// The artifact folder.
    pub folder: PathBuf,
    /// Artifacts, relative to it.
    pub files: Vec<String>,
    /// Valid records of profiling phases.
    pub valid: u64,
    /// `benchmark_duration` of the profiling phases together, in ns.
    pub duration_ns: Option<u64>,
    /// Errors of the profiling phases, the most frequent first.
    pub errors: Vec<ErrorGroup>,
    /// The user cut it short.
    pub interrupted: bool,
    /// Why the run is not whole, if a service failed; `true` if a plugin is at fault.
    pub failure: Option<(String, bool)>,
}

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
    } = request;
    let seed = plan.seed.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().1);
    let opener = Opener {
        plan: &plan,
        host: &host,
        tokenizer: tokenizer.clone(),
        seed,
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
    let mut artifacts = Artifacts::new(&plan.artifacts.dir)?;
    observer.folder_made(artifacts.folder());
    let (families, tags) = measure::families(&opener, &endpoint)?;
    let catalogue = Arc::new(measure::catalogue(&opener, &endpoint, &families, &tags)?);
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
    for note in endpoint.warnings.iter().chain(&notes) {
        observer.warn(note);
    }
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
            http: Options::default(),
            processors,
        };
        attached.push(Worker::attach(setup, &*bus));
    }
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
    threads.push(timing.spawn(&bus)?);

    let names: Vec<(String, bool)> = labels.iter().map(|label| (label.name.clone(), label.warmup)).collect();
    let mut follow = Follow {
        inbox,
        interrupts,
        observer,
        names,
        timing: route(&bus, ServiceId::only(ServiceKind::TimingManager))?,
        records: route(&bus, ServiceId::only(ServiceKind::RecordsManager))?,
        interrupted: false,
        failure: None,
    };
    follow.until_records_are_in();
    let outcome = follow.report(&info, &host, &plan);
    shut_down(&bus, workers, processors, threads, follow.failure.is_some());
    write_marker(&plan, &outcome);
    Ok(outcome)
}

fn route(bus: &Arc<dyn Bus>, id: ServiceId) -> Result<Route, SetupError> {
    Ok(bus.route(id).map_err(std::io::Error::other)?)
}

/// Follows a run through the controller's inbox.
struct Follow<'a> {
    inbox: Receiver<Message>,
    interrupts: Receiver<()>,
    observer: &'a mut dyn Observer,
    names: Vec<(String, bool)>,
    timing: Route,
    records: Route,
    interrupted: bool,
    failure: Option<Failure>,
}

impl Follow<'_> {
    /// Until every record is with the records manager, or a failure has made that hopeless.
    fn until_records_are_in(&mut self) {
        let mut give_up: Option<Instant> = None;
        loop {
            let timeout = give_up.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            select! {
                recv(self.inbox) -> message => match message {
                    Ok(Message::RecordsComplete) | Err(_) => return,
                    Ok(Message::Progress(progress)) => {
                        if let Some((name, warmup)) = self.names.get(progress.phase as usize) {
                            self.observer.progress(name, *warmup, &progress);
                        }
                    }
                    Ok(Message::Failed(failure)) => {
                        self.fail(failure);
                        give_up = give_up.or_else(|| Some(Instant::now() + ABORT_PATIENCE));
                    }
                    Ok(_) => {}
                },
                recv(self.interrupts) -> signal => {
                    if signal.is_err() {
                        self.interrupts = never();
                    } else if !self.interrupted {
                        self.interrupted = true;
                        self.observer.interrupted();
                        // A timing manager that has gone has nothing to stop.
                        let _ = self.timing.send(Message::Interrupt(CancelReason::Interrupt));
                    }
                },
                default(timeout) => if give_up.is_some() { return },
            }
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.observer.warn(&format!(
            "{}: {}; the run is given up",
            failure.service, failure.message
        ));
        let _ = self.timing.send(Message::Interrupt(CancelReason::Abort));
        self.failure.get_or_insert(failure);
    }

    /// Has the phases summarised and the report exported.
    fn report(&mut self, info: &RunInfo, host: &PluginHost, plan: &RunPlan) -> RunOutcome {
        let mut outcome = RunOutcome {
            console: Vec::new(),
            folder: plan.artifacts.dir.clone(),
            files: Vec::new(),
            valid: 0,
            duration_ns: None,
            errors: Vec::new(),
            interrupted: self.interrupted,
            failure: None,
        };
        if let Some(phases) = self.ask_phases() {
            outcome.valid = phases.valid;
            outcome.duration_ns = benchmark_duration(&phases.phases);
            outcome.errors = errors(&phases.phases);
            if let Some(done) = self.ask_export(info, host, phases) {
                for skipped in &done.skipped {
                    self.observer.warn(skipped);
                }
                outcome.console = done.console;
                outcome.files = done.files;
            }
        }
        outcome.failure = self
            .failure
            .as_ref()
            .map(|failure| (failure.message.clone(), failure.plugin));
        outcome
    }

    fn ask_phases(&mut self) -> Option<PhasesReport> {
        self.records.send(Message::Summarise).ok()?;
        self.wait_for(|message| match message {
            Message::Phases(phases) => Some(*phases),
            _ => None,
        })
    }

    fn ask_export(&mut self, info: &RunInfo, host: &PluginHost, phases: PhasesReport) -> Option<ExportDone> {
        let complete = !self.interrupted && self.failure.is_none();
        let report = Report {
            info: info.clone(),
            phases: phases.phases,
            was_cancelled: self.interrupted,
            is_complete: complete,
            incomplete_reason: match &self.failure {
                Some(failure) => Some(format!("{}: {}", failure.service, failure.message)),
                None if self.interrupted => Some("interrupted by the user".into()),
                None => None,
            },
            packages: packages(host),
            warnings: phases.warnings,
            sections: serde_json::Map::new(),
        };
        self.records.send(Message::Export(Box::new(report))).ok()?;
        self.wait_for(|message| match message {
            Message::Exported(done) => Some(*done),
            _ => None,
        })
    }

    fn wait_for<T>(&mut self, pick: impl Fn(Message) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + REPORT_PATIENCE;
        loop {
            let message = self.inbox.recv_deadline(deadline).ok()?;
            if let Message::Failed(failure) = message {
                self.observer.warn(&format!("{}: {}", failure.service, failure.message));
                self.failure.get_or_insert(failure);
            } else if let Some(found) = pick(message) {
                return Some(found);
            }
        }
    }
}

fn profiling(phases: &[PhaseReport]) -> impl Iterator<Item = &PhaseReport> {
    phases.iter().filter(|phase| phase.profiling_index.is_some())
}

/// The sum over the profiling phases that have one.
fn benchmark_duration(phases: &[PhaseReport]) -> Option<u64> {
    profiling(phases)
        .flat_map(|phase| &phase.metrics)
        .filter(|metric| metric.spec.tag == "benchmark_duration")
        .filter_map(|metric| metric.stats.avg)
        .reduce(|sum, duration| sum + duration)
        .map(|sum| sum as u64)
}

fn errors(phases: &[PhaseReport]) -> Vec<ErrorGroup> {
    let mut errors: Vec<ErrorGroup> = profiling(phases)
        .flat_map(|phase| phase.errors.iter().cloned())
        .collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

fn packages(host: &PluginHost) -> Vec<PackageUse> {
    host.usage()
        .into_iter()
        .map(|used| PackageUse {
            name: used.package,
            version: used.version,
            form: used.form.to_owned(),
            sha256: used.sha256,
            calls: used.entries.iter().map(|entry| entry.calls).sum(),
            time_ns: used.entries.iter().map(|entry| entry.total_ns).sum(),
            skipped: used.entries.iter().map(|entry| entry.errors).sum(),
            shadowed: used
                .entries
                .iter()
                .flat_map(|entry| entry.shadowed.iter().cloned())
                .collect(),
            entries: used
                .entries
                .iter()
                .map(|entry| format!("{}/{}", entry.role, entry.name))
                .collect(),
        })
        .collect()
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

/// `inputs.json`: the body of each turn alone.
fn write_inputs(
    endpoint: &EndpointSetup,
    store: &DatasetStore,
    plan: &RunPlan,
    artifacts: &mut Artifacts,
) -> Result<(), SetupError> {
    let model = plan.models.first().map_or("", String::as_str);
    let path = plan.artifacts.inputs_json();
    let io = |source| ArtifactError::Io {
        path: path.clone(),
        source,
    };
    artifacts.create("inputs.json")?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).map_err(io)?);
    file.write_all(b"{\n  \"data\": [").map_err(io)?;
    for index in 0..store.len() {
        let conversation = store.conversation(index)?;
        let requests = endpoint.handle.preview(&conversation, model, endpoint.streaming)?;
        let separator = if index == 0 { "" } else { "," };
        let id = serde_json::Value::from(conversation.id);
        write!(
            file,
            "{separator}\n    {{\n      \"session_id\": {id},\n      \"payloads\": ["
        )
        .map_err(io)?;
        for (position, request) in requests.iter().enumerate() {
            let separator = if position == 0 { "" } else { "," };
            // Bodies that aren't JSON (multipart) have no place here.
            let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or(serde_json::Value::Null);
            let text = serde_json::to_string_pretty(&body)
                .unwrap_or_default()
                .replace('\n', "\n        ");
            write!(file, "{separator}\n        {text}").map_err(io)?;
        }
        file.write_all(b"\n      ]\n    }").map_err(io)?;
    }
    file.write_all(b"\n  ]\n}").map_err(io)?;
    file.flush().map_err(io)?;
    Ok(())
}

/// `.aiperf_results_ready.json`, written last.
fn write_marker(plan: &RunPlan, outcome: &RunOutcome) {
    let marker = serde_json::json!({
        "ready": true,
        "was_cancelled": outcome.interrupted,
        "partial": outcome.failure.is_some(),
    });
    let path = plan.artifacts.ready_marker();
    let temporary = path.with_extension("json.partial");
    let written = std::fs::write(&temporary, marker.to_string()).and_then(|()| std::fs::rename(&temporary, &path));
    if let Err(error) = written {
        tracing::warn!("{}: {error}", path.display());
    }
}
