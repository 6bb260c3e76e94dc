//! What one exchange brought: timings, answer, error. All instants are monotonic nanoseconds of [`Clock`](crate::Clock).

use std::borrow::Cow;
use std::net::SocketAddr;
use std::num::NonZeroU64;

use crate::error::ExchangeError;
use crate::stream::Stream;

/// When something arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    user: u64,
    kernel: Option<NonZeroU64>,
    lower: Option<NonZeroU64>,
    by_user: bool,
}

impl Arrival {
    /// An arrival read at `user`, received by the kernel at `kernel`, and, if it did not end its read, no earlier than
    /// `lower`. Zero is taken as missing.
    #[must_use]
    pub fn new(user: u64, kernel: Option<u64>, lower: Option<u64>) -> Self {
        Self::with_preference(user, kernel, lower, false)
    }

    #[inline]
    pub(crate) fn with_preference(user: u64, kernel: Option<u64>, lower: Option<u64>, by_user: bool) -> Self {
        Self {
            user,
            kernel: kernel.and_then(NonZeroU64::new),
            lower: lower.and_then(NonZeroU64::new),
            by_user,
        }
    }

    /// The same, with the time of the read as the best instant.
    #[must_use]
    pub fn by_user(self) -> Self {
        Self { by_user: true, ..self }
    }

    /// Best instant: the kernel's receive time if there is one and it is wanted, else that of the read.
    #[must_use]
    pub fn at(&self) -> u64 {
        match self.kernel {
            Some(kernel) if !self.by_user => kernel.get(),
            _ => self.user,
        }
    }

    /// When the read that brought it returned.
    #[must_use]
    pub fn user(&self) -> u64 {
        self.user
    }

    /// When the kernel received it.
    #[must_use]
    pub fn kernel(&self) -> Option<u64> {
        self.kernel.map(NonZeroU64::get)
    }

    /// Set when more bytes followed in the same read: the true arrival lies between this and [`at`](Self::at).
    #[must_use]
    pub fn lower(&self) -> Option<u64> {
        self.lower.map(NonZeroU64::get)
    }

    /// Whether the time of the read is the best instant all the same.
    pub(crate) fn is_by_user(&self) -> bool {
        self.by_user
    }

    /// How late the client looked, in nanoseconds: its own lag, as far as it is known.
    #[must_use]
    pub fn lag(&self) -> Option<u64> {
        self.kernel().map(|kernel| self.user.saturating_sub(kernel))
    }
}

/// A bracket around something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Right before it began.
    pub start: u64,
    /// Right after it ended.
    pub end: u64,
}

/// The instants of one exchange. What did not happen is None.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// The request was handed to the client. Latencies count from here.
    pub start: u64,
    /// Wall time of `start`, read beside it, in epoch nanoseconds.
    pub start_wall: u64,
    /// Waiting for a free slot under the connection limit. None if one was free.
    pub pool_wait: Option<Span>,
    /// Name resolution. None if the host is an address or its name was cached.
    pub dns: Option<Span>,
    /// Establishing the connection. None if one was reused.
    pub connect: Option<Span>,
    /// The write that completed the request (of the first sending, if it was sent again).
    pub send: Option<Span>,
    /// The read that completed the head of a 2xx response.
    pub headers: Option<u64>,
    /// The read that brought the first bytes of the body.
    pub first_byte: Option<u64>,
    /// The read that brought the last bytes of the body.
    pub last_byte: Option<u64>,
    /// The exchange was over, whatever its outcome.
    pub end: u64,
}

/// One part of a body as it came, for the trace export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Arrival of the read that completed it.
    pub at: u64,
    /// Its size in bytes.
    pub bytes: u32,
}

/// The events of a stream, in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// The data of all events, one after the other.
    pub bytes: Vec<u8>,
    /// Where each event's data ends in `bytes`.
    pub ends: Vec<u32>,
    /// When each event arrived: the read that completed it.
    pub arrivals: Vec<Arrival>,
    names: Vec<u8>,
    /// As long as `ends` once an event had a name, else empty.
    name_ends: Vec<u32>,
}

impl Events {
    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Data of event `index`: its `data` lines joined by a newline.
    #[must_use]
    pub fn data(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.bytes.get(start..end)
    }

