//! Any 1.x plugin loads in any 1.y host. The API that comes after this one is made here: a copy of today's with a method more
//! in a trait, a field more in the root module, and the next minor version.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use aiperf_host::Role;
use aiperf_plugin_api::record::API;

use crate::harness::{Compiler, Package, cargo, example, fetch, plugins, profile, root};
use crate::templates::write;

/// What the next version changes: file, what stands there, what is put behind it.
const NEXT: [(&str, &str, &str); 9] = [
    (
        "plugin-api/src/abi/traits.rs",
        "    fn derive(&self, window: WindowAbi) -> RResult<RVec<ROption<f64>>, PluginErrorAbi>;\n",
        "    fn later(&self) -> RResult<u64, PluginErrorAbi> {\n        RResult::ROk(7)\n    }\n",
    ),
    (
        "plugin-api/src/metric.rs",
        "    fn describe(&self) -> Result<MetricFamily>;\n",
        "    /// A later ability.\n    fn later(&self) -> Result<u64> {\n        Ok(7)\n    }\n",
    ),
    (
        "plugin-api/src/abi/export.rs",
        "impl MetricObject for Held<dyn Metric> {\n",
        "    fn later(&self) -> RResult<u64, PluginErrorAbi> {\n        answer(|| self.get()?.later())\n    }\n",
    ),
    (
        "plugin-api/src/abi/export.rs",
        "        gpu_collector: open_gpu_collector::<P>,\n",
        "        later,\n",
    ),
    (
        "plugin-api/src/abi/export.rs",
        "/// Runs plugin code; a panic becomes an error.\n",
        "extern \"C\" fn later() -> u64 {\n    9\n}\n\n",
    ),
    (
        "plugin-api/src/abi/import.rs",
        "impl Metric for ImportedMetric {\n",
        "    fn later(&self) -> Result<u64> {\n        result(self.0.later())\n    }\n",
    ),
    (
        "plugin-api/src/abi/import.rs",
        "impl Opened for PluginModuleRef {\n",
        "    fn later(&self) -> Option<u64> {\n        PluginModuleRef::later(self).map(|later| later())\n    }\n",
    ),
    (
        "plugin-api/src/package.rs",
        "    fn gpu_collector(&self, open: Open) -> Result<Box<dyn GpuCollector>>;\n",
        "    /// A later ability.\n    fn later(&self) -> Option<u64>;\n",
    ),
    (
        "plugin-api/src/abi/root.rs",
        "    pub gpu_collector: extern \"C\" fn(OpenAbi) -> RResult<GpuCollectorBox, PluginErrorAbi>,\n",
        "    /// A later ability.\n    pub later: extern \"C\" fn() -> u64,\n",
    ),
];

/// A host that speaks the next version: today's loader, line for line, over the API of tomorrow.
const HOST: &str = r#"
mod load {
    use aiperf_sdk::api::{Root, record::{ApiVersion, VersionInfo}};

    #[path = "ROOT/core/host/src/load/difference.rs"]
    mod difference;
    #[path = "ROOT/core/host/src/load/native.rs"]
    mod native;

    #[derive(Debug)]
    #[allow(dead_code)]
    pub enum LoadCause {
        Layout { plugin: ApiVersion, host: ApiVersion, difference: String, dump: String },
        Dynamic { message: String },
        MissingSymbol,
        AbiBase { message: String },
        Start { message: String },
        Seal { message: String },
    }

    mod library {
        pub struct LibraryFile {
            pub path: std::path::PathBuf,
            pub bytes: Vec<u8>,
            pub pinned: bool,
            pub info: super::VersionInfo,
        }
    }

    pub fn load(path: &str, minor: u16) -> Root {
        let info = VersionInfo {
            api: ApiVersion { major: 1, minor },
            unwinds: true,
            categories: 0,
            rustc: String::new(),
            package: String::new(),
            version: String::new(),
        };
        let bytes = std::fs::read(path).unwrap();
        let file = library::LibraryFile { path: path.into(), bytes, pinned: true, info };
        native::load(&file).unwrap_or_else(|cause| panic!("{cause:?}"))
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let root = load::load(&words[1], words[2].parse().unwrap());
    let open = aiperf_sdk::package::Open {
        entry: root.entries().unwrap()[0].name.clone(),
        options: String::new(),
        core: String::new(),
        host: std::sync::Arc::new(aiperf_sdk::host::NoHost),
    };
    let metric = root.metric(open).unwrap();
    let described = metric.describe().unwrap();
    println!(
        "{} in {}: {} metrics, root {:?}, method {}",
        root.name(),
        aiperf_sdk::api::record::API,
        described.metrics.len(),
        root.later(),
        metric.later().unwrap()
    );
}
"#;

/// Puts `more` behind `place` in the text of a file, where it stands once.
#[track_caller]
fn change(folder: &Path, file: &str, place: &str, more: &str, instead: bool) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(place).count(), 1, "{file}: {place}");
    let kept = if instead { "" } else { place };
    // Before what documents the next item.
    let changed = if place.starts_with("/// ") {
        text.replace(place, &format!("{more}{place}"))
    } else {
        text.replace(place, &format!("{kept}{more}"))
    };
    fs::write(path, changed).unwrap();
}

