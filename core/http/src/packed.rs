//! Events in little room, for as long as nobody looks at them.
//!
//! The events of a token stream differ from one another in a few bytes, and come at short distances. So of each is kept how
//! many bytes it begins and ends with like the one before, what is between, and how much later it came: some 20 bytes for a
//! token instead of 300.

use crate::exchange::{Arrival, Events};

/// Flags of an event.
const KERNEL: u8 = 1;
const LOWER: u8 = 2;
const BY_USER: u8 = 4;
/// It has a name, which follows.
const NAMED: u8 = 8;
/// It has the name of the event before.
const SAME_NAME: u8 = 16;

/// Packed events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    count: usize,
    /// The last event: the next one is told by its differences from it.
    last: Last,
}

/// What the next event is compared with.
#[derive(Clone, Debug, Default, PartialEq)]
struct Last {
    data: Vec<u8>,
    name: Vec<u8>,
    user: u64,
}

impl Packed {
    /// Adds events.
    pub(crate) fn add(&mut self, events: &Events) {
        // Grows by little: there are as many of these as there are streams.
        let expected = 32 * events.len();
        if self.bytes.capacity() - self.bytes.len() < expected {
            self.bytes.reserve_exact(expected.max(self.bytes.len() / 4));
        }
        let before = std::mem::take(&mut self.last.data);
        let mut previous: &[u8] = &before;
        for (index, (data, arrival)) in events.iter().enumerate() {
            let name = events.name(index).unwrap_or_default();
            self.arrival(arrival, name);
            let head = common_head(previous, data);
            let tail = common_tail(&previous[head..], &data[head..]);
            let middle = &data[head..data.len() - tail];
            for length in [head, tail, middle.len()] {
                self.number(length as u64);
            }
            self.bytes.extend_from_slice(middle);
            previous = data;
        }
        self.last.data = previous.to_vec();
        self.count += events.len();
    }

    /// Adds all events to `events`.
    pub(crate) fn unpack(&self, events: &mut Events) {
        let mut unpacking = Unpacking { rest: &self.bytes };
        let mut last = Last::default();
        let mut start = events.next_start();
        let mut length = 0;
        for _ in 0..self.count {
            let arrival = unpacking.arrival(&mut last);
            let [head, tail, middle] = [(); 3].map(|()| unpacking.number() as usize);
            let next = events.bytes.len();
            events.bytes.extend_from_within(start..start + head);
            events.bytes.extend_from_slice(unpacking.take(middle));
            events.bytes.extend_from_within(start + length - tail..start + length);
            (start, length) = (next, events.bytes.len() - next);
            events.push(&last.name, arrival);
        }
    }

    fn arrival(&mut self, arrival: Arrival, name: &[u8]) {
        let user = arrival.user();
        let same_name = name == self.last.name;
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        self.bytes.push(
            flag(arrival.kernel().is_some(), KERNEL)
                | flag(arrival.lower().is_some(), LOWER)
                | flag(arrival.is_by_user(), BY_USER)
                | flag(!name.is_empty() && !same_name, NAMED)
                | flag(!name.is_empty() && same_name, SAME_NAME),
        );
        // Differences may be of either sign: what wraps around here wraps back.
        self.number(user.wrapping_sub(self.last.user));
        self.last.user = user;
        for before in [arrival.kernel(), arrival.lower()].into_iter().flatten() {
            self.number(user.wrapping_sub(before));
        }
        if !name.is_empty() && !same_name {
            self.number(name.len() as u64);
            self.bytes.extend_from_slice(name);
        }
        if !same_name {
            self.last.name.clear();
            self.last.name.extend_from_slice(name);
        }
    }

    /// Seven bits in each byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Reads what [`Packed`] wrote.
struct Unpacking<'a> {
    rest: &'a [u8],
}

