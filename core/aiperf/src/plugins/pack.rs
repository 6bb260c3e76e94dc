//! `aiperf plugins pack`: a package as one file, with the digests of its code; or the digests alone.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use aiperf_config::ExitCode;
use aiperf_host::registry::{RegistryFile, Source};
use clap::{Arg, ArgAction, Command, value_parser};
use serde::Serialize;

use super::{
    archive,
    arguments::{Words, output_argument},
    contents, digest, subject,
};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins pack")
        .about(
            "Pack a package into one file that `aiperf plugins install` takes: the registry file with the digests filled in, the \
             files that it names and that are there, licence and README. A WebAssembly core module goes in as a component.",
        )
        .arg(
            Arg::new("folder")
                .value_name("FOLDER|FILE")
                .default_value(".")
                .help("The package: its registry file, or the folder of it"),
        )
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The file to write [default: NAME-VERSION.tar.gz]"),
        )
        .arg(
            Arg::new("in-place")
                .long("in-place")
                .action(ArgAction::SetTrue)
                .conflicts_with("to")
                .help("Write the digests into the registry file itself, and no archive"),
        )
        .arg(output_argument())
}

/// What was done, as JSON.
#[derive(Serialize)]
struct Packed {
    /// The archive; absent with `--in-place`.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<PathBuf>,
    /// SHA-256 of the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Paths in the archive.
    files: Vec<PathBuf>,
    /// Paths whose digest was filled in.
    digests: Vec<String>,
}

/// Packs.
///
/// # Errors
/// When the registry file is broken, declares another digest than a file has, or the package is not built.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let (file, text) = read(&words.text("folder"))?;
    let in_place = words.switch("in-place");
    let made = if in_place {
        BTreeMap::new()
    } else {
        contents::made_components(&file)?
    };
    let filled = digest::fill(&file, &text, &made)?;
    if !filled.left.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no place where the digest can be written that aiperf finds",
            file.source
        ))
        .with_help(format!("write it by hand: sha256 of {}", filled.left.join(", of "))));
    }
    let packed = if in_place {
        if filled.text != text {
            fs::write(file.source.file(), &filled.text)
                .map_err(|error| Failure::usage(format!("{} can't be written: {error}", file.source)))?;
        }
        Packed {
            archive: None,
            sha256: None,
            files: Vec::new(),
            digests: filled.written,
        }
    } else {
        pack(&file, filled, made, words.path("to"))?
    };
    let text = if words.json() {
        super::json(&packed)?
    } else {
        told(&file, &packed)
    };
    stdout::print(&text).map(|()| ExitCode::Ok)
}

fn told(file: &RegistryFile, packed: &Packed) -> String {
    let mut text = String::new();
    match (&packed.archive, &packed.sha256) {
        (Some(archive), Some(digest)) => {
            text.push_str(&format!("Wrote {}\n", archive.display()));
            for path in &packed.files {
                text.push_str(&format!("  {}\n", path.display()));
            }
            text.push_str(&format!(
                "SHA-256: {digest}\nNext: aiperf plugins install {}\n",
                archive.display()
            ));
        }
        _ => {
            for path in &packed.digests {
                text.push_str(&format!("{}: digest of {path} written\n", file.source));
            }
            if text.is_empty() {
                text = format!("{}: every file of code that is there has its digest\n", file.source);
            }
        }
    }
    text
}

/// Writes the archive.
fn pack(
    file: &RegistryFile,
    filled: digest::Filled,
    mut made: BTreeMap<PathBuf, Vec<u8>>,
    to: Option<PathBuf>,
) -> Result<Packed, Failure> {
    let Some(first) = file.packages().first() else {
        return Err(Failure::usage(format!("{} declares no package", file.source)));
    };
    for package in file.packages() {
        if let Some(unbuilt) = subject::unbuilt(file, package) {
            return Err(Failure::plugin(unbuilt));
        }
        let mut code = digest::files(package).into_iter().map(|code| code.0).peekable();
        if code.peek().is_some() && !code.any(|path| file.folder().join(path).is_file()) {
            return Err(Failure::plugin(format!(
                "no {} of package {} is there, of those that {} names",
                subject::code(package),
                package.name,
                file.source
            )));
        }
    }
    let mut files = BTreeMap::new();
    for path in contents::files(file)? {
        let bytes = match made.remove(&path) {
            Some(component) => component,
            None => fs::read(file.folder().join(&path))
                .map_err(|error| Failure::usage(format!("{} can't be read: {error}", path.display())))?,
        };
        files.insert(path, bytes);
    }
    files.insert(PathBuf::from("registry.yaml"), filled.text.into_bytes());
    // A version may be any text.
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || ".+-_".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = format!("{}-{}", first.name, first.version).chars().map(safe).collect();
    let to = to.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    let failed = |error: std::io::Error| Failure::usage(format!("{} can't be written: {error}", to.display()));
    let mut bytes = Vec::new();
    let sorted = files.iter().map(|(path, bytes)| (path.as_path(), bytes.as_slice()));
    archive::write(&mut bytes, &name, sorted).map_err(failed)?;
    // A file that is half there is never found.
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .and_then(|mut half| {
            std::io::Write::write_all(&mut half, &bytes)?;
            readable(half.as_file())?;
            half.persist(&to).map_err(std::io::Error::from)
        })
        .map_err(failed);
    written?;
    Ok(Packed {
        archive: Some(to),
        sha256: Some(digest::of_bytes(&bytes).to_string()),
        files: files.into_keys().collect(),
        digests: filled.written,
    })
}

/// Temporary files are their owner's alone; an archive is to be handed on.
fn readable(file: &fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}

/// Reads the registry file that a word means, with its text.
///
/// # Errors
/// When there is none, or it is broken.
pub(super) fn read(word: &str) -> Result<(RegistryFile, String), Failure> {
    let path = subject::registry_file(word).unwrap_or_else(|| PathBuf::from(word));
    let unreadable = |error| {
        Failure::usage(format!("{} can't be read: {error}", path.display()))
            .with_help("name a registry file, or a folder with a registry.yaml in it")
    };
    let path = path.canonicalize().map_err(unreadable)?;
    let text = fs::read_to_string(&path).map_err(unreadable)?;
    let file = RegistryFile::parse(&text, Source::CommandLine(path))?;
    Ok((file, text))
}
