//! The instance of an entry with state. After a trap its state is lost, and so is the entry.

use super::component::WasmPackage;
use super::guest::Guest;
use super::instance::{Answer, Instance, Interface, Trapped};
use aiperf_plugin_api::package::Open;
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{ErrorKind, PluginError, Result, Source};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

pub(super) struct Single<I> {
    package: Arc<WasmPackage>,
    instance: RefCell<Option<Instance<I>>>,
}

impl<I: Interface> Single<I> {
    pub(super) fn open(package: &Arc<WasmPackage>, open: &Open) -> Result<Self> {
        Ok(Self {
            package: Arc::clone(package),
            instance: RefCell::new(Some(Instance::open(package, open)?)),
        })
    }

    /// A call of which there are many.
    pub(super) fn quick<W: Carry<T>, T>(
        &self,
        call: impl FnOnce(&I, &mut Store<Guest>, ResourceAny) -> Answer<W>,
    ) -> Result<T> {
        self.call(self.package.quick(), call)
    }

    /// A call that is made once, or reads or writes much.
    pub(super) fn slow<W: Carry<T>, T>(
        &self,
        call: impl FnOnce(&I, &mut Store<Guest>, ResourceAny) -> Answer<W>,
    ) -> Result<T> {
        self.call(self.package.slow(), call)
    }

    fn call<W: Carry<T>, T>(
        &self,
        allowed: Duration,
        call: impl FnOnce(&I, &mut Store<Guest>, ResourceAny) -> Answer<W>,
    ) -> Result<T> {
        let mut held = self.instance.borrow_mut();
        let Some(instance) = held.as_mut() else {
            return Err(PluginError::new(ErrorKind::Panicked, "not called again after a trap"));
        };
        match instance.call(allowed, call) {
            Ok(answer) => answer,
            Err(Trapped(why)) => {
                *held = None;
                Err(PluginError::new(ErrorKind::Panicked, why))
            }
        }
    }

    /// What the interface `source` offers from now on.
    pub(super) fn give(&self, source: Box<dyn Source>) {
        if let Some(instance) = self.instance.borrow_mut().as_mut() {
            instance.guest().source = Some(source);
        }
    }
}
