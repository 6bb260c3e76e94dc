//! One request on one connection: write it, read the head, read the body.

use std::borrow::Cow;
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION, TRANSFER_ENCODING};
use hyper::body::Incoming;

use crate::collect::Collector;
use crate::connection::Connection;
use crate::decode::Decoder;
use crate::error::{ErrorKind, ExchangeError};
use crate::exchange::{Arrival, Chunk, Exchange};
use crate::outgoing::Outgoing;
use crate::request::Request;
use crate::socket::Socket;

/// Is told of an exchange's progress while it runs, on the I/O thread: it must return at once. `()` ignores it all.
pub trait Observer {
    /// The request was completely written at `at` (monotonic nanoseconds).
    fn sent(&mut self, at: u64) {
        let _ = at;
    }

    /// An event of a stream is complete. That more bytes followed in the same read may turn out later: then the
    /// exchange's own list has a lower bound that `arrival` lacks.
    fn event(&mut self, data: &[u8], arrival: Arrival) {
        let _ = (data, arrival);
    }
}

impl Observer for () {}

/// What the guards around an exchange must know of it while it runs.
#[derive(Default)]
pub(crate) struct Progress {
    /// When the request was completely written.
    pub(crate) sent: Cell<Option<u64>>,
}

/// What is fixed during one exchange.
pub(crate) struct Performance<'a, O: Observer + ?Sized> {
    pub(crate) request: &'a Request,
    pub(crate) progress: &'a Progress,
    pub(crate) observer: &'a mut O,
    pub(crate) max_body: usize,
}

impl<O: Observer + ?Sized> Performance<'_, O> {
    /// Sends `outgoing` over `connection` and collects the answer into `exchange`. What came before a failure stays
    /// there.
    pub(crate) async fn run(
        &mut self,
        connection: &mut Connection,
        outgoing: &mut Outgoing,
        exchange: &mut Exchange,
    ) -> Result<(), ExchangeError> {
        let mut answer = Answer::new(connection, exchange);
        let response = self.head(connection, outgoing, &mut answer).await?;
        answer.head(&response, self.max_body)?;
        let framed = response.headers().contains_key(TRANSFER_ENCODING);
        self.body(connection, outgoing, &mut answer, response.into_body())
            .await?;
        if let Some(decoder) = &answer.decoder {
            decoder.finish()?;
        }
        match &mut answer.collector {
            Some(collector) => collector.finish(connection.socket().stamp(), framed, self.observer),
            None => Ok(()),
        }
    }

    /// Writes the request and waits for the head of the response.
    async fn head(
        &mut self,
        connection: &mut Connection,
        outgoing: &mut Outgoing,
        answer: &mut Answer<'_>,
    ) -> Result<http::Response<Incoming>, ExchangeError> {
        let mut response = pin!(connection.expect_response(&self.request.method));
        let head = poll_fn(|cx| {
            loop {
                self.write(connection.socket(), outgoing, answer.exchange, cx);
                let mut noop = Context::from_waker(Waker::noop());
                if let Poll::Ready(response) = response.as_mut().poll(&mut noop) {
                    return Poll::Ready(response.map_err(|error| ExchangeError::head(&error)));
                }
                if connection.is_finished() {
                    let failure = connection.take_failure();
                    return Poll::Ready(Err(
                        failure.map_or_else(ExchangeError::closed, |e| ExchangeError::head(&e))
                    ));
                }
                ready!(connection.poll_turn(cx)).map_err(|error| ExchangeError::before_head(&error))?;
            }
        });
        head.await.map_err(|error| match outgoing.failure() {
            Some(write) if error.kind == ErrorKind::Closed => ExchangeError::before_head(write),
            _ => error,
        })
    }

    /// Reads the body to its end, and goes on writing if the server answers before it has everything.
    async fn body(
        &mut self,
        connection: &mut Connection,
        outgoing: &mut Outgoing,
        answer: &mut Answer<'_>,
        mut body: Incoming,
    ) -> Result<(), ExchangeError> {
        poll_fn(|cx| {
            loop {
                self.write(connection.socket(), outgoing, answer.exchange, cx);
                if let Poll::Ready(result) = self.frames(connection, &mut body, answer) {
                    return Poll::Ready(result);
                }
                if connection.is_finished() {
                    return Poll::Ready(Err(match connection.take_failure() {
                        Some(error) => ExchangeError::body(&error),
                        None => ExchangeError::body_io(&io::ErrorKind::UnexpectedEof.into()),
                    }));
                }
                ready!(connection.poll_turn(cx)).map_err(|error| ExchangeError::body_io(&error))?;
            }
        })
        .await
    }

    /// Writes what the socket takes.
    fn write(&mut self, socket: &Socket, outgoing: &mut Outgoing, exchange: &mut Exchange, cx: &mut Context<'_>) {
        let bracket = outgoing.write(socket, cx);
        exchange.bytes_sent = outgoing.written() as u64;
        // Of a request that is sent again, the first sending counts.
        if let (Some(bracket), None) = (bracket, exchange.timings.send) {
            exchange.timings.send = Some(bracket);
            self.progress.sent.set(Some(bracket.end));
            self.observer.sent(bracket.end);
        }
    }

    /// Takes all frames that the last read completed. Ready at the end of the body.
    fn frames(
        &mut self,
        connection: &mut Connection,
        body: &mut Incoming,
        answer: &mut Answer<'_>,
    ) -> Poll<Result<(), ExchangeError>> {
        loop {
            match ready!(connection.poll_frame(body)) {
                None => return Poll::Ready(Ok(())),
                Some(Err(error)) => return Poll::Ready(Err(ExchangeError::body(&error))),
                Some(Ok(frame)) => answer.frame(&frame, self)?,
            }
        }
    }
}

