//! Instances of an entry without state: as many as there are callers at the same time, in practice one for each compute
//! thread.

use super::component::WasmPackage;
use super::guest::Guest;
use super::instance::{Answer, Instance, Interface, Trapped};
use aiperf_plugin_api::package::Open;
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{ErrorKind, PluginError, Result};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

/// Linear memory never shrinks, so an instance that one large input has blown up is thrown away.
const HIGH_WATER: usize = 64 << 20;

/// How often an entry is started anew after a trap before it is given up.
pub(super) const RESTARTS: u32 = 100;

pub(super) struct Pool<I> {
    package: Arc<WasmPackage>,
    open: Open,
    idle: Mutex<Vec<Instance<I>>>,
    /// Memory right after opening: what an interpreter needs anyway is no reason to throw it away.
    base: usize,
    traps: AtomicU32,
}

impl<I: Interface> Pool<I> {
    /// Opens the first instance, so that wrong options are found now.
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        let mut first = Instance::open(package, &open)?;
        Ok(Self {
            package: Arc::clone(package),
            open,
            base: first.guest().memory,
            idle: Mutex::new(vec![first]),
            traps: AtomicU32::new(0),
        })
    }

    pub(super) fn call<W: Carry<T>, T>(
        &self,
        call: impl FnOnce(&I, &mut Store<Guest>, ResourceAny) -> Answer<W>,
    ) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut instance = match taken {
            Some(instance) => instance,
            None => Instance::open(&self.package, &self.open)?,
        };
        match instance.call(self.allowed(), call) {
            Ok(answer) => {
                if instance.guest().memory <= self.base + HIGH_WATER {
                    idle().push(instance);
                }
                answer
            }
            Err(Trapped(why)) => Err(self.trapped(why)),
        }
    }

    fn allowed(&self) -> Duration {
        self.package.quick()
    }

    fn trapped(&self, why: String) -> PluginError {
        let traps = self.traps.fetch_add(1, Relaxed) + 1;
        if traps <= RESTARTS {
            PluginError::failed(why)
        } else {
            let given_up = format!("{why}; started anew {RESTARTS} times, it is given up");
            PluginError::new(ErrorKind::Panicked, given_up)
        }
    }
}