impl<'a> Unpacking<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let taken;
        (taken, self.rest) = self.rest.split_at(length);
        taken
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            shift += 7;
        }
        number
    }

    fn arrival(&mut self, last: &mut Last) -> Arrival {
        let flags = self.take(1)[0];
        let user = last.user.wrapping_add(self.number());
        last.user = user;
        let mut before = |flag: u8| (flags & flag != 0).then(|| user.wrapping_sub(self.number()));
        let (kernel, lower) = (before(KERNEL), before(LOWER));
        if flags & SAME_NAME == 0 {
            last.name.clear();
        }
        if flags & NAMED != 0 {
            let length = self.number() as usize;
            last.name.extend_from_slice(self.take(length));
        }
        let arrival = Arrival::new(user, kernel, lower);
        if flags & BY_USER == 0 {
            arrival
        } else {
            arrival.by_user()
        }
    }
}

/// Bytes that two slices begin with alike.
fn common_head(one: &[u8], other: &[u8]) -> usize {
    const WIDE: usize = 32;
    // Many at once, as long as they are the same.
    let wide = one.chunks_exact(WIDE).zip(other.chunks_exact(WIDE));
    let same = WIDE * wide.take_while(|(one, other)| one == other).count();
    let rest = one[same..].iter().zip(&other[same..]);
    same + rest.take_while(|(one, other)| one == other).count()
}

/// Bytes that two slices end with alike.
fn common_tail(one: &[u8], other: &[u8]) -> usize {
    const WIDE: usize = 32;
    let wide = one.rchunks_exact(WIDE).zip(other.rchunks_exact(WIDE));
    let same = WIDE * wide.take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[..one.len() - same], &other[..other.len() - same]);
    let rest = one.iter().rev().zip(other.iter().rev());
    same + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Event = (String, Vec<u8>, Arrival);

    fn events(all: &[Event]) -> Events {
        let mut events = Events::default();
        for (name, data, arrival) in all {
            events.bytes.extend_from_slice(data);
            events.push(name.as_bytes(), *arrival);
        }
        events
    }

    fn unpacked(packed: &Packed) -> Events {
        let mut events = Events::default();
        packed.unpack(&mut events);
        events
    }

    fn event() -> impl Strategy<Value = Event> {
        let name = prop::sample::select(vec!["", "", "delta", "stop"]).prop_map(str::to_owned);
        let data = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..80),
            "[ab]{0,6}".prop_map(|text| format!("{0}{text}{0}", "same ".repeat(20)).into_bytes()),
        ];
        let near = prop_oneof![0..3_000_000_000_u64, any::<u64>()];
        let arrival = (
            near.clone(),
            prop::option::of(near.clone()),
            prop::option::of(near),
            any::<bool>(),
        );
        let arrival = arrival.prop_map(|(user, kernel, lower, by_user)| {
            let arrival = Arrival::new(user, kernel, lower);
            if by_user { arrival.by_user() } else { arrival }
        });
        (name, data, arrival)
    }

    proptest! {
        #[test]
        fn what_is_unpacked_is_what_was_packed(parts in prop::collection::vec(prop::collection::vec(event(), 0..12), 0..4)) {
            let mut packed = Packed::default();
            for part in &parts {
                packed.add(&events(part));
            }
            let all = parts.concat();
            prop_assert_eq!(packed.count, all.len());
            prop_assert_eq!(unpacked(&packed), events(&all));
        }
    }

    #[test]
    fn a_token_takes_little() {
        let all: Vec<Event> = (0..1000_u64)
            .map(|i| {
                let data = format!(r#"{}{{"content":" word{i}"}}{}"#, "h".repeat(190), "t".repeat(55));
                let user = 1_000_000_000_000 + i * 200_000_000;
                (
                    String::new(),
                    data.into_bytes(),
                    Arrival::new(user, Some(user - 20_000), Some(user - 40_000)),
                )
            })
            .collect();
        let mut packed = Packed::default();
        for part in all.chunks(20) {
            packed.add(&events(part));
        }
        assert!(packed.bytes.len() < 25 * all.len(), "{}", packed.bytes.len());
        assert!(packed.bytes.capacity() < 32 * all.len(), "{}", packed.bytes.capacity());
        assert_eq!(unpacked(&packed), events(&all));
    }
}
