//! The I/O thread of a worker: sockets, framing, timestamps, nothing else. No plugin is ever called here.

use std::{
    cell::RefCell,
    collections::HashMap,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    task::Poll,
    thread,
    time::Duration,
};

use aiperf_http::{Cancel, Client, Exchange, Options, Request};
use crossbeam_channel::Sender;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::compute::Input;

/// What the compute thread asks of the I/O thread.
pub enum Command {
    /// Send a request; the exchange comes back under the same key.
    Send {
        /// Key, chosen by the compute thread.
        key: u64,
        /// The request.
        request: Box<Request>,
        /// Wait for so many ms first.
        after_ms: u64,
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
/// When no thread or no runtime can be had.
pub fn spawn(
    name: &str,
    options: Options,
    done: Sender<Input>,
) -> std::io::Result<(UnboundedSender<Command>, thread::JoinHandle<()>)> {
    let (commands, inbox) = unbounded_channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = thread::Builder::new().name(name.into()).spawn(move || {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, serve(inbox, options, done));
    })?;
    Ok((commands, thread))
}

/// Waits, but not for a request that is cancelled meanwhile; the client sees that and sends nothing.
async fn wait(time: Duration, cancel: &Cancel) {
    let mut sleep = pin!(tokio::time::sleep(time));
    poll_fn(|cx| match cancel.poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => sleep.as_mut().poll(cx),
    })
    .await;
}

async fn serve(mut inbox: UnboundedReceiver<Command>, options: Options, done: Sender<Input>) {
    let client = Rc::new(Client::new(options));
    let running: Rc<RefCell<HashMap<u64, Cancel>>> = Rc::default();
    while let Some(command) = inbox.recv().await {
        match command {
            Command::Send { key, request, after_ms } => {
                let cancel = Cancel::new();
                running.borrow_mut().insert(key, cancel.clone());
                let (client, running, done) = (client.clone(), running.clone(), done.clone());
                tokio::task::spawn_local(async move {
                    if after_ms > 0 {
                        wait(Duration::from_millis(after_ms), &cancel).await;
                    }
                    let exchange: Exchange = client.send(&request, &cancel).await;
                    running.borrow_mut().remove(&key);
                    // A compute thread that has gone has reported why.
                    let _ = done.send(Input::Exchange {
                        key,
                        exchange: Box::new(exchange),
                    });
                });
            }
            Command::Cancel { key } => {
                if let Some(cancel) = running.borrow().get(&key) {
                    cancel.cancel();
                }
            }
        }
    }
}
