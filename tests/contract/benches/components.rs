//! What a package costs as a component, beside the same source as a library.
//!
//! `cargo bench -p aiperf-contract-tests --bench components` builds the contract's own package and the vendor example in both
//! forms and prints, the least of many short batches:
//!
//! * ns per record of a metric that is given three columns and looks at none of them: the crossing;
//! * ns per record of a metric that walks a list of eight arrivals per record and returns a list;
//! * µs per response of 100 events that an endpoint parses as JSON;
//! * ms to load a component that has been compiled before, and to compile it.
//!
//! It needs a compiler for `wasm32-unknown-unknown`: see `tests/guests`.

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

use aiperf_guests::Toolchain;
use aiperf_host::{
    PluginHost, Role, WasmSettings,
    discovery::{Places, discover},
    resolve::resolve,
};
use aiperf_sdk::{Validity, host::NoHost, prelude::*, testing::Response};

// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCHES: u32 = 200;
const LOADS: u32 = 20;
const RECORDS: usize = 256;
const EVENTS: usize = 100;

type Outcome<T> = std::result::Result<T, Box<dyn Error>>;

/// ns per call, the least of many batches of calls.
fn time<T>(calls: u32, mut call: impl FnMut() -> T) -> f64 {
    let batch = |_| {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call());
        }
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

/// A package in one form, in a folder with a registry file.
struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    fn new(name: &str, version: &str, entries: &[(&str, &str)], form: &str, code: &Path) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let mut code = fs::read(code)?;
        if form == "wasm" {
            // As `plugins install` does.
            code = aiperf_host::component(code, &aiperf_host::Compiler::Here).map_err(|cause| cause.to_string())?;
        }
        fs::write(folder.path().join("plugin"), code)?;
        let mut text = format!(
            "schema_version: \"1.0\"\npackages:\n  {name}: {{ version: {version}, api: \">=1.0, <2\", {form}: plugin }}\n"
        );
        for category in Category::ALL {
            let mut of: Vec<&str> = entries
                .iter()
                .filter(|(of, _)| *of == category.name())
                .map(|(_, entry)| *entry)
                .collect();
            of.sort_unstable();
            if !of.is_empty() {
                text.push_str(&format!("{category}:\n"));
            }
            for entry in of {
                text.push_str(&format!(
                    "  {entry}: {{ package: {name}, metadata: {{ tags: [tag_{entry}] }} }}\n"
                ));
            }
        }
        fs::write(folder.path().join("registry.yaml"), text)?;
        Ok(Self { folder })
    }

    fn host(&self, cache: Option<PathBuf>) -> Outcome<PluginHost> {
        let places = Places {
            builtin: "schema_version: \"1.0\"\npackages: {}\n",
            environment: &|_| None,
            named: &[self.folder.path().join("registry.yaml")],
        };
        let settings = WasmSettings {
            cache,
            ..WasmSettings::default()
        };
        Ok(PluginHost::new(resolve(discover(&places)?.files, Vec::new())?, &[]).with_wasm(settings))
    }
}

/// The two forms of a package.
fn forms(
    toolchain: &Toolchain,
    folder: &Path,
    crate_name: &str,
    arguments: &[&str],
    package: (&str, &str, &[(&str, &str)]),
) -> Outcome<[Built; 2]> {
    let target = target()?;
    let built = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(folder)
        .args(["build", "--quiet", "--release", "--lib"])
        .args(arguments)
        .env("CARGO_TARGET_DIR", target.join("examples"))
        .status()?;
    if !built.success() {
        return Err(format!("{} does not build", folder.display()).into());
    }
    let file = format!(
        "{}{}{}",
        env::consts::DLL_PREFIX,
        crate_name.replace('-', "_"),
        env::consts::DLL_SUFFIX
    );
    let library = target.join("examples/release").join(file);
    let component = toolchain.build(
        folder,
        &target.join("guests"),
        crate_name,
        &[&["--lib"], arguments].concat(),
    );
    let (name, version, entries) = package;
    Ok([
        Built::new(name, version, entries, "library", &library)?,
        Built::new(name, version, entries, "wasm", &component)?,
    ])
}

/// The target folder that this program was built in.
fn target() -> Outcome<PathBuf> {
    let own = env::current_exe()?;
    Ok(own.ancestors().nth(3).ok_or("no target folder")?.to_owned())
}

