//! What every entry must do, whatever its kind.

use std::time::{Duration, Instant};

use aiperf_sdk::{
    Dataset, Endpoint, Entry, ErrorKind, Exporter, GpuCollector, Metric, PluginError, Result, Timing, dataset::Sample,
};

use crate::{
    bench::{Bench, Given},
    case::{Definition, Stop, Verdict, must, should, told},
    core_options,
    exporter::reports,
    memory,
    subject::Kind,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "EV-1",
        "every.registered",
        "the package registers the entry, and says the same each time it is asked",
        registered,
    ),
    must(
        "EV-2",
        "every.unknown_entry",
        "a name that the package doesn't have is refused with an error",
        unknown_entry,
    ),
    must(
        "EV-3",
        "every.core_options",
        "an entry opens with whatever the core passes to its category",
        opens_with_core_options,
    ),
    must(
        "EV-4",
        "every.unknown_option",
        "an option that the entry doesn't know is refused as invalid options, by name",
        unknown_option,
    ),
    must(
        "EV-5",
        "every.later_core_options",
        "what the entry doesn't know of what the core passes is ignored: a newer core may pass more",
        later_core_options,
    ),
    must(
        "EV-6",
        "every.malformed_options",
        "options that are not JSON are refused as invalid options",
        malformed_options,
    ),
    must(
        "EV-7",
        "every.instances",
        "instances don't share state: two at once answer alike, in whatever order others are dropped",
        instances,
    ),
    should(
        "EV-8",
        "every.memory",
        "opening and dropping instances again and again keeps no memory",
        keeps_no_memory,
    ),
    must("EV-9", "every.returns", "every call returns", |_| Ok(())),
];

/// Growth over all instances that still counts as noise of the allocator.
const MEMORY_BOUND: u64 = 16 << 20;

/// How long instances are opened for that, where as many as wanted would take longer: those of an interpreter do.
const MEMORY_TIME: Duration = Duration::from_secs(10);

/// An instance of any kind.
enum Instance {
    Endpoint(Box<dyn Endpoint>),
    Dataset(Box<dyn Dataset>),
    Sampler(Box<dyn Dataset>),
    TimingMode(Box<dyn Timing>),
    ArrivalPattern(Box<dyn Timing>),
    Ramp(Box<dyn Timing>),
    Metric(Box<dyn Metric>),
    Exporter(Box<dyn Exporter>),
    GpuCollector(Box<dyn GpuCollector>),
}

impl Instance {
    fn open(bench: &Bench, given: &Given) -> Result<Self> {
        Ok(match bench.subject.kind {
            Kind::Endpoint => Self::Endpoint(bench.endpoint_with(given)?),
            Kind::Dataset => Self::Dataset(bench.dataset_with(given)?),
            Kind::Sampler => Self::Sampler(bench.dataset_with(given)?),
            Kind::TimingMode => Self::TimingMode(bench.timing_with(given)?),
            Kind::ArrivalPattern => Self::ArrivalPattern(bench.timing_with(given)?),
            Kind::Ramp => Self::Ramp(bench.timing_with(given)?),
            Kind::Metric => Self::Metric(bench.metric_with(given)?),
            Kind::Exporter => Self::Exporter(bench.exporter_with(given)?),
            Kind::GpuCollector => Self::GpuCollector(bench.gpu_collector_with(given)?),
        })
    }

    /// A light call, its answer as text.
    fn touch(&mut self, info: &str) -> String {
        fn text<T: std::fmt::Debug>(result: Result<T>) -> String {
            result.map_or_else(|error| told(&error), |answer| format!("{answer:?}"))
        }
        match self {
            Self::Endpoint(endpoint) => text(endpoint.describe()),
            Self::Dataset(dataset) => text(dataset.probe(&Sample {
                files: vec!["a.jsonl".to_owned()],
                folder: false,
                head: b"{}\n".to_vec(),
            })),
            Self::Sampler(sampler) => text(sampler.order(5, 1)),
            Self::TimingMode(timing) => text(timing.step(0, &[])),
            Self::ArrivalPattern(arrival) => text(arrival.intervals(10.0, 3)),
            Self::Ramp(ramp) => text(ramp.value_at(0.5)),
            Self::Metric(metric) => text(metric.describe()),
            Self::Exporter(exporter) => text(exporter.begin(info)),
            Self::GpuCollector(collector) => text(collector.poll(0, None)),
        }
    }
}

fn registered(bench: &Bench) -> Verdict {
    let root = &bench.subject.root;
    ensure!(!root.name().is_empty(), "the package has no name");
    ensure!(!root.version().is_empty(), "the package has no version");
    let entries = bench.panics.watch("entries", || root.entries())?;
    let wanted = Entry::new(bench.subject.kind.category(), bench.subject.name.as_str());
    ensure!(
        entries.contains(&wanted),
        "the package registers {entries:?}, but not {}",
        bench.subject.label()
    );
    for (index, entry) in entries.iter().enumerate() {
        ensure!(!entries[..index].contains(entry), "{entry:?} is registered twice");
    }
    let again = bench.panics.watch("entries", || root.entries())?;
    ensure!(entries == again, "asked again, the package registers {again:?}");
    Ok(())
}

