//! `aiperf plugins install`: a package is copied to the user's plugin folder.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use aiperf_config::ExitCode;
use aiperf_host::{
    Capability, GRANTED_FILE, Name,
    discovery::{self, Places, REGISTRY_FILE},
    registry::{Form, RegistryFile, Source},
};
use clap::{Arg, ArgAction, Command};
use serde::Serialize;

use super::{
    archive,
    arguments::{Words, output_argument},
    contents, digest, pack, subject,
    validate::open_in_child,
};
use crate::{bundled, failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins install")
        .about("Copy a package, its registry file and the files that it names, to your plugin folder.")
        .arg(
            Arg::new("source")
                .value_name("FOLDER|FILE")
                .required(true)
                .help("The package: an archive of `aiperf plugins pack`, its registry file, or the folder of it"),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Replace the package if it is installed already"),
        )
        .arg(
            Arg::new("grant")
                .long("grant")
                .value_name("CAPABILITY")
                .action(ArgAction::Append)
                .help("Let it do something that it asks for, http:HOST:PORT or secrets, in every run; may be repeated"),
        )
        .arg(output_argument())
}

/// What was done, as JSON.
#[derive(Serialize)]
struct Installed {
    folder: PathBuf,
    packages: Vec<Installation>,
    /// Categories and names.
    entries: Vec<String>,
    /// Paths in the folder.
    files: Vec<PathBuf>,
    /// Paths of code whose digest is not declared.
    without_digest: Vec<String>,
    /// Some of it is native code.
    unsandboxed: bool,
    /// Capabilities that the packages ask for.
    asks_for: Vec<Capability>,
    /// Those of them that were granted.
    granted: Vec<Capability>,
}

/// A package that is installed.
#[derive(Serialize)]
pub(super) struct Installation {
    pub(super) name: String,
    pub(super) version: String,
}

impl Installation {
    /// The packages of a file.
    pub(super) fn of(file: &RegistryFile) -> impl Iterator<Item = Self> {
        file.packages().iter().map(|package| Self {
            name: package.name.to_string(),
            version: package.version.clone(),
        })
    }

    /// Names with versions.
    pub(super) fn list(packages: &[Self]) -> String {
        let names: Vec<String> = packages
            .iter()
            .map(|one| format!("{} {}", one.name, one.version))
            .collect();
        names.join(", ")
    }
}

/// The user's plugin folder.
///
/// # Errors
/// When the environment names none.
pub(super) fn plugin_folder() -> Result<PathBuf, Failure> {
    discovery::plugin_folder(&|name| std::env::var_os(name)).ok_or_else(|| {
        Failure::usage("there is no plugin folder: neither XDG_DATA_HOME nor HOME is an absolute path")
            .with_help("set one, or use the package with --plugin-registry FILE")
    })
}

/// The registry files that are installed.
///
/// # Errors
/// When a file that the environment names is broken.
pub(super) fn installed() -> Result<Vec<RegistryFile>, Failure> {
    let places = Places {
        builtin: bundled::REGISTRY,
        environment: &|name| std::env::var_os(name).filter(|_| name != discovery::REGISTRY_VARIABLE),
        named: &[],
    };
    let mut files = discovery::discover(&places)?.files;
    files.retain(|file| matches!(file.source, Source::Installed(_)));
    Ok(files)
}

