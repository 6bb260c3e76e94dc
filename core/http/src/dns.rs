//! Name resolution, off the I/O thread and remembered.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::error::{ErrorKind, ExchangeError};
use crate::exchange::Span;
use crate::target::Target;

/// Resolves names with the system's resolver and remembers the answers for a while.
pub(crate) struct Resolver {
    clock: Clock,
    /// How long an answer is good for, in nanoseconds.
    ttl: u64,
    answers: RefCell<HashMap<(String, u16), Answer>>,
    /// Held while the system is asked: a thousand requests that start together ask once.
    asking: Mutex<()>,
}

struct Answer {
    addresses: Rc<[SocketAddr]>,
    expires: u64,
}

impl Resolver {
    pub(crate) fn new(clock: Clock, ttl: Duration) -> Self {
        let ttl = u64::try_from(ttl.as_nanos()).unwrap_or(u64::MAX);
        Self {
            clock,
            ttl,
            answers: RefCell::default(),
            asking: Mutex::default(),
        }
    }

    /// The target's addresses in the order to try them, IPv4 first, and how long it took if they had to be waited for.
    pub(crate) async fn resolve(&self, target: &Target) -> Result<(Rc<[SocketAddr]>, Option<Span>), ExchangeError> {
        if let Ok(ip) = target.host().parse::<IpAddr>() {
            return Ok((Rc::new([SocketAddr::new(ip, target.port())]), None));
        }
        let key = (target.host().to_string(), target.port());
        let start = self.clock.now();
        if let Some(addresses) = self.known(&key) {
            return Ok((addresses, None));
        }
        let _asking = self.asking.lock().await;
        if let Some(addresses) = self.known(&key) {
            return Ok((
                addresses,
                Some(Span {
                    start,
                    end: self.clock.now(),
                }),
            ));
        }
        let question = key.clone();
        let answer = tokio::task::spawn_blocking(move || question.to_socket_addrs().map(Vec::from_iter)).await;
        let end = self.clock.now();
        let failure = |reason: String| {
            ExchangeError::new(
                ErrorKind::Dns,
                format!("can't resolve host {:?}: {reason}", target.host()),
            )
        };
        let mut addresses = match answer {
            Ok(Ok(addresses)) => addresses,
            Ok(Err(error)) => return Err(failure(error.to_string())),
            Err(error) => return Err(failure(error.to_string())),
        };
        if addresses.is_empty() {
            return Err(failure("it has no address".into()));
        }
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.dedup();
        let addresses: Rc<[SocketAddr]> = addresses.into();
        let remembered = Answer {
            addresses: Rc::clone(&addresses),
            expires: end.saturating_add(self.ttl),
        };
        self.answers.borrow_mut().insert(key, remembered);
        Ok((addresses, Some(Span { start, end })))
    }

    fn known(&self, key: &(String, u16)) -> Option<Rc<[SocketAddr]>> {
        let answers = self.answers.borrow();
        let answer = answers.get(key).filter(|answer| self.clock.now() < answer.expires)?;
        Some(Rc::clone(&answer.addresses))
    }
}