fn unknown_entry(bench: &Bench) -> Verdict {
    let mut bench = bench.clone();
    "conformance_no_such_entry".clone_into(&mut bench.subject.name);
    match Instance::open(&bench, &bench.usual()) {
        Ok(_) => fail!("an entry called `{}` was opened", bench.subject.name),
        Err(error) => {
            ensure!(!error.message.trim().is_empty(), "the error says nothing");
            Ok(())
        }
    }
}

fn opens_with_core_options(bench: &Bench) -> Verdict {
    let usual = core_options::usual(&bench.subject);
    for (what, core) in [("a usual run", usual)]
        .into_iter()
        .chain(core_options::others(&bench.subject))
    {
        let given = bench.given(core);
        if let Err(error) = Instance::open(bench, &given) {
            fail!(
                "what the core passes in {what} is refused: {}\n{}",
                told(&error),
                given.core
            );
        }
    }
    Ok(())
}

fn unknown_option(bench: &Bench) -> Verdict {
    const NAME: &str = "conformance_unknown_option";
    let mut bench = bench.clone();
    bench.subject.options.insert(NAME.to_owned(), 1.into());
    match Instance::open(&bench, &bench.usual()) {
        Ok(_) => fail!("the option `{NAME}` was accepted: a user's typing error would go unnoticed"),
        Err(error) => {
            invalid_options(&error)?;
            ensure!(
                error.message.contains(NAME),
                "the error doesn't name the option `{NAME}`: {}",
                told(&error)
            );
            Ok(())
        }
    }
}

fn later_core_options(bench: &Bench) -> Verdict {
    const NAME: &str = "conformance_later";
    let mut core = core_options::usual(&bench.subject);
    core[NAME] = serde_json::json!({ "a": [1] });
    match Instance::open(bench, &bench.given(core)) {
        Ok(_) => Ok(()),
        Err(error) => fail!("`{NAME}`, passed by the core, is refused: {}", told(&error)),
    }
}

fn malformed_options(bench: &Bench) -> Verdict {
    for options in ["{", "nonsense", "{\"a\":}", "\u{0}", "{} {}", "{\"a\":1,"] {
        let given = Given {
            options: options.to_owned(),
            ..bench.usual()
        };
        match Instance::open(bench, &given) {
            Ok(_) => fail!("the options {options:?} were accepted"),
            Err(error) => invalid_options(&error)?,
        }
    }
    Ok(())
}

fn invalid_options(error: &PluginError) -> Verdict {
    ensure!(
        error.kind == ErrorKind::InvalidOptions,
        "the error is not of the kind `invalid options`: {}",
        told(error)
    );
    Ok(())
}

fn instances(bench: &Bench) -> Verdict {
    let (given, info) = (bench.usual(), reports::info_json());
    let open = || Instance::open(bench, &given).map_err(Stop::from);
    let expected = open()?.touch(&info);
    // Every order in which three can be dropped; the others answer in between.
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut all = [Some(open()?), Some(open()?), Some(open()?)];
        for (round, gone) in order.into_iter().enumerate() {
            all[gone] = None;
            let Some(next) = order.get(round + 1) else { break };
            if let Some(instance) = &mut all[*next] {
                let answer = instance.touch(&info);
                ensure!(
                    answer == expected,
                    "with instance {gone} dropped, instance {next} answers {answer}\ninstead of {expected}"
                );
            }
        }
    }
    Ok(())
}

fn keeps_no_memory(bench: &Bench) -> Verdict {
    let (given, info) = (bench.usual(), reports::info_json());
    let churn = |count: u32| {
        let end = Instant::now() + MEMORY_TIME;
        let mut opened = 0;
        while opened < count && Instant::now() < end {
            Instance::open(bench, &given)?.touch(&info);
            opened += 1;
        }
        Ok::<_, PluginError>((opened, memory::resident()))
    };
    let count = bench.options.instances;
    churn(count / 10 + 10)?;
    let (mut opened, mut grown) = (0, 0);
    // Something else in the process may grow meanwhile; a leak grows every time.
    for _ in 0..3 {
        let Some(before) = memory::resident() else {
            skip!("the system doesn't tell how much memory is in use");
        };
        let after;
        (opened, after) = churn(count)?;
        grown = after.unwrap_or(before).saturating_sub(before);
        if grown <= MEMORY_BOUND {
            return Ok(());
        }
    }
    fail!(
        "{opened} instances, one after the other, left {:.1} MiB behind, three times in a row",
        grown as f64 / f64::from(1 << 20)
    )
}
