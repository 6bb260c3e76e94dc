//! The bus of one process: a message is moved into its receiver's queue.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use super::{Bus, Route, ServiceId, Sink, Undeliverable};

/// All services are threads of this process.
#[derive(Default)]
pub struct LocalBus {
    sinks: RwLock<HashMap<ServiceId, Sink>>,
}

impl Bus for LocalBus {
    fn attach(&self, id: ServiceId, sink: Sink) {
        self.sinks
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, sink);
    }

    fn route(&self, to: ServiceId) -> Result<Route, Undeliverable> {
        let sinks = self.sinks.read().unwrap_or_else(PoisonError::into_inner);
        sinks
            .get(&to)
            .map(|sink| Route::new(to, sink.clone()))
            .ok_or(Undeliverable(to))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        bus::ServiceKind,
        message::{CancelReason, Message},
    };

    #[test]
    fn messages_reach_the_attached_and_only_them() {
        let bus = LocalBus::default();
        let (sender, receiver) = crossbeam_channel::bounded(4);
        let worker = ServiceId::nth(ServiceKind::Worker, 1);
        bus.attach(worker, Arc::new(move |message| sender.send(message).is_ok()));

        assert_eq!(
            bus.route(ServiceId::nth(ServiceKind::Worker, 0)).err(),
            Some(Undeliverable(ServiceId::nth(ServiceKind::Worker, 0)))
        );
        let route = bus.route(worker).expect("attached");
        assert_eq!(route.send(Message::Interrupt(CancelReason::Interrupt)), Ok(()));
        assert_eq!(receiver.recv(), Ok(Message::Interrupt(CancelReason::Interrupt)));

        drop(receiver);
        assert_eq!(route.send(Message::Shutdown), Err(Undeliverable(worker)));
    }
}
