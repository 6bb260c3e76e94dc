//! The events of one stream while it is open, and afterwards.

use std::{cell::OnceCell, ops::Deref};

use crate::exchange::{Arrival, Events};
use crate::packed::Packed;

/// Bytes of data from which on events are packed.
const LARGE: usize = 4608;

/// The events of a stream: [`Events`], once somebody looks. Those of a long stream are kept packed until then.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The latest ones. The very last is always here: its arrival may yet change.
    recent: Events,
    /// Those before, if it is a long stream.
    earlier: Option<Box<Earlier>>,
}

#[derive(Clone, Debug, Default)]
struct Earlier {
    packed: Packed,
    /// Together with the recent ones.
    all: OnceCell<Events>,
}

/// How large a stream is going to be, as far as the one before tells: room for it is taken at once, up to a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamSize {
    bytes: usize,
    events: usize,
}

impl StreamSize {
    /// As far as events are not packed.
    const MOST: Self = Self {
        bytes: LARGE + 512,
        events: 32,
    };
}

impl Stream {
    /// A stream without events, of which so much is expected.
    pub(crate) fn new(expected: StreamSize) -> Self {
        let mut stream = Self::default();
        stream.recent.reserve(expected.bytes, expected.events);
        stream
    }

    /// All events.
    #[must_use]
    pub fn into_events(mut self) -> Events {
        match self.earlier.take() {
            None => self.recent,
            Some(mut earlier) => match earlier.all.take() {
                Some(all) => all,
                None => unpacked(&earlier.packed, &self.recent),
            },
        }
    }

    /// How large it is.
    pub(crate) fn size(&self) -> StreamSize {
        if self.earlier.is_some() {
            return StreamSize::MOST;
        }
        StreamSize {
            bytes: self.recent.bytes.len().min(StreamSize::MOST.bytes),
            events: self.recent.len().min(StreamSize::MOST.events),
        }
    }

    /// Where the data of the next event is to be appended, and where it begins there.
    pub(crate) fn data(&mut self) -> (&mut Vec<u8>, usize) {
        let start = self.recent.next_start();
        (&mut self.recent.bytes, start)
    }

    /// The data of the event that is not complete yet.
    pub(crate) fn partial(&self) -> &[u8] {
        &self.recent.bytes[self.recent.next_start()..]
    }

    /// Drops the data of an event that was never completed.
    pub(crate) fn drop_partial(&mut self) {
        self.recent.drop_partial();
    }

    /// Completes the event whose data was appended. Gives that data.
    #[inline(always)] // see `collect::deliver`
    pub(crate) fn push(&mut self, name: &[u8], arrival: Arrival) -> &[u8] {
        if self.recent.next_start() >= LARGE {
            self.pack();
        }
        let start = self.recent.next_start();
        self.recent.push(name, arrival);
        &self.recent.bytes[start..]
    }

    /// The arrival of the last event.
    pub(crate) fn last_arrival(&mut self) -> Option<&mut Arrival> {
        self.recent.arrivals.last_mut()
    }

    #[cold]
    fn pack(&mut self) {
        self.earlier.get_or_insert_default().packed.add(&self.recent);
        self.recent.drop_complete();
    }
}

fn unpacked(packed: &Packed, recent: &Events) -> Events {
    let mut events = Events::default();
    packed.unpack(&mut events);
    events.append(recent);
    events
}

impl From<Events> for Stream {
    fn from(recent: Events) -> Self {
        Self {
            recent,
            ..Self::default()
        }
    }
}

impl Deref for Stream {
    type Target = Events;

    fn deref(&self) -> &Events {
        match &self.earlier {
            None => &self.recent,
            Some(earlier) => earlier.all.get_or_init(|| unpacked(&earlier.packed, &self.recent)),
        }
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_streams_read_as_short_ones_do() {
        for count in [0, 3, 1000_u64] {
            let mut stream = Stream::new(StreamSize::default());
            let mut expected = Events::default();
            for i in 0..count {
                let event = format!("event {i} {}", "x".repeat(i as usize % 100));
                let name = ["", "delta", ""][i as usize % 3];
                let arrival = Arrival::new(1000 + i, Some(900 + i), None);
                stream.data().0.extend_from_slice(event.as_bytes());
                assert_eq!(stream.partial(), event.as_bytes());
                assert_eq!(stream.push(name.as_bytes(), arrival), event.as_bytes());
                expected.bytes.extend_from_slice(event.as_bytes());
                expected.push(name.as_bytes(), arrival);
                assert!(stream.recent.bytes.len() < LARGE + 200);
            }
            if let Some(last) = stream.last_arrival() {
                *last = Arrival::new(7, None, Some(6));
                *expected.arrivals.last_mut().unwrap() = Arrival::new(7, None, Some(6));
            }
            stream.data().0.extend_from_slice(b"half an event");
            stream.drop_partial();
            assert_eq!(stream.clone().into_events(), expected, "nobody has looked yet");
            assert_eq!(*stream, expected);
            assert_eq!(stream.clone(), Stream::from(expected.clone()));
            assert_eq!(stream.clone().into_events(), expected);
            assert_eq!(stream.earlier.is_some(), count == 1000);
            assert_eq!(stream.into_events(), expected);
        }
    }
}
