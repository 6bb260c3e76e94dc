//! One compiler and runtime for the process, and the clock that ends calls which take too long.

use std::sync::OnceLock;
use std::time::Duration;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Engine};

use super::bindings::aiperf::plugin::{host, http, secrets, source};
use super::guest::Guest;

/// How often the clock of deadlines ticks. A call may take up to one tick longer than allowed.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// Stack that a guest may use.
const STACK: usize = 512 << 10;

/// Engine and services; made once, when the first component is loaded.
pub(super) struct Runtime {
    pub(super) engine: Engine,
    pub(super) linker: Linker<Guest>,
}

impl Runtime {
    /// The runtime of this process.
    ///
    /// # Errors
    /// The platform has no code generator, or no thread can be started.
    pub(super) fn get() -> Result<&'static Self, String> {
        static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
        RUNTIME.get_or_init(Self::new).as_ref().map_err(Clone::clone)
    }

    fn new() -> Result<Self, String> {
        let engine = Engine::new(&config()).map_err(|error| format!("{error:#}"))?;
        let mut linker = Linker::new(&engine);
        host::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)
            .and_then(|()| http::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest))
            .and_then(|()| secrets::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest))
            .and_then(|()| source::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest))
            .map_err(|error| format!("{error:#}"))?;
        let ticking = engine.clone();
        // A thread of its own: a deadline must pass though every other thread is busy, perhaps in the guest itself.
        std::thread::Builder::new()
            .name("wasm_deadlines".to_owned())
            .spawn(move || {
                loop {
                    std::thread::sleep(TICK);
                    ticking.increment_epoch();
                }
            })
            .map_err(|error| error.to_string())?;
        Ok(Self { engine, linker })
    }
}

/// The configuration; compiled code fits it alone.
fn config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Calls cost a quarter without it, and nothing here is asynchronous.
        .concurrency_support(false)
        .epoch_interruption(true)
        .max_wasm_stack(STACK)
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(16));
    config
}
