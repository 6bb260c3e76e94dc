//! Plugins that are broken on purpose. An entry is named after its fault; `good` has none. A test names, for each fault, the
//! cases that must fail, and no other may.

mod arrival;
mod dataset;
mod endpoint;
mod every;
mod exporter;
mod gpu;
mod metric;
mod ramp;
mod sampler;
mod timing;

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use aiperf_conformance::{Conformance, Kind, Options, Outcome, Subject, run};
use aiperf_sdk::{
    Category, Dataset, Endpoint, Entry, Exporter, GpuCollector, Metric, Package, PluginError, Result, Timing,
    api::{Root, abi},
    package::{NoOptions, Open},
};

use crate::turn;

/// A fault and the cases that find it.
type Fault = (&'static str, &'static [&'static str]);

struct Broken;

/// The kinds and their faults.
const ALL: &[(Kind, &[Fault])] = &[
    (Kind::Endpoint, endpoint::FAULTS),
    (Kind::Dataset, dataset::FAULTS),
    (Kind::Sampler, sampler::FAULTS),
    (Kind::TimingMode, timing::FAULTS),
    (Kind::ArrivalPattern, arrival::FAULTS),
    (Kind::Ramp, ramp::FAULTS),
    (Kind::Metric, metric::FAULTS),
    (Kind::Exporter, exporter::FAULTS),
    (Kind::GpuCollector, gpu::FAULTS),
];

/// Two kinds of a category must not share a name.
fn entry_name(kind: Kind, fault: &str) -> String {
    match kind {
        Kind::Sampler => format!("sampler_{fault}"),
        Kind::ArrivalPattern => format!("arrival_{fault}"),
        Kind::Ramp => format!("ramp_{fault}"),
        _ => fault.to_owned(),
    }
}

fn checked(open: &Open) -> Result<String> {
    let category_has = Broken::entries().iter().any(|entry| entry.name == open.entry);
    if !category_has && open.entry != "unregistered" {
        return Err(open.unknown());
    }
    let NoOptions {} = open.options()?;
    Ok(open.entry.clone())
}

impl Package for Broken {
    const NAME: &'static str = "broken";
    const VERSION: &'static str = "1.0.0";

    fn entries() -> Vec<Entry> {
        let all = ALL
            .iter()
            .flat_map(|(kind, faults)| faults.iter().map(move |(fault, _)| (*kind, *fault)));
        all.filter(|(_, fault)| *fault != "unregistered")
            .map(|(kind, fault)| Entry::new(kind.category(), entry_name(kind, fault)))
            .collect()
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        every::opening(&open)?;
        Ok(Box::new(endpoint::Broken::new(open.entry)))
    }
    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        let name = checked(&open)?;
        Ok(match name.strip_prefix("sampler_") {
            Some(fault) => Box::new(sampler::Broken::new(fault, &*open.host)),
            None => Box::new(dataset::Broken::new(name)),
        })
    }
    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        let name = checked(&open)?;
        Ok(if let Some(fault) = name.strip_prefix("arrival_") {
            Box::new(arrival::Broken::new(fault, &*open.host))
        } else if let Some(fault) = name.strip_prefix("ramp_") {
            Box::new(ramp::Broken::new(fault))
        } else {
            Box::new(timing::Broken::new(name))
        })
    }
    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        Ok(Box::new(metric::Broken::new(checked(&open)?)))
    }
    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        Ok(Box::new(exporter::Broken::new(checked(&open)?)))
    }
    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        Ok(Box::new(gpu::Broken::new(checked(&open)?)))
    }
}

/// A number that no two calls share.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn judge<P: Package>(kind: Kind, name: &str) -> Conformance {
    let subject = Subject::new(Root::new(abi::root::<P>()), kind, name);
    let options = Options {
        instances: 2_000,
        speed: false,
        time_budget: Duration::from_secs(if name == "never_returns" { 1 } else { 100 }),
        ..Options::default()
    };
    let _turn = turn();
    run(&subject, &options)
}

fn failed(conformance: &Conformance) -> BTreeSet<&str> {
    let failed = conformance.cases.iter().filter(|case| case.outcome == Outcome::Failed);
    failed.map(|case| case.id).collect()
}

/// Runs the suite on every fault of a kind.
fn faults_are_found(wanted: Kind) {
    let (kind, faults) = ALL.iter().find(|(kind, _)| *kind == wanted).unwrap();
    assert_eq!(faults[0], ("good", &[][..]), "there must be something to break");
    for (fault, expected) in *faults {
        let conformance = judge::<Broken>(*kind, &entry_name(*kind, fault));
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(failed(&conformance), expected, "{fault}\n{conformance}");
        for case in conformance.cases.iter().filter(|case| case.outcome != Outcome::Passed) {
            assert!(!case.detail.is_empty(), "{fault}: {}", case.id);
        }
    }
}

/// Every case of a kind is there because a fault is: one that no fault fails is not known to work.
fn every_case_finds_something(kind: Kind, prefix: &str) {
    let (_, faults) = ALL.iter().find(|(one, _)| *one == kind).unwrap();
    let found: BTreeSet<&str> = faults.iter().flat_map(|(_, cases)| cases.iter().copied()).collect();
    let cases = aiperf_conformance::requirements().map(|one| one.case);
    let idle: Vec<&str> = cases
        .filter(|case| case.starts_with(prefix) && !found.contains(case))
        .collect();
    assert_eq!(idle, [""; 0], "no fault fails these");
}

fn unknown(category: Category) -> PluginError {
    PluginError::failed(format!("no such {category}"))
}

macro_rules! kinds {
    ($($test:ident: $kind:ident, $prefix:literal;)*) => {$(
        #[test]
        fn $test() {
            faults_are_found(Kind::$kind);
            every_case_finds_something(Kind::$kind, $prefix);
        }
    )*};
}
kinds! {
    endpoints: Endpoint, "endpoint.";
    datasets: Dataset, "dataset.";
    samplers: Sampler, "sampler.";
    timing_modes: TimingMode, "timing.";
    arrival_patterns: ArrivalPattern, "arrival.";
    ramps: Ramp, "ramp.";
    metrics: Metric, "metric.";
    exporters: Exporter, "exporter.";
    gpu_collectors: GpuCollector, "gpu.";
}
