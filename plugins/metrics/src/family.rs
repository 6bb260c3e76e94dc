//! A family as a table of definitions: everything that the contract asks for follows from the table.

use aiperf_sdk::{
    Batch, Column, Metric, MetricFamily, Result, fields,
    metric::{Population, Window},
};

use crate::{
    definition::{Definition, Formula, Totals},
    inputs::Inputs,
    options::Options,
};

/// A family of the definitions that apply to the run.
pub(crate) struct Family<I: Inputs> {
    options: Options,
    definitions: Vec<Definition<I>>,
    derive_needs: Vec<String>,
}

impl<I: Inputs> Family<I> {
    /// Leaves out what does not apply.
    pub(crate) fn new(options: Options, mut definitions: Vec<Definition<I>>) -> Self {
        definitions.retain(|one| options.lacks(one.spec.flags | one.requires).is_none());
        let mut derive_needs: Vec<String> = Vec::new();
        for one in &definitions {
            if let Formula::Derived(needs, _) = one.formula {
                for &need in needs {
                    if !derive_needs.iter().any(|known| known == need) {
                        derive_needs.push(need.to_owned());
                    }
                }
            }
        }
        Self {
            options,
            definitions,
            derive_needs,
        }
    }
}

impl<I: Inputs> Metric for Family<I> {
    fn describe(&self) -> Result<MetricFamily> {
        let reads_records = self
            .definitions
            .iter()
            .any(|one| !matches!(one.formula, Formula::Derived(..)));
        let needs = if reads_records {
            std::iter::once(fields::VALID)
                .chain(I::NEEDS.iter().copied())
                .map(str::to_owned)
                .collect()
        } else {
            Vec::new()
        };
        Ok(MetricFamily {
            needs,
            derive_needs: self.derive_needs.clone(),
            metrics: self.definitions.iter().map(|one| one.spec.clone()).collect(),
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let valid = batch.column(0);
        let rows: Vec<(bool, I::Row<'_>)> = (0..batch.len)
            .map(|i| (valid.u64(i) == Some(1), I::read(batch, 1, i, &self.options)))
            .collect();
        Ok(self.definitions.iter().filter_map(|one| column(one, &rows)).collect())
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let totals = Totals {
            window,
            tags: &self.derive_needs,
        };
        Ok(self
            .definitions
            .iter()
            .filter_map(|one| match one.formula {
                Formula::Derived(_, formula) => Some(formula(&totals).filter(|value| value.is_finite())),
                _ => None,
            })
            .collect())
    }
}

/// The values of one metric; `None` if it is derived. Records outside its population have none.
fn column<I: Inputs>(one: &Definition<I>, rows: &[(bool, I::Row<'_>)]) -> Option<Column> {
    let population = one.spec.population;
    let many = rows.len();
    let counted = || {
        rows.iter().map(|(valid, row)| {
            let counts = match population {
                Population::Valid => *valid,
                Population::Errors => !valid,
                Population::All => true,
            };
            counts.then_some(row)
        })
    };
    Some(match one.formula {
        Formula::Integer(formula) => Column::u64s(counted().map(|row| row.and_then(formula))),
        Formula::Real(formula) => {
            Column::f64s(counted().map(|row| row.and_then(formula).filter(|value| value.is_finite())))
        }
        Formula::Integers(formula) => {
            let (mut ends, mut validity) = (Vec::with_capacity(many), Vec::with_capacity(many));
            let mut values = Vec::new();
            for row in counted() {
                let before = values.len();
                let has = row.is_some_and(|row| formula(row, &mut values));
                if !has {
                    values.truncate(before);
                }
                validity.push(u8::from(has));
                ends.push(values.len() as u32);
            }
            Column::U64List { ends, values, validity }
        }
        Formula::Interval(formula) => {
            let (mut from, mut to) = (Vec::with_capacity(many), Vec::with_capacity(many));
            let (mut weight, mut validity) = (Vec::with_capacity(many), Vec::with_capacity(many));
            for row in counted() {
                let interval = row.and_then(formula).filter(|interval| interval.weight.is_finite());
                validity.push(u8::from(interval.is_some()));
                let interval = interval.unwrap_or_default();
                from.push(interval.from);
                to.push(interval.to);
                weight.push(interval.weight);
            }
            Column::Intervals {
                from,
                to,
                weight,
                validity,
            }
        }
        Formula::Steps(formula) => {
            let (mut from, mut ends) = (Vec::with_capacity(many), Vec::with_capacity(many));
            let (mut weight, mut validity) = (Vec::with_capacity(many), Vec::with_capacity(many));
            let (mut gaps, mut own) = (Vec::new(), Vec::new());
            for row in counted() {
                own.clear();
                let steps = row
                    .and_then(|row| formula(row, &mut own))
                    .filter(|steps| steps.weight.is_finite());
                validity.push(u8::from(steps.is_some()));
                if steps.is_some() {
                    gaps.append(&mut own);
                }
                let steps = steps.unwrap_or_default();
                from.push(steps.from);
                ends.push(gaps.len() as u32);
                weight.push(steps.weight);
            }
            Column::Steps {
                from,
                ends,
                gaps,
                weight,
                validity,
            }
        }
        Formula::Derived(..) => return None,
    })
}
