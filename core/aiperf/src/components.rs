//! How this program works on WebAssembly files: in a child of its own, because a file can be made to cost its compiler all
//! memory and time there is.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::PathBuf,
    time::Duration,
};

use aiperf_config::{ExitCode, PluginPlan};
use aiperf_host::{Compiler, Task, WasmSettings};

use crate::failure::Failure;

/// The command of the child, with the name of the task: a file comes in, what was made of it goes out.
pub(crate) const COMMAND: &str = "wasm-task";

/// Address space of the child, in bytes.
#[cfg(unix)]
const MEMORY: u64 = 8 << 30;

/// Processor time of the child, where the user does not say.
const LIMIT: Duration = Duration::from_secs(120);

/// Components are compiled by a child and kept in `$XDG_CACHE_HOME/aiperf/wasm`, else `~/.cache/aiperf/wasm`.
pub(crate) fn settings(plan: &PluginPlan) -> WasmSettings {
    let defaults = WasmSettings::default();
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    WasmSettings {
        cache: cache.map(|cache| cache.join("aiperf/wasm")),
        compiler: compiler(plan.wasm_compile_timeout_s),
        call: plan
            .wasm_timeout_s
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .unwrap_or(defaults.call),
        memory: plan
            .wasm_memory_mib
            .and_then(|mib| usize::try_from(mib << 20).ok())
            .unwrap_or(defaults.memory),
    }
}

/// A child of this program, with so many seconds of processor time.
pub(crate) fn compiler(seconds: Option<u64>) -> Compiler {
    std::env::current_exe().map_or(Compiler::Here, |program| Compiler::Child {
        program,
        arguments: vec![COMMAND.to_owned()],
        limit: seconds.map_or(LIMIT, Duration::from_secs),
    })
}

/// The child.
///
/// # Errors
/// When the file is not what it should be.
pub(crate) fn work(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| Failure::usage(format!("{COMMAND}: {error}"));
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let asked = match words.as_slice() {
        [name, seconds] => Task::parse(name).zip(seconds.parse().ok()),
        _ => None,
    };
    let (task, seconds) = asked.ok_or_else(|| Failure::usage(format!("{COMMAND}: a part of this program calls it")))?;
    limit(seconds).map_err(failed)?;
    let mut file = Vec::new();
    io::stdin().read_to_end(&mut file).map_err(failed)?;
    let made = task.perform(&file).map_err(Failure::usage)?;
    io::stdout().write_all(&made).map_err(failed)?;
    Ok(ExitCode::Ok)
}

#[cfg(unix)]
fn limit(seconds: u64) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    // Nobody waits for the code once the parent is gone.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;

    for (resource, most) in [(Resource::As, MEMORY), (Resource::Cpu, seconds), (Resource::Core, 0)] {
        let allowed = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(
            resource,
            Rlimit {
                current: Some(allowed),
                maximum: Some(allowed),
            },
        )?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn limit(_: u64) -> io::Result<()> {
    Ok(())
}
