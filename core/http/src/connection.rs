//! One HTTP/1.1 connection: hyper, driven by hand, over a stamped socket.
//!
//! hyper is polled as a state machine with a waker that does nothing: it never has to wait for anything but the
//! socket, and that is done here. So a connection needs no task of its own, and what it hands out is taken in the
//! same poll in which it was read.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;

use crate::socket::{Socket, Wire};

pub(crate) struct Connection {
    http: http1::Connection<Wire, Empty<Bytes>>,
    sender: http1::SendRequest<Empty<Bytes>>,
    socket: Rc<Socket>,
    finished: bool,
    failure: Option<hyper::Error>,
}

impl Connection {
    pub(crate) async fn new(socket: Socket) -> hyper::Result<Self> {
        let socket = Rc::new(socket);
        // Resolves at once: HTTP/1.1 exchanges nothing before the first request.
        let (sender, http) = http1::Builder::new()
            // RFC 9112, 5.2: a client replaces folds by blanks and goes on.
            .allow_obsolete_multiline_headers_in_responses(true)
            .handshake(Wire(Rc::clone(&socket)))
            .await?;
        Ok(Self {
            http,
            sender,
            socket,
            finished: false,
            failure: None,
        })
    }

    pub(crate) fn socket(&self) -> &Rc<Socket> {
        &self.socket
    }

    /// Tells hyper which request the next response answers. Its method matters (no body after HEAD); its bytes don't.
    pub(crate) fn expect_response(
        &mut self,
        method: &http::Method,
    ) -> impl Future<Output = hyper::Result<http::Response<Incoming>>> + use<> {
        let mut request = http::Request::new(Empty::new());
        *request.method_mut() = method.clone();
        let response = self.sender.send_request(request);
        self.step();
        response
    }

    /// Lets hyper work on what it has, without reading.
    pub(crate) fn step(&mut self) {
        if self.finished {
            return;
        }
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(result) = Pin::new(&mut self.http).poll(&mut cx) {
            self.finished = true;
            self.failure = result.err();
        }
    }

    /// Waits for the socket, and lets hyper read once.
    pub(crate) fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = Rc::clone(&self.socket);
        socket.poll_turn(cx, || self.step())
    }

    /// Takes the next body frame that is complete without another read. Pending: only a turn can bring more.
    pub(crate) fn poll_frame(&mut self, body: &mut Incoming) -> Poll<Option<hyper::Result<Bytes>>> {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            match Pin::new(&mut *body).poll_frame(&mut cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => {
                    // hyper holds one frame at a time: let it prepare the next one.
                    self.step();
                    // What is not data is trailers, which nobody asked for.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
            }
        }
    }

    /// Whether hyper has nothing more to do here: what has not come by now never will.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Why hyper gave up, if it did.
    pub(crate) fn take_failure(&mut self) -> Option<hyper::Error> {
        self.failure.take()
    }

    /// Whether another request may be sent: the last response is complete and the server keeps the connection.
    pub(crate) fn is_reusable(&mut self) -> bool {
        self.step();
        // hyper calls a connection ready that has ended with the body.
        !self.finished && self.sender.is_ready() && !self.socket.has_ended()
    }
}
