//! Compiled code: made in a child process with limits, and kept from one run to the next.
//!
//! Compiled code is machine code. It is loaded only from a folder that belongs to this user and that nobody else may enter;
//! whoever can write there could as well replace this program.
#![allow(
    unsafe_code,
    reason = "loading compiled code cannot be checked by the compiler; all of it is in this file"
)]

use super::component::WasmSettings;
use super::engine::Runtime;
use super::inspect::one_line;
use crate::load::LoadCause;
use crate::registry::Sha256;
use sha2::Digest;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wasmtime::Engine;
use wasmtime::component::Component;

/// Who compiles components.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// This process.
    Here,
    /// A child process: this program with these arguments. It reads a component on its standard input and calls [`compile`].
    Child(PathBuf, Vec<String>),
}

/// How long a component may take to compile, by the clock; the child limits its own processor time.
const COMPILE: Duration = Duration::from_secs(300);

/// Compiles a component: what a child process does.
///
/// # Errors
/// The component is not valid.
pub fn compile(component: &[u8]) -> Result<Vec<u8>, String> {
    Runtime::get()?
        .engine
        .precompile_component(component)
        .map_err(|error| one_line(&format!("{error:#}")))
}

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
        && let Ok(compiled) = std::fs::read(entry)
    {
        match deserialize(engine, &compiled) {
            Ok(component) => return Ok(component),
            // Cut short, or of a version that hashes alike: made anew below.
            Err(_) => drop(std::fs::remove_file(entry)),
        }
    }
    let failed = |message: String| LoadCause::Compile { message };
    let compiled = match &settings.compiler {
        Compiler::Here => compile(bytes),
        Compiler::Child(program, arguments) => compile_in_child(program, arguments, bytes),
    }
    .map_err(failed)?;
    if let Some(entry) = &entry {
        // A full disk costs the next run a compilation, not this one its plugin.
        let _ = write(entry, &compiled);
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
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let Ok(found) = made.and_then(|()| std::fs::symlink_metadata(folder)) else {
            return false;
        };
        found.is_dir() && found.mode() & 0o077 == 0 && found.uid() == rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    {
        // A user's folder is private there unless it has been shared on purpose.
        std::fs::create_dir_all(folder).is_ok()
    }
}

/// Under another name first, so that no reader finds half of it.
fn write(entry: &Path, compiled: &[u8]) -> io::Result<()> {
    let unfinished = entry.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&unfinished, compiled)
        .and_then(|()| std::fs::rename(&unfinished, entry))
        .inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
}

fn compile_in_child(program: &Path, arguments: &[String], component: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the compiler cannot be started: {error}"))?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that ends early closes its end; it says why itself.
            input.map(|mut input| input.write_all(component))
        });
        let output = scope.spawn(move || read_all(output));
        let errors = scope.spawn(move || read_all(errors));
        let ended = wait(&mut child);
        let (output, errors) = (output.join().unwrap_or_default(), errors.join().unwrap_or_default());
        match ended {
            Some(true) => Ok(output),
            Some(false) => Err(match one_line(&String::from_utf8_lossy(&errors)) {
                said if said.is_empty() => "the compiler ran out of its memory or time".to_owned(),
                said => said,
            }),
            None => Err(format!("it did not compile within {} s", COMPILE.as_secs())),
        }
    })
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// Whether the child succeeded; `None` if its time was up and it was ended.
fn wait(child: &mut Child) -> Option<bool> {
    let end = Instant::now() + COMPILE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}
