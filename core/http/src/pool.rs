//! Idle connections, and the limit on busy ones.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::Clock;
use crate::connection::Connection;
use crate::exchange::Span;
use crate::request::Request;
use crate::target::Scheme;

/// Keeps idle connections, most recently used last, and hands out a limited number of slots.
pub(crate) struct Pool {
    clock: Clock,
    /// How long a connection may idle, in nanoseconds.
    idle_timeout: u64,
    slots: Semaphore,
    idle: RefCell<FxHashMap<Key, VecDeque<Idle>>>,
}

/// Which connections are interchangeable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    scheme: Scheme,
    authority: Arc<str>,
    session: Option<u64>,
}

impl Key {
    pub(crate) fn of(request: &Request) -> Self {
        Self {
            scheme: request.target.scheme(),
            authority: Arc::clone(request.target.shared_authority()),
            session: request.session,
        }
    }
}

struct Idle {
    connection: Box<Connection>,
    since: u64,
}

impl Pool {
    pub(crate) fn new(clock: Clock, max_connections: usize, idle_timeout: Duration) -> Self {
        Self {
            clock,
            idle_timeout: u64::try_from(idle_timeout.as_nanos()).unwrap_or(u64::MAX),
            slots: Semaphore::new(max_connections.clamp(1, Semaphore::MAX_PERMITS)),
            idle: RefCell::default(),
        }
    }

    /// Waits for a free slot, first come, first served. The span is None if there was no wait. A permit is always
    /// given: only a closed semaphore refuses, and this one is never closed.
    pub(crate) async fn slot(&self) -> (Option<SemaphorePermit<'_>>, Option<Span>) {
        if let Ok(permit) = self.slots.try_acquire() {
            return (Some(permit), None);
        }
        let start = self.clock.now();
        let permit = self.slots.acquire().await.ok();
        (
            permit,
            Some(Span {
                start,
                end: self.clock.now(),
            }),
        )
    }

    /// Takes the most recently used connection that is still usable.
    pub(crate) fn take(&self, key: &Key) -> Option<Box<Connection>> {
        let now = self.clock.now();
        let oldest = now.saturating_sub(self.idle_timeout);
        let mut idle = self.idle.borrow_mut();
        let connections = idle.get_mut(key)?;
        while let Some(last) = connections.pop_back() {
            if last.since < oldest {
                // The others have waited even longer.
                connections.clear();
                return None;
            }
            if last.connection.socket().is_quiet(now) {
                return Some(last.connection);
            }
        }
        None
    }

    /// Keeps a connection for later, and closes those that have waited too long.
    pub(crate) fn put(&self, key: Key, connection: Box<Connection>) {
        let since = self.clock.now();
        let oldest = since.saturating_sub(self.idle_timeout);
        let mut idle = self.idle.borrow_mut();
        let connections = idle.entry(key).or_default();
        while connections.front().is_some_and(|first| first.since < oldest) {
            connections.pop_front();
        }
        connections.push_back(Idle { connection, since });
    }

    /// Closes the idle connections of a session.
    pub(crate) fn release(&self, session: u64) {
        self.idle.borrow_mut().retain(|key, _| key.session != Some(session));
    }

    /// Number of idle connections.
    pub(crate) fn idle(&self) -> usize {
        self.idle.borrow().values().map(VecDeque::len).sum()
    }
}
