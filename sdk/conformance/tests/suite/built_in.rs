//! Every built-in plugin passes.

use aiperf_conformance::{Kind, Level, Options, Subject, run};
use aiperf_sdk::{
    Category, Package,
    api::{Root, abi},
};

use crate::turn;

/// Runs the suite on every entry of a package.
fn passes<P: Package>(kind: impl Fn(&str) -> Kind) {
    let root = Root::new(abi::root::<P>());
    for entry in P::entries() {
        let subject = Subject::new(root.clone(), kind(&entry.name), entry.name.as_str());
        assert_eq!(subject.kind.category(), entry.category);
        let conformance = {
            let _turn = turn();
            run(&subject, &Options::default())
        };
        println!("{conformance}");
        assert!(conformance.passed(), "{conformance}");
        assert_eq!(conformance.failures(Level::Should).count(), 0, "{conformance}");
    }
}

#[test]
fn endpoints() {
    passes::<aiperf_endpoints::BuiltIn>(|_| Kind::Endpoint);
}

#[test]
fn datasets() {
    passes::<aiperf_datasets::BuiltIn>(|name| {
        let sampler = ["sequential", "random", "shuffle"].contains(&name);
        let kind = sampler.then_some("sampler");
        Kind::of(Category::Dataset, kind).expect("a kind")
    });
}

#[test]
fn timing() {
    passes::<aiperf_timing::BuiltIn>(|name| match name {
        "constant" | "poisson" | "gamma" | "concurrency_burst" => Kind::ArrivalPattern,
        ramp if ramp.ends_with("_ramp") => Kind::Ramp,
        _ => Kind::TimingMode,
    });
}

#[test]
fn metrics() {
    passes::<aiperf_metrics::BuiltIn>(|_| Kind::Metric);
}

#[test]
fn exporters() {
    passes::<aiperf_exporters::BuiltIn>(|_| Kind::Exporter);
}
