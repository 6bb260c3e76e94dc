//! The compute thread of a worker. Every credit that it takes gives exactly one record and then exactly one return.

use std::{
    collections::{HashSet, hash_map::Entry},
    sync::Arc,
    thread,
};

use aiperf_config::Secrets;
use aiperf_http::{Clock, Exchange, Options};
use aiperf_plugin_api::{Decoded, Endpoint, PluginError, RequestInfo, endpoint::NextStep, timing::Outcome};
use crossbeam_channel::{Receiver, Sender, unbounded};
use rustc_hash::FxHashMap;
use tokio::sync::mpsc::UnboundedSender;
use uuid::Uuid;

use super::{
    io::{self, Command},
    recent::Recent,
    record::{self, Cancellation, RequestFacts},
    request::{self, Identity, RequestTemplate},
    session::{Answer, Session},
    trace,
};
use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, Undeliverable},
    dataset::DatasetStore,
    message::{CancelReason, Credit, CreditReturn, Failure, Message, RequestRecord},
    priority::{SOON, prefer_this_thread},
    supervise,
};

/// What reaches the compute thread.
pub enum Input {
    /// A message for the worker.
    Message(Message),
    /// A request is over.
    Exchange {
        /// The key it was sent under.
        key: u64,
        /// What came of it.
        exchange: Box<Exchange>,
    },
}

/// What a worker is made of.
pub struct WorkerSetup {
    /// Its number.
    pub index: u32,
    /// The endpoint, opened.
    pub endpoint: Box<dyn Endpoint>,
    /// The endpoint may answer an exchange with another request.
    pub polls: bool,
    /// What is the same for every request.
    pub template: RequestTemplate,
    /// The conversations.
    pub dataset: Arc<DatasetStore>,
    /// Models, taken in turn.
    pub models: Vec<String>,
    /// The run asks for streaming.
    pub streaming: bool,
    /// Records keep the headers of the request.
    pub keep_headers: bool,
    /// What must not travel on, though a server may say it.
    pub secrets: Arc<Secrets>,
    /// Records keep the responses as they came.
    pub keep_responses: bool,
    /// Records keep what happened on the connection.
    pub keep_trace: bool,
    /// Options of the HTTP client.
    pub http: Options,
    /// Number of record processors.
    pub processors: u32,
}

/// A worker that can take messages; [`Worker::start`] lets it work.
pub struct Worker {
    setup: WorkerSetup,
    inbox: Receiver<Input>,
    sender: Sender<Input>,
}

impl Worker {
    /// Attaches a worker to the bus.
    pub fn attach(setup: WorkerSetup, bus: &dyn Bus) -> Self {
        // Bounded by the credits in flight, which the timing manager bounds.
        let (sender, inbox) = unbounded();
        let sink = sender.clone();
        let id = ServiceId::nth(ServiceKind::Worker, setup.index);
        bus.attach(id, Arc::new(move |message| sink.send(Input::Message(message)).is_ok()));
        Self { setup, inbox, sender }
    }

    /// Starts both threads.
    ///
    /// # Errors
    /// When a service it talks to isn't attached, or no thread can be had.
    pub fn start(self, bus: &Arc<dyn Bus>) -> std::io::Result<thread::JoinHandle<()>> {
        let route = |id| bus.route(id).map_err(std::io::Error::other);
        let timing = route(ServiceId::only(ServiceKind::TimingManager))?;
        let controller = route(ServiceId::only(ServiceKind::SystemController))?;
        let processors = (0..self.setup.processors)
            .map(|index| route(ServiceId::nth(ServiceKind::RecordProcessor, index)))
            .collect::<Result<Vec<_>, _>>()?;
        let name = format!("worker_{}", self.setup.index);
        let (commands, io_thread) = io::spawn(&format!("{name}_io"), self.setup.http.clone(), self.sender)?;
        let inbox = self.inbox;
        let mut compute = Compute {
            name: name.clone(),
            controller: controller.clone(),
            at_fault: false,
            dataset: Recent::new(self.setup.dataset.clone()),
            setup: self.setup,
            clock: Clock,
            commands,
            timing,
            processors,
            sessions: FxHashMap::default(),
            running: FxHashMap::default(),
            next_key: 0,
            next_model: 0,
            next_processor: 0,
            phase: 0,
        };
        supervise::spawn(name, controller, move || {
            // Requests pass here on their way to the socket.
            prefer_this_thread(SOON);
            let ended = compute.run(&inbox);
            drop(compute);
            let _ = io_thread.join();
            ended.map_err(|gone| (gone.to_string(), false))
        })
    }
}

