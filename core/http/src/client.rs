//! The client: slots, connections, resending, timeouts and cancellation around one exchange.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::net::{SocketAddr, TcpStream};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::time::Sleep;

use crate::cancel::Cancel;
use crate::clock::Clock;
use crate::connect;
use crate::connection::Connection;
use crate::dns::Resolver;
use crate::error::{ErrorKind, ExchangeError};
use crate::exchange::{Exchange, Span};
use crate::outgoing::Outgoing;
use crate::perform::{Observer, Performance, Progress};
use crate::pool::{Key, Pool};
use crate::proxy::Proxy;
use crate::receive;
use crate::request::Request;
use crate::socket::Socket;
use crate::stamp::Stamping;
use crate::stream::StreamSize;
use crate::target::Scheme;
use crate::tls::Connector;
use crate::trust::Tls;

/// Bytes read at once, at most.
const READ: usize = 64 * 1024;

/// Whether connections serve more than one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// Kept open and used again, the most recently used first.
    #[default]
    Pooled,
    /// One connection per request; `Connection: close` is sent.
    Never,
}

/// Settings of a [`Client`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Limit on exchanges in progress; further ones wait for a slot. At least 1.
    pub max_connections: usize,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
    /// Whether connections are used again.
    pub reuse: Reuse,
    /// Limit on connecting to one address. None: the operating system's.
    pub connect_timeout: Option<Duration>,
    /// How long a resolved name is remembered.
    pub dns_ttl: Duration,
    /// Arrival times are the kernel's where it gives them (Linux), else those of the reads. Both are kept either way.
    pub kernel_timestamps: bool,
    /// Called once, by the I/O thread, when many reads came late, or without a stamp of the kernel that would tell.
    pub when_late: Option<fn()>,
    /// Whom to trust and who to be over https. None: servers are checked against the certificates that the system
    /// trusts, which are read with the first https request.
    pub tls: Option<Tls>,
    /// Proxy that all requests go through. The environment (`HTTP_PROXY` and its like) is never asked.
    pub proxy: Option<Proxy>,
    /// Largest response body accepted, in bytes; at most 4 GiB - 1.
    pub max_body: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_connections: 2500,
            idle_timeout: Duration::from_secs(300),
            reuse: Reuse::Pooled,
            connect_timeout: None,
            dns_ttl: Duration::from_secs(300),
            kernel_timestamps: true,
            when_late: None,
            tls: None,
            proxy: None,
            max_body: 1 << 30,
        }
    }
}

/// An HTTP/1.1 client for one I/O thread: a tokio current-thread runtime with I/O and time enabled.
///
/// Clones share connections and limits.
#[derive(Clone)]
pub struct Client(Rc<Inner>);

struct Inner {
    options: Options,
    clock: Clock,
    stamping: Rc<Stamping>,
    resolver: Resolver,
    pool: Pool,
    tls: Connector,
    buffer: RefCell<Box<[u8]>>,
    stream_size: Cell<StreamSize>,
    /// The kernel switches timestamping on lazily, with the first socket that asks for it, and off with the last:
    /// this one keeps it on, so that no connection's first packets come without.
    _keeps_timestamps_on: Option<std::net::UdpSocket>,
}

