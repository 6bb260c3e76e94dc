//! A package of the registry becomes a root module, whatever its form.

use super::library::{LibraryFile, WasmFile};
use super::{LoadCause, LoadError, native};
use crate::config_schema::ConfigSchema;
use crate::name::Name;
use crate::registry::{Form, Package, RegistryFile, Sha256};
use crate::wasm::{Compiler, Component, ComponentFile, WasmPackage, WasmSettings};
use aiperf_plugin_api::Category;
use aiperf_plugin_api::Root;
use aiperf_plugin_api::abi::PluginModuleRef;
use aiperf_plugin_api::record::{API, VersionInfo};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A package that is linked into the binary.
#[derive(Clone, Copy)]
pub struct BundledPackage {
    /// The name that `bundled:` refers to.
    pub name: &'static str,
    /// Its root module: `aiperf_plugin_api::abi::root::<P>`.
    pub root: fn() -> PluginModuleRef,
}

/// How packages are opened.
pub(crate) struct Loader {
    pub(crate) bundled: Vec<BundledPackage>,
    pub(crate) wasm_only: bool,
    pub(crate) wasm: WasmSettings,
}

/// An open package.
pub(crate) struct LoadedPackage {
    pub(crate) root: Root,
    /// The library file; `None` for a bundled package.
    pub(crate) library: Option<PathBuf>,
    pub(crate) digest: Option<Sha256>,
    /// The version record; `None` for a bundled package.
    pub(crate) info: Option<VersionInfo>,
}

/// What the file of a package says about itself. The file is found, its digest, platform and versions are
/// checked, and nothing of it runs. `None` for bundled packages. `compiler` makes a component of a core module.
///
/// # Errors
/// The package could not be opened for a reason that shows without loading it.
pub fn inspect(
    file: &RegistryFile,
    package: &Package,
    compiler: &Compiler,
) -> Result<Option<VersionInfo>, Arc<LoadError>> {
    explained(file, package, None, |place| {
        check_api(package)?;
        match &package.form {
            Form::Native(libraries) => LibraryFile::read(file, libraries, place).map(|library| Some(library.info)),
            Form::Wasm { path, sha256 } => {
                let (wasm, bytes) = WasmFile::read(file, path, *sha256, place)?;
                ComponentFile::new(bytes, wasm.digest, compiler).map(|component| Some(component.info))
            }
            Form::Bundled(_) => Ok(None),
        }
    })
}

impl Loader {
    /// Opens a package of `file`. `entry` is what it is opened for, for the error.
    pub(crate) fn open(
        &self,
        file: &RegistryFile,
        package: &Package,
        entry: String,
    ) -> Result<LoadedPackage, Arc<LoadError>> {
        explained(file, package, Some(entry), |place| {
            check_api(package)?;
            // A broken schema lets no option through: better found before anything is loaded.
            ConfigSchema::of(file, package).map_err(|error| LoadCause::ConfigSchema { error: Box::new(error) })?;
            let loaded = match &package.form {
                Form::Bundled(name) => self.bundled(name)?,
                Form::Wasm { path, sha256 } => {
                    let (wasm, bytes) = WasmFile::read(file, path, *sha256, place)?;
                    let component = ComponentFile::new(bytes, wasm.digest, &self.wasm.compiler)?;
                    let package = WasmPackage::load(&component, &self.wasm)?;
                    LoadedPackage {
                        root: Root::new(Component(package)),
                        library: Some(wasm.path),
                        digest: Some(wasm.digest),
                        info: Some(component.info),
                    }
                }
                Form::Native(_) if self.wasm_only => return Err(LoadCause::NativeRefused),
                Form::Native(libraries) => {
                    let library = LibraryFile::read(file, libraries, place)?;
                    LoadedPackage {
                        root: native::load(&library)?,
                        library: Some(library.path),
                        digest: Some(library.digest),
                        info: Some(library.info),
                    }
                }
            };
            check_declaration(file, package, &loaded.root)?;
            Ok(loaded)
        })
    }

    fn bundled(&self, name: &str) -> Result<LoadedPackage, LoadCause> {
        let found = self
            .bundled
            .iter()
            .find(|bundled| bundled.name == name)
            .ok_or_else(|| LoadCause::NotBundled {
                name: name.to_owned(),
                available: self.bundled.iter().map(|bundled| bundled.name.to_owned()).collect(),
            })?;
        Ok(LoadedPackage {
            root: Root::new((found.root)()),
            library: None,
            digest: None,
            info: None,
        })
    }
}

/// Runs an attempt; its error tells the package, the file (which the attempt fills in) and the entry.
fn explained<T>(
    file: &RegistryFile,
    package: &Package,
    entry: Option<String>,
    attempt: impl FnOnce(&mut Option<PathBuf>) -> Result<T, LoadCause>,
) -> Result<T, Arc<LoadError>> {
    let mut library = None;
    attempt(&mut library).map_err(|cause| {
        Arc::new(LoadError {
            package: package.name.clone(),
            version: package.version.clone(),
            declared: format!("{}:{}", file.source, package.at),
            library,
            entry,
            cause,
        })
    })
}

fn check_api(package: &Package) -> Result<(), LoadCause> {
    if package.api.contains(API.major.into(), API.minor.into()) {
        Ok(())
    } else {
        Err(LoadCause::ApiRange {
            range: package.api.clone(),
            host: API,
        })
    }
}

/// What the file says about the package must be what the library says.
fn check_declaration(file: &RegistryFile, package: &Package, root: &Root) -> Result<(), LoadCause> {
    let mut differences = Vec::new();
    if Name::parse(root.name()).as_ref() != Some(&package.name) {
        differences.push(format!(
            "the file calls the package {}, the library {}",
            package.name,
            root.name()
        ));
    }
    if root.version() != package.version {
        differences.push(format!(
            "version {} in the file, {} in the library",
            package.version,
            root.version()
        ));
    }
    let label = |category: Category, name: &str| format!("{category}/{}", name.to_ascii_lowercase().replace('-', "_"));
    let declared: BTreeSet<String> = file
        .entries
        .iter()
        .filter(|entry| entry.package == package.name)
        .map(|entry| label(entry.role.category(), entry.name.key()))
        .collect();
    let entries = root.entries().map_err(|error| LoadCause::Start {
        message: error.to_string(),
    })?;
    let registered: BTreeSet<String> = entries.iter().map(|entry| label(entry.category, &entry.name)).collect();
    let only = |these: &BTreeSet<String>, those: &BTreeSet<String>| -> Option<String> {
        let missing: Vec<&str> = these.difference(those).map(String::as_str).collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    };
    differences.extend(only(&declared, &registered).map(|names| format!("only the file has {names}")));
    differences.extend(only(&registered, &declared).map(|names| format!("only the library has {names}")));
    if differences.is_empty() {
        Ok(())
    } else {
        Err(LoadCause::Declaration { differences })
    }
}
