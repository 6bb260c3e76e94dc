//! One number per record.

use super::{presence::Presence, series::each_selected};

/// The values of a metric with one number per record: 4 bytes each while all are whole numbers below 2^32 (tokens,
/// counts, times up to 4.29 s in ns), 8 otherwise, and one bit per record of the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    presence: Presence,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    Whole(Vec<u32>),
    Real(Vec<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Whole(Vec::new())
    }
}

impl Numbers {
    pub(crate) fn push(&mut self, record: usize, value: f64) {
        self.presence.insert(record);
        if let Values::Whole(values) = &mut self.values {
            let whole = value as u32;
            // Equality also refuses fractions, negative numbers and what the cast has cut off.
            if f64::from(whole) == value {
                values.push(whole);
                return;
            }
            self.values = Values::Real(values.iter().map(|&value| f64::from(value)).collect());
        }
        if let Values::Real(values) = &mut self.values {
            values.push(value);
        }
    }

    /// The values of the selected records, in record order.
    pub(crate) fn select(&self, selected: Option<&Presence>) -> Vec<f64> {
        match (&self.values, selected) {
            (Values::Whole(values), None) => values.iter().map(|&value| f64::from(value)).collect(),
            (Values::Real(values), None) => values.clone(),
            (values, selected) => {
                let mut chosen = Vec::new();
                each_selected(&self.presence, selected, |place, _| {
                    chosen.push(match values {
                        Values::Whole(values) => f64::from(values[place]),
                        Values::Real(values) => values[place],
                    });
                });
                chosen
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes()
            + match &self.values {
                Values::Whole(values) => size_of_val(&**values),
                Values::Real(values) => size_of_val(&**values),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_numbers_take_four_bytes_until_one_is_not() {
        let mut numbers = Numbers::default();
        (0..64).for_each(|i| numbers.push(i, 4_294_967_295.0));
        assert_eq!(numbers.bytes(), 64 * 4 + 8);
        numbers.push(64, 0.5);
        assert_eq!(numbers.bytes(), 65 * 8 + 16);
    }

    proptest! {
        #[test]
        fn values_come_back_to_the_bit(
            values in prop::collection::vec(
                (any::<bool>(), any::<bool>(), prop_oneof![0f64..10.0, any::<u32>().prop_map(f64::from), -1e18f64..1e18, Just(-0.0)]),
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
            prop_assert_eq!(numbers.select(None), expected(true));
            prop_assert_eq!(numbers.select(Some(&selected)), expected(false));
        }
    }
}
