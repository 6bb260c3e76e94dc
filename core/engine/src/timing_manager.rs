//! The timing manager: one thread with a precise clock that runs the phases. It joins the pure state machine of a phase
//! with the timing plugin, the clock, the router and the bus.

use std::{cell::RefCell, sync::Arc, thread, time::Duration};

use aiperf_http::Clock;
use aiperf_plugin_api::{
    PluginError, Timing,
    timing::{DatasetColumns, TimingPlan},
};
use crossbeam_channel::{Receiver, RecvTimeoutError};

use crate::{
    bus::{Bus, Route, ServiceId, ServiceKind, Undeliverable},
    message::{CancelReason, Failure, Message, PhaseComplete, Progress},
    phase::{PhaseSetup, PhaseState, RootTurns, StopConditions, TimingFault},
    priority::{PROMPT, prefer_this_thread},
    router::Router,
    sampler::Sampler,
    supervise,
};

/// Name of the service.
const SERVICE: &str = "timing_manager";
/// The way from here to the socket is two threads long, and each may have to be woken, which takes up to half a millisecond
/// where an idle processor sleeps: credits set out so much earlier, and the I/O thread holds each request until it is due.
const LEAD: Duration = Duration::from_millis(2);
/// Progress is told so often.
const PROGRESS_NS: u64 = 250_000_000;

/// A phase to run.
pub struct PhaseJob {
    /// Name.
    pub name: String,
    /// Name of the timing entry.
    pub mode: String,
    /// The entry as messages name it.
    pub plugin: String,
    /// It is a warmup.
    pub warmup: bool,
    /// The timing mode, opened.
    pub timing: Box<dyn Timing>,
    /// Requests per second.
    pub rate: Option<f64>,
    /// Limit on concurrent conversations.
    pub concurrency: Option<u32>,
    /// When to stop.
    pub stop: StopConditions,
    /// See [`PhaseSetup::grace_ns`].
    pub grace_ns: Option<u64>,
}

impl PhaseJob {
    /// What the timing mode asked for and can't have.
    fn blame(&self, fault: &TimingFault) -> PluginError {
        PluginError::breach(format!("{}: step: phase `{}`: {fault}", self.plugin, self.name))
    }
}

/// The timing manager's parts.
pub struct TimingManager {
    /// The phases, in order.
    pub phases: Vec<PhaseJob>,
    /// The dataset's roots.
    pub roots: RootTurns,
    /// Order of the roots.
    pub sampler: Sampler,
    /// Number of workers.
    pub workers: u32,
    /// Number of base URLs.
    pub urls: u32,
    /// What is said to this service.
    pub inbox: Receiver<Message>,
    /// Clock.
    pub clock: Clock,
}

impl TimingManager {
    /// Starts the thread. It ends when all phases have, or after a failure, which it reports.
    ///
    /// # Errors
    /// When a service it talks to isn't attached, or no thread can be had.
    pub fn spawn(self, bus: &Arc<dyn Bus>) -> std::io::Result<thread::JoinHandle<()>> {
        let route = |id| bus.route(id).map_err(std::io::Error::other);
        let routes = Routes {
            workers: (0..self.workers)
                .map(|index| route(ServiceId::nth(ServiceKind::Worker, index)))
                .collect::<Result<_, _>>()?,
            records: route(ServiceId::only(ServiceKind::RecordsManager))?,
            controller: route(ServiceId::only(ServiceKind::SystemController))?,
        };
        let controller = routes.controller.clone();
        supervise::spawn(SERVICE.into(), controller, move || {
            self.run(&routes).map_err(|gone| (gone.to_string(), false))
        })
    }