    /// Name of event `index` (its `event` field), if it had one.
    #[must_use]
    pub fn name(&self, index: usize) -> Option<&[u8]> {
        let end = *self.name_ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.name_ends[before] as usize);
        self.names.get(start..end).filter(|name| !name.is_empty())
    }

    /// Data and arrival of each event.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Arrival)> {
        (0..self.len()).filter_map(|index| Some((self.data(index)?, *self.arrivals.get(index)?)))
    }

    /// Makes room for so many bytes of data and so many events.
    pub(crate) fn reserve(&mut self, bytes: usize, events: usize) {
        self.bytes.reserve_exact(bytes);
        self.ends.reserve_exact(events);
        self.arrivals.reserve_exact(events);
    }

    /// Where the next event's data begins.
    pub(crate) fn next_start(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Completes an event whose data now ends `bytes`.
    #[inline(always)] // see `collect::deliver`
    pub(crate) fn push(&mut self, name: &[u8], arrival: Arrival) {
        if !name.is_empty() || !self.name_ends.is_empty() {
            // The first name: the events before it had none.
            self.name_ends.resize(self.ends.len(), 0);
            self.names.extend_from_slice(name);
            self.name_ends.push(offset(self.names.len()));
        }
        self.ends.push(offset(self.bytes.len()));
        self.arrivals.push(arrival);
    }

    /// Drops the events; the data of one that is not complete stays.
    pub(crate) fn drop_complete(&mut self) {
        self.bytes.drain(..self.next_start());
        self.ends.clear();
        self.arrivals.clear();
        self.names.clear();
        self.name_ends.clear();
    }

    /// Adds the events of `others`.
    pub(crate) fn append(&mut self, others: &Self) {
        self.reserve(others.bytes.len(), others.len());
        for (index, (data, arrival)) in others.iter().enumerate() {
            self.bytes.extend_from_slice(data);
            self.push(others.name(index).unwrap_or_default(), arrival);
        }
    }

    /// Drops the data of an event that was never completed.
    pub(crate) fn drop_partial(&mut self) {
        self.bytes.truncate(self.next_start());
    }
}

/// The client's body limit keeps every offset below 2^32.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The body of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Body {
    /// No head came, or the body was empty.
    #[default]
    Empty,
    /// A 2xx answer of type `text/event-stream`.
    Events(Stream),
    /// Any other answer.
    Whole {
        /// All bytes that came.
        bytes: Vec<u8>,
        /// When the last of them came.
        arrival: Arrival,
    },
}

/// One request and what became of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// When things happened.
    pub timings: Timings,
    /// HTTP status, if a head came.
    pub status: Option<u16>,
    /// Reason phrase as sent, else the standard one; empty if no head came.
    pub reason: Cow<'static, str>,
    /// `Content-Type` of the answer.
    pub content_type: Option<Cow<'static, str>>,
    /// `Location` of a redirect (3xx) as sent: it may hold credentials.
    pub location: Option<String>,
    /// `Content-Encoding` that the body still has: it is none that can be decoded.
    pub undecoded: Option<String>,
    /// Bytes of head and body written (of the last sending).
    pub bytes_sent: u64,
    /// Bytes of HTTP received, framing included (decrypted, if they came encrypted).
    pub bytes_received: u64,
    /// Bytes of the body received, without framing, before decoding.
    pub body_bytes: u64,
    /// Number of parts the body came in.
    pub chunk_count: u32,
    /// The parts, if the request asked for them.
    pub chunks: Vec<Chunk>,
    /// Address of the server.
    pub remote: Option<SocketAddr>,
    /// Our own address.
    pub local: Option<SocketAddr>,
    /// A pooled connection was used.
    pub reused: bool,
    /// The first connection turned out to be dead, and the request was sent again on a fresh one.
    pub resent: bool,
    /// The answer's body, as far as it came.
    pub body: Body,
    /// Why there is no complete answer.
    pub error: Option<ExchangeError>,
}

impl Exchange {
    /// Whether a complete 2xx answer came.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_names_beside_data() {
        let arrival = Arrival::new(7, Some(5), None);
        let mut events = Events::default();
        for (name, data) in [("", "a"), ("delta", "bc"), ("", ""), ("stop", "d")] {
            events.bytes.extend_from_slice(data.as_bytes());
            events.push(name.as_bytes(), arrival);
        }
        events.bytes.extend_from_slice(b"partial");
        events.drop_partial();

        assert_eq!(events.bytes, b"abcd");
        assert_eq!(events.ends, [1, 3, 3, 4]);
        let names: Vec<_> = (0..5).map(|index| events.name(index)).collect();
        assert_eq!(names, [None, Some(&b"delta"[..]), None, Some(b"stop"), None]);
        let data: Vec<_> = events.iter().map(|(data, _)| data).collect();
        assert_eq!(data, [&b"a"[..], b"bc", b"", b"d"]);
        assert_eq!(events.data(4), None);
    }

    #[test]
    fn an_arrival_prefers_the_kernel() {
        let both = Arrival::new(100, Some(90), Some(50));
        assert_eq!(
            (both.at(), both.user(), both.kernel(), both.lower(), both.lag()),
            (90, 100, Some(90), Some(50), Some(10))
        );
        let user = Arrival::new(100, None, None);
        assert_eq!(
            (user.at(), user.kernel(), user.lower(), user.lag()),
            (100, None, None, None)
        );
        let by_user = both.by_user();
        assert_eq!(
            (by_user.at(), by_user.kernel(), by_user.lag()),
            (100, Some(90), Some(10))
        );
        assert_eq!(Arrival::new(100, Some(0), None).kernel(), None, "0 is missing");
    }

    #[test]
    fn what_crosses_threads_is_send() {
        fn send<T: Send + 'static>() {}
        send::<Exchange>();
        send::<crate::Request>();
    }
}