/// A request in flight.
struct Running {
    facts: RequestFacts,
    exchanges: Vec<Exchange>,
    cancelled: Option<CancelReason>,
    /// What went wrong between two exchanges.
    fault: Option<PluginError>,
}

struct Compute {
    name: String,
    controller: Route,
    /// The endpoint was found broken, and the controller knows.
    at_fault: bool,
    dataset: Recent,
    setup: WorkerSetup,
    clock: Clock,
    commands: UnboundedSender<Command>,
    timing: Route,
    processors: Vec<Route>,
    sessions: FxHashMap<(u32, u64), Session>,
    running: FxHashMap<u64, Running>,
    next_key: u64,
    next_model: usize,
    next_processor: usize,
    phase: u32,
}

impl Compute {
    fn run(&mut self, inbox: &Receiver<Input>) -> Result<(), Undeliverable> {
        while let Ok(input) = inbox.recv() {
            match input {
                Input::Message(Message::Credit(credit)) => self.take(credit)?,
                Input::Message(Message::Cancel { phase, ids, reason }) => self.cancel(phase, &ids, reason),
                Input::Message(Message::Shutdown) => return Ok(()),
                Input::Message(_) => {}
                Input::Exchange { key, exchange } => {
                    if let Some(running) = self.running.get_mut(&key) {
                        // Nearly always the only one, and large.
                        running.exchanges.reserve_exact(1);
                        running.exchanges.push(*exchange);
                        self.go_on(key)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A credit: prepare its request and hand it to the I/O thread.
    fn take(&mut self, credit: Credit) -> Result<(), Undeliverable> {
        let received_ns = self.clock.now();
        if credit.phase != self.phase {
            // Conversations of an earlier phase that were not continued.
            self.phase = credit.phase;
            self.sessions.retain(|(phase, _), _| *phase == credit.phase);
        }
        let request_id = Uuid::new_v4();
        let mut facts = RequestFacts {
            request_id: request_id.as_u128(),
            worker: self.setup.index,
            conversation_id: String::new(),
            model: String::new(),
            received_ns,
            max_tokens: None,
            body: bytes::Bytes::new(),
            headers: None,
            facts: Vec::new(),
            labels: Vec::new(),
            credit,
        };
        match self.prepare(&mut facts, request_id) {
            Ok(request) => {
                self.next_key += 1;
                let key = self.next_key;
                let intended_ns = facts.credit.intended_ns;
                self.running.insert(
                    key,
                    Running {
                        facts,
                        exchanges: Vec::new(),
                        cancelled: None,
                        fault: None,
                    },
                );
                // The I/O thread ends only after this one.
                let _ = self.commands.send(Command::Send {
                    key,
                    request: Box::new(request),
                    not_before_ns: intended_ns,
                });
                Ok(())
            }
            Err(error) => {
                self.judge(&error)?;
                let anchor = self.clock.anchor();
                let record = record::unsent(facts, self.clock.now(), anchor.wall(self.clock.now()), &error);
                self.finish(record, Answer::default())
            }
        }
    }

    fn prepare(&mut self, facts: &mut RequestFacts, request_id: Uuid) -> Result<aiperf_http::Request, PluginError> {
        let credit = &facts.credit;
        let key = (credit.phase, credit.session);
        let session = match self.sessions.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Session::new(self.dataset.conversation(credit.conversation)?)),
        };
        facts.conversation_id.clone_from(&session.conversation.id);
        facts.labels.clone_from(&session.conversation.labels);
        let mut turns = session.turns_for(credit.turn);
        let Some(turn) = turns.last_mut() else {
            return Err(PluginError::failed(format!(
                "the conversation has no turn {}",
                credit.turn
            )));
        };
        if credit.max_tokens.is_some() {
            turn.max_tokens = credit.max_tokens;
        }
        facts.max_tokens = turn.max_tokens;
        facts.facts.clone_from(&turn.facts);
        let model = turn.model.clone().unwrap_or_else(|| {
            let model = self.setup.models[self.next_model % self.setup.models.len()].clone();
            self.next_model = self.next_model.wrapping_add(1);
            model
        });
        facts.model.clone_from(&model);
        let extra_headers = turn.extra_headers.clone();
        let correlation = Uuid::from_u128(credit.correlation_id);
        let prepared = self.setup.endpoint.prepare(RequestInfo {
            model,
            streaming: self.setup.streaming,
            turns,
            system_message: session.conversation.system_message.clone(),
            user_context: session.conversation.user_context.clone(),
            carry: session.carry.clone(),
            request_id: request::text(request_id),
            correlation_id: request::text(correlation),
        })?;
        let identity = Identity {
            request: request_id,
            correlation,
        };
        let mut request = self
            .setup
            .template
            .request(credit.url, prepared, &extra_headers, identity)?;
        request.trace_chunks = self.setup.keep_trace;
        facts.body = request.body.clone();
        facts.headers = self.setup.keep_headers.then(|| record::headers(&request.headers));
        Ok(request)
    }

    /// A broken endpoint ends the run; one that refuses a request does not. What is in flight still becomes records.
    fn judge(&mut self, error: &PluginError) -> Result<(), Undeliverable> {
        if !error.is_fault() || self.at_fault {
            return Ok(());
        }
        self.at_fault = true;
        self.controller
            .send(Message::Failed(Failure::of_plugin(&*self.name, error)))
    }

    fn cancel(&mut self, phase: u32, ids: &[u64], reason: CancelReason) {
        let ids: HashSet<u64> = ids.iter().copied().collect();
        for (&key, running) in &mut self.running {
            let credit = &running.facts.credit;
            if credit.phase == phase && ids.contains(&credit.id) {
                running.cancelled = Some(reason);
                let _ = self.commands.send(Command::Cancel { key });
            }
        }
    }

    /// An exchange is over: ask for the next step, or make the record.
    fn go_on(&mut self, key: u64) -> Result<(), Undeliverable> {
        let Some(mut running) = self.running.remove(&key) else {
            return Ok(());
        };
        let usable = running.exchanges.last().is_some_and(Exchange::is_success);
        let mut cut_short = false;
        if self.setup.polls && usable {
            match self.next_command(key, &running) {
                // A cancellation that came between two exchanges: what is there so far is not the whole answer.
                Ok(Some(_)) if running.cancelled.is_some() => cut_short = true,
                Ok(Some(command)) => {
                    self.running.insert(key, running);
                    let _ = self.commands.send(command);
                    return Ok(());
                }
                Ok(None) => {}
                Err(error) => running.fault = Some(error),
            }
        }
        let mut decoded = self.decode(&running);
        let mut answer = Answer::default();
        match &mut decoded {
            Some(Ok(decoded)) if !running.facts.credit.is_last_turn() => answer = Answer::take(decoded),
            Some(Err(error)) => self.judge(error)?,
            _ => {}
        }
        let responses = self.setup.keep_responses.then(|| record::responses(&running.exchanges));
        let cancelled = Cancellation {
            asked: running.cancelled,
            cut_short,
        };
        let wall = |mono| self.clock.wall(mono);
        let mut record = record::finished(running.facts, &running.exchanges, decoded, cancelled, wall);
        record.responses = responses;
        record.trace = self
            .setup
            .keep_trace
            .then(|| trace::text(&record, &running.exchanges))
            .flatten();
        self.finish(record, answer)
    }

    /// What the endpoint wants next; `None` when the request is complete.
    fn next_command(&self, key: u64, running: &Running) -> Result<Option<Command>, PluginError> {
        let mut ends = vec![[0]; running.exchanges.len()];
        let views: Vec<_> = running
            .exchanges
            .iter()
            .zip(&mut ends)
            .map(|(exchange, end)| record::view(exchange, end))
            .collect();
        Ok(match self.setup.endpoint.next(&views)? {
            NextStep::Done => None,
            NextStep::Request {
                request: prepared,
                after_ms,
            } => {
                let identity = Identity {
                    request: Uuid::from_u128(running.facts.request_id),
                    correlation: Uuid::from_u128(running.facts.credit.correlation_id),
                };
                let mut request = self
                    .setup
                    .template
                    .request(running.facts.credit.url, prepared, &[], identity)?;
                request.trace_chunks = self.setup.keep_trace;
                Some(Command::Send {
                    key,
                    request: Box::new(request),
                    not_before_ns: self.clock.now().saturating_add(after_ms.saturating_mul(1_000_000)),
                })
            }
        })
    }

    /// Reads what came, also of a request that failed on the way: what had arrived is kept.
    fn decode(&self, running: &Running) -> Option<Result<Decoded, PluginError>> {
        if let Some(fault) = &running.fault {
            return Some(Err(fault.clone()));
        }
        let last = running.exchanges.last()?;
        if !last.status.is_some_and(|status| (200..300).contains(&status)) {
            return None;
        }
        let mut ends = vec![[0]; running.exchanges.len()];
        let views: Vec<_> = running
            .exchanges
            .iter()
            .zip(&mut ends)
            .map(|(exchange, end)| record::view(exchange, end))
            .collect();
        Some(self.setup.endpoint.decode(&views))
    }

    /// Sends the record, then returns the credit.
    fn finish(&mut self, mut record: RequestRecord, answer: Answer) -> Result<(), Undeliverable> {
        if let Some(error) = &mut record.error {
            error.message = self.setup.secrets.blot(std::mem::take(&mut error.message));
            error.kind = self.setup.secrets.blot(std::mem::take(&mut error.kind));
        }
        record.responses = record.responses.map(|responses| self.setup.secrets.blot(responses));
        let credit = &record.credit;
        let key = (credit.phase, credit.session);
        let outcome = match (&record.cancelled, &record.error) {
            (Some(_), _) => Outcome::Cancelled,
            (None, Some(_)) => Outcome::Failed,
            (None, None) => Outcome::Completed,
        };
        if credit.is_last_turn() || outcome == Outcome::Cancelled {
            self.sessions.remove(&key);
        } else if outcome == Outcome::Completed
            && let Some(session) = self.sessions.get_mut(&key)
        {
            session.answered(credit.turn, answer);
        }
        let since_start = |at: Option<&u64>| at.map(|at| at.saturating_sub(record.start_ns));
        let completed = outcome == Outcome::Completed;
        let returned = CreditReturn {
            id: credit.id,
            phase: credit.phase,
            worker: self.setup.index,
            outcome,
            cancelled: record.cancelled.map(|(reason, _)| reason),
            latency_ns: since_start(record.content_ns.last()).filter(|_| completed),
            ttft_ns: since_start(record.content_ns.first()).filter(|_| completed),
            tokens: record.usage.and_then(|usage| usage.completion),
        };
        let processor = self.next_processor % self.processors.len().max(1);
        self.next_processor = self.next_processor.wrapping_add(1);
        self.processors[processor].send(Message::Record(Box::new(record)))?;
        self.timing.send(Message::Returned(returned))
    }
}
