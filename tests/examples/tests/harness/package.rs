//! A built package in a folder as a user has it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiperf_guests::Toolchain;
use aiperf_host::discovery::{Places, discover};
use aiperf_host::load::inspect;
use aiperf_host::resolve::{Resolution, resolve};
use aiperf_host::{PluginHost, Role};
use aiperf_plugin_api::host::NoHost;
use aiperf_plugin_api::record::VersionInfo;
use tempfile::TempDir;

use super::{Compiler, cargo, example, target};

/// A registry file, and the library where the file says that it is.
pub(crate) struct Package {
    folder: TempDir,
}

impl Package {
    /// An example, by its folder and the name of its crate.
    #[track_caller]
    pub(crate) fn of_example(name: &str, crate_name: &str, compiler: &Compiler) -> Self {
        let folder = example(name);
        cargo(compiler, &folder, &["build", "--quiet", "--locked", "--release"]);
        Self::collect(&folder, crate_name, compiler)
    }

    /// An example as a component.
    #[track_caller]
    pub(crate) fn of_component(name: &str, crate_name: &str, toolchain: &Toolchain) -> Self {
        let built = example(name);
        let target = target().join("guests");
        let component = toolchain.build(&built, &target, crate_name, &["--locked", "--lib"]);
        let registry = fs::read_to_string(built.join("registry.yaml")).unwrap();
        Self::with_component(&registry, &component)
    }

    /// A component beside a registry file, whose `library:` is replaced by it.
    pub(crate) fn with_component(registry: &str, component: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(component, folder.path().join("plugin.wasm")).unwrap();
        let mut text = String::new();
        let mut inside = false;
        for line in registry.lines() {
            inside = line.starts_with("    library:") || (inside && line.starts_with("      "));
            if line.starts_with("    library:") || line.starts_with("    wasm:") {
                text.push_str("    wasm: plugin.wasm\n");
            } else if !inside && !line.starts_with("    config_schema:") {
                text.push_str(&format!("{line}\n"));
            }
        }
        fs::write(folder.path().join("registry.yaml"), text).unwrap();
        Self { folder }
    }

    /// What was built in a folder.
    pub(crate) fn collect(built: &Path, crate_name: &str, compiler: &Compiler) -> Self {
        let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
        let file = format!("{prefix}{}{suffix}", crate_name.replace('-', "_"));
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("target/release").join(&file);
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::copy(compiler.target().join("release").join(file), &library).unwrap();
        for file in ["registry.yaml", "schema.json"] {
            if built.join(file).is_file() {
                fs::copy(built.join(file), folder.path().join(file)).unwrap();
            }
        }
        Self { folder }
    }

    /// The registry file.
    pub(crate) fn registry(&self) -> String {
        self.folder.path().join("registry.yaml").to_str().unwrap().to_owned()
    }

    /// What the library of an entry says about itself without being loaded.
    pub(crate) fn version_info(&self, role: Role, entry: &str) -> VersionInfo {
        let host = self.host();
        let resolution = host.resolution();
        let entry = resolution.find(role, entry).unwrap();
        inspect(
            resolution.file(entry),
            resolution.package(entry),
            &aiperf_host::Compiler::Here,
        )
        .unwrap()
        .unwrap()
    }

    /// The library file of an entry.
    pub(crate) fn library(&self, role: Role, entry: &str) -> PathBuf {
        let host = self.host();
        host.load(host.resolution().find(role, entry).unwrap()).unwrap();
        host.usage()[0].library.as_ref().unwrap().into()
    }

    /// A host that knows this package alone.
    pub(crate) fn host(&self) -> PluginHost {
        PluginHost::new(self.resolution(), &[])
    }

    fn resolution(&self) -> Resolution {
        let found = discover(&Places {
            builtin: "schema_version: \"1.0\"\npackages: {}\n",
            environment: &|_| None,
            named: &[self.registry().into()],
        })
        .unwrap();
        resolve(found.files, Vec::new()).unwrap()
    }

    /// Loads the library for an entry. That checks the layout, and that it registers what the registry file declares.
    #[track_caller]
    pub(crate) fn loads(&self, role: Role, entry: &str) {
        let host = self.host();
        let entry = host.resolution().find(role, entry).unwrap();
        host.load(entry).unwrap();
    }

    /// Opens a GPU collector with options of the user, a JSON object.
    pub(crate) fn gpu_collector(&self, entry: &str, options: &str) -> aiperf_host::GpuCollectorHandle {
        let options = serde_json::from_str(options).unwrap();
        let host = self
            .host()
            .with_options([(format!("gpu_collector/{entry}").as_str(), &options)])
            .unwrap();
        let entry = host.resolution().find(Role::GpuCollector, entry).unwrap();
        host.open_gpu_collector(entry, "", Arc::new(NoHost)).unwrap()
    }
}
