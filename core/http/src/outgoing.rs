//! A request on its way out.

use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::exchange::Span;
use crate::socket::Socket;

/// The bytes of a request and how many of them have left.
pub(crate) struct Outgoing {
    head: Vec<u8>,
    body: Bytes,
    written: usize,
    failure: Option<io::Error>,
}

impl Outgoing {
    pub(crate) fn new(head: Vec<u8>, body: Bytes) -> Self {
        Self {
            head,
            body,
            written: 0,
            failure: None,
        }
    }

    pub(crate) fn written(&self) -> usize {
        self.written
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.written == self.head.len() + self.body.len()
    }

    /// Why the writing stopped. A server may answer, and close, before it has read the whole request: so this becomes
    /// the outcome only if no answer is found.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Starts over, for another connection.
    pub(crate) fn rewind(&mut self) {
        self.written = 0;
        self.failure = None;
    }

    /// Writes what the socket takes. Once, when the last byte has left: the bracket around the write that took it.
    pub(crate) fn write(&mut self, socket: &Socket, cx: &mut Context<'_>) -> Option<Span> {
        while !self.is_complete() && self.failure.is_none() {
            let head = &self.head[self.written.min(self.head.len())..];
            let body = &self.body[self.written.saturating_sub(self.head.len())..];
            match socket.poll_write(cx, &[IoSlice::new(head), IoSlice::new(body)]) {
                Poll::Pending => return None,
                Poll::Ready(Err(error)) => self.failure = Some(error),
                Poll::Ready(Ok((0, _))) => self.failure = Some(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok((written, bracket))) => {
                    self.written += written;
                    if self.is_complete() {
                        return Some(bracket);
                    }
                }
            }
        }
        None
    }
}