impl Client {
    /// A client without connections.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let clock = Clock;
        let keeper = std::net::UdpSocket::bind(("127.0.0.1", 0)).ok();
        if let Some(socket) = &keeper {
            receive::enable_timestamps(std::os::fd::AsFd::as_fd(socket));
        }
        Self(Rc::new(Inner {
            clock,
            stamping: Rc::new(Stamping::new(clock, !options.kernel_timestamps, options.when_late)),
            tls: Connector::new(options.tls.as_ref()),
            resolver: Resolver::new(clock, options.dns_ttl),
            buffer: RefCell::new(vec![0; READ].into()),
            stream_size: Cell::default(),
            pool: Pool::new(clock, options.max_connections, options.idle_timeout),
            _keeps_timestamps_on: keeper,
            options,
        }))
    }

    /// Sends a request and waits for the end of its answer, its failure, its timeout, or `cancel`.
    pub async fn send(&self, request: &Request, cancel: &Cancel) -> Exchange {
        self.send_observed(request, cancel, &mut ()).await
    }

    /// Like [`send`](Self::send), and tells `observer` of the progress.
    pub async fn send_observed<O: Observer + ?Sized>(
        &self,
        request: &Request,
        cancel: &Cancel,
        observer: &mut O,
    ) -> Exchange {
        let mut exchange = Exchange::default();
        exchange.timings.start = self.0.clock.now();
        exchange.timings.start_wall = self.0.clock.wall_now();
        let start_ns = exchange.timings.start;
        let progress = Progress::default();
        let outcome = {
            let performance = Performance {
                request,
                progress: &progress,
                observer,
                max_body: self.0.max_body(),
                buffer: &self.0.buffer,
                stream_size: &self.0.stream_size,
            };
            // Pinned here: an argument of the other would be kept twice.
            let work = pin!(self.0.attempt(performance, &mut exchange));
            guarded(work, request, cancel, &progress, start_ns).await
        };
        exchange.error = outcome.err().map(|error| error.at(request.target.authority()));
        exchange.timings.end = self.0.clock.now();
        exchange
    }

    /// Closes the connection of a session; see [`Request::session`].
    pub fn release(&self, session: u64) {
        self.0.pool.release(session);
    }

    /// Number of open connections that no exchange is using.
    #[must_use]
    pub fn idle_connections(&self) -> usize {
        self.0.pool.idle()
    }
}

impl Inner {
    fn max_body(&self) -> usize {
        self.options.max_body.min(u32::MAX as usize)
    }

    async fn attempt<O: Observer + ?Sized>(
        &self,
        mut performance: Performance<'_, O>,
        exchange: &mut Exchange,
    ) -> Result<(), ExchangeError> {
        let request = performance.request;
        let pooled = self.options.reuse == Reuse::Pooled;
        let head = request
            .head(!pooled, self.options.proxy.as_ref())
            .map_err(|error| ExchangeError::new(ErrorKind::InvalidRequest, error.to_string()))?;
        let mut outgoing = Outgoing::new(head, request.body.clone());

        let (_slot, wait) = self.pool.slot().await;
        exchange.timings.pool_wait = wait;
        let key = Key::of(request);
        if pooled && let Some(mut connection) = self.pool.take(&key) {
            exchange.reused = true;
            let result = performance.run(&mut connection, &mut outgoing, exchange).await;
            match result {
                Err(error) if is_stale(&error, exchange) => {
                    // The server gave the connection up before it could see the request. Sent once more.
                    exchange.resent = true;
                    exchange.reused = false;
                    outgoing.rewind();
                }
                result => return result.map(|()| self.keep(key, connection, &outgoing)),
            }
        }
        let mut connection = self.open(request, exchange).await?;
        performance.run(&mut connection, &mut outgoing, exchange).await?;
        if pooled {
            self.keep(key, connection, &outgoing);
        }
        Ok(())
    }

    async fn open(&self, request: &Request, exchange: &mut Exchange) -> Result<Box<Connection>, ExchangeError> {
        let proxy = self.options.proxy.as_ref();
        let peer = proxy.map_or(&*request.target, Proxy::target);
        let at_peer = |error: ExchangeError| match proxy {
            Some(proxy) => proxy.unreachable(error),
            None => error,
        };
        let (addresses, dns) = self.resolver.resolve(peer).await.map_err(at_peer)?;
        exchange.timings.dns = dns;
        let start = self.clock.now();
        let connected = match self.connect(&addresses).await {
            Ok((stream, remote)) => self.secure(request, stream, remote).await,
            Err(error) => Err(at_peer(error)),
        };
        exchange.timings.connect = Some(Span {
            start,
            end: self.clock.now(),
        });
        Ok(Box::new(Connection::new(connected?)))
    }

    async fn connect(&self, addresses: &[SocketAddr]) -> Result<(AsyncFd<TcpStream>, SocketAddr), ExchangeError> {
        connect::connect(addresses, self.options.connect_timeout).await
    }