fn metrics(host: &PluginHost) -> Outcome<[f64; 2]> {
    let open = |name| -> Outcome<_> {
        let entry = host.resolution().find(Role::Metric, name)?;
        Ok(host.root(entry)?.metric(aiperf_sdk::package::Open {
            entry: name.to_owned(),
            options: String::new(),
            core: String::new(),
            host: Arc::new(NoHost),
        })?)
    };
    let values: Vec<u64> = (0..RECORDS as u64).collect();
    let column = ColumnRef::U64(&values, Validity::All);
    let three = [column, column, column];
    let ends: Vec<u32> = (1..=RECORDS as u32).map(|record| 8 * record).collect();
    let arrivals: Vec<u64> = (0..8 * RECORDS as u64).map(|index| 1_000_000 * index).collect();
    let lists = [ColumnRef::U64List(&ends, &arrivals, Validity::All)];
    let per_record = |metric: Box<dyn Metric>, columns: &[ColumnRef<'_>]| {
        let batch = Batch { len: RECORDS, columns };
        time(200, || metric.record(&batch)) / RECORDS as f64
    };
    Ok([
        per_record(open("idle")?, &three),
        per_record(open("chunk_gaps")?, &lists),
    ])
}

fn decoding(host: &PluginHost) -> Outcome<f64> {
    let entry = host.resolution().find(Role::Endpoint, "acme_generate")?;
    let endpoint = host.open_endpoint(entry, "", Arc::new(NoHost))?;
    let mut events = vec![r#"{"kind": "delta", "text": "token "}"#; EVENTS - 1];
    events.push(r#"{"kind": "end", "reason": "stop", "counts": {"prompt": 12, "generated": 99}}"#);
    let response = Response::events(events);
    let exchanges = [response.exchange()];
    endpoint.decode(&exchanges)?;
    Ok(time(20, || endpoint.decode(&exchanges)) / 1e3)
}

fn main() -> Outcome<()> {
    let Some(toolchain) = Toolchain::find() else {
        return Err("no compiler for wasm32-unknown-unknown: see tests/guests".into());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries: Vec<(Category, String)> = aiperf_contract_tests::TestPackage::entries()
        .into_iter()
        .map(|entry| (entry.category, entry.name))
        .collect();
    let entries: Vec<(&str, &str)> = entries
        .iter()
        .map(|(category, name)| (category.name(), name.as_str()))
        .collect();
    let own = (
        aiperf_contract_tests::TestPackage::NAME,
        aiperf_contract_tests::TestPackage::VERSION,
        &entries[..],
    );
    let tests = forms(
        &toolchain,
        &root,
        "aiperf-contract-tests",
        &["--package", "aiperf-contract-tests"],
        own,
    )?;
    let acme = [("endpoint", "acme_generate"), ("gpu_collector", "acme_simulated")];
    let acme = forms(
        &toolchain,
        &root.join("examples/vendor-inference"),
        "acme-inference",
        &[],
        ("acme-inference", "1.0.0", &acme),
    )?;

    let [library, component] = [metrics(&tests[0].host(None)?)?, metrics(&tests[1].host(None)?)?];
    let [native, wasm] = [decoding(&acme[0].host(None)?)?, decoding(&acme[1].host(None)?)?];
    println!("{:52} {:>10} {:>10} {:>6}", "", "library", "component", "ratio");
    let line = |what: &str, library: f64, component: f64| {
        println!(
            "{what:52} {library:>10.2} {component:>10.2} {:>6.2}",
            component / library
        );
    };
    line("metric, three columns, ns per record", library[0], component[0]);
    line(
        "metric, a list of eight in and out, ns per record",
        library[1],
        component[1],
    );
    line("endpoint, 100 events parsed as JSON, us per response", native, wasm);

    let cache = tempfile::tempdir()?;
    let load = |cache: Option<PathBuf>| -> Outcome<f64> {
        let host = acme[1].host(cache)?;
        let entry = host.resolution().find(Role::Endpoint, "acme_generate")?;
        let start = Instant::now();
        host.load(entry)?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let compiled = load(Some(cache.path().join("wasm")))?;
    let mut cached = f64::INFINITY;
    for _ in 0..LOADS {
        cached = cached.min(load(Some(cache.path().join("wasm")))?);
    }
    println!("\nloading the component: {cached:.2} ms from the cache, {compiled:.0} ms with its compilation");
    Ok(())
}
