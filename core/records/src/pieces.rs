//! Lists that grow without moving.

/// Values per piece.
const PIECE: usize = 4096;

/// A list in pieces of equal length. What grows by doubling is copied again and again, each time into memory that has not
/// been touched before, and fresh memory costs more than all that is done with the values.
#[derive(Clone, Debug)]
pub(crate) struct Pieces<T> {
    pieces: Vec<Vec<T>>,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self { pieces: Vec::new() }
    }
}

impl<T: Copy> Pieces<T> {
    pub(crate) fn push(&mut self, value: T) {
        match self.pieces.last_mut() {
            Some(last) if last.len() < PIECE => last.push(value),
            _ => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(value);
                self.pieces.push(piece);
            }
        }
    }

    pub(crate) fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        let mut values = values.into_iter();
        loop {
            let room = match self.pieces.last_mut() {
                Some(last) if last.len() < PIECE => last,
                _ => self.pieces.push_mut(Vec::with_capacity(PIECE)),
            };
            room.extend(values.by_ref().take(PIECE - room.len()));
            if room.len() < PIECE {
                return;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        let full = self.pieces.len().saturating_sub(1) * PIECE;
        full + self.pieces.last().map_or(0, Vec::len)
    }

    /// The value at `place`, which must be one of the list.
    pub(crate) fn at(&self, place: usize) -> T {
        self.pieces[place / PIECE][place % PIECE]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + Clone + '_ {
        self.pieces.iter().flatten().copied()
    }

    /// Bytes of the values.
    pub(crate) fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }
}

/// Whole numbers in four bytes each, none lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compact {
    values: Pieces<u32>,
    /// Place and value of each entry that is [`ESCAPE`], ascending in place.
    large: Vec<(usize, u64)>,
}

/// Marks a number that does not fit and stands in [`Compact::large`]. `u32::MAX - 1` ns are 4.29 s.
const ESCAPE: u32 = u32::MAX;

impl Compact {
    pub(crate) fn push(&mut self, value: u64) {
        let stored = u32::try_from(value).unwrap_or(ESCAPE);
        if stored == ESCAPE {
            self.large.push((self.values.len(), value));
        }
        self.values.push(stored);
    }

    pub(crate) fn extend(&mut self, values: &[u64]) {
        let bits = values.iter().fold(0, |bits, value| bits | value);
        if bits < u64::from(ESCAPE) {
            self.values.extend(values.iter().map(|&value| value as u32));
        } else {
            values.iter().for_each(|&value| self.push(value));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The number at `place`, which must be one of the list.
    pub(crate) fn at(&self, place: usize) -> u64 {
        match self.values.at(place) {
            ESCAPE => self.large_at(place),
            value => u64::from(value),
        }
    }

    #[cold]
    fn large_at(&self, place: usize) -> u64 {
        let known = self.large.binary_search_by_key(&place, |&(place, _)| place);
        known.map_or(u64::from(ESCAPE), |known| self.large[known].1)
    }

    /// What is stored, in ascending order, the large ones last: a number is never greater than [`ESCAPE`] but for those.
    pub(crate) fn sorted(&self) -> (Vec<u32>, Vec<u64>) {
        let mut small: Vec<u32> = self.values.iter().collect();
        radsort::sort(&mut small);
        let mut large: Vec<u64> = self.large.iter().map(|&(_, value)| value).collect();
        large.sort_unstable();
        // The marks sort last.
        small.truncate(small.len() - large.len());
        (small, large)
    }

    /// Bytes: 4 per number, 16 more per large one.
    pub(crate) fn bytes(&self) -> usize {
        self.values.bytes() + size_of_val(&*self.large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_from_every_piece(
            few in prop::collection::vec(prop_oneof![0u64..9, any::<u64>(), 4_294_967_290u64..4_294_967_300], 1..50),
            times in 1usize..400,
        ) {
            let mut compact = Compact::default();
            let numbers = few.repeat(times);
            numbers.iter().for_each(|&number| compact.push(number));
            let mut extended = Compact::default();
            numbers.chunks(few.len() + 3).for_each(|chunk| extended.extend(chunk));
            prop_assert_eq!((compact.len(), extended.len()), (numbers.len(), numbers.len()));
            for (place, &number) in numbers.iter().enumerate() {
                prop_assert_eq!((compact.at(place), extended.at(place)), (number, number));
            }
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let (small, large) = compact.sorted();
            prop_assert_eq!(small.iter().map(|&small| u64::from(small)).chain(large).collect::<Vec<_>>(), sorted);
        }
    }

    #[test]
    fn pieces_follow_one_another() {
        let mut pieces = Pieces::default();
        for i in 0..3 * PIECE + 1 {
            assert_eq!(pieces.len(), i);
            pieces.push(i);
        }
        assert!(pieces.iter().eq(0..3 * PIECE + 1));
        assert_eq!(
            (pieces.at(0), pieces.at(PIECE), pieces.at(3 * PIECE)),
            (0, PIECE, 3 * PIECE)
        );
    }
}