    /// Makes a connected stream ready for HTTP: a tunnel through the proxy and a TLS session where the target is https.
    async fn secure(
        &self,
        request: &Request,
        stream: AsyncFd<TcpStream>,
        remote: SocketAddr,
    ) -> Result<Socket, ExchangeError> {
        let tls = match request.target.scheme() {
            Scheme::Http => None,
            Scheme::Https => {
                if let Some(proxy) = &self.options.proxy {
                    proxy.tunnel(&stream, &request.target).await?;
                }
                Some(self.tls.handshake(&stream, request.target.host()).await?)
            }
        };
        Ok(Socket::new(stream, tls, remote, Rc::clone(&self.stamping)))
    }

    /// Back into the pool, unless the server closes it or has answered a request that it has not read to the end.
    fn keep(&self, key: Key, connection: Box<Connection>, outgoing: &Outgoing) {
        if outgoing.is_complete() && connection.is_reusable() {
            self.pool.put(key, connection);
        }
    }
}

/// Whether a reused connection was dead before the request could be answered.
fn is_stale(error: &ExchangeError, exchange: &Exchange) -> bool {
    matches!(error.kind, ErrorKind::Closed | ErrorKind::Reset) && exchange.bytes_received == 0
}

/// Runs `work` under the request's time limits and the owner's switch.
async fn guarded(
    mut work: Pin<&mut impl Future<Output = Result<(), ExchangeError>>>,
    request: &Request,
    cancel: &Cancel,
    progress: &Progress,
    start_ns: u64,
) -> Result<(), ExchangeError> {
    if cancel.is_cancelled() {
        return Err(ExchangeError::new(ErrorKind::Cancelled, "cancelled before it was sent"));
    }
    let mut deadline = pin!(request.timeout.map(tokio::time::sleep));
    let deadline_ns = request.timeout.map_or(u64::MAX, |timeout| {
        start_ns.saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX))
    });
    let mut set_for = None::<Waker>;
    let mut cancel_timer = pin!(None::<Sleep>);
    poll_fn(|cx| {
        // What has arrived counts, even if a limit has passed in the meantime.
        if let Poll::Ready(result) = work.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        if cancel.poll(cx).is_ready() {
            return Poll::Ready(Err(ExchangeError::new(ErrorKind::Cancelled, "cancelled by its owner")));
        }
        if let (Some(delay), Some(_)) = (request.cancel_after_send, progress.sent.get()) {
            if cancel_timer.is_none() {
                cancel_timer.set(Some(tokio::time::sleep(delay)));
            }
            if let Some(timer) = cancel_timer.as_mut().as_pin_mut()
                && timer.poll(cx).is_ready()
            {
                let message = format!("cancelled {} s after it was sent, as intended", delay.as_secs_f64());
                return Poll::Ready(Err(ExchangeError::new(ErrorKind::CancelledAfterSend, message)));
            }
        }
        // Once set, it wakes this task itself. While bytes come in before its time it need not be asked.
        let in_time = progress.read.take().is_some_and(|read| read < deadline_ns);
        let is_set = set_for.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        if let Some(timer) = deadline.as_mut().as_pin_mut()
            && !(in_time && is_set)
        {
            if timer.poll(cx).is_ready() {
                return Poll::Ready(Err(timed_out(request, progress)));
            }
            if !is_set {
                set_for = Some(cx.waker().clone());
            }
        }
        Poll::Pending
    })
    .await
}

fn timed_out(request: &Request, progress: &Progress) -> ExchangeError {
    let limit = request.timeout.unwrap_or_default().as_secs_f64();
    match progress.sent.get() {
        Some(_) => ExchangeError::new(ErrorKind::Timeout, format!("no complete answer within {limit} s")),
        None if request.cancel_after_send.is_some() => ExchangeError::new(
            ErrorKind::SendTimeout,
            format!("the request could not be sent within {limit} s"),
        ),
        None => ExchangeError::new(
            ErrorKind::Timeout,
            format!("the request could not be sent within {limit} s"),
        ),
    }
}
