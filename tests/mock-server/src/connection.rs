//! One connection: read a request, write its answer, begin again.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use mio::event::Event;
use mio::net::TcpStream;

use crate::answer::{Exchange, Step};
use crate::clock::monotonic_ns;
use crate::log::Log;
use crate::request::{Progress, RequestReader};
use crate::service::Service;

/// Writes in a row after which the other connections get their turn.
const TURN: usize = 16;
/// An output buffer that has grown beyond this is given back after the answer.
const SPARE: usize = 128 * 1024;

/// What the event loop must wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Readiness,
    /// This time (`CLOCK_MONOTONIC` ns), or readiness.
    At(u64),
    Close,
}

/// What a connection needs from its thread.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) service: &'a Service,
    pub(crate) log: Log,
    /// Bytes on their way from a socket to a reader.
    pub(crate) scratch: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    reader: RequestReader,
    exchange: Option<Exchange>,
    output: Vec<u8>,
    written: usize,
    /// Close when the output is written.
    closing: bool,
    /// There may be bytes to read: readiness is told once, when it begins.
    readable: bool,
    /// The client has sent its last byte.
    read_closed: bool,
    /// The connection is broken both ways.
    broken: bool,
    /// Due time of this connection's entry in the timer queue.
    pub(crate) timer: Option<u64>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            reader: RequestReader::new(),
            exchange: None,
            output: Vec::new(),
            written: 0,
            closing: false,
            readable: true,
            read_closed: false,
            broken: false,
            timer: None,
        }
    }

    /// Takes note of readiness.
    pub(crate) fn ready(&mut self, event: &Event) {
        self.readable |= event.is_readable();
        self.read_closed |= event.is_read_closed();
        self.broken |= event.is_error() || event.is_write_closed();
    }

    /// Goes as far as time and socket allow.
    pub(crate) fn advance(&mut self, context: &mut Context<'_>) -> Next {
        if self.broken {
            return Next::Close;
        }
        let mut turn = 0..TURN;
        let mut again = None;
        loop {
            match self.flush() {
                Ok(true) => {}
                Ok(false) => return Next::Readiness,
                Err(_) => return Next::Close,
            }
            if let Some(due) = again {
                return Next::At(monotonic_ns().max(due));
            }
            if turn.next().is_none() {
                return Next::At(monotonic_ns());
            }
            if let Some(exchange) = &mut self.exchange {
                match exchange.step(monotonic_ns(), &mut self.output) {
                    Step::Write => continue,
                    Step::WriteUntil(due) => {
                        again = Some(due);
                        continue;
                    }
                    Step::Wait(due) => return Next::At(due),
                    Step::Done => self.finish(context),
                    Step::Reset => {
                        // Closing without lingering sends a reset. If that cannot be had, a plain close is the
                        // nearest thing.
                        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
                        self.finish(context);
                        return Next::Close;
                    }
                }
            }
            if self.closing {
                return Next::Close;
            }
            match self.reader.advance() {
                Ok(Progress::Complete(request)) => self.exchange = Some(context.service.answer(&request)),
                Ok(Progress::ExpectsContinue) => self.output.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n"),
                Ok(Progress::NeedMore) => match self.read(&mut context.scratch) {
                    Ok(true) => {}
                    Ok(false) => return Next::Readiness,
                    Err(_) => return Next::Close,
                },
                Err(error) => self.exchange = Some(context.service.refuse(error)),
            }
        }
    }

    /// Notes the end of the answer, if one is under way, whether it is complete or not.
    pub(crate) fn finish(&mut self, context: &mut Context<'_>) {
        if let Some(exchange) = self.exchange.take() {
            self.closing = !exchange.keep_alive;
            exchange.finish(self.output.is_empty(), &mut context.log);
        }
        if self.output.capacity() > SPARE {
            self.output = Vec::new();
        }
    }

    /// Writes the output; `false` if the socket takes no more for now.
    fn flush(&mut self) -> io::Result<bool> {
        while self.written < self.output.len() {
            match self.stream.write(&self.output[self.written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.written = 0;
        Ok(true)
    }

    /// Reads once; `false` if there is nothing for now. The end of the input is an error.
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<bool> {
        if !self.readable && !self.read_closed {
            return Ok(false);
        }
        match self.stream.read(scratch) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                // A short read has emptied the socket: what comes later is told anew.
                self.readable = count == scratch.len();
                self.reader.push(&scratch[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(false)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}
