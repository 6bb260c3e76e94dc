use aiperf_contract_tests::fault::Fault;
use aiperf_sdk::{
    Batch, ErrorKind, Host, PluginError, RequestInfo, Result,
    api::{abi, report},
    dataset::{NoSource, Sample},
    host::LogLevel,
    metric::Window,
    package::Open,
    testing::VirtualEngine,
};

use super::{imported, open, open_with};

/// Every call of every category, and what it answers.
fn calls(way: &str) -> Vec<(&'static str, Option<PluginError>)> {
    let root = imported();
    let options = format!("{{\"way\": \"{way}\"}}");
    let open = || open("fault", &options);
    let batch = Batch { len: 0, columns: &[] };
    let mut answers = Vec::new();
    {
        let mut note = |call, answer: Result<()>| answers.push((call, answer.err()));
        let fault = root.endpoint(open()).expect("opens");
        let info = RequestInfo {
            model: String::new(),
            streaming: false,
            turns: Vec::new(),
            system_message: None,
            user_context: None,
            carry: None,
            request_id: String::new(),
            correlation_id: String::new(),
        };
        note("describe", fault.describe().map(drop));
        note("prepare", fault.prepare(info).map(drop));
        note("next", fault.next(&[]).map(drop));
        note("decode", fault.decode(&[]).map(drop));

        let mut fault = root.dataset(open()).expect("opens");
        let sample = Sample {
            files: Vec::new(),
            folder: false,
            head: Vec::new(),
        };
        note("probe", fault.probe(&sample).map(drop));
        note("open", fault.open(Box::new(NoSource)).map(drop));
        note("next", fault.next(1).map(drop));
        note("order", fault.order(1, 0).map(drop));

        let mut fault = root.timing(open()).expect("opens");
        note("start", fault.start(&VirtualEngine::single_turn(1).plan));
        note("step", fault.step(0, &[]).map(drop));
        note("intervals", fault.intervals(1.0, 1).map(drop));
        note("value_at", fault.value_at(0.0).map(drop));

        let fault = root.metric(open()).expect("opens");
        let window = Window {
            start_ns: 0,
            end_ns: 0,
            duration_ns: None,
            valid: 0,
            errors: 0,
            totals: Vec::new(),
            facts: String::new(),
        };
        note("describe", fault.describe().map(drop));
        note("record", fault.record(&batch).map(drop));
        note("derive", fault.derive(&window).map(drop));

        let mut fault = root.exporter(open()).expect("opens");
        note("begin", fault.begin("").map(drop));
        note("write", fault.write(&batch).map(drop));
        note("write_table", fault.write_table("gpu", &batch).map(drop));
        note("finish", fault.finish(report::SCHEMA_VERSION).map(drop));

        let mut fault = root.gpu_collector(open()).expect("opens");
        note("poll", fault.poll(0, None).map(drop));
        // Six instances are dropped here; their `Drop` panics, which must not reach this thread.
    }
    answers
}

#[test]
fn errors_keep_kind_message_and_help() {
    let answers = calls("error");
    assert_eq!(answers.len(), 20);
    for (call, error) in answers {
        assert_eq!(error, Some(Fault::error(call)));
    }
}

#[test]
fn panics_become_errors_that_say_so() {
    for (call, error) in calls("panic") {
        let error = error.expect(call);
        assert_eq!(error.kind, ErrorKind::Panicked, "{call}");
        assert_eq!(error.message, format!("the plugin panicked: {call} of the fault"));
    }
}

#[test]
fn a_payload_that_panics_as_well_is_survived() {
    for (call, error) in calls("odd_panic") {
        let error = error.expect(call);
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Panicked, "the plugin panicked: no message")
        );
    }
}

#[test]
fn a_panic_while_opening_is_an_error() {
    let root = imported();
    let open = || open("fault", "{\"way\": \"panic_on_open\"}");
    let errors = [
        root.endpoint(open()).err(),
        root.dataset(open()).err(),
        root.timing(open()).err(),
        root.metric(open()).err(),
        root.exporter(open()).err(),
        root.gpu_collector(open()).err(),
    ];
    for error in errors {
        let error = error.expect("an error");
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Panicked, "the plugin panicked: opening")
        );
    }
}

#[test]
fn unknown_entries_and_wrong_options_are_errors() {
    let error = imported().endpoint(open("nonesuch", "")).err().expect("an error");
    assert!(error.message.contains("`nonesuch`"), "{error}");
    let error = imported()
        .timing(open("user_centric", "{\"user\": 1}"))
        .err()
        .expect("an error");
    assert_eq!(error.kind, ErrorKind::InvalidOptions);
    assert_eq!(error.message, "unknown field `user`, expected `users`");
}

/// A host whose services fail, each in its own way.
struct FaultyHost;

impl Host for FaultyHost {
    fn log(&self, _: LogLevel, _: &str) {
        panic!("log");
    }
    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        Ok(text.bytes().map(u32::from).collect())
    }
    fn decode(&self, _: &[u32]) -> Result<String> {
        panic!("decode")
    }
    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        Ok(format!("{stream} {tokens}"))
    }
    fn separator(&self) -> Option<u32> {
        Some(u32::MAX)
    }
    fn seed(&self, stream: &str) -> u64 {
        stream.len() as u64 + (1 << 63)
    }
    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        Err(PluginError::options(format!("{rate} {count}")).with_help("another"))
    }
}

/// Keeps the host that it was opened with.
struct KeepsHost;

static KEPT: std::sync::Mutex<Option<Open>> = std::sync::Mutex::new(None);

impl aiperf_sdk::Package for KeepsHost {
    const NAME: &'static str = "keeps-host";
    const VERSION: &'static str = "1.0.0";
    fn entries() -> Vec<aiperf_sdk::Entry> {
        Vec::new()
    }
    fn exporter(open: Open) -> Result<Box<dyn aiperf_sdk::Exporter>> {
        let unknown = open.unknown();
        *KEPT.lock().expect("a lock") = Some(open);
        Err(unknown)
    }
}

#[test]
fn the_services_of_the_core_cross_too_and_its_panics_are_errors() {
    let root = aiperf_sdk::Root::new(abi::root::<KeepsHost>());
    let error = root
        .exporter(open_with("any", "{\"a\":1}", std::sync::Arc::new(FaultyHost)))
        .err();
    assert!(error.is_some_and(|error| error.message.contains("`any`")));
    let open = KEPT.lock().expect("a lock").take().expect("an open");
    assert_eq!(
        (open.entry.as_str(), open.options.as_str(), open.core.as_str()),
        ("any", r#"{"a":1}"#, r#"{"c":2}"#)
    );
    let host = open.host;
    host.log(LogLevel::Warning, "swallowed");
    assert_eq!(host.encode("ab").expect("tokens"), [97, 98]);
    assert_eq!(host.decode(&[1]).expect_err("a panic").kind, ErrorKind::Panicked);
    assert_eq!(host.prompt("s", 3).expect("a prompt"), "s 3");
    assert_eq!(host.separator(), Some(u32::MAX));
    assert_eq!(host.seed("abc"), 3 + (1 << 63));
    let error = host.intervals(0.5, 9).expect_err("an error");
    assert_eq!(
        (error.kind, error.message.as_str(), error.help.as_deref()),
        (ErrorKind::InvalidOptions, "0.5 9", Some("another"))
    );
}
