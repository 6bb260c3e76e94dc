//! Which registry files there are: built in, installed, named by the environment, named on the command line.
//!
//! Nothing is looked for in the working directory. An installed file that cannot be read is left out with a warning;
//! a file the user named must be right.

use crate::registry::{RegistryError, RegistryFile, Source};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that lists registry files: absolute paths, separated as in `PATH`.
pub const REGISTRY_VARIABLE: &str = "AIPERF_PLUGIN_REGISTRY";

/// The name of a registry file inside an installed package.
pub const REGISTRY_FILE: &str = "registry.yaml";

/// How deep below the plugin folder installed registry files may lie.
const INSTALLED_DEPTH: usize = 4;

/// Where to look.
pub struct Places<'a> {
    /// The text of the registry embedded in the binary.
    pub builtin: &'a str,
    /// Reads an environment variable.
    pub environment: &'a dyn Fn(&str) -> Option<OsString>,
    /// Files named by `--plugin-registry`, in order.
    pub named: &'a [PathBuf],
}

/// The registry files of this run.
#[derive(Debug)]
pub struct Discovered {
    /// The usable files, the built-in one first, then by rising rank.
    pub files: Vec<RegistryFile>,
    /// What was wrong with installed files that were left out.
    pub warnings: Vec<RegistryError>,
}

/// The folder installed packages live in: `$XDG_DATA_HOME/aiperf/plugins`, else `~/.local/share/aiperf/plugins`.
pub fn plugin_folder(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("aiperf/plugins"))
}

/// Reads every registry file of `places`.
///
/// # Errors
/// The built-in registry, or a file named by the environment or the command line, cannot be used.
pub fn discover(places: &Places<'_>) -> Result<Discovered, RegistryError> {
    let mut files = vec![RegistryFile::parse(places.builtin, Source::BuiltIn)?];
    let mut warnings = Vec::new();
    for source in sources(places)? {
        match read(source.clone()).and_then(|file| check_packages(&file, &files).map(|()| file)) {
            Ok(file) => files.push(file),
            Err(warning) if matches!(source, Source::Installed(_)) => warnings.push(warning),
            Err(error) => return Err(error),
        }
    }
    Ok(Discovered { files, warnings })
}

/// The external files in rising rank. A file found in two ways counts as the more explicit one.
fn sources(places: &Places<'_>) -> Result<Vec<Source>, RegistryError> {
    let mut sources = Vec::new();
    if let Some(folder) = plugin_folder(places.environment) {
        let mut installed = Vec::new();
        collect_installed(&folder, INSTALLED_DEPTH, &mut installed);
        installed.sort();
        sources.extend(installed.into_iter().map(Source::Installed));
    }
    let listed = (places.environment)(REGISTRY_VARIABLE).unwrap_or_default();
    for file in std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty()) {
        if !file.is_absolute() {
            let problem = format!("{REGISTRY_VARIABLE} holds a relative path");
            return Err(whole_file(&file, problem, "write the absolute path"));
        }
        sources.push(Source::Environment(canonical(&file)?));
    }
    for file in places.named {
        sources.push(Source::CommandLine(canonical(file)?));
    }
    let mut seen = BTreeSet::new();
    sources.reverse();
    sources.retain(|source| seen.insert(source.file().to_owned()));
    sources.reverse();
    Ok(sources)
}

fn collect_installed(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // A folder that cannot be listed holds nothing this user installed.
    let Ok(items) = fs::read_dir(folder) else { return };
    for item in items.flatten() {
        let path = item.path();
        match item.file_type() {
            Ok(kind) if kind.is_dir() && depth > 1 => collect_installed(&path, depth - 1, found),
            Ok(kind) if !kind.is_dir() && item.file_name() == REGISTRY_FILE => {
                found.push(path.canonicalize().unwrap_or(path));
            }
            _ => {}
        }
    }
}

fn canonical(file: &Path) -> Result<PathBuf, RegistryError> {
    file.canonicalize()
        .map_err(|error| whole_file(file, error.to_string(), "name an existing registry file"))
}

fn read(source: Source) -> Result<RegistryFile, RegistryError> {
    let text = fs::read_to_string(source.file())
        .map_err(|error| whole_file(source.file(), error.to_string(), "name a readable YAML file"))?;
    RegistryFile::parse(&text, source)
}

/// A package name means one package: the built-in ones are taken, and of two files of the same rank one must yield.
fn check_packages(file: &RegistryFile, earlier: &[RegistryFile]) -> Result<(), RegistryError> {
    for package in &file.packages {
        let clash = earlier.iter().find(|other| {
            (other.source.is_builtin() || other.source.rank() == file.source.rank())
                && other.package(&package.name).is_some()
        });
        if let Some(other) = clash {
            return Err(RegistryError {
                file: file.source.file().to_owned(),
                position: Some(package.at),
                field: format!("packages.{}", package.name),
                problem: format!("{} already declares a package of this name", other.source),
                help: "rename the package, or use one of the two files".to_owned(),
            });
        }
    }
    Ok(())
}

fn whole_file(file: &Path, problem: impl Into<String>, help: &str) -> RegistryError {
    RegistryError {
        file: file.to_owned(),
        position: None,
        field: String::new(),
        problem: problem.into(),
        help: help.to_owned(),
    }
}

#[cfg(test)]
#[path = "discovery_tests.rs"]
mod tests;
