//! One instance of a component with one opened entry.

use super::bindings::aiperf::plugin::types;
use super::component::WasmPackage;
use super::guest::Guest;
use super::trap;
use aiperf_plugin_api::package::Open;
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{PluginError, Result};
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::{self, InstancePre, ResourceAny};

/// What a call into a guest gives: an answer, the guest's own error, or a trap.
pub(super) type Answer<T> = wasmtime::Result<std::result::Result<T, types::PluginError>>;

/// The exported interface of a category.
pub(super) trait Interface: Sized {
    fn load(pre: &InstancePre<Guest>, store: &mut Store<Guest>, from: &component::Instance) -> wasmtime::Result<Self>;
    fn open(&self, store: &mut Store<Guest>, open: &types::Open) -> Answer<ResourceAny>;
}

/// Never entered again after a trap: it is dropped then, with its store.
pub(super) struct Instance<I> {
    store: Store<Guest>,
    interface: I,
    entry: ResourceAny,
}

/// The instance has trapped; why, in words.
pub(super) struct Trapped(pub(super) String);

impl<I: Interface> Instance<I> {
    pub(super) fn open(package: &WasmPackage, open: &Open) -> Result<Self> {
        let (mut store, instance) = package.instantiate(open.host.clone()).map_err(PluginError::failed)?;
        let opened = I::load(package.pre(), &mut store, &instance).and_then(|interface| {
            trap::limit(&mut store, package.slow());
            Ok((interface.open(&mut store, &open.carry())?, interface))
        });
        match opened {
            Ok((Ok(entry), interface)) => Ok(Self {
                store,
                interface,
                entry,
            }),
            Ok((Err(error), _)) => Err(error.carry()),
            Err(error) => Err(PluginError::failed(trap::explain(&error, &store, package.slow()))),
        }
    }

    /// One call. The inner error is the guest's own.
    pub(super) fn call<W: Carry<T>, T>(
        &mut self,
        allowed: Duration,
        call: impl FnOnce(&I, &mut Store<Guest>, ResourceAny) -> Answer<W>,
    ) -> std::result::Result<Result<T>, Trapped> {
        trap::limit(&mut self.store, allowed);
        self.guest().forget();
        match call(&self.interface, &mut self.store, self.entry) {
            Ok(Ok(answer)) => Ok(Ok(answer.carry())),
            Ok(Err(error)) => Ok(Err(error.carry())),
            Err(error) => Err(Trapped(trap::explain(&error, &self.store, allowed))),
        }
    }

    pub(super) fn guest(&mut self) -> &mut Guest {
        self.store.data_mut()
    }
}
