//! Slots and stop conditions.

/// A limit with holders. Lowering it takes free slots away; the rest becomes debt that swallows releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    limit: Option<u32>,
    used: u32,
}

impl Slots {
    /// Slots up to a limit; `None` is unlimited.
    pub fn new(limit: Option<u32>) -> Self {
        Self { limit, used: 0 }
    }

    /// Takes a slot if one is free.
    pub fn try_take(&mut self) -> bool {
        let free = self.limit.is_none_or(|limit| self.used < limit);
        if free {
            self.used += 1;
        }
        free
    }

    /// Gives one back.
    pub fn give_back(&mut self) {
        self.used = self.used.saturating_sub(1);
    }

    /// Moves the limit.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = Some(limit);
    }

    /// Slots in use.
    pub fn used(&self) -> u32 {
        self.used
    }
}

/// When a phase stops sending. All that are set must permit; the first to refuse ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StopConditions {
    /// Requests to send.
    pub requests: Option<u64>,
    /// Conversations to start; those that were started are finished.
    pub sessions: Option<u64>,
    /// ns after the start.
    pub duration_ns: Option<u64>,
}

/// What has been sent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Requests.
    pub requests: u64,
    /// Conversations.
    pub sessions: u64,
    /// Turns that the started conversations will have in all.
    pub planned_turns: u64,
}

impl StopConditions {
    /// Another turn of a running conversation may be sent.
    pub fn may_send(&self, sent: Sent, elapsed_ns: u64) -> bool {
        self.requests.is_none_or(|limit| sent.requests < limit)
            && self
                .sessions
                .is_none_or(|limit| sent.sessions < limit || sent.requests < sent.planned_turns)
            && self.in_time(elapsed_ns)
    }

    /// A new conversation may start.
    pub fn may_start(&self, sent: Sent, elapsed_ns: u64) -> bool {
        self.requests.is_none_or(|limit| sent.requests < limit)
            && self.sessions.is_none_or(|limit| sent.sessions < limit)
            && self.in_time(elapsed_ns)
    }

    /// Nothing can be sent after what has been sent, whatever the time.
    pub fn exhausted(&self, sent: Sent) -> bool {
        self.requests.is_some_and(|limit| sent.requests >= limit)
            || self
                .sessions
                .is_some_and(|limit| sent.sessions >= limit && sent.requests >= sent.planned_turns)
    }

    fn in_time(&self, elapsed_ns: u64) -> bool {
        self.duration_ns.is_none_or(|limit| elapsed_ns < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowering_a_limit_leaves_debt() {
        let mut slots = Slots::new(Some(3));
        assert!((0..3).all(|_| slots.try_take()));
        assert!(!slots.try_take());
        slots.set_limit(1);
        slots.give_back();
        assert!(!slots.try_take(), "two in use, limit 1");
        slots.give_back();
        assert!(!slots.try_take(), "one in use, limit 1");
        slots.give_back();
        assert!(slots.try_take());
    }

    #[test]
    fn stop_conditions() {
        let sent = |requests, sessions, planned_turns| Sent {
            requests,
            sessions,
            planned_turns,
        };
        let requests = StopConditions {
            requests: Some(5),
            ..Default::default()
        };
        let sessions = StopConditions {
            sessions: Some(2),
            ..Default::default()
        };
        let duration = StopConditions {
            duration_ns: Some(100),
            ..Default::default()
        };
        // (conditions, sent, elapsed) → (may send, may start, exhausted)
        let cases = [
            (requests, sent(4, 1, 9), 0, (true, true, false)),
            (requests, sent(5, 1, 9), 0, (false, false, true)),
            (sessions, sent(3, 1, 3), 0, (true, true, false)),
            (sessions, sent(3, 2, 6), 0, (true, false, false)),
            (sessions, sent(6, 2, 6), 0, (false, false, true)),
            (duration, sent(9, 9, 9), 99, (true, true, false)),
            (duration, sent(9, 9, 9), 100, (false, false, false)),
        ];
        for (conditions, sent, elapsed, expected) in cases {
            let got = (
                conditions.may_send(sent, elapsed),
                conditions.may_start(sent, elapsed),
                conditions.exhausted(sent),
            );
            assert_eq!(got, expected, "{conditions:?} {sent:?} {elapsed}");
        }
    }
}
