//! Running the cases of a subject, each on a thread of its own, so that a plugin which never returns ends a case and not
//! the suite.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use crate::{
    arrival,
    bench::Bench,
    case::{Definition, Requirement, Stop, Verdict},
    dataset, endpoint, every, exporter, gpu, metric, ramp,
    report::{Case, Conformance, Outcome},
    sampler,
    speed::Speed,
    subject::{Kind, Subject},
    timing,
};

/// A file for a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// How a subject is tested.
#[derive(Debug, Clone)]
pub struct Options {
    /// Seed of everything that is random. The same seed gives the same cases.
    pub seed: u64,
    /// Time for all cases and the speed report together. A case that is not through by then has failed, and the rest are
    /// skipped.
    pub time_budget: Duration,
    /// Instances opened and dropped in search of a leak.
    pub instances: u32,
    /// Files that a dataset can read, for formats that the suite has no sample of. Each is a source of its own.
    pub samples: Vec<File>,
    /// Ids of the cases to run; empty: all.
    pub only: Vec<String>,
    /// Measure the speed too.
    pub speed: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 42,
            time_budget: Duration::from_secs(120),
            instances: 10_000,
            samples: Vec::new(),
            only: Vec::new(),
            speed: true,
        }
    }
}

/// The case that reports plugins which don't return.
const RETURNS: &str = "every.returns";

fn of_kind(kind: Kind) -> &'static [Definition] {
    match kind {
        Kind::Endpoint => endpoint::CASES,
        Kind::Dataset => dataset::CASES,
        Kind::Sampler => sampler::CASES,
        Kind::TimingMode => timing::CASES,
        Kind::ArrivalPattern => arrival::CASES,
        Kind::Ramp => ramp::CASES,
        Kind::Metric => metric::CASES,
        Kind::Exporter => exporter::CASES,
        Kind::GpuCollector => gpu::CASES,
    }
}

fn speed_of(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    match bench.subject.kind {
        Kind::Endpoint => endpoint::speed(bench),
        Kind::Dataset => dataset::speed(bench),
        Kind::Sampler => sampler::speed(bench),
        Kind::TimingMode => timing::speed(bench),
        Kind::ArrivalPattern => arrival::speed(bench),
        Kind::Ramp => ramp::speed(bench),
        Kind::Metric => metric::speed(bench),
        Kind::Exporter => exporter::speed(bench),
        Kind::GpuCollector => gpu::speed(bench),
    }
}

/// Every requirement of the specification, in its order: those of all kinds, then kind by kind.
pub fn requirements() -> impl Iterator<Item = Requirement> {
    every::CASES
        .iter()
        .chain(Kind::ALL.into_iter().flat_map(of_kind))
        .map(|definition| definition.requirement)
}

/// Runs the suite on an entry.
pub fn run(subject: &Subject, options: &Options) -> Conformance {
    let deadline = Instant::now() + options.time_budget;
    let mut stuck = None;
    let mut cases = Vec::new();
    let wanted = |id: &str| options.only.is_empty() || options.only.iter().any(|only| only == id);
    for definition in every::CASES.iter().chain(of_kind(subject.kind)) {
        let id = definition.requirement.case;
        if !wanted(id) || id == RETURNS {
            continue;
        }
        let begin = Instant::now();
        let bench = Bench::new(subject.clone(), options.clone());
        let verdict = match stuck {
            Some(id) => Err(Stop::Skipped(format!("`{id}` has not returned"))),
            None => within(deadline, bench.clone(), definition.check).unwrap_or_else(|| {
                stuck = Some(id);
                let budget = options.time_budget.as_secs_f64();
                Err(Stop::Failed(format!(
                    "not through when the budget of {budget} s was spent"
                )))
            }),
        };
        cases.push(case(definition, &bench, verdict, begin));
    }
    if let Some(definition) = every::CASES.iter().find(|one| one.requirement.case == RETURNS)
        && wanted(RETURNS)
    {
        let verdict = match stuck {
            Some(id) => Err(Stop::Failed(format!("`{id}` has not returned"))),
            None => Ok(()),
        };
        let bench = Bench::new(subject.clone(), options.clone());
        let position = cases.iter().take_while(|case| case.id.starts_with("every.")).count();
        cases.insert(position, case(definition, &bench, verdict, Instant::now()));
    }
    let speed = if options.speed && stuck.is_none() {
        let bench = Bench::new(subject.clone(), options.clone());
        within(deadline, bench, speed_of)
            .and_then(Result::ok)
            .unwrap_or_default()
    } else {
        Vec::new()
    };
    Conformance {
        package: subject.root.name().to_owned(),
        version: subject.root.version().to_owned(),
        entry: subject.label(),
        kind: subject.kind,
        seed: options.seed,
        cases,
        speed,
    }
}

/// What comes of a check; `None` if it is not through at the deadline. Its thread is then left behind.
fn within<T: Send + 'static>(
    deadline: Instant,
    bench: Bench,
    check: fn(&Bench) -> Result<T, Stop>,
) -> Option<Result<T, Stop>> {
    let (sender, receiver) = channel();
    let spawned = thread::Builder::new().name("conformance".to_owned()).spawn(move || {
        // The receiver is gone if the deadline has passed.
        let _ = sender.send(check(&bench));
    });
    if let Err(error) = spawned {
        return Some(Err(Stop::Skipped(format!("no thread could be started: {error}"))));
    }
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(result) => Some(result),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err(Stop::Failed(
            "the check itself panicked; this is a fault of the suite".to_owned(),
        ))),
    }
}

fn case(definition: &Definition, bench: &Bench, verdict: Verdict, begin: Instant) -> Case {
    // A panic counts, whatever the case made of it.
    let verdict = match bench.panics.first() {
        Some(panic) => Err(Stop::Failed(panic)),
        None => verdict,
    };
    let (outcome, detail) = match verdict {
        Ok(()) => (Outcome::Passed, String::new()),
        Err(Stop::Failed(detail)) => (Outcome::Failed, detail),
        Err(Stop::Skipped(detail)) => (Outcome::Skipped, detail),
    };
    Case {
        id: definition.requirement.case,
        category: bench.subject.kind.category(),
        requirement: definition.requirement,
        outcome,
        detail,
        log: if outcome == Outcome::Failed {
            bench.log.lines()
        } else {
            Vec::new()
        },
        seed: bench.options.seed,
        duration_ns: u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_and_cases_are_unique_and_tell_where_they_belong() {
        let all: Vec<Requirement> = requirements().collect();
        let ids: HashSet<&str> = all.iter().map(|one| one.id).collect();
        let cases: HashSet<&str> = all.iter().map(|one| one.case).collect();
        assert_eq!((ids.len(), cases.len()), (all.len(), all.len()));
        for one in &all {
            assert!(one.case.split('.').count() >= 2 && !one.text.is_empty(), "{one:?}");
        }
        assert_eq!(all.iter().filter(|one| one.case == RETURNS).count(), 1);
    }
}
