//! One source, two forms: each example as a component conforms, and says what it says as a library.

use std::sync::Arc;

use aiperf_guests::Toolchain;
use aiperf_host::{PluginHost, Role};
use aiperf_plugin_api::{GpuCollector, Host, MetricKind, MetricSpec, report::Stats};
use aiperf_sdk::testing::{self, Batches, FakeHost, Reply, Response, VirtualEngine};
use aiperf_sdk::{Endpoint, Turn, fields};

use crate::examples::run_acme;
use crate::harness::{AcmeServer, Compiler, Hook, Package, plugins, profile};

/// The native package and the component of an example; the component conforms. `None` where no component can be built.
#[track_caller]
fn both(test: &str, name: &str, crate_name: &str, options: &str) -> Option<[Package; 2]> {
    let toolchain = Toolchain::or_skip(test)?;
    let component = Package::of_component(name, crate_name, &toolchain);
    let folder = std::path::PathBuf::from(component.registry());
    plugins(folder.parent().unwrap(), &format!("test registry.yaml {options}"));
    Some([Package::of_example(name, crate_name, &Compiler::Ours), component])
}

fn services() -> Arc<dyn Host> {
    Arc::new(FakeHost::new())
}

/// What `ask` learns from both; it must be the same, and something.
#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(packages: &[Package; 2], options: &str, ask: impl Fn(&PluginHost) -> T) {
    let answers = packages.each_ref().map(|package| {
        let (entry, options) = options.split_once('=').unwrap();
        let options = serde_json::from_str(options).unwrap();
        let host = package.host().with_options([(entry, &options)]).unwrap();
        ask(&host)
    });
    assert_eq!(answers[0], answers[1], "native and component");
}

/// Numbers that look random and are the same each time.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

#[test]
fn a_metric() {
    let Some(packages) = both("components::a_metric", "fluidity-index", "fluidity-index", "") else {
        return;
    };
    const RECORDS: u64 = 700;
    let arrivals = |record: u64| -> Vec<u64> {
        let mut now = 1_000_000 * record;
        let gaps = numbers(record).take((record % 40) as usize);
        gaps.map(|gap| {
            now += gap % 50_000_000;
            now
        })
        .collect()
    };
    let records = Batches::of(RECORDS as usize)
        .u64(fields::VALID, (0..RECORDS).map(|record| u64::from(record % 7 != 0)))
        .u64(fields::START, (0..RECORDS).map(|record| 1_000_000 * record))
        .u64_lists(
            fields::CONTENT,
            (0..RECORDS).map(|record| (record % 5 != 0).then(|| arrivals(record))),
        );
    same(&packages, "metric/fluidity={\"tbt_deadline_ms\": 25}", |host| {
        let entry = host.resolution().find(Role::Metric, "fluidity").unwrap();
        let metric = host.open_metric(entry, "", services()).unwrap();
        let computed = testing::compute(&metric, &records).unwrap();
        assert!(
            computed.f64("fluidity_index").iter().flatten().count() > 300,
            "{computed:?}"
        );
        computed
    });
    let run = packages.map(|package| {
        let plugin = format!("--plugin-registry {} --metric fluidity", package.registry());
        let deadlines =
            "--plugin-opt metric/fluidity.ttft_deadline_ms=60000 --plugin-opt metric/fluidity.tbt_deadline_ms=60000";
        let run = profile(&format!(
            "--url mock:?tokens=8 --streaming --request-count 5 {plugin} {deadlines}"
        ));
        run.succeeded()
    });
    assert!(run[0].stdout.contains("(native, unsandboxed)"), "{}", run[0]);
    assert!(!run[1].stdout.contains("unsandboxed"), "{}", run[1]);
    let [native, component] = run.map(|run| run.avg("fluidity_index"));
    assert_eq!((native, component), (1.0, 1.0));
}

