//! A list per record.

use aiperf_plugin_api::column::Column;

use super::{presence::Presence, series::each_selected};
use crate::{gaps::GapStore, precision::Precision, statistics::Statistics};

/// The lists of one metric. Integers become a histogram beyond the budget; reals, which no integer histogram can hold,
/// are given up, and with them the metric.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    budget_bytes: usize,
    presence: Presence,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    None,
    Integers(GapStore),
    Reals { values: Vec<f64>, ends: Vec<usize> },
    GivenUp,
}

/// There are values, but those of the records in question are no longer known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

impl Lists {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Self {
            budget_bytes,
            presence: Presence::default(),
            values: Values::None,
        }
    }

    /// Whether the column holds integers if earlier ones did, and reals if they did.
    pub(crate) fn accepts(&self, column: &Column) -> bool {
        match &self.values {
            Values::Integers(_) => matches!(column, Column::U64List { .. }),
            Values::Reals { .. } | Values::GivenUp => matches!(column, Column::F64List { .. }),
            Values::None => true,
        }
    }

    pub(crate) fn push_integers(&mut self, record: usize, list: &[u64]) {
        self.presence.insert(record);
        if matches!(self.values, Values::None) {
            self.values = Values::Integers(GapStore::new(self.budget_bytes));
        }
        if let Values::Integers(store) = &mut self.values {
            store.push(list);
        }
    }

    pub(crate) fn push_reals(&mut self, record: usize, list: &[f64]) {
        self.presence.insert(record);
        if matches!(self.values, Values::None) {
            self.values = Values::Reals {
                values: Vec::new(),
                ends: Vec::new(),
            };
        }
        if let Values::Reals { values, ends } = &mut self.values {
            values.extend_from_slice(list);
            ends.push(values.len());
            if size_of_val(&**values) + size_of_val(&**ends) > self.budget_bytes {
                self.values = Values::GivenUp;
            }
        }
    }

    /// Statistics over the lists of the selected records, pooled, and how exact they are; nothing without values.
    pub(crate) fn pooled(&self, selected: Option<&Presence>) -> Result<Option<(Statistics, Precision)>, Lost> {
        let (statistics, precision) = match (&self.values, selected) {
            (Values::None, _) => return Ok(None),
            (Values::GivenUp, _) => return Err(Lost),
            (Values::Integers(store), None) => (store.statistics(), store.precision()),
            (Values::Integers(store), Some(_)) if store.precision() != Precision::Exact => return Err(Lost),
            (Values::Integers(store), Some(_)) => {
                let mut values = Vec::new();
                each_selected(&self.presence, selected, |place, _| {
                    values.extend(store.list(place).into_iter().flatten().map(|value| value as f64));
                });
                (Statistics::of(&mut values), Precision::Exact)
            }
            (Values::Reals { values, ends }, _) => {
                let mut chosen = Vec::new();
                each_selected(&self.presence, selected, |place, _| {
                    let start = place.checked_sub(1).map_or(0, |before| ends[before]);
                    chosen.extend_from_slice(&values[start..ends[place]]);
                });
                (Statistics::of(&mut chosen), Precision::Exact)
            }
        };
        Ok(statistics.map(|statistics| (statistics, precision)))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes()
            + match &self.values {
                Values::None | Values::GivenUp => 0,
                Values::Integers(store) => store.bytes(),
                Values::Reals { values, ends } => size_of_val(&**values) + size_of_val(&**ends),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(records: &[usize]) -> Presence {
        let mut presence = Presence::default();
        records.iter().for_each(|&record| presence.insert(record));
        presence
    }

    fn mean(lists: &Lists, records: Option<&[usize]>) -> Option<f64> {
        lists.pooled(records.map(selected).as_ref()).unwrap()?.0.avg
    }

    #[test]
    fn pooling_follows_the_selection() {
        let (mut integers, mut reals) = (Lists::new(1000), Lists::new(1000));
        for (record, list) in [(1, vec![1, 2, 3]), (4, vec![]), (5, vec![10])] {
            integers.push_integers(record, &list);
            reals.push_reals(record, &list.iter().map(|&v| v as f64).collect::<Vec<_>>());
        }
        for lists in [integers, reals] {
            assert_eq!(mean(&lists, None), Some(4.0));
            assert_eq!(mean(&lists, Some(&[0, 1, 4])), Some(2.0));
            assert_eq!(mean(&lists, Some(&[5])), Some(10.0));
            assert_eq!(mean(&lists, Some(&[4])), None);
        }
    }

    #[test]
    fn beyond_the_budget_integers_become_a_histogram_and_reals_are_given_up() {
        let (mut integers, mut reals) = (Lists::new(50), Lists::new(50));
        for record in 0..10 {
            integers.push_integers(record, &[7, 7]);
            reals.push_reals(record, &[7.0, 7.0]);
        }
        let (statistics, precision) = integers.pooled(None).unwrap().unwrap();
        assert_eq!(
            (statistics.count, precision),
            (Some(20), Precision::Histogram { significant_digits: 4 })
        );
        assert_eq!(integers.pooled(Some(&selected(&[1]))), Err(Lost));
        assert_eq!(reals.pooled(None), Err(Lost));
        assert_eq!(reals.bytes(), 12);
    }
}