    fn run(mut self, routes: &Routes) -> Result<(), Undeliverable> {
        self.clock.sharpen_timers_of_this_thread();
        prefer_this_thread(PROMPT);
        let mut router = Router::new(routes.workers.len());
        let mut interrupted = None;
        let mut left = Left::default();
        for (index, job) in std::mem::take(&mut self.phases).into_iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let went_well = self.run_phase(index, job, routes, &mut router, &mut interrupted, &mut left)?;
            router.end_phase(index);
            if !went_well {
                break;
            }
        }
        Ok(())
    }

    /// Runs a phase to its end. `false`: its timing mode failed. The controller then knows, what was in flight has been
    /// cancelled, and the phase is complete as far as it went.
    fn run_phase(
        &mut self,
        index: u32,
        mut job: PhaseJob,
        routes: &Routes,
        router: &mut Router,
        interrupted: &mut Option<CancelReason>,
        left: &mut Left,
    ) -> Result<bool, Undeliverable> {
        let clock = self.clock;
        let anchor = self.clock.anchor();
        let start_ns = self.clock.now();
        let setup = PhaseSetup {
            index,
            start_ns,
            concurrency: job.concurrency,
            stop: job.stop,
            grace_ns: job.grace_ns,
            urls: self.urls,
            lead_ns: LEAD.as_nanos() as u64,
        };
        let started = job.timing.start(&self.timing_plan(&job, start_ns, left.of(&job.mode)));
        let mut fault = started.err();
        let sampler = &mut self.sampler;
        let (inbox, roots) = (&self.inbox, &self.roots);
        let sampler_fault = RefCell::new(None);
        let next_root = || {
            sampler.next_root().unwrap_or_else(|error| {
                *sampler_fault.borrow_mut() = Some(error);
                u32::MAX
            })
        };
        let mut phase = PhaseState::new(setup, roots.clone(), next_root);
        let (mut credits, mut waiting, mut next_progress) = (Vec::new(), None, start_ns);
        let mut given_up = false;
        loop {
            // What has arrived is taken in first, whatever else there is to do: a mode that always wants to be woken must
            // not keep returns waiting.
            while let Some(message) = waiting.take().or_else(|| inbox.try_recv().ok()) {
                match message {
                    Message::Returned(returned) => {
                        router.returned(returned.worker as usize);
                        if returned.phase == index {
                            phase.on_return(&returned, clock.now());
                        }
                    }
                    Message::Interrupt(reason) => *interrupted = Some(reason),
                    _ => {}
                }
            }
            let now = clock.now();
            let reason = fault.as_ref().map(|_| CancelReason::Abort).or(*interrupted);
            if let Some(reason) = reason
                && !given_up
            {
                if let Some(error) = &fault {
                    routes
                        .controller
                        .send(Message::Failed(Failure::of_plugin(SERVICE, error)))?;
                }
                // Also when all has been sent: what is in flight is not waited for.
                given_up = true;
                phase.close();
                cancel(routes, index, phase.in_flight(), reason)?;
            }
            let fired = phase.fire(now, &mut credits);
            for credit in credits.drain(..) {
                let worker = router.choose(&credit);
                routes.workers[worker].send(Message::Credit(credit))?;
            }
            if let Err(error) = fired {
                let sampler = sampler_fault.borrow_mut().take();
                fault = Some(sampler.unwrap_or_else(|| job.blame(&error)));
                continue;
            }
            let overdue = phase.overdue(now);
            if !overdue.is_empty() {
                cancel(routes, index, overdue, CancelReason::GracePeriod)?;
            }
            let stepped = phase.wants_step(now);
            if stepped {
                let events = phase.take_events();
                fault = match job.timing.step(phase.horizon(now), &events) {
                    Ok(step) => phase
                        .ask(step.actions, step.next_wake_ns)
                        .err()
                        .map(|error| job.blame(&error)),
                    Err(error) => Some(error),
                };
            }
            if now >= next_progress || phase.is_complete() {
                next_progress = now + PROGRESS_NS;
                let progress = Progress {
                    phase: index,
                    counts: phase.counts(),
                    elapsed_ns: now - start_ns,
                    sending_complete: phase.sending_complete(),
                };
                routes.controller.send(Message::Progress(progress))?;
            }
            if phase.is_complete() {
                break;
            }
            if stepped {
                continue;
            }
            let deadline = phase.next_deadline().unwrap_or(u64::MAX).min(next_progress);
            waiting = next_message(inbox, clock, deadline);
        }
        let mut went_well = fault.is_none();
        if went_well {
            match job.timing.state() {
                Ok(state) => {
                    *left = Left {
                        state,
                        mode: job.mode.clone(),
                    }
                }
                Err(error) => {
                    went_well = false;
                    routes
                        .controller
                        .send(Message::Failed(Failure::of_plugin(SERVICE, &error)))?;
                }
            }
        }
        let complete = PhaseComplete {
            phase: index,
            start_ns,
            start_wall_ns: anchor.wall(start_ns),
            end_ns: clock.now(),
            counts: phase.counts(),
            notes: phase.take_notes(),
            interrupted: interrupted.is_some() || !went_well,
        };
        routes
            .records
            .send(Message::PhaseComplete(Box::new(complete.clone())))?;
        routes.controller.send(Message::PhaseComplete(Box::new(complete)))?;
        Ok(went_well)
    }

    fn timing_plan(&self, job: &PhaseJob, start_ns: u64, state: String) -> TimingPlan {
        let mut dataset = DatasetColumns::default();
        for turns in &self.roots.turns {
            for (timestamp_ms, delay_ms) in turns {
                dataset.timestamps_ms.push(timestamp_ms.unwrap_or(f64::NAN));
                dataset.delays_ms.push(delay_ms.unwrap_or(f64::NAN));
            }
            dataset
                .ends
                .push(u32::try_from(dataset.delays_ms.len()).unwrap_or(u32::MAX));
        }
        TimingPlan {
            phase: job.name.clone(),
            warmup: job.warmup,
            start_ns,
            rate: job.rate,
            concurrency: job.concurrency,
            prefill_concurrency: None,
            requests: job.stop.requests,
            sessions: job.stop.sessions,
            duration_ns: job.stop.duration_ns,
            dataset,
            state,
        }
    }
}

/// What a phase left for the next one of the same timing entry.
#[derive(Default)]
struct Left {
    mode: String,
    state: String,
}

impl Left {
    fn of(&self, mode: &str) -> String {
        if self.mode == mode {
            self.state.clone()
        } else {
            String::new()
        }
    }
}

struct Routes {
    workers: Vec<Route>,
    records: Route,
    controller: Route,
}

fn cancel(routes: &Routes, phase: u32, ids: Vec<u64>, reason: CancelReason) -> Result<(), Undeliverable> {
    // Each worker knows its own; the others' ids mean nothing to it.
    routes.workers.iter().try_for_each(|worker| {
        worker.send(Message::Cancel {
            phase,
            ids: ids.clone(),
            reason,
        })
    })
}

/// Waits for a message until the deadline. Waking late is covered by [`LEAD`].
fn next_message(inbox: &Receiver<Message>, clock: Clock, deadline: u64) -> Option<Message> {
    let left = Duration::from_nanos(deadline.saturating_sub(clock.now()));
    if left.is_zero() {
        return inbox.try_recv().ok();
    }
    match inbox.recv_timeout(left) {
        Ok(message) => Some(message),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => {
            thread::sleep(left);
            None
        }
    }
}
