//! One number per record.

use super::{presence::Presence, series::each_selected};
use crate::{adjusted::error_adjusted_of_sorted, pieces::Pieces, statistics::Statistics};

/// The values of a metric with one number per record, and one bit per record of the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    presence: Presence,
    values: Values,
}

/// Numbers: none is kept while all are the same, 4 bytes each while all are whole numbers below 2^32 (tokens, counts, times
/// up to 4.29 s in ns), 8 otherwise.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Same { value: f64, count: usize },
    Whole(Pieces<u32>),
    Real(Pieces<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Same { value: 0.0, count: 0 }
    }
}

impl Values {
    pub(super) fn push(&mut self, value: f64) {
        // Equality also refuses fractions, negative numbers and what the cast has cut off.
        let whole = value as u32;
        let is_whole = f64::from(whole).to_bits() == value.to_bits();
        match self {
            Self::Real(values) => values.push(value),
            Self::Whole(values) if is_whole => values.push(whole),
            Self::Same { count: 0, .. } => *self = Self::Same { value, count: 1 },
            Self::Same { value: same, count } if same.to_bits() == value.to_bits() => *count += 1,
            _ => {
                *self = self.widened(is_whole);
                self.push(value);
            }
        }
    }

    /// The same numbers with room for one that is another, and whole or not.
    fn widened(&self, is_whole: bool) -> Self {
        let (mut whole, mut real) = (Pieces::default(), Pieces::default());
        match *self {
            Self::Same { value, count } if is_whole && f64::from(value as u32).to_bits() == value.to_bits() => {
                (0..count).for_each(|_| whole.push(value as u32));
                return Self::Whole(whole);
            }
            _ => self.iter().for_each(|value| real.push(value)),
        }
        Self::Real(real)
    }

    fn len(&self) -> usize {
        match self {
            Self::Same { count, .. } => *count,
            Self::Whole(values) => values.len(),
            Self::Real(values) => values.len(),
        }
    }

    /// The number at `place`, which must be one of them.
    pub(super) fn at(&self, place: usize) -> f64 {
        match self {
            Self::Same { value, .. } => *value,
            Self::Whole(values) => f64::from(values.at(place)),
            Self::Real(values) => values.at(place),
        }
    }

    fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Same { .. } => 0,
            Self::Whole(values) => values.bytes(),
            Self::Real(values) => values.bytes(),
        }
    }
}

impl Numbers {
    pub(crate) fn push(&mut self, record: usize, value: f64) {
        self.presence.insert(record);
        self.values.push(value);
    }

    /// Adds the values of consecutive records.
    pub(crate) fn extend(&mut self, first: usize, values: impl ExactSizeIterator<Item = f64>) {
        self.presence.insert_all(first..first + values.len());
        match &mut self.values {
            Values::Real(real) => real.extend(values),
            _ => values.for_each(|value| self.values.push(value)),
        }
    }

    /// The values of the selected records, in record order.
    pub(crate) fn select(&self, selected: Option<&Presence>) -> Vec<f64> {
        match selected {
            None => self.values.iter().collect(),
            Some(_) => self.chosen(selected, |place| self.values.at(place)),
        }
    }

    /// The values of the selected records, in ascending order. They must be finite.
    pub(crate) fn sorted(&self, selected: Option<&Presence>) -> Sorted {
        match (&self.values, selected) {
            (&Values::Same { value, count }, None) => Sorted::Same { value, count },
            (Values::Same { .. }, Some(_)) => Sorted::real(self.select(selected)),
            (Values::Whole(values), None) => Sorted::whole(values.iter().collect()),
            (Values::Whole(values), Some(_)) => Sorted::whole(self.chosen(selected, |place| values.at(place))),
            (Values::Real(_), _) => Sorted::real(self.select(selected)),
        }
    }

    fn chosen<T>(&self, selected: Option<&Presence>, at: impl Fn(usize) -> T) -> Vec<T> {
        let mut chosen = Vec::new();
        each_selected(&self.presence, selected, |place, _| chosen.push(at(place)));
        chosen
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes() + self.values.bytes()
    }
}

/// Numbers in ascending order, each in the memory that it takes.
#[derive(Debug)]
pub(crate) enum Sorted {
    Same { value: f64, count: usize },
    Whole(Vec<u32>),
    Real(Vec<f64>),
}

impl Sorted {
    fn whole(mut values: Vec<u32>) -> Self {
        radsort::sort(&mut values);
        Self::Whole(values)
    }

    fn real(mut values: Vec<f64>) -> Self {
        radsort::sort(&mut values);
        Self::Real(values)
    }

    /// See [`Statistics::of`].
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        match self {
            &Self::Same { value, count } => Statistics::of_sorted(count, |_| value),
            Self::Whole(values) => Statistics::of_sorted(values.len(), |i| f64::from(values[i])),
            Self::Real(values) => Statistics::of_sorted(values.len(), |i| values[i]),
        }
    }

    /// See [`crate::adjusted::error_adjusted`].
    pub(crate) fn error_adjusted(&self, errors: u64) -> Option<Statistics> {
        match self {
            &Self::Same { value, count } => error_adjusted_of_sorted(count, |_| value, errors),
            Self::Whole(values) => error_adjusted_of_sorted(values.len(), |i| f64::from(values[i]), errors),
            Self::Real(values) => error_adjusted_of_sorted(values.len(), |i| values[i], errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjusted::error_adjusted;
    use proptest::prelude::*;

    #[test]
    fn numbers_take_what_they_need() {
        let mut numbers = Numbers::default();
        (0..63).for_each(|i| numbers.push(i, 7.0));
        assert_eq!(numbers.bytes(), 12);
        numbers.push(63, 4_294_967_295.0);
        assert_eq!(numbers.bytes(), 64 * 4 + 12);
        numbers.push(64, 0.5);
        assert_eq!(numbers.bytes(), 65 * 8 + 24);
    }

    proptest! {
        #[test]
        fn values_come_back_to_the_bit(
            values in prop::collection::vec(
                (any::<bool>(), any::<bool>(), prop_oneof![Just(0.5), Just(3.0), 0f64..10.0, any::<u32>().prop_map(f64::from), -1e18f64..1e18, Just(-0.0)]),
                0..200,
            ),
        ) {
            let mut numbers = Numbers::default();
            let mut selected = Presence::default();
            for (record, &(present, chosen, value)) in values.iter().enumerate() {
                if present {
                    numbers.push(record, value);
                }
                if chosen {
                    selected.insert(record);
                }
            }
            let expected = |all: bool| -> Vec<f64> {
                values.iter().filter(|v| v.0 && (all || v.1)).map(|v| v.2).collect()
            };
            for selected in [None, Some(&selected)] {
                let mut expected = expected(selected.is_none());
                prop_assert_eq!(numbers.select(selected), expected.clone());
                let sorted = numbers.sorted(selected);
                prop_assert_eq!(sorted.statistics(), Statistics::of(&mut expected));
                prop_assert_eq!(sorted.error_adjusted(3), error_adjusted(&mut expected, 3));
            }
        }
    }
}
