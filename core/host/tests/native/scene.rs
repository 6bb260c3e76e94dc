//! A registry file with a library beside it, in a folder of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use aiperf_host::discovery::{Places, discover};
use aiperf_host::load::LoadCause;
use aiperf_host::resolve::resolve;
use aiperf_host::{BundledPackage, PluginHost, Role};
use aiperf_plugin_api::abi;
use aiperf_plugin_api::{Category, Entry, Host, Package, RequestInfo};
use std::fs;
use std::path::{Path, PathBuf};

const BUILTIN: &str = "schema_version: \"1.0\"\npackages:\n  core:\n    version: 0.1.0\n    api: \">=1.0\"\n    bundled: true\n\
                       endpoint:\n  echo: { package: core }\n  plain: { package: core }\n";

/// The built-in package of these tests.
struct Core;

impl Package for Core {
    const NAME: &'static str = "core";
    const VERSION: &'static str = "0.1.0";
    fn entries() -> Vec<Entry> {
        vec![
            Entry::new(Category::Endpoint, "echo"),
            Entry::new(Category::Endpoint, "plain"),
        ]
    }
}

pub(crate) struct NoServices;

impl Host for NoServices {
    fn log(&self, _: aiperf_plugin_api::host::LogLevel, _: &str) {}
    fn seed(&self, _: &str) -> u64 {
        0
    }
    fn intervals(&self, _: f64, _: u32) -> aiperf_plugin_api::Result<Vec<u64>> {
        Err(aiperf_plugin_api::PluginError::unsupported("intervals"))
    }
}

/// A fixture library, as `cargo test` builds it beside the tests.
pub(crate) fn fixture(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().and_then(Path::parent).unwrap();
    let file = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = profile.join("examples").join(file);
    assert!(
        path.exists(),
        "{} is missing: run `cargo test` without choosing targets",
        path.display()
    );
    path
}

pub(crate) fn fixture_bytes() -> Vec<u8> {
    fs::read(fixture("fixture_plugin")).unwrap()
}

/// The version record of the fixture, changed in place.
pub(crate) fn with_record(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = fixture_bytes();
    let magic = b"AIPERF\0\x01";
    let places: Vec<usize> = (0..bytes.len() - 192)
        .filter(|&i| bytes[i..].starts_with(magic))
        .collect();
    // Other copies are constants of the program text; the record is the one that names the package.
    let record = *places
        .iter()
        .find(|&&i| bytes[i + 96..].starts_with(b"fixture\0"))
        .unwrap();
    change(&mut bytes[record..record + 192]);
    bytes
}

pub(crate) const ENTRIES: &str =
    "endpoint:\n  echo: { package: fixture, aliases: [parrot] }\n  fragile: { package: fixture }\n";

pub(crate) struct Scene {
    pub(crate) folder: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new(library: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("pack")).unwrap();
        fs::write(folder.path().join("pack/plugin.so"), library).unwrap();
        Self { folder }
    }

    fn registry(&self) -> PathBuf {
        self.folder.path().join("pack/registry.yaml")
    }

    /// `package` are the fields that say where the code is; `api` and `version` may be overridden there.
    pub(crate) fn host(&self, package: &str, entries: &str) -> PluginHost {
        let version = if package.contains("version:") {
            ""
        } else {
            "version: 1.2.3, "
        };
        let api = if package.contains("api:") {
            ""
        } else {
            "api: \">=1.0, <2\", "
        };
        let text = format!("schema_version: \"1.0\"\npackages:\n  fixture: {{ {version}{api}{package} }}\n{entries}");
        fs::write(self.registry(), text).unwrap();
        let nothing = |_: &str| None;
        let named = [self.registry()];
        let found = discover(&Places {
            builtin: BUILTIN,
            environment: &nothing,
            named: &named,
        })
        .unwrap();
        let resolution = resolve(found.files, Vec::new()).unwrap();
        PluginHost::new(
            resolution,
            &[BundledPackage {
                name: "core",
                root: abi::root::<Core>,
            }],
        )
    }

    pub(crate) fn cause(&self, package: &str, entries: &str) -> (LoadCause, String) {
        failure(&self.host(package, entries))
    }
}

pub(crate) fn failure(host: &PluginHost) -> (LoadCause, String) {
    let entry = host.resolution().find(Role::Endpoint, "fragile").unwrap();
    let error = host.load(entry).unwrap_err();
    (error.cause.clone(), error.to_string())
}

pub(crate) fn request(model: &str) -> RequestInfo {
    RequestInfo {
        model: model.to_owned(),
        streaming: false,
        turns: Vec::new(),
        system_message: None,
        user_context: None,
        carry: None,
        request_id: String::new(),
        correlation_id: String::new(),
    }
}

pub(crate) fn hex_digest(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The fixture with every occurrence of `old` replaced.
pub(crate) fn with_text(old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut bytes = fixture_bytes();
    let places: Vec<usize> = (0..bytes.len() - old.len())
        .filter(|&i| bytes[i..].starts_with(old))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + old.len()].copy_from_slice(new);
    }
    bytes
}