#[test]
fn an_endpoint_and_a_gpu_collector() {
    let Some(packages) = both(
        "components::an_endpoint_and_a_gpu_collector",
        "vendor-inference",
        "acme-inference",
        "",
    ) else {
        return;
    };
    let responses = [
        Response::events([
            r#"{"kind": "thought", "text": "Hm."}"#,
            r#"{"kind": "delta", "text": "Grüße"}"#,
            r#"{"kind": "end", "reason": "stop", "counts": {"prompt": 12, "generated": 5}}"#,
        ]),
        Response::json(
            r#"{"kind": "answer", "text": "Hello", "reason": "stop", "counts": {"prompt": 12, "generated": 1}}"#,
        ),
        Response::events([r#"{"kind": "error", "code": 429, "message": "too many requests"}"#]),
        Response::events(["no JSON"]),
        Response::events(Vec::<&str>::new()),
    ];
    same(&packages, "endpoint/acme={\"tier\": \"priority\"}", |host| {
        let entry = host.resolution().find(Role::Endpoint, "acme_generate").unwrap();
        let endpoint = host
            .open_endpoint(entry, r#"{"extra": {"seed": 7}}"#, services())
            .unwrap();
        let requests = [
            testing::request(vec![Turn::text("Hi")]),
            testing::request(vec![
                Turn::text("Hi"),
                Turn {
                    images: vec![Default::default()],
                    ..Turn::text("and")
                },
            ]),
        ];
        let prepared = requests.map(|request| endpoint.prepare(request));
        let decoded = responses
            .each_ref()
            .map(|response| testing::decode(&endpoint, response));
        assert!(prepared[0].is_ok() && prepared[1].is_err() && decoded[0].is_ok() && decoded[3].is_err());
        (endpoint.describe().unwrap(), prepared, decoded)
    });
    same(&packages, "gpu_collector/acme_simulated={\"devices\": 3}", |host| {
        let entry = host.resolution().find(Role::GpuCollector, "acme_simulated").unwrap();
        let mut collector = host.open_gpu_collector(entry, "", services()).unwrap();
        [0, 1, 500_000_000, 3_000_000_000].map(|now_ns| collector.poll(now_ns, None).unwrap())
    });
    for package in &packages {
        let run = run_acme(package, "--api-key acme-key --request-count 4 --streaming").succeeded();
        assert_eq!(run.avg("output_sequence_length"), 7.0, "{run}");
        assert_eq!(run.avg("usage_completion_tokens"), 7.0, "{run}");
    }
    let server = AcmeServer::start();
    let run = profile(&format!(
        "--wasm-only --url {} --model acme-1 --tokenizer builtin --endpoint-type acme --plugin-registry {} --osl 7 --api-key \
         acme-key --request-count 2",
        server.url,
        packages[0].registry()
    ));
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("--wasm-only refuses native packages"), "{run}");
}

#[test]
fn a_dataset() {
    let Some(packages) = both("components::a_dataset", "acme-log", "acme-log", "") else {
        return;
    };
    let good = "ACME-LOG 1\n0 alice system - You are terse.\n20 alice ask 6 How do magnets work?\n25 bob ask - Tell me.\n30 alice ask 9 And?\n";
    let bad = "ACME-LOG 1\n20 alice ask 6 How?\n10 bob ask - Why?\n";
    same(&packages, "dataset/acme_log={}", |host| {
        let entry = host.resolution().find(Role::Dataset, "acme_log").unwrap();
        [good, bad].map(|log| {
            let mut dataset = host.open_dataset(entry, "", services()).unwrap();
            let probe = aiperf_sdk::Dataset::probe(&dataset, &testing::sample([("a.log", log)])).unwrap();
            let read = testing::conversations(&mut dataset, testing::source_in_pieces([("a.log", log)], 7));
            assert_eq!(read.is_ok(), log == good, "{read:?}");
            (probe, read)
        })
    });
}

#[test]
fn a_timing_mode() {
    const OPTIONS: &str = "--plugin-opt timing/sawtooth.high_rate=40 --plugin-opt timing/sawtooth.period_s=4";
    let Some(packages) = both("components::a_timing_mode", "sawtooth", "sawtooth", OPTIONS) else {
        return;
    };
    same(
        &packages,
        "timing/sawtooth={\"high_rate\": 40, \"period_s\": 4}",
        |host| {
            let entry = host.resolution().find(Role::Timing, "sawtooth").unwrap();
            let mut timing = host.open_timing(entry, "", services()).unwrap();
            let mut engine = VirtualEngine::single_turn(10);
            engine.plan.requests = Some(500);
            let mut latencies = numbers(3);
            engine.server = Box::new(move |_| Reply::after_ms(latencies.next().map_or(1.0, |ns| (ns % 900) as f64)));
            let run = engine.run(&mut timing).unwrap();
            assert_eq!(run.sent.len(), 500);
            run
        },
    );
}

#[test]
fn an_exporter() {
    let Some(packages) = both("components::an_exporter", "markdown-report", "markdown-report", "") else {
        return;
    };
    let latency = MetricSpec {
        display_unit: "ms".into(),
        ..MetricSpec::new("request_latency", "Request Latency", "ns", MetricKind::Record)
    };
    let stats = Stats {
        count: Some(3),
        avg: Some(2.5e6),
        ..Stats::default()
    };
    let report = testing::report(vec![testing::result(latency, 1e-6, stats)]);
    same(&packages, "exporter/markdown={\"title\": \"Nightly\"}", |host| {
        let entry = host.resolution().find(Role::Exporter, "markdown").unwrap();
        let mut exporter = host.open_exporter(entry, "", services()).unwrap();
        let outputs = testing::export(&mut exporter, &report, &Batches::of(0), 256).unwrap();
        assert!(
            outputs.file("report.md").is_some_and(|text| text.contains("# Nightly")),
            "{outputs:?}"
        );
        outputs
    });
}

#[test]
fn a_report_is_posted_where_the_user_allows_it() {
    const TEST: &str = "components::a_report_is_posted_where_the_user_allows_it";
    let Some(packages) = both(TEST, "markdown-report", "markdown-report", "") else {
        return;
    };
    for package in packages {
        let hook = Hook::open();
        let address = hook.address();
        let flags = format!(
            "--url mock:?tokens=3 --request-count 2 --plugin-registry {} --exporter markdown \
             --plugin-opt exporter/markdown.post_to=http://{address}/hooks/nightly",
            package.registry(),
        );
        // What it may not do is no reason for this exporter to give up.
        let without = profile(&flags).succeeded();
        assert!(without.artifact("report.md").starts_with("# Benchmark report"));
        let refused = format!("the report was not posted: http:{address} is not granted to package markdown-report");
        assert!(without.stderr.contains(&refused), "{without}");
        assert!(!hook.was_reached());
        let with = hook
            .while_answering(|| profile(&format!("{flags} --plugin-grant markdown-report=http:{address}")).succeeded());
        let (head, body) = with.0;
        assert!(head.starts_with("POST /hooks/nightly HTTP/1.1\r\n"), "{head}");
        assert_eq!(body, with.1.artifact("report.md"));
        assert!(!with.1.stderr.contains("was not posted"), "{}", with.1);
    }
}
