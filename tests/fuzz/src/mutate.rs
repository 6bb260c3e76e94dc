//! From inputs that make sense to inputs that almost do.

/// Longest input made, in bytes.
const LONGEST: usize = 64 * 1024;

/// Values that sit at the edges of number types and of texts.
const EDGES: &[&[u8]] = &[
    b"0",
    b"-1",
    b"1",
    b"255",
    b"256",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e308",
    b"1e999",
    b"-0.0",
    b"NaN",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
    b"\r\n",
    b"\n\n",
    b"\xf0\x9f\x98\x80",
    b"\xc3",
    b"\\u0000",
    b"\\ud800",
    b" ",
];

/// A small generator of random numbers (SplitMix64): the same seed gives the same run on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 where there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit.max(1) as u64).unwrap_or(0)
    }

    fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

/// A mutation of one of `inputs`, with `words` of the format woven in.
#[must_use]
pub fn mutate(random: &mut Random, inputs: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
    let any = |random: &mut Random| inputs.get(random.below(inputs.len())).cloned().unwrap_or_default();
    let mut bytes = any(random);
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let widest = 1 << random.below(12);
        let end = (at + 1 + random.below(widest)).min(bytes.len());
        let span = at.min(end)..end;
        match random.below(10) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.number().to_le_bytes()[0],
            2 => drop(bytes.drain(span)),
            3 => {
                let copy = bytes[span].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            // Repetition finds what grows too deep or too large.
            4 => {
                let copy = bytes[span].repeat(1 << random.below(10));
                bytes.splice(at..at, copy);
            }
            5 => {
                let other = any(random);
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            6 => drop(bytes.splice(span, random.pick(EDGES).iter().copied())),
            7 => bytes.truncate(at),
            _ => {
                let word = random.pick(words);
                let replaced = if random.below(2) == 0 { at..at } else { span };
                bytes.splice(replaced, word.iter().copied());
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_a_run_and_another_does_not() {
        let run = |seed| {
            let mut random = Random::new(seed);
            (0..200)
                .map(|_| mutate(&mut random, &[b"data: a\n\n".to_vec()], &[b"event"]))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert!(run(1).iter().all(|input| input.len() <= LONGEST));
    }
}
