//! The I/O thread of a worker: sockets, framing, timestamps, nothing else. No plugin is ever called here.

use std::{
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::BinaryHeap,
    future::poll_fn,
    pin::pin,
    rc::Rc,
    task::Poll,
    thread,
};

use aiperf_http::{Cancel, Client, Clock, Exchange, Options, Request};
use crossbeam_channel::Sender;
use rustc_hash::FxHashMap;
use tokio::{
    runtime::{Builder, LocalOptions, LocalRuntime},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use super::{alarm::Alarm, compute::Input};
use crate::priority::{PROMPT, prefer_this_thread};

/// Before a request is due the thread spins for so long instead of sleeping: the system wakes it some tens of µs late.
/// Arrivals wait meanwhile, but the kernel has stamped them.
const SPIN_NS: u64 = 60_000;

/// So many requests may be sent before the thread gives way to what has arrived.
const MOST_UNATTENDED: u32 = 16;

/// What the compute thread asks of the I/O thread.
pub enum Command {
    /// Send a request; the exchange comes back under the same key.
    Send {
        /// Key, chosen by the compute thread.
        key: u64,
        /// The request.
        request: Box<Request>,
        /// Hold it until then.
        not_before_ns: u64,
    },
    /// End a request now; its exchange comes back with what has arrived.
    Cancel {
        /// Key of the request.
        key: u64,
    },
}

/// Starts the thread. It ends when the returned sender is dropped.
///
/// # Errors
/// When no thread, no runtime or no timer can be had.
pub fn spawn(
    name: &str,
    mut options: Options,
    done: Sender<Input>,
) -> std::io::Result<(UnboundedSender<Command>, thread::JoinHandle<()>)> {
    let (commands, inbox) = unbounded_channel();
    // The runtime is the thread's own, so only there can it be made.
    let (is_made, made) = crossbeam_channel::bounded(1);
    let thread = thread::Builder::new().name(name.into()).spawn(move || {
        let (runtime, alarm) = match runtime() {
            Ok(made) => made,
            Err(error) => {
                let _ = is_made.send(Err(error));
                return;
            }
        };
        let _ = is_made.send(Ok(()));
        Clock.sharpen_timers_of_this_thread();
        // As long as the kernel's stamps tell when bytes came, being prompt gains nothing, and costs a server on the same
        // machine the core at every token. Where reads are late, stamps are lost.
        if options.kernel_timestamps {
            options.when_late = Some(be_prompt);
        } else {
            be_prompt();
        }
        let sending = Sending {
            client: Rc::new(Client::new(options)),
            running: Rc::default(),
            done,
            unattended: Cell::default(),
        };
        runtime.block_on(serve(inbox, &alarm, &sending));
        // It leaves the runtime that it is registered with before that ends.
        drop(alarm);
    })?;
    made.recv().map_err(std::io::Error::other)??;
    Ok((commands, thread))
}

/// A runtime for this thread, and a timer in it.
fn runtime() -> std::io::Result<(LocalRuntime, Alarm)> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())?;
    let alarm = {
        let _inside = runtime.enter();
        Alarm::new()?
    };
    Ok((runtime, alarm))
}

/// This thread is to run before others.
fn be_prompt() {
    prefer_this_thread(PROMPT);
}

/// A request that is held until it is due, in order of time, then of arrival.
type Held = Reverse<(u64, u64)>;

async fn serve(mut inbox: UnboundedReceiver<Command>, alarm: &Alarm, sending: &Sending) {
    let mut order: BinaryHeap<Held> = BinaryHeap::new();
    let mut held: FxHashMap<u64, Box<Request>> = FxHashMap::default();
    let mut has_schedule = false;
    loop {
        while let Some(&Reverse((due_ns, key))) = order.peek()
            && due_ns <= Clock.now() + SPIN_NS
        {
            order.pop();
            if let Some(request) = held.remove(&key) {
                while Clock.now() < due_ns {
                    std::hint::spin_loop();
                }
                sending.send(key, request).await;
            }
        }
        let command = match order.peek() {
            None => inbox.recv().await,
            Some(&Reverse((due_ns, _))) => {
                let mut ring = pin!(alarm.until(due_ns - SPIN_NS));
                let first = poll_fn(|cx| match inbox.poll_recv(cx) {
                    Poll::Ready(command) => Poll::Ready(Some(command)),
                    Poll::Pending => ring.as_mut().poll(cx).map(|()| None),
                });
                let Some(command) = first.await else { continue };
                command
            }
        };
        match command {
            None => return,
            Some(Command::Send {
                key,
                request,
                not_before_ns,
            }) => {
                sending.running.borrow_mut().insert(key, Cancel::new());
                if not_before_ns <= Clock.now() {
                    sending.send(key, request).await;
                } else {
                    if !std::mem::replace(&mut has_schedule, true) {
                        be_prompt();
                    }
                    held.insert(key, request);
                    order.push(Reverse((not_before_ns, key)));
                }
            }
            Some(Command::Cancel { key }) => {
                if let Some(cancel) = sending.running.borrow().get(&key) {
                    cancel.cancel();
                }
                // A request that is cancelled before it is due does not wait for that.
                if let Some(request) = held.remove(&key) {
                    sending.send(key, request).await;
                }
            }
        }
    }
}

/// What sending takes.
struct Sending {
    client: Rc<Client>,
    /// How to cancel what has not come back.
    running: Rc<RefCell<FxHashMap<u64, Cancel>>>,
    done: Sender<Input>,
    /// Requests sent since this thread last gave way to what has arrived.
    unattended: Cell<u32>,
}

impl Sending {
    /// Begins to send, and lets it get as far as it can.
    async fn send(&self, key: u64, request: Box<Request>) {
        let Some(cancel) = self.running.borrow().get(&key).cloned() else {
            return;
        };
        let (client, running, done) = (self.client.clone(), self.running.clone(), self.done.clone());
        // Boxed here, since the runtime moves what it is given several times.
        let mut sending = Box::pin(async move {
            let exchange: Exchange = client.send(&request, &cancel).await;
            running.borrow_mut().remove(&key);
            // Its body is then the record's alone.
            drop(request);
            // A compute thread that has gone has reported why.
            let _ = done.send(Input::Exchange {
                key,
                exchange: Box::new(exchange),
            });
        });
        // The request leaves now, before others are looked at. A task that only was spawned would begin after a look at all
        // sockets.
        let is_over = poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx).is_ready())).await;
        if !is_over {
            tokio::task::spawn_local(sending);
        }
        // When many are due at once, the first ones may be answered by now.
        let unattended = self.unattended.get() + 1;
        self.unattended.set(unattended % MOST_UNATTENDED);
        if unattended == MOST_UNATTENDED {
            tokio::task::yield_now().await;
        }
    }
}
