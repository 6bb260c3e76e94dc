//! Which worker gets a credit: all turns of a conversation the same one, else the least loaded.

use rustc_hash::FxHashMap;

use crate::message::Credit;

#[derive(Debug, Clone, Copy, Default)]
struct Load {
    in_flight: u64,
    sessions: u64,
    sent: u64,
    last: u64,
}

/// The router of one run.
#[derive(Debug)]
pub struct Router {
    loads: Vec<Load>,
    sticky: FxHashMap<(u32, u64), usize>,
    clock: u64,
}

impl Router {
    /// A router over so many workers, at least one.
    pub fn new(workers: usize) -> Self {
        Self {
            loads: vec![Load::default(); workers.max(1)],
            sticky: FxHashMap::default(),
            clock: 0,
        }
    }

    /// The worker for a credit: fewest in flight, ties by fewest sessions, then fewest sent, then least recently used. The
    /// conversation sticks to it until its last turn is sent.
    pub fn choose(&mut self, credit: &Credit) -> usize {
        let key = (credit.phase, credit.session);
        let known = self.sticky.get(&key).copied();
        let worker = known.unwrap_or_else(|| {
            let order = |(index, load): &(usize, &Load)| (load.in_flight, load.sessions, load.sent, load.last, *index);
            self.loads
                .iter()
                .enumerate()
                .min_by_key(order)
                .map_or(0, |(index, _)| index)
        });
        self.clock += 1;
        let load = &mut self.loads[worker];
        load.in_flight += 1;
        load.sent += 1;
        load.last = self.clock;
        match (known.is_some(), credit.is_last_turn()) {
            (false, false) => {
                self.sticky.insert(key, worker);
                load.sessions += 1;
            }
            (true, true) => {
                self.sticky.remove(&key);
                load.sessions = load.sessions.saturating_sub(1);
            }
            _ => {}
        }
        worker
    }

    /// A credit has come back from a worker.
    pub fn returned(&mut self, worker: usize) {
        if let Some(load) = self.loads.get_mut(worker) {
            load.in_flight = load.in_flight.saturating_sub(1);
        }
    }

    /// Forgets the conversations of a phase that has ended.
    pub fn end_phase(&mut self, phase: u32) {
        let loads = &mut self.loads;
        self.sticky.retain(|(other, _), worker| {
            let keep = *other != phase;
            if !keep {
                loads[*worker].sessions = loads[*worker].sessions.saturating_sub(1);
            }
            keep
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credit(session: u64, turn: u32, turns: u32) -> Credit {
        Credit {
            id: 0,
            phase: 0,
            session,
            correlation_id: 0,
            conversation: 0,
            turn,
            turns,
            url: 0,
            intended_ns: 0,
            issued_ns: 0,
            max_tokens: None,
        }
    }

    #[test]
    fn conversations_stick_until_their_last_turn_is_sent() {
        let mut router = Router::new(2);
        let first = router.choose(&credit(1, 0, 3));
        let second = router.choose(&credit(2, 0, 1));
        assert_ne!(first, second, "the least loaded");
        assert_eq!(router.choose(&credit(1, 1, 3)), first);
        assert_eq!(router.choose(&credit(1, 2, 3)), first);
        assert!(router.sticky.is_empty());
        // Three in flight there, one here.
        assert_eq!(router.choose(&credit(3, 0, 1)), second);
        for _ in 0..3 {
            router.returned(first);
        }
        assert_eq!(router.choose(&credit(4, 0, 1)), first);
    }
}
