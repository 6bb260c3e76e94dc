//! One thread's sockets and timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;

use crate::clock::{Alarm, monotonic_ns};
use crate::connection::{Connection, Context, Next};
use crate::log::Log;
use crate::service::Service;

const LISTENER: Token = Token(usize::MAX - 1);
const WAKER: Token = Token(usize::MAX - 2);
const ALARM: Token = Token(usize::MAX - 3);

/// How much is done before the other sources get their turn.
const EVENTS: usize = 1024;
const ACCEPTS: usize = 64;
const TIMERS: usize = 512;

/// Size of one read; long prompts come in fewer.
const READ: usize = 256 * 1024;

/// Ready to run on a thread of its own.
pub(crate) struct EventLoop {
    poll: Poll,
    alarm: Alarm,
    listener: TcpListener,
    stop: Arc<AtomicBool>,
}

impl EventLoop {
    /// `stop` ends [`EventLoop::run`] once the waker, returned beside, is woken.
    pub(crate) fn new(listener: std::net::TcpListener, stop: Arc<AtomicBool>) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        Ok((
            Self {
                poll,
                alarm,
                listener,
                stop,
            },
            waker,
        ))
    }

    /// Serves until stopped.
    pub(crate) fn run(mut self, service: &Service, log: Log) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let mut room = Room {
            context: Context {
                service,
                log,
                scratch: vec![0; READ],
            },
            connections: Slab::new(),
            timers: BinaryHeap::new(),
        };
        let spin = service.spin_ns();
        let mut accepting = false;
        loop {
            // Within `spin` of an event, look for readiness without sleeping until it is due.
            let deadline = room.deadline().map(|deadline| deadline.saturating_sub(spin));
            let timeout = if accepting || deadline.is_some_and(|deadline| deadline <= monotonic_ns()) {
                Some(Duration::ZERO)
            } else {
                self.alarm.arm(deadline)?
            };
            match self.poll.poll(&mut events, timeout) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.stop.load(Ordering::Acquire) {
                room.leave();
                return Ok(());
            }
            for event in &events {
                match event.token() {
                    LISTENER => accepting = true,
                    WAKER | ALARM => {}
                    Token(slot) => {
                        if let Some(connection) = room.connections.get_mut(slot) {
                            connection.ready(event);
                            accepting |= room.drive(slot);
                        }
                    }
                }
            }
            if accepting {
                accepting = self.accept(&mut room);
            }
            accepting |= room.run_timers();
            room.context.log.tick(monotonic_ns());
        }
    }

    /// Takes new connections; whether there may be more.
    fn accept(&self, room: &mut Room<'_>) -> bool {
        for _ in 0..ACCEPTS {
            match self.listener.accept() {
                Ok((mut stream, _)) => {
                    let entry = room.connections.vacant_entry();
                    let both = Interest::READABLE.add(Interest::WRITABLE);
                    // A connection that cannot be set up is dropped, which its client sees.
                    if stream.set_nodelay(true).is_ok()
                        && self
                            .poll
                            .registry()
                            .register(&mut stream, Token(entry.key()), both)
                            .is_ok()
                    {
                        let slot = entry.key();
                        entry.insert(Connection::new(stream));
                        room.drive(slot);
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                // Nothing to accept, or no descriptor left: the first tells anew, the second is tried again when a
                // connection closes.
                Err(_) => return false,
            }
        }
        true
    }
}

/// A connection's turn. Ordered by time; the slot only makes the order total.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due: u64,
    slot: usize,
}

/// The connections of one thread.
struct Room<'a> {
    context: Context<'a>,
    connections: Slab<Connection>,
    timers: BinaryHeap<Reverse<Timer>>,
}

impl Room<'_> {
    /// When there is something to do without readiness.
    fn deadline(&self) -> Option<u64> {
        let timer = self.timers.peek().map(|Reverse(timer)| timer.due);
        match (timer, self.context.log.deadline()) {
            (Some(timer), Some(log)) => Some(timer.min(log)),
            (timer, log) => timer.or(log),
        }
    }

    /// Lets a connection go as far as it can; whether it was closed.
    fn drive(&mut self, slot: usize) -> bool {
        let Some(connection) = self.connections.get_mut(slot) else {
            return false;
        };
        match connection.advance(&mut self.context) {
            Next::Readiness => false,
            Next::At(due) => {
                if connection.timer != Some(due) {
                    connection.timer = Some(due);
                    self.timers.push(Reverse(Timer { due, slot }));
                }
                false
            }
            Next::Close => {
                connection.finish(&mut self.context);
                self.connections.remove(slot);
                true
            }
        }
    }

    /// Runs what is due; whether a connection was closed.
    fn run_timers(&mut self) -> bool {
        let mut closed = false;
        let mut now = monotonic_ns();
        for _ in 0..TIMERS {
            if self.timers.peek().is_none_or(|Reverse(timer)| timer.due > now) {
                break;
            }
            let Some(Reverse(Timer { due, slot })) = self.timers.pop() else {
                break;
            };
            // The slot may have a new owner, or its owner a new due time.
            let Some(connection) = self.connections.get_mut(slot).filter(|c| c.timer == Some(due)) else {
                continue;
            };
            connection.timer = None;
            closed |= self.drive(slot);
            now = monotonic_ns();
        }
        closed
    }

    /// Notes answers that are cut short by the end of the server.
    fn leave(&mut self) {
        for mut connection in self.connections.drain() {
            connection.finish(&mut self.context);
        }
    }
}
