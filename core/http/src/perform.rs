//! One request on one connection: write it, read the head, read the body.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use http::Method;

use crate::collect::Collector;
use crate::connection::Connection;
use crate::decode::Decoder;
use crate::error::{ErrorKind, ExchangeError};
use crate::exchange::{Arrival, Chunk, Exchange};
use crate::outgoing::Outgoing;
use crate::request::Request;
use crate::response::{Head, Piece, Response};
use crate::socket::Socket;
use crate::stream::StreamSize;

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
    /// When the last read was, until somebody asks.
    pub(crate) read: Cell<Option<u64>>,
}

/// What is fixed during one exchange.
pub(crate) struct Performance<'a, O: Observer + ?Sized> {
    pub(crate) request: &'a Request,
    pub(crate) progress: &'a Progress,
    pub(crate) observer: &'a mut O,
    pub(crate) max_body: usize,
    /// Where reads go. One for all connections of a thread: what a read brought is taken in before the next one.
    pub(crate) buffer: &'a RefCell<Box<[u8]>>,
    /// Size of the last stream that came to its end.
    pub(crate) stream_size: &'a Cell<StreamSize>,
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
        let mut response = Response::new(self.request.method == Method::HEAD);
        let outcome = poll_fn(|cx| {
            loop {
                // A server may answer before it has everything, so writing goes on while the answer is read.
                self.write(connection.socket(), outgoing, answer.exchange, cx);
                let mut buffer = self.buffer.borrow_mut();
                let bytes = match ready!(connection.socket().poll_read(cx, &mut buffer)) {
                    Ok(0) if response.close() => &[],
                    Ok(0) => return Poll::Ready(Err(answer.broken(&io::ErrorKind::UnexpectedEof.into()))),
                    Ok(length) => {
                        self.progress.read.set(Some(connection.socket().stamp().user));
                        &buffer[..length]
                    }
                    Err(error) => return Poll::Ready(Err(answer.broken(&error))),
                };
                if let Some(rest) = self.take(bytes, &mut response, &mut answer)? {
                    connection.set_reusable(rest == 0 && response.keeps_alive());
                    return Poll::Ready(Ok(()));
                }
            }
        });
        outcome.await.map_err(|error| match outgoing.failure() {
            Some(write) if error.kind == ErrorKind::Closed => ExchangeError::before_head(write),
            _ => error,
        })?;
        answer.finish(self.observer)?;
        if let Some(Collector::Events { events, .. }) = &answer.collector {
            self.stream_size.set(events.size());
        }
        Ok(())
    }

    /// Takes in what a read brought. At the end of the response: how many bytes are left that belong to none.
    fn take(
        &mut self,
        mut bytes: &[u8],
        response: &mut Response,
        answer: &mut Answer<'_>,
    ) -> Result<Option<usize>, ExchangeError> {
        loop {
            match response.next(&mut bytes).map_err(ExchangeError::response)? {
                None => return Ok(None),
                Some(Piece::Head(head)) => answer.head(*head, self.max_body, self.stream_size.get())?,
                Some(Piece::Body(part)) => answer.part(part, self)?,
                Some(Piece::End) => return Ok(Some(bytes.len())),
            }
        }
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
    /// The end of the body is told by bytes of its own.
    chunked: bool,
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
            chunked: false,
        }
    }

    /// The connection broke.
    fn broken(&self, error: &io::Error) -> ExchangeError {
        if self.collector.is_some() {
            ExchangeError::body_io(error)
        } else {
            ExchangeError::before_head(error)
        }
    }

    fn head(&mut self, head: Head, max_body: usize, stream_size: StreamSize) -> Result<(), ExchangeError> {
        let success = (200..300).contains(&head.status);
        self.exchange.status = Some(head.status);
        self.exchange.reason = head.reason;
        self.exchange.content_type = head.content_type;
        self.chunked = head.chunked;
        if success {
            self.exchange.timings.headers = Some(self.socket.stamp().at());
        }
        let events = success && self.exchange.content_type.as_deref().is_some_and(is_event_stream);
        self.collector = Some(if events {
            Collector::events(stream_size)
        } else {
            Collector::whole(expected_size(head.length))
        });
        if (300..400).contains(&head.status) {
            self.exchange.location = head.location;
        }
        match Decoder::new(head.content_encoding.as_deref(), max_body) {
            Ok(decoder) => self.decoder = decoder,
            // An answer that is none because of its status is kept as it came.
            Err(unknown) => {
                let unknown = self.exchange.undecoded.insert(unknown.to_owned());
                if success {
                    let message = format!("the response body is encoded as {unknown:?}, which was not asked for");
                    return Err(ExchangeError::new(ErrorKind::Encoding, message));
                }
            }
        }
        Ok(())
    }

    /// The response is complete.
    fn finish<O: Observer + ?Sized>(&mut self, observer: &mut O) -> Result<(), ExchangeError> {
        if let Some(decoder) = &self.decoder {
            decoder.finish()?;
        }
        match &mut self.collector {
            Some(collector) => collector.finish(self.socket.stamp(), self.chunked, observer),
            None => Ok(()),
        }
    }

    /// Takes a part of the body that the last read completed.
    fn part<O: Observer + ?Sized>(
        &mut self,
        part: &[u8],
        performance: &mut Performance<'_, O>,
    ) -> Result<(), ExchangeError> {
        let stamp = self.socket.stamp();
        let timings = &mut self.exchange.timings;
        timings.first_byte.get_or_insert(stamp.at());
        timings.last_byte = Some(stamp.at());
        self.exchange.chunk_count += 1;
        if performance.request.trace_chunks {
            let bytes = u32::try_from(part.len()).unwrap_or(u32::MAX);
            self.exchange.chunks.push(Chunk { at: stamp.at(), bytes });
        }
        self.body_bytes += part.len();
        self.exchange.body_bytes += part.len() as u64;
        if self.body_bytes > performance.max_body {
            let message = format!("the response body is larger than {} bytes", performance.max_body);
            return Err(ExchangeError::new(ErrorKind::BodyTooLarge, message));
        }
        let Some(collector) = &mut self.collector else {
            return Ok(());
        };
        match &mut self.decoder {
            None => collector.frame(part, stamp, performance.observer),
            Some(decoder) => {
                let damage = decoder.decode(part).err();
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
fn expected_size(claimed: Option<u64>) -> usize {
    usize::try_from(claimed.unwrap_or(0))
        .unwrap_or(usize::MAX)
        .min(64 * 1024)
}
