//! A TCP socket whose every read is stamped. Whatever is made of the bytes of a read before the next one was completed
//! by exactly that read, so its stamp is theirs.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{Interest, unix::AsyncFd};

use crate::exchange::Span;
use crate::receive;
use crate::stamp::{ReadStamp, Stamping};
use crate::tls::Session;

/// Within so many nanoseconds after an answer servers do not close connections that they mean to keep.
const SHORT_REST: u64 = 10_000_000;

/// Room for about one TLS record.
const RECORD: usize = 16 * 1024;

/// A connected, non-blocking TCP socket registered with the runtime.
pub(crate) struct Socket {
    io: AsyncFd<TcpStream>,
    tls: Option<RefCell<Session>>,
    stamping: Rc<Stamping>,
    stamp: Cell<ReadStamp>,
    /// Best stamp of the last read, or the start of the last write if that is later.
    last_activity: Cell<u64>,
    /// The same in user time: what the converter may compare with its own.
    last_touch: Cell<u64>,
    /// Bytes of HTTP (decrypted, if they came encrypted).
    received: Cell<u64>,
    /// The server has closed its end.
    ended: Cell<bool>,
    remote: SocketAddr,
    local: Option<SocketAddr>,
}

impl Socket {
    pub(crate) fn new(
        io: AsyncFd<TcpStream>,
        tls: Option<Session>,
        remote: SocketAddr,
        stamping: Rc<Stamping>,
    ) -> Self {
        let local = io.get_ref().local_addr().ok();
        let now = stamping.clock.now();
        Self {
            io,
            tls: tls.map(RefCell::new),
            stamping,
            stamp: Cell::default(),
            last_activity: Cell::new(now),
            last_touch: Cell::new(now),
            received: Cell::new(0),
            ended: Cell::new(false),
            remote,
            local,
        }
    }

    /// Address of the server.
    pub(crate) fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// Our own address.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Stamp of the last read that brought bytes.
    pub(crate) fn stamp(&self) -> ReadStamp {
        self.stamp.get()
    }

    /// Bytes of HTTP received since the connection was opened.
    pub(crate) fn received(&self) -> u64 {
        self.received.get()
    }

    /// Whether a read has met the end of the stream.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.get()
    }

    /// Whether a connection that is idle at `now` is still usable: open, and with nothing unasked to read. After a short
    /// rest the socket itself is asked only if the runtime knows of something.
    pub(crate) fn is_quiet(&self, now: u64) -> bool {
        let over = self.tls.as_ref().is_some_and(|tls| tls.borrow_mut().is_over());
        let peek = |stream: &TcpStream| stream.peek(&mut [0]);
        let peeked = if now.saturating_sub(self.last_touch.get()) > SHORT_REST {
            peek(self.io.get_ref())
        } else {
            self.io.try_io(Interest::READABLE, peek)
        };
        !over && matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until there is something to read, reads once into `buffer`, and stamps that. Resolves with the number of
    /// bytes of HTTP; 0 is the end of the stream.
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let Some(tls) = &self.tls else {
            let (length, stamp) = ready!(self.poll_receive(cx, buffer))?;
            self.note(length, stamp);
            return Poll::Ready(Ok(length));
        };
        let mut tls = tls.borrow_mut();
        loop {
            let mut encrypted = [0; RECORD];
            let (length, stamp) = ready!(self.poll_receive(cx, &mut encrypted))?;
            // A read that completes no record brings nothing yet: its bytes count with the read that does.
            let content = tls.decrypt(&encrypted[..length], buffer)?;
            self.note(content, stamp);
            if content > 0 || length == 0 || tls.is_over() {
                self.ended.set(content == 0);
                return Poll::Ready(Ok(content));
            }
        }
    }

    /// Writes `slices`; the result comes with the bracket around the system call.
    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<(usize, Span)>> {
        loop {
            let before = self.stamping.clock.now();
            self.last_activity.set(before);
            self.last_touch.set(before);
            let mut stream = self.io.get_ref();
            let result = match &self.tls {
                None => stream.write_vectored(slices),
                Some(tls) => tls.borrow_mut().write(slices, stream),
            };
            match result {
                Ok(written) => {
                    let bracket = Span {
                        start: before,
                        end: self.stamping.clock.now(),
                    };
                    return Poll::Ready(Ok((written, bracket)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // Readiness may be stale: clear it, and try again only if it is announced anew.
                    match self.io.poll_write_ready(cx) {
                        Poll::Ready(Ok(mut ready)) => ready.clear_ready(),
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Pending => return Poll::Pending,
                    }
                    ready!(self.io.poll_write_ready(cx))?.retain_ready();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<(usize, ReadStamp)>> {
        loop {
            let mut ready = ready!(self.io.poll_read_ready(cx))?;
            match receive::receive(self.io.get_ref().as_fd(), buffer, self.stamping.clock) {
                Ok(received) => {
                    // A read that did not fill its buffer emptied the queue: with edge-triggered readiness the next
                    // segment is announced anew, and the extra read that would only say "nothing there" is saved.
                    if !received.filled && received.len > 0 {
                        ready.clear_ready();
                    }
                    self.ended.set(received.len == 0);
                    let kernel = self.stamping.kernel(&received, self.last_touch.get());
                    let stamp = ReadStamp {
                        read: self.stamp.get().read + 1,
                        user: received.user,
                        kernel,
                        previous: self.last_activity.get(),
                        by_user: self.stamping.by_user,
                    };
                    return Poll::Ready(Ok((received.len, stamp)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Records a read that brought `length` bytes of HTTP.
    fn note(&self, length: usize, stamp: ReadStamp) {
        if length > 0 {
            self.stamp.set(stamp);
            self.last_activity.set(stamp.at());
            self.last_touch.set(stamp.user);
            self.received.set(self.received.get() + length as u64);
        }
    }
}