/// Copies a tree; files that are there just so stay as they are, so that cargo builds nothing anew.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            write(&to, &fs::read(&path).unwrap());
        }
    }
}

/// A metric package, written by the binary, against the next version of the API; and the host beside it.
fn newer() -> PathBuf {
    let folder = tempfile::tempdir().unwrap();
    plugins(folder.path(), "new metric acme-newer");
    let sdk = folder.path().join("aiperf-sdk");
    for (file, place, more) in NEXT {
        change(&sdk, file, place, more, false);
    }
    let minor = |minor: u16| format!("ApiVersion {{ major: {}, minor: {minor} }}", API.major);
    change(
        &sdk,
        "plugin-api/src/record.rs",
        &minor(API.minor),
        &minor(API.minor + 1),
        true,
    );
    let version = |minor: u16| format!("version = \"{}.{minor}.0\"\n", API.major);
    change(
        &sdk,
        "plugin-api/Cargo.toml",
        &version(API.minor),
        &version(API.minor + 1),
        true,
    );

    let package = folder.path().join("acme-newer");
    let later = "    fn later(&self) -> Result<u64> {\n        Ok(8)\n    }\n";
    change(&package, "src/lib.rs", "impl Metric for AcmeNewer {\n", later, false);
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let more = "\n[dev-dependencies]\naiperf-plugin-api = { path = \"../aiperf-sdk/plugin-api\" }\nlibc = \"0.2\"\n";
    fs::write(package.join("Cargo.toml"), manifest + more).unwrap();
    fs::create_dir(package.join("examples")).unwrap();
    let host = HOST.replace("ROOT", root().to_str().unwrap());
    fs::write(package.join("examples/newer_host.rs"), host).unwrap();

    let stays = Compiler::Ours.target().join("versions");
    copy(folder.path(), &stays);
    stays.join("acme-newer")
}

#[test]
fn any_plugin_loads_in_any_host_of_the_same_major_version() {
    fetch();
    let newer = newer();
    // The versions of the examples, so that nothing has to be asked of a registry.
    if !newer.join("Cargo.lock").is_file() {
        fs::copy(example("vendor-inference").join("Cargo.lock"), newer.join("Cargo.lock")).unwrap();
    }
    let build = [
        "build",
        "--quiet",
        "--offline",
        "--release",
        "--lib",
        "--example",
        "newer_host",
    ];
    cargo(&Compiler::Ours, &newer, &build);
    let plugin = Package::collect(&newer, "acme-newer", &Compiler::Ours);

    // The newer plugin in this host.
    let info = plugin.version_info(Role::Metric, "acme_newer");
    assert_eq!((info.api.major, info.api.minor), (API.major, API.minor + 1));
    plugins(&newer, &format!("test {}", plugin.registry()));
    let line = "--url mock: --streaming --request-count 4 --metric acme_newer --plugin-registry";
    let run = profile(&format!("{line} {}", plugin.registry())).succeeded();
    run.used("acme-newer", "metric/acme_newer");
    assert!(run.avg("acme_newer_time_per_token") > 0.0);

    // A plugin of today, and that one, in the newer host.
    let today = Package::of_example("fluidity-index", "fluidity-index", &Compiler::Ours);
    let host = format!("newer_host{}", env::consts::EXE_SUFFIX);
    let host = Compiler::Ours.target().join("release/examples").join(host);
    let said = |package: &Package, role_entry: &str, minor: u16| {
        let library = package.library(Role::Metric, role_entry);
        let output = Command::new(&host)
            .arg(library)
            .arg(minor.to_string())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let next = API.minor + 1;
    let old = said(&today, "fluidity_index", API.minor);
    assert!(
        old.starts_with(&format!("fluidity-index in {}.{next}: ", API.major)),
        "{old}"
    );
    assert!(
        old.ends_with("root None, method 7\n"),
        "what it lacks has its default: {old}"
    );
    let new = said(&plugin, "acme_newer", next);
    assert!(new.ends_with("root Some(9), method 8\n"), "{new}");
}
