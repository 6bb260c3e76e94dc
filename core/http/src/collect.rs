//! From body frames to a [`Body`]: events with arrivals, or all bytes with one arrival.

use crate::error::{ErrorKind, ExchangeError};
use crate::exchange::Body;
use crate::perform::Observer;
use crate::sse::{Kind, Parser};
use crate::stamp::ReadStamp;
use crate::stream::{Stream, StreamSize};

pub(crate) enum Collector {
    Events {
        parser: Parser,
        events: Stream,
        /// Number of the read whose last known byte is the end of the last event: as long as nothing else of that
        /// read turns up, the event's stamp is exact.
        ends_read: Option<u64>,
    },
    Whole(Vec<u8>),
}

impl Collector {
    pub(crate) fn events(expected: StreamSize) -> Self {
        Self::Events {
            parser: Parser::new(),
            events: Stream::new(expected),
            ends_read: None,
        }
    }

    pub(crate) fn whole(expected: usize) -> Self {
        Self::Whole(Vec::with_capacity(expected))
    }

    /// Takes a frame that was completed by the read `stamp`.
    pub(crate) fn frame<O: Observer + ?Sized>(
        &mut self,
        mut frame: &[u8],
        stamp: ReadStamp,
        observer: &mut O,
    ) -> Result<(), ExchangeError> {
        let (parser, events, ends_read) = match self {
            Self::Whole(bytes) => {
                bytes.extend_from_slice(frame);
                return Ok(());
            }
            Self::Events {
                parser,
                events,
                ends_read,
            } => (parser, events, ends_read),
        };
        more_of_read(events, ends_read, stamp);
        loop {
            let (data, start) = events.data();
            let Some(kind) = parser.next(&mut frame, data, start) else {
                return Ok(());
            };
            let is_last = frame.is_empty();
            if is_last {
                *ends_read = Some(stamp.read);
            }
            let lower = (!is_last).then(|| stamp.lower());
            deliver(parser, events, kind, stamp.arrival(lower), observer)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// The body is complete. `framed` says that its end was told by bytes of the last read (the last chunk), rather
    /// than by a known length or the end of the stream.
    pub(crate) fn finish<O: Observer + ?Sized>(
        &mut self,
        stamp: ReadStamp,
        framed: bool,
        observer: &mut O,
    ) -> Result<(), ExchangeError> {
        let Self::Events {
            parser,
            events,
            ends_read,
        } = self
        else {
            return Ok(());
        };
        if framed {
            more_of_read(events, ends_read, stamp);
        }
        let (data, start) = events.data();
        match parser.finish(data, start) {
            Some(kind) => deliver(parser, events, kind, stamp.exact(), observer),
            None => Ok(()),
        }
    }

    /// What was collected; `stamp` is that of the last read.
    pub(crate) fn into_body(self, stamp: ReadStamp) -> Body {
        match self {
            Self::Events { mut events, .. } => {
                events.drop_partial();
                Body::Events(events)
            }
            Self::Whole(bytes) if bytes.is_empty() => Body::Empty,
            Self::Whole(bytes) => Body::Whole {
                bytes,
                arrival: stamp.exact(),
            },
        }
    }
}

/// More bytes of a read have turned up: an event that seemed to end it did not.
fn more_of_read(events: &mut Stream, ends_read: &mut Option<u64>, stamp: ReadStamp) {
    if ends_read.take() == Some(stamp.read)
        && let Some(last) = events.last_arrival()
    {
        *last = stamp.bounded();
    }
}

// Inlined, as what it calls, so that the arrival stays in registers: read back from memory right after it was written, it
// would wait for all writes before it.
#[inline(always)]
fn deliver<O: Observer + ?Sized>(
    parser: &Parser,
    events: &mut Stream,
    kind: Kind,
    arrival: crate::exchange::Arrival,
    observer: &mut O,
) -> Result<(), ExchangeError> {
    if kind == Kind::Error {
        let data = events.partial();
        let reason = if parser.comment().is_empty() {
            data
        } else {
            parser.comment()
        };
        let reason = String::from_utf8_lossy(reason).into_owned();
        events.drop_partial();
        let reason = if reason.is_empty() {
            "it gave no reason"
        } else {
            &reason
        };
        return Err(ExchangeError::new(
            ErrorKind::SseError,
            format!("the stream reported an error: {reason}"),
        ));
    }
    observer.event(events.push(parser.name(), arrival), arrival);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(read: u64) -> ReadStamp {
        ReadStamp {
            read,
            user: read * 100,
            kernel: Some(read * 100 - 10),
            previous: (read * 100).saturating_sub(110),
            by_user: false,
        }
    }

    /// `at` and `lower` of each event.
    fn arrivals(frames: &[(u64, &str)], framed: bool) -> Vec<(u64, Option<u64>)> {
        let mut collector = Collector::events(StreamSize::default());
        for (read, frame) in frames {
            collector.frame(frame.as_bytes(), stamp(*read), &mut ()).unwrap();
        }
        let last = stamp(frames.last().unwrap().0);
        collector.finish(last, framed, &mut ()).unwrap();
        let Body::Events(events) = collector.into_body(last) else {
            panic!("not events")
        };
        events
            .arrivals
            .iter()
            .map(|arrival| (arrival.at(), arrival.lower()))
            .collect()
    }

    #[test]
    fn only_the_event_that_ends_a_read_is_exact() {
        for (frames, framed, expected) in [
            (
                &[(1, "data: a\n\n"), (2, "data: b\n\n")][..],
                false,
                vec![(90, None), (190, None)],
            ),
            // Two events in one frame.
            (
                &[(2, "data: a\n\ndata: b\n\n")],
                false,
                vec![(190, Some(90)), (190, None)],
            ),
            // The beginning of the next event shares the frame.
            (
                &[(2, "data: a\n\ndata: b"), (3, "\n\n")],
                false,
                vec![(190, Some(90)), (290, None)],
            ),
            // Two frames of one read.
            (
                &[(2, "data: a\n\n"), (2, "data: b\n\n"), (3, "data: c\n\n")],
                false,
                vec![(190, Some(90)), (190, None), (290, None)],
            ),
            // The last chunk came in the read of the last event, or later.
            (&[(2, "data: a\n\n")], true, vec![(190, Some(90))]),
            // An undelimited tail is as old as the read that brought it.
            (
                &[(2, "data: a\n\n"), (3, "data: b")],
                false,
                vec![(190, None), (290, None)],
            ),
        ] {
            assert_eq!(arrivals(frames, framed), expected, "{frames:?}");
        }
    }

    #[test]
    fn an_error_event_ends_the_stream_and_keeps_what_came_before() {
        for (stream, message) in [
            ("event: error\ndata: boom\n\n", "the stream reported an error: boom"),
            (
                "event: error\n: why\ndata: boom\n\n",
                "the stream reported an error: why",
            ),
        ] {
            let mut collector = Collector::events(StreamSize::default());
            let error = collector
                .frame(format!("data: a\n\n{stream}data: b\n\n").as_bytes(), stamp(1), &mut ())
                .unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::SseError, message));
            let Body::Events(events) = collector.into_body(stamp(1)) else {
                panic!("not events")
            };
            assert_eq!((events.bytes.as_slice(), events.len()), (&b"a"[..], 1));
        }
    }
}
