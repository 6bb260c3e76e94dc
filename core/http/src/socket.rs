//! A TCP socket whose every read is stamped, and the gate that ties hyper's output to one read.
//!
//! hyper reads when it likes. Here it may read **once per turn**: the gate opens, hyper is polled, the first read
//! closes the gate. Whatever hyper hands out until the next turn (a response head, body frames) was completed by
//! exactly that read, so its stamp is theirs. hyper never waits on the socket itself; the exchange does, before it
//! opens the gate.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use hyper::rt::{ReadBuf, ReadBufCursor};
use tokio::io::unix::AsyncFd;

use crate::clock::{Clock, Converter};
use crate::exchange::{Arrival, Span};
use crate::receive;
use crate::tls::Session;

/// The stamp of one read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadStamp {
    /// Number of this read on its socket, counted from 1.
    pub(crate) read: u64,
    /// Monotonic time right after the read.
    pub(crate) user: u64,
    /// Monotonic time at which the kernel received the last segment of this read.
    pub(crate) kernel: Option<u64>,
    /// Nothing of this read arrived before this: the stamp of the previous read, or the start of the last write.
    pub(crate) previous: u64,
    /// The time of the read is wanted, not the kernel's.
    pub(crate) by_user: bool,
}

impl ReadStamp {
    /// Best stamp.
    pub(crate) fn at(&self) -> u64 {
        self.exact().at()
    }

    /// Arrival of something that ended with the last byte of this read.
    pub(crate) fn exact(&self) -> Arrival {
        self.arrival(None)
    }

    /// Arrival of something that was followed by more bytes in the same read.
    pub(crate) fn bounded(&self) -> Arrival {
        self.arrival(Some(self.previous.min(self.at())))
    }

    fn arrival(&self, lower: Option<u64>) -> Arrival {
        let arrival = Arrival::new(self.user, self.kernel, lower);
        if self.by_user { arrival.by_user() } else { arrival }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Closed,
    Open,
    /// Used by a read that may have left bytes behind.
    ReadFull,
    /// Used by a read that found the socket's queue empty, or emptied it.
    ReadDry,
}

/// Room for about one TLS record.
const RECORD: usize = 16 * 1024;

/// A connected, non-blocking TCP socket registered with the runtime.
pub(crate) struct Socket {
    io: AsyncFd<TcpStream>,
    tls: Option<RefCell<Session>>,
    clock: Clock,
    converter: Rc<Converter>,
    /// The time of the read is wanted, not the kernel's.
    by_user: bool,
    gate: Cell<Gate>,
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
        clock: Clock,
        converter: Rc<Converter>,
        by_user: bool,
    ) -> Self {
        let local = io.get_ref().local_addr().ok();
        let now = clock.now();
        Self {
            io,
            tls: tls.map(RefCell::new),
            clock,
            converter,
            by_user,
            gate: Cell::new(Gate::Closed),
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

    /// Whether an idle connection is still usable: open, and with nothing unasked to read.
    pub(crate) fn is_quiet(&self) -> bool {
        let mut byte = [0];
        let over = self.tls.as_ref().is_some_and(|tls| tls.borrow_mut().is_over());
        !over && matches!(self.io.get_ref().peek(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until there is something to read, then runs `turn`, in which hyper may read once.
    pub(crate) fn poll_turn(&self, cx: &mut Context<'_>, turn: impl FnOnce()) -> Poll<io::Result<()>> {
        let mut ready = ready!(self.io.poll_read_ready(cx))?;
        self.gate.set(Gate::Open);
        turn();
        match self.gate.replace(Gate::Closed) {
            // A read that did not fill its buffer emptied the queue: with edge-triggered readiness the next segment
            // is announced anew, and the extra read that would only say "nothing there" is saved.
            Gate::ReadDry => ready.clear_ready(),
            Gate::ReadFull | Gate::Closed => {}
            // hyper had bytes to wait for and did not ask for them.
            Gate::Open => return Poll::Ready(Err(io::Error::other("the HTTP connection stopped reading"))),
        }
        Poll::Ready(Ok(()))
    }

    /// Writes `slices`; the result comes with the bracket around the system call.
    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<(usize, Span)>> {
        loop {
            let before = self.clock.now();
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
                        end: self.clock.now(),
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

    /// hyper's read.
    fn read(&self, cursor: &mut ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        if let Some(tls) = &self.tls {
            return self.read_encrypted(&mut tls.borrow_mut(), cursor);
        }
        let (length, stamp) = ready!(self.receive(cursor))?;
        self.note(length, stamp);
        Poll::Ready(Ok(()))
    }

    fn read_encrypted(&self, tls: &mut Session, cursor: &mut ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // What one read brought may take hyper several goes; it keeps the stamp of that read.
        if tls.take(cursor) {
            if self.gate.get() == Gate::Open {
                self.gate.set(Gate::ReadFull);
            }
            return Poll::Ready(Ok(()));
        }
        let mut storage = [MaybeUninit::uninit(); RECORD];
        let mut encrypted = ReadBuf::uninit(&mut storage);
        let (length, stamp) = ready!(self.receive(&mut encrypted.unfilled()))?;
        if length == 0 {
            return Poll::Ready(Ok(()));
        }
        // A read that completes no record brings nothing yet: its bytes count with the read that does.
        self.note(tls.decrypt(encrypted.filled())?, stamp);
        if tls.take(cursor) || tls.is_over() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    /// Reads once per turn; resolves with the number of bytes, 0 at the end of the stream.
    fn receive(&self, cursor: &mut ReadBufCursor<'_>) -> Poll<io::Result<(usize, ReadStamp)>> {
        if self.gate.get() != Gate::Open {
            return Poll::Pending;
        }
        match receive::receive(self.io.get_ref().as_fd(), cursor, self.clock) {
            Ok(received) => {
                let more = received.filled || received.len == 0;
                self.ended.set(received.len == 0);
                self.gate.set(if more { Gate::ReadFull } else { Gate::ReadDry });
                let stamp = ReadStamp {
                    read: self.stamp.get().read + 1,
                    user: received.user,
                    kernel: self
                        .converter
                        .convert(received.wall, received.user, self.last_touch.get()),
                    previous: self.last_activity.get(),
                    by_user: self.by_user,
                };
                Poll::Ready(Ok((received.len, stamp)))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.gate.set(Gate::ReadDry);
                Poll::Pending
            }
            Err(error) => {
                self.gate.set(Gate::ReadFull);
                Poll::Ready(Err(error))
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

/// The socket as hyper sees it: reads through the gate; writes lead nowhere, because the request is written by
/// [`Outgoing`](crate::outgoing::Outgoing), which alone decides its bytes and knows when the last one left.
pub(crate) struct Wire(pub(crate) Rc<Socket>);

impl hyper::rt::Read for Wire {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, mut cursor: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        self.0.read(&mut cursor)
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
