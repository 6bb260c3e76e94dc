use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use aiperf_plugin_api::{HttpAnswer, gpu::Poll};
use crossbeam_channel::Sender;

use super::*;
use crate::bus::local::LocalBus;

/// Far beyond what any of this takes: a test that hangs fails instead.
const LONG: Duration = Duration::from_secs(60);

/// A collector that plays a function.
struct Plays<F>(F);

impl<F: FnMut(u64) -> Result<Poll, PluginError> + Send> GpuCollector for Plays<F> {
    fn poll(&mut self, now_ns: u64, _: Option<HttpAnswer>) -> Result<Poll, PluginError> {
        (self.0)(now_ns)
    }
}

/// A collector on its thread, and what it says.
struct Scene {
    manager: Route,
    records: Receiver<Message>,
    controller: Receiver<Message>,
    thread: thread::JoinHandle<()>,
}

fn attach(bus: &dyn Bus, kind: ServiceKind) -> Receiver<Message> {
    let (sender, receiver): (Sender<Message>, _) = unbounded();
    bus.attach(
        ServiceId::only(kind),
        Arc::new(move |message| sender.send(message).is_ok()),
    );
    receiver
}

fn scene(poll: impl FnMut(u64) -> Result<Poll, PluginError> + Send + 'static) -> Scene {
    let bus: Arc<dyn Bus> = Arc::new(LocalBus::default());
    let records = attach(&*bus, ServiceKind::RecordsManager);
    let controller = attach(&*bus, ServiceKind::SystemController);
    let setup = GpuSetup {
        index: 0,
        collector: Box::new(Plays(poll)),
        source: None,
    };
    let manager = GpuManager::attach(setup, &*bus);
    let thread = manager.start(&bus).unwrap();
    let manager = bus.route(ServiceId::nth(ServiceKind::GpuTelemetryManager, 0)).unwrap();
    Scene {
        manager,
        records,
        controller,
        thread,
    }
}

fn reading(value: f64) -> Reading {
    Reading {
        gpu: 0,
        uuid: "U".into(),
        model: "M".into(),
        field: "nvidia_power_usage".into(),
        unit: "mW".into(),
        counter: false,
        value,
        host: None,
        labels: Vec::new(),
    }
}

fn ended(error: Option<&str>) -> Message {
    Message::GpuEnded(GpuEnd {
        index: 0,
        error: error.map(str::to_owned),
        unasked: false,
    })
}

#[test]
fn it_reads_before_the_run_and_once_more_after_it() {
    // Reads and rests in turn.
    let mut rested = false;
    let scene = scene(move |_| {
        rested = !rested;
        Ok(if rested {
            Poll::Readings(vec![reading(2_000.0)])
        } else {
            Poll::Wait(5)
        })
    });
    assert_eq!(scene.controller.recv_timeout(LONG), Ok(Message::GpuReady(0)));
    let before = Clock.now();
    scene.manager.send(Message::CloseGpu).unwrap();
    assert_eq!(scene.controller.recv_timeout(LONG), Ok(ended(None)));
    scene.thread.join().unwrap();
    let told: Vec<Message> = scene.records.try_iter().collect();
    let [Message::GpuReadings(first), .., Message::GpuReadings(last)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert!(first.at_ns <= before && last.at_ns >= before);
    // In the original's unit.
    assert_eq!((first.readings[0].value, first.readings[0].unit.as_str()), (2.0, "W"));
    assert!(first.wall_ns > 1_600_000_000_000_000_000, "{first:?}");
}

#[test]
fn a_collector_that_is_not_due_does_not_keep_the_run() {
    let scene = scene(|_| Ok(Poll::Wait(3_600_000)));
    assert_eq!(scene.controller.recv_timeout(LONG), Ok(Message::GpuReady(0)));
    let before = Instant::now();
    scene.manager.send(Message::CloseGpu).unwrap();
    assert_eq!(scene.controller.recv_timeout(LONG), Ok(ended(None)));
    assert!(
        before.elapsed() >= GRACE,
        "it is given the time in which readings still count"
    );
    scene.thread.join().unwrap();
    assert_eq!(scene.records.try_iter().count(), 0);
}

#[test]
fn failures_end_it_with_their_message() {
    let calls = Arc::new(Mutex::new(0));
    let counted = calls.clone();
    let failing = scene(move |_| {
        *counted.lock().unwrap() += 1;
        Err(PluginError::failed("no driver"))
    });
    assert_eq!(failing.controller.recv_timeout(LONG), Ok(ended(Some("no driver"))));
    failing.thread.join().unwrap();
    assert_eq!(*calls.lock().unwrap(), 1, "it is not called again");

    let asking = scene(|_| {
        Ok(Poll::Request(aiperf_plugin_api::HttpRequest {
            method: "GET".into(),
            path: Some("/metrics".into()),
            headers: Vec::new(),
            body: Vec::new(),
            parts: Vec::new(),
        }))
    });
    let Ok(Message::GpuEnded(end)) = asking.controller.recv_timeout(LONG) else {
        panic!("it ends")
    };
    let error = end.error.unwrap();
    assert!(
        error.contains("granted no source") && error.contains("--gpu-telemetry NAME URL"),
        "{error}"
    );
    asking.thread.join().unwrap();
}
