//! Threads of services. Whatever ends one before its time, a panic of the core itself too, reaches the controller: a run never
//! waits for a thread that is no more.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread::{self, JoinHandle},
};

use crate::{
    bus::Route,
    message::{Failure, Message},
};

/// What ended a service: the message, and whether a plugin is at fault.
pub(crate) type Ended = (String, bool);

/// Starts a service's thread, of the service's name.
///
/// # Errors
/// When no thread can be had.
pub(crate) fn spawn(
    service: String,
    controller: Route,
    work: impl FnOnce() -> Result<(), Ended> + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(service.clone()).spawn(move || {
        let ended = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
            let text = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| payload.downcast_ref::<String>().cloned());
            Err((
                format!(
                    "a fault of aiperf itself, please report it: {}",
                    text.as_deref().unwrap_or("no message")
                ),
                false,
            ))
        });
        if let Err((message, plugin)) = ended {
            // A controller that has gone needs no report.
            let _ = controller.send(Message::Failed(Failure {
                service,
                message,
                plugin,
                help: None,
            }));
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crossbeam_channel::unbounded;

    use super::*;
    use crate::bus::{Bus, ServiceId, ServiceKind, local::LocalBus};

    #[test]
    fn every_early_end_is_told() {
        let bus = LocalBus::default();
        let (sender, inbox) = unbounded();
        let id = ServiceId::only(ServiceKind::SystemController);
        bus.attach(id, Arc::new(move |message| sender.send(message).is_ok()));
        let run = |work: fn() -> Result<(), Ended>| {
            let controller = bus.route(id).expect("attached");
            spawn("worker_0".into(), controller, work)
                .expect("started")
                .join()
                .expect("caught");
            inbox.try_recv().ok()
        };
        let failed = |message: &str, plugin| {
            Some(Message::Failed(Failure {
                service: "worker_0".into(),
                message: message.into(),
                plugin,
                help: None,
            }))
        };
        assert_eq!(run(|| Ok(())), None);
        assert_eq!(
            run(|| Err(("metric/x panicked".into(), true))),
            failed("metric/x panicked", true)
        );
        assert_eq!(
            run(|| panic!("index out of bounds")),
            failed("a fault of aiperf itself, please report it: index out of bounds", false)
        );
    }
}