/// Installs.
///
/// # Errors
/// When the package is broken, can't be opened, or is installed already.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let source = words.text("source");
    // The archive's files are needed until they are copied.
    let unpacked = archive::is_one(Path::new(&source))
        .then(|| unpack(Path::new(&source)))
        .transpose()?;
    let folder = unpacked.as_ref().map(|unpacked| unpacked.1.display().to_string());
    let (file, text) = pack::read(&folder.unwrap_or(source))?;
    let Some(first) = file.packages().first() else {
        return Err(Failure::usage(format!("{} declares no package", file.source)));
    };
    check_files(&file)?;
    // Before anything of it runs.
    let made = contents::made_components(&file).map_err(|failure| Failure {
        message: format!("{} was not installed: {}", first.name, failure.message),
        ..failure
    })?;
    let filled = digest::fill(&file, &text, &made)?;
    let folder = plugin_folder()?;
    let target = folder.join(first.name.as_str());
    if file.source.file().starts_with(&folder) {
        return Err(Failure::usage(format!("{} is installed already", file.source)));
    }
    check_names(&file, &target, words.switch("force"))?;
    for package in file.packages() {
        if let Some(unbuilt) = subject::unbuilt(&file, package) {
            return Err(Failure::plugin(unbuilt));
        }
        let registries = [file.source.file().to_owned()];
        open_in_child(&file.source.to_string(), package, &registries)
            .map_err(|problem| Failure::plugin(format!("{} was not installed: {problem}", package.name)))?;
    }
    let granted = grants(&file, words.all("grant"))?;
    let copied = copy(&file, &filled.text, &made, &granted, &folder, &target)?;
    let installed = Installed {
        packages: Installation::of(&file).collect(),
        entries: file
            .entries()
            .iter()
            .map(|one| format!("{}/{}", one.role, one.name))
            .collect(),
        files: copied,
        without_digest: filled.left,
        unsandboxed: file
            .packages()
            .iter()
            .any(|package| matches!(package.form, Form::Native(_))),
        asks_for: file
            .packages()
            .iter()
            .flat_map(|package| package.capabilities.iter().cloned())
            .collect(),
        granted: granted.into_iter().map(|(_, capability)| capability).collect(),
        folder: target,
    };
    let text = if words.json() {
        super::json(&installed)?
    } else {
        told(&file, &installed)
    };
    stdout::print(&text)?;
    Ok(ExitCode::Ok)
}

fn told(file: &RegistryFile, installed: &Installed) -> String {
    let mut told = format!(
        "Installed {} in {}\n",
        Installation::list(&installed.packages),
        installed.folder.display()
    );
    for path in &installed.files {
        told.push_str(&format!("  {}\n", path.display()));
    }
    for left in &installed.without_digest {
        told.push_str(&format!("  no digest is declared for {left}\n"));
    }
    if installed.unsandboxed {
        told.push_str("Native code, unsandboxed: it can do what you can.\n");
    } else {
        told.push_str("Sandboxed: it reaches no file, no network, no clock and no environment variable by itself.\n");
        if installed.asks_for.is_empty() {
            told.push_str("It asks for nothing beyond that.\n");
        }
    }
    let met = |asked: &&Capability| installed.granted.iter().any(|grant| asked.covers(grant));
    for grant in &installed.granted {
        told.push_str(&format!("Granted: {grant}\n"));
    }
    for capability in installed.asks_for.iter().filter(|asked| !met(asked)) {
        let grant = match capability {
            Capability::AnyHttp => "http:HOST:PORT".to_owned(),
            other => other.to_string(),
        };
        told.push_str(&format!(
            "It asks for {capability}, which is not granted: `--grant {grant}` when it is installed does that\n"
        ));
    }
    told.push_str(&format!("Entries: {}\n", installed.entries.join(", ")));
    for entry in file.entries() {
        told.push_str(&format!("Next: aiperf plugins which {} {}\n", entry.role, entry.name));
    }
    if let Some(first) = installed.packages.first() {
        told.push_str(&format!("To undo: aiperf plugins remove {}\n", first.name));
    }
    told
}

/// The packages that are to be granted something, with that. It goes to those which ask for it.
fn grants(file: &RegistryFile, words: Vec<String>) -> Result<Vec<(Name, Capability)>, Failure> {
    let mut grants = Vec::new();
    for word in words {
        let capability = Capability::parse(&word).ok_or_else(|| {
            Failure::usage(format!("--grant: unknown capability `{word}`")).with_help(Capability::FORM)
        })?;
        let mut refused = None;
        let before = grants.len();
        for package in file.packages() {
            match package.asks_for(&capability) {
                Ok(()) => grants.push((package.name.clone(), capability.clone())),
                Err(error) => refused = Some(error),
            }
        }
        if let (true, Some(error)) = (grants.len() == before, refused) {
            return Err(Failure::usage(format!("--grant: {error}")));
        }
    }
    Ok(grants)
}

/// Unpacks an archive into a temporary folder, which goes when it is dropped; the other is that of the package.
fn unpack(archive: &Path) -> Result<(tempfile::TempDir, PathBuf), Failure> {
    let temporary =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder can be made: {error}")))?;
    let package = archive::unpack(archive, temporary.path()).map_err(|error| {
        Failure::plugin(format!("{} can't be unpacked: {error}", archive.display()))
            .with_help("`aiperf plugins pack` makes archives that can be; if it did make this one, get it once more")
    })?;
    Ok((temporary, package))
}