/// The answer while it comes in. Whenever it is dropped (at the end, or because the exchange was cancelled in the
/// middle), what has come is put into the exchange.
struct Answer<'a> {
    exchange: &'a mut Exchange,
    socket: Rc<Socket>,
    /// Bytes the socket had received before this exchange.
    received_before: u64,
    collector: Option<Collector>,
    decoder: Option<Decoder>,
    body_bytes: usize,
}

impl<'a> Answer<'a> {
    fn new(connection: &Connection, exchange: &'a mut Exchange) -> Self {
        let socket = Rc::clone(connection.socket());
        exchange.remote = Some(socket.remote());
        exchange.local = socket.local();
        let received_before = socket.received();
        Self {
            exchange,
            socket,
            received_before,
            collector: None,
            decoder: None,
            body_bytes: 0,
        }
    }

    fn head(&mut self, response: &http::Response<Incoming>, max_body: usize) -> Result<(), ExchangeError> {
        let status = response.status();
        let header = |name| {
            response
                .headers()
                .get(name)
                .map(|value| String::from_utf8_lossy(value.as_bytes()))
        };
        self.exchange.status = Some(status.as_u16());
        self.exchange.reason = match response.extensions().get::<hyper::ext::ReasonPhrase>() {
            Some(reason) => Cow::Owned(String::from_utf8_lossy(reason.as_bytes()).into_owned()),
            None => Cow::Borrowed(status.canonical_reason().unwrap_or_default()),
        };
        self.exchange.content_type = header(CONTENT_TYPE).map(Cow::into_owned);
        if status.is_success() {
            self.exchange.timings.headers = Some(self.socket.stamp().at());
        }
        let events = status.is_success() && self.exchange.content_type.as_deref().is_some_and(is_event_stream);
        self.collector = Some(if events {
            Collector::events()
        } else {
            Collector::whole(expected_size(response.headers()))
        });
        if status.is_redirection() {
            self.exchange.location = header(LOCATION).map(Cow::into_owned);
        }
        self.decode(response, max_body)
    }

    /// Sets the decoder up. An answer that is none because of its status is kept as it came.
    fn decode(&mut self, response: &http::Response<Incoming>, max_body: usize) -> Result<(), ExchangeError> {
        let encodings = response.headers().get_all(CONTENT_ENCODING);
        if encodings.iter().next().is_none() {
            return Ok(());
        }
        let names: Vec<_> = encodings
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        let encoding = names.join(", ");
        match Decoder::new(Some(&encoding), max_body) {
            Ok(decoder) => self.decoder = decoder,
            Err(unknown) => {
                self.exchange.undecoded = Some(unknown.to_owned());
                if response.status().is_success() {
                    let message = format!("the response body is encoded as {unknown:?}, which was not asked for");
                    return Err(ExchangeError::new(ErrorKind::Encoding, message));
                }
            }
        }
        Ok(())
    }

    fn frame<O: Observer + ?Sized>(
        &mut self,
        frame: &[u8],
        performance: &mut Performance<'_, O>,
    ) -> Result<(), ExchangeError> {
        let stamp = self.socket.stamp();
        let timings = &mut self.exchange.timings;
        timings.first_byte.get_or_insert(stamp.at());
        timings.last_byte = Some(stamp.at());
        self.exchange.chunk_count += 1;
        if performance.request.trace_chunks {
            let bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
            self.exchange.chunks.push(Chunk { at: stamp.at(), bytes });
        }
        self.body_bytes += frame.len();
        self.exchange.body_bytes += frame.len() as u64;
        if self.body_bytes > performance.max_body {
            let message = format!("the response body is larger than {} bytes", performance.max_body);
            return Err(ExchangeError::new(ErrorKind::BodyTooLarge, message));
        }
        let Some(collector) = &mut self.collector else {
            return Ok(());
        };
        match &mut self.decoder {
            None => collector.frame(frame, stamp, performance.observer),
            Some(decoder) => {
                let damage = decoder.decode(frame).err();
                collector.frame(decoder.decoded(), stamp, performance.observer)?;
                damage.map_or(Ok(()), Err)
            }
        }
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        self.exchange.bytes_received = self.socket.received() - self.received_before;
        if let Some(collector) = self.collector.take() {
            self.exchange.body = collector.into_body(self.socket.stamp());
        }
    }
}

fn is_event_stream(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("text/event-stream")
}

/// Room to reserve for a body; what a server claims is believed up to a point.
fn expected_size(headers: &HeaderMap) -> usize {
    let claimed = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    claimed.unwrap_or(0).min(64 * 1024)
}
