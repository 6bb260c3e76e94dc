//! Compiled code, kept from one run to the next.
//!
//! Compiled code is machine code. It is loaded only from a folder that belongs to this user and that nobody else may enter;
//! whoever can write there could as well replace this program.
#![allow(
    unsafe_code,
    reason = "loading compiled code cannot be checked by the compiler; all of it is in this file"
)]

use super::compiler::Task;
use super::component::WasmSettings;
use super::inspect::one_line;
use crate::load::LoadCause;
use crate::registry::Sha256;
use sha2::Digest;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};
use wasmtime::Engine;
use wasmtime::component::Component;

/// The compiled component, from the cache if it is there.
pub(super) fn load(
    engine: &Engine,
    bytes: &[u8],
    digest: Sha256,
    settings: &WasmSettings,
) -> Result<Component, LoadCause> {
    let entry = settings
        .cache
        .as_deref()
        .filter(|folder| private(folder))
        .map(|folder| folder.join(name(engine, digest)));
    if let Some(entry) = &entry
        && let Ok(compiled) = fs::read(entry)
    {
        match deserialize(engine, &compiled) {
            Ok(component) => {
                used(entry);
                return Ok(component);
            }
            // Cut short, or of a version that hashes alike: made anew below.
            Err(_) => drop(fs::remove_file(entry)),
        }
    }
    let failed = |message: String| LoadCause::Compile { message };
    let compiled = settings.compiler.perform(Task::Compile, bytes).map_err(failed)?;
    if let Some(entry) = &entry {
        // A full disk costs the next run a compilation, not this one its plugin.
        let _ = write(entry, &compiled);
        prune(entry);
    }
    deserialize(engine, &compiled).map_err(|error| failed(one_line(&format!("{error:#}"))))
}

fn deserialize(engine: &Engine, compiled: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes come from `precompile_component`, of this process, of a child that is this same program, or of an
    // earlier run that left them in a folder which only this user may enter. wasmtime itself checks version and settings.
    unsafe { Component::deserialize(engine, compiled) }
}

/// Name of a cache entry: the digest of the file, the version of the compiler, and its settings for this processor.
fn name(engine: &Engine, digest: Sha256) -> String {
    let mut settings = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    let key = sha2::Sha256::new()
        .chain_update(digest.0)
        .chain_update(settings.finish().to_le_bytes())
        .finalize();
    format!("{}.cwasm", Sha256(key.into()))
}

/// Makes the folder if need be; whether nobody but this user may enter it.
fn private(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, MetadataExt};
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let Ok(found) = made.and_then(|()| fs::symlink_metadata(folder)) else {
            return false;
        };
        found.is_dir() && found.mode() & 0o077 == 0 && found.uid() == rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    {
        // A user's folder is private there unless it has been shared on purpose.
        fs::create_dir_all(folder).is_ok()
    }
}

/// Compiled code that is kept, in bytes: some 20 components of interpreted languages, or thousands of others.
const KEPT: u64 = 1 << 30;

/// What a run that was ended has left half written goes after a day.
const UNFINISHED: Duration = Duration::from_secs(86_400);

/// Remembers when an entry was last of use.
fn used(entry: &Path) {
    // A cache that cannot be written to still serves.
    let _ = File::open(entry).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes what has been of no use the longest, until the rest is small enough; never `new`.
fn prune(new: &Path) {
    let Some(entries) = new.parent().and_then(|folder| fs::read_dir(folder).ok()) else {
        return;
    };
    let mut kept = Vec::new();
    for entry in entries.flatten() {
        let (path, Ok(about)) = (entry.path(), entry.metadata()) else {
            continue;
        };
        let modified = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        match path.extension().and_then(|end| end.to_str()) {
            Some("cwasm") if path != new => kept.push((modified, about.len(), path)),
            Some("tmp") if modified.elapsed().is_ok_and(|age| age > UNFINISHED) => drop(fs::remove_file(path)),
            _ => {}
        }
    }
    kept.sort();
    let mut total: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    total += fs::metadata(new).map_or(0, |about| about.len());
    for (_, bytes, path) in kept {
        if total <= KEPT {
            return;
        }
        if fs::remove_file(path).is_ok() {
            total -= bytes;
        }
    }
}

/// Under another name first, so that no reader finds half of it.
fn write(entry: &Path, compiled: &[u8]) -> io::Result<()> {
    let unfinished = entry.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&unfinished, compiled)
        .and_then(|()| fs::rename(&unfinished, entry))
        .inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of that many bytes without content, last of use so many seconds ago.
    fn file(folder: &Path, name: &str, bytes: u64, age: u64) {
        let file = File::create(folder.join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_of_no_use_goes_first() {
        const QUARTER: u64 = KEPT / 4;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for (name, age) in [("a.cwasm", 50), ("b.cwasm", 400), ("c.cwasm", 300), ("d.cwasm", 200)] {
            file(folder, name, QUARTER, age);
        }
        file(folder, "new.cwasm", QUARTER + 1, 1000);
        file(folder, "half.7.tmp", 1, 86_500);
        file(folder, "half.8.tmp", 1, 100);
        file(folder, "other.txt", 1, 1_000_000);
        used(&folder.join("b.cwasm"));
        // 5/4 and a byte: two of the four others have to go, those of no use for 300 and 200 s.
        prune(&folder.join("new.cwasm"));
        assert_eq!(
            names(folder),
            ["a.cwasm", "b.cwasm", "half.8.tmp", "new.cwasm", "other.txt"]
        );
        prune(&folder.join("new.cwasm"));
        assert_eq!(names(folder).len(), 5, "it is small enough now");
    }
}