/// No package brings files that would be believed where it is installed, in any folder of it.
fn check_files(file: &RegistryFile) -> Result<(), Failure> {
    for path in contents::files(file)? {
        let own = path.file_name().unwrap_or_default();
        let reserved = [GRANTED_FILE, REGISTRY_FILE];
        if let Some(name) = reserved.into_iter().find(|name| own.eq_ignore_ascii_case(name)) {
            let problem = format!("{}: a package can't bring a file {name}", path.display());
            return Err(Failure::plugin(problem).with_help("give the file another name, in the registry file as well"));
        }
    }
    Ok(())
}

/// Package names are taken by built-in and installed ones.
fn check_names(file: &RegistryFile, target: &Path, force: bool) -> Result<(), Failure> {
    let builtin = RegistryFile::parse(bundled::REGISTRY, Source::BuiltIn)?;
    let installed = installed()?;
    for package in file.packages() {
        if builtin.package(&package.name).is_some() {
            return Err(
                Failure::usage(format!("{} is the name of a built-in package", package.name))
                    .with_help("give the package another name, in its registry file and in its code"),
            );
        }
        for other in installed.iter().filter(|other| other.package(&package.name).is_some()) {
            let here = other.source.file().starts_with(target);
            if !here {
                return Err(
                    Failure::usage(format!("{} is installed already, by {}", package.name, other.source))
                        .with_help(format!("aiperf plugins remove {}", package.name)),
                );
            }
            if !force {
                let version = other
                    .package(&package.name)
                    .map_or("", |package| package.version.as_str());
                return Err(Failure::usage(format!(
                    "{} {version} is installed already, in {}",
                    package.name,
                    target.display()
                ))
                .with_help(format!("--force replaces it by {}", package.version)));
            }
        }
    }
    if target.symlink_metadata().is_ok() && !force {
        return Err(Failure::usage(format!("{} is there already", target.display())).with_help("--force replaces it"));
    }
    Ok(())
}

/// Copies the files to a folder beside the plugin folder, then moves that to its place: a package that is half there is
/// never found. Returns what was copied.
fn copy(
    file: &RegistryFile,
    text: &str,
    made: &BTreeMap<PathBuf, Vec<u8>>,
    granted: &[(Name, Capability)],
    folder: &Path,
    target: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    let staging = folder.with_file_name(format!(".installing-{}", std::process::id()));
    let old = folder.with_file_name(format!(".replaced-{}", std::process::id()));
    let done = stage(file, text, made, granted, &staging).and_then(|copied| {
        let moved = fs::create_dir_all(folder)
            .and_then(|()| match target.symlink_metadata() {
                Ok(_) => fs::rename(target, &old),
                Err(_) => Ok(()),
            })
            .and_then(|()| {
                fs::rename(&staging, target).inspect_err(|_| {
                    // The old one comes back, if there was one.
                    let _ = fs::rename(&old, target);
                })
            });
        moved
            .map(|()| copied)
            .map_err(|error| Failure::usage(format!("{} can't be written: {error}", target.display())))
    });
    let _ = fs::remove_dir_all(&staging);
    let _ = fs::remove_dir_all(&old);
    done
}

fn stage(
    file: &RegistryFile,
    text: &str,
    made: &BTreeMap<PathBuf, Vec<u8>>,
    granted: &[(Name, Capability)],
    staging: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    let failed =
        |path: &Path, error: std::io::Error| Failure::usage(format!("{} can't be written: {error}", path.display()));
    let mut copied = vec![PathBuf::from(REGISTRY_FILE)];
    for path in contents::files(file)? {
        let to = staging.join(&path);
        let parent = to.parent().unwrap_or(staging);
        fs::create_dir_all(parent)
            .and_then(|()| match made.get(&path) {
                Some(component) => fs::write(&to, component),
                None => fs::copy(file.folder().join(&path), &to).map(drop),
            })
            .map_err(|error| failed(&to, error))?;
        copied.push(path);
    }
    let registry = staging.join(REGISTRY_FILE);
    fs::create_dir_all(staging)
        .and_then(|()| fs::write(&registry, text))
        .map_err(|error| failed(&registry, error))?;
    if !granted.is_empty() {
        let path = staging.join(GRANTED_FILE);
        let lines: String = granted
            .iter()
            .map(|(package, capability)| format!("{package} {capability}\n"))
            .collect();
        fs::write(&path, lines).map_err(|error| failed(&path, error))?;
    }
    Ok(copied)
}
