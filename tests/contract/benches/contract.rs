//! What crossing the contract costs, and what loading a native package costs.
//!
//! `cargo bench -p aiperf-contract-tests` loads the library of these tests as a run does and prints, in ns, the least of
//! many short batches:
//!
//! * a call of every method that does nothing: through the contract, and straight on the plugin for comparison;
//! * the same per event. The contract has no function that is called for each event: the events of a response cross
//!   in one call, as columns. So this is the part of a call that grows with the events;
//! * the check that a text which came across is UTF-8, apart from the move that it is part of.
//!
//! Then the steps of loading, in ms, the least of several rounds; each round loads another copy, as a first load does. The
//! library is stripped of debug information first (`strip -g`), which an author's release build does not have either.

use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Instant,
};

use aiperf_contract_tests::{TestPackage, idle::Idle};
use aiperf_host::{
    PluginHost, Role,
    discovery::{Places, discover},
    load::version_info,
    registry::HOST_TARGET,
    resolve::resolve,
};
use aiperf_sdk::{
    api::mirror::Mirror,
    api::{Root, abi::abi_stable::std_types::RString},
    host::NoHost,
    prelude::*,
};
use sha2::{Digest, Sha256};

// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCHES: u32 = 200;
const CALLS: u32 = 2_000;
const LOADS: u32 = 30;

type Outcome<T> = std::result::Result<T, Box<dyn Error>>;

