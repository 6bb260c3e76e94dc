//! Which package is meant, by its name or by its registry file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use aiperf_config::PluginPlan;
use aiperf_host::{
    PluginHost, Role,
    registry::{Form, HOST_TARGET, Package, RegistryFile},
    resolve::{EntryRef, Resolution},
};

use crate::{bundled, failure::Failure, terminal};

/// A package and its entries.
pub(super) struct Subject {
    pub(super) host: Arc<PluginHost>,
    /// The registry files that were named.
    pub(super) registries: Vec<PathBuf>,
    /// Registry file, as in messages.
    pub(super) source: String,
    pub(super) package: String,
    pub(super) version: String,
    pub(super) entries: Vec<EntryRef>,
}

/// The host with these registry files; what was wrong with others is told.
pub(super) fn host(registries: &[PathBuf]) -> Result<Arc<PluginHost>, Failure> {
    let plan = PluginPlan {
        registries: registries.to_vec(),
        ..PluginPlan::default()
    };
    let (host, problems) = bundled::host(&plan)?;
    for problem in &problems {
        terminal::write(&format!("warning: left out: {problem}\n"));
    }
    Ok(host)
}

/// The registry file that a word means: a file, or that of a folder; `None` if the word is no path.
pub(super) fn registry_file(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    if path.is_dir() {
        let file = path.join("registry.yaml");
        return (file.is_file() || word.contains('/')).then_some(file);
    }
    let looks = word.contains(std::path::MAIN_SEPARATOR) || word.ends_with(".yaml") || word.ends_with(".yml");
    (path.is_file() || looks).then(|| path.to_owned())
}

/// The packages that `word` means: all of a registry file, or the one of this name.
///
/// # Errors
/// When there is none.
pub(super) fn find(word: &str, mut registries: Vec<PathBuf>) -> Result<Vec<Subject>, Failure> {
    let file = registry_file(word);
    registries.extend(file.clone());
    let host = host(&registries)?;
    let resolution = host.resolution();
    let wanted: Vec<&RegistryFile> = match &file {
        Some(path) => {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            let files = resolution.files().iter();
            files.filter(|file| file.source.file() == path).collect()
        }
        None => {
            // Of several files that declare it, the most explicit one counts.
            let mut files: Vec<_> = resolution
                .files()
                .iter()
                .filter(|file| named(file, word).is_some())
                .collect();
            files.sort_by_key(|file| std::cmp::Reverse(file.source.rank()));
            files.into_iter().take(1).collect()
        }
    };
    let subjects: Vec<Subject> = wanted
        .into_iter()
        .flat_map(|registry| {
            let packages = registry.packages().iter();
            let meant =
                packages.filter(|package| file.is_some() || named(registry, word) == Some(package.name.as_str()));
            meant.map(|package| Subject {
                host: Arc::clone(&host),
                registries: registries.clone(),
                source: registry.source.to_string(),
                package: package.name.to_string(),
                version: package.version.clone(),
                entries: entries(resolution, registry, package.name.as_str()),
            })
        })
        .collect();
    if subjects.is_empty() {
        return Err(unknown("package", word, resolution));
    }
    Ok(subjects)
}

/// The name of the package of a file that `word` means.
fn named<'f>(file: &'f RegistryFile, word: &str) -> Option<&'f str> {
    let wanted = aiperf_host::Name::parse(word)?;
    file.package(&wanted).map(|package| package.name.as_str())
}

fn entries(resolution: &Resolution, registry: &RegistryFile, package: &str) -> Vec<EntryRef> {
    let all = Role::ALL.into_iter().flat_map(|role| resolution.entries(role));
    all.filter(|&entry| {
        resolution.file(entry).source == registry.source && resolution.entry(entry).package.as_str() == package
    })
    .collect()
}

/// What the code of a package is in, in a word.
pub(super) fn code(package: &Package) -> &'static str {
    match package.form {
        Form::Wasm { .. } => "component",
        Form::Native(_) | Form::Bundled(_) => "library",
    }
}

/// What an author has to do first: the code for this platform is not there, and its sources are.
pub(super) fn unbuilt(file: &RegistryFile, package: &Package) -> Option<String> {
    let folder = file.folder();
    let (path, ways): (_, &[_]) = match &package.form {
        Form::Bundled(_) => return None,
        Form::Native(libraries) => {
            let mut ours = libraries
                .iter()
                .filter(|library| library.target.as_deref().is_none_or(|target| target == HOST_TARGET));
            (&ours.next()?.path, &[("Cargo.toml", "cargo build --release")])
        }
        Form::Wasm { path, .. } => (
            path,
            &[
                ("build.sh", "sh build.sh"),
                ("Cargo.toml", "cargo build --release --target wasm32-unknown-unknown"),
            ],
        ),
    };
    let (_, build) = ways.iter().find(|(source, _)| folder.join(source).is_file())?;
    let code_file = folder.join(path);
    (!code_file.exists()).then(|| {
        format!(
            "the {} of package {} is not there\n  file: {}\n  declared: {}:{}\n  likely cause: it has not been built, \
             or with another target folder\n  next: (cd {} && {build})",
            code(package),
            package.name,
            code_file.display(),
            file.source,
            package.at,
            folder.display()
        )
    })
}

/// The error for a package that nobody declares.
pub(super) fn unknown(what: &str, word: &str, resolution: &Resolution) -> Failure {
    let files = resolution.files().iter();
    let names: Vec<&str> = files
        .flat_map(|file| file.packages())
        .map(|package| package.name.as_str())
        .collect();
    let near = aiperf_host::near(word, names.iter().copied());
    let hint = if near.is_empty() {
        format!("packages are: {}", names.join(", "))
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Failure::usage(format!("there is no {what} `{word}`"))
        .with_help(format!("{hint}; a registry file is named by its path: ./registry.yaml"))
}
