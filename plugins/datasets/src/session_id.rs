//! Ids of conversations that have none.

use std::collections::HashSet;

use aiperf_sdk::Host;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::random;

/// Makes ids.
pub(crate) enum SessionIds {
    /// `session_000000`, `session_000001`, … for runs with a seed.
    Numbered(u64),
    /// Version 4 UUIDs.
    Random(Box<ChaCha8Rng>),
}

impl SessionIds {
    /// Ids for a run.
    pub(crate) fn new(seeded: bool, host: &dyn Host) -> Self {
        if seeded {
            Self::Numbered(0)
        } else {
            Self::Random(Box::new(random::stream(host, "dataset.session_id")))
        }
    }

    /// The next id that is not among those taken.
    pub(crate) fn next(&mut self, taken: &HashSet<String>) -> String {
        loop {
            let id = match self {
                Self::Numbered(number) => {
                    let id = format!("session_{number:06}");
                    *number += 1;
                    id
                }
                Self::Random(rng) => uuid(rng),
            };
            if !taken.contains(&id) {
                return id;
            }
        }
    }
}

/// RFC 9562, version 4, variant 10.
fn uuid(rng: &mut ChaCha8Rng) -> String {
    let high = rng.next_u64() & !0xf000 | 0x4000;
    let low = rng.next_u64() & !(0b11 << 62) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::host::NoHost;

    #[test]
    fn numbered_ids_skip_taken_ones() {
        let mut ids = SessionIds::new(true, &NoHost);
        let taken = HashSet::from(["session_000001".to_owned()]);
        assert_eq!(ids.next(&taken), "session_000000");
        assert_eq!(ids.next(&taken), "session_000002");
    }

    #[test]
    fn random_ids_are_version_4_uuids() {
        let mut ids = SessionIds::new(false, &NoHost);
        let (a, b) = (ids.next(&HashSet::new()), ids.next(&HashSet::new()));
        assert_ne!(a, b);
        for id in [a, b] {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(id.as_bytes()[14], b'4', "{id}");
            assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        }
    }
}