/// ns per call, the least of many batches.
fn time<T>(mut call: impl FnMut() -> T) -> f64 {
    let batch = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

/// A folder with the library and a registry file that states its digest, as `plugins install` leaves it.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new(library: &[u8]) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("plugin"), library)?;
        let digest: String = Sha256::digest(library)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let mut text = format!(
            "schema_version: \"1.0\"\npackages:\n  {}:\n    version: {}\n    api: \">=1.0, <2\"\n    library: {{ {HOST_TARGET}: {{ path: \
             plugin, sha256: \"{digest}\" }} }}\n",
            TestPackage::NAME,
            TestPackage::VERSION,
        );
        for category in Category::ALL {
            text.push_str(&format!("{category}:\n"));
            for entry in TestPackage::entries().iter().filter(|entry| entry.category == category) {
                let name = &entry.name;
                let metadata = format!("metadata: {{ tags: [tag_{name}] }}");
                text.push_str(&format!("  {name}: {{ package: {}, {metadata} }}\n", TestPackage::NAME));
            }
        }
        fs::write(folder.path().join("registry.yaml"), text)?;
        Ok(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A host that knows the package and has not opened it.
    fn host(&self) -> Outcome<PluginHost> {
        let places = Places {
            builtin: "schema_version: \"1.0\"\npackages: {}\n",
            environment: &|_| None,
            named: &[self.path("registry.yaml")],
        };
        Ok(PluginHost::new(resolve(discover(&places)?.files, Vec::new())?, &[]))
    }
}

fn root(host: &PluginHost) -> Outcome<Root> {
    Ok(host.root(host.resolution().find(Role::Endpoint, "idle")?)?)
}

/// The library of this package, which cargo builds beside its benchmark.
fn library() -> Outcome<PathBuf> {
    let bench = env::current_exe()?;
    let folder = bench.parent().unwrap_or(Path::new("."));
    Ok(folder.join(format!(
        "{}aiperf_contract_tests{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    )))
}

/// The library as an author's release build leaves it: without debug information. Where there is no `strip`, with it.
fn stripped(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("library");
    fs::write(&path, bytes)?;
    let done = Command::new("strip").arg("-g").arg(&path).status();
    if !done.is_ok_and(|status| status.success()) {
        println!("\n`strip -g` does not work here: the library keeps its debug information");
    }
    Ok(fs::read(path)?)
}

fn open() -> Open {
    Open {
        entry: "idle".to_owned(),
        options: String::new(),
        core: String::new(),
        host: Arc::new(NoHost),
    }
}

fn request() -> RequestInfo {
    RequestInfo {
        model: String::new(),
        streaming: true,
        turns: Vec::new(),
        system_message: None,
        user_context: None,
        carry: None,
        request_id: String::new(),
        correlation_id: String::new(),
    }
}

fn plan() -> TimingPlan {
    TimingPlan {
        phase: String::new(),
        warmup: false,
        start_ns: 0,
        rate: None,
        concurrency: None,
        prefill_concurrency: None,
        requests: None,
        sessions: None,
        duration_ns: None,
        dataset: Default::default(),
        state: String::new(),
    }
}

fn window() -> Window {
    Window {
        start_ns: 0,
        end_ns: 1,
        duration_ns: Some(1),
        valid: 0,
        errors: 0,
        totals: Vec::new(),
        facts: String::new(),
    }
}

fn exchange<'a>(bytes: &'a [u8], ends: &'a [u32]) -> Exchange<'a> {
    Exchange {
        status: 200,
        streamed: true,
        content_type: "",
        bytes,
        ends,
    }
}

/// Prints one line: through the contract, straight, and the difference.
fn row(call: &str, through: f64, straight: f64) {
    println!("{call:<36}{through:>10.1}{straight:>10.1}{:>10.1}", through - straight);
}

/// Measures a call on both instances.
macro_rules! call {
    ($name:literal, $through:ident, $straight:ident, |$plugin:ident| $call:expr) => {{
        let through = {
            let $plugin = &mut $through;
            time(|| $call)
        };
        let straight = {
            let $plugin = &mut $straight;
            time(|| $call)
        };
        row($name, through, straight);
    }};
}

fn calls(root: &Root) -> Outcome<()> {
    println!(
        "{:<36}{:>10}{:>10}{:>10}",
        "ns per call", "contract", "straight", "crossing"
    );
    let (mut through, mut straight): (_, Box<dyn Endpoint>) = (root.endpoint(open())?, Box::new(Idle));
    call!("endpoint.describe", through, straight, |plugin| plugin.describe());
    call!("endpoint.prepare", through, straight, |plugin| plugin
        .prepare(request()));
    call!("endpoint.next", through, straight, |plugin| plugin.next(&[]));
    call!("endpoint.decode", through, straight, |plugin| plugin.decode(&[]));
    let (mut through, mut straight): (_, Box<dyn Dataset>) = (root.dataset(open())?, Box::new(Idle));
    call!("dataset.next", through, straight, |plugin| plugin.next(1));
    call!("dataset.order", through, straight, |plugin| plugin.order(1, 0));
    let (mut through, mut straight): (_, Box<dyn Timing>) = (root.timing(open())?, Box::new(Idle));
    let plan = plan();
    call!("timing.start", through, straight, |plugin| plugin.start(&plan));
    call!("timing.step", through, straight, |plugin| plugin.step(1, &[]));
    call!("timing.state", through, straight, |plugin| plugin.state());
    call!("timing.intervals", through, straight, |plugin| plugin.intervals(1.0, 1));
    call!("timing.value_at", through, straight, |plugin| plugin.value_at(0.5));
    let (mut through, mut straight): (_, Box<dyn Metric>) = (root.metric(open())?, Box::new(Idle));
    let (batch, window) = (Batch { len: 1, columns: &[] }, window());
    call!("metric.record", through, straight, |plugin| plugin.record(&batch));
    call!("metric.derive", through, straight, |plugin| plugin.derive(&window));
    let (mut through, mut straight): (_, Box<dyn Exporter>) = (root.exporter(open())?, Box::new(Idle));
    call!("exporter.begin", through, straight, |plugin| plugin.begin(""));
    call!("exporter.write", through, straight, |plugin| plugin.write(&batch));
    call!("exporter.finish", through, straight, |plugin| plugin.finish(""));
    let (mut through, mut straight): (_, Box<dyn GpuCollector>) = (root.gpu_collector(open())?, Box::new(Idle));
    call!("gpu_collector.poll", through, straight, |plugin| plugin.poll(1, None));
    Ok(())
}

/// What a call with a thousand of something costs more than one with none, for each.
fn events(root: &Root) -> Outcome<()> {
    const EVENTS: usize = 1_000;
    println!(
        "\n{:<36}{:>10}{:>10}{:>10}",
        "ns per event, of 1,000", "contract", "straight", "crossing"
    );
    let (through, straight): (_, Box<dyn Endpoint>) = (root.endpoint(open())?, Box::new(Idle));
    let bytes = vec![b'x'; EVENTS];
    let ends: Vec<u32> = (1..=EVENTS as u32).collect();
    let each = |plugin: &dyn Endpoint| {
        let many = time(|| plugin.decode(&[exchange(&bytes, &ends)]));
        let none = time(|| plugin.decode(&[exchange(&[], &[])]));
        (many - none) / EVENTS as f64
    };
    row("endpoint.decode: an event", each(&*through), each(&*straight));
    let (mut through, mut straight): (_, Box<dyn Timing>) = (root.timing(open())?, Box::new(Idle));
    let happened = vec![Event::Refused { session: 1 }; EVENTS];
    let each = |plugin: &mut dyn Timing| {
        let many = time(|| plugin.step(1, &happened));
        let none = time(|| plugin.step(1, &[]));
        (many - none) / EVENTS as f64
    };
    row(
        "timing.step: what has happened",
        each(&mut *through),
        each(&mut *straight),
    );
    Ok(())
}

/// A text's way back, with the check and without.
fn texts() {
    println!("\n{:<36}{:>10}{:>10}{:>10}", "ns per text", "checked", "moved", "check");
    for (name, unit, length) in [
        ("16 bytes, ASCII", "a", 16),
        ("500 bytes, ASCII", "a", 500),
        ("4,000 bytes, ASCII", "a", 4_000),
        ("4,000 bytes, Chinese", "字", 4_000),
        ("100,000 bytes, ASCII", "a", 100_000),
    ] {
        let mut text = unit.repeat(length / unit.len());
        let checked = time(|| {
            text = String::from_abi(std::mem::take(&mut text).into_abi()).unwrap_or_default();
        });
        let moved = time(|| text = RString::from(std::mem::take(&mut text)).into_string());
        row(name, checked, moved);
    }
}

fn loading(bytes: &[u8]) -> Outcome<()> {
    println!("\nms to load a package ({:.1} MB)", bytes.len() as f64 / 1e6);
    let (mut names, mut least) = (Vec::new(), Vec::<f64>::new());
    for _ in 0..LOADS {
        let installed = Installed::new(bytes)?;
        let mut steps = Vec::new();
        let mut step = |name: &'static str, work: &mut dyn FnMut() -> Outcome<()>| -> Outcome<()> {
            let start = Instant::now();
            work()?;
            steps.push((name, start.elapsed().as_secs_f64() * 1e3));
            Ok(())
        };
        step("read the file", &mut || {
            black_box(fs::read(installed.path("plugin"))?);
            Ok(())
        })?;
        step("SHA-256", &mut || {
            black_box(Sha256::digest(bytes));
            Ok(())
        })?;
        step("read the version record", &mut || {
            version_info(bytes)?;
            Ok(())
        })?;
        let host = installed.host()?;
        step("load: all of these, memory, dlopen, layouts", &mut || {
            root(&host).map(drop)
        })?;
        step("open an entry", &mut || {
            root(&host)?.endpoint(open())?;
            Ok(())
        })?;
        names = steps.iter().map(|step| step.0).collect();
        least.resize(steps.len(), f64::INFINITY);
        least
            .iter_mut()
            .zip(steps)
            .for_each(|(least, step)| *least = least.min(step.1));
    }
    for (name, ms) in names.iter().zip(least) {
        println!("{name:<46}{ms:>10.3}");
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let bytes = fs::read(library()?)?;
    let installed = Installed::new(&bytes)?;
    let host = installed.host()?;
    let root = root(&host)?;
    calls(&root)?;
    events(&root)?;
    texts();
    loading(&stripped(&bytes)?)
}
