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
    let counts = |valid: bool| match population {
        Population::Valid => valid,
        Population::Errors => !valid,
        Population::All => true,
    };
    Some(match one.formula {
        Formula::Integer(formula) => Column::u64s(
            rows.iter()
                .map(|(valid, row)| counts(*valid).then(|| formula(row)).flatten()),
        ),
        Formula::Real(formula) => Column::f64s(rows.iter().map(|(valid, row)| {
            counts(*valid)
                .then(|| formula(row))
                .flatten()
                .filter(|value| value.is_finite())
        })),
        Formula::Integers(formula) => {
            let (mut ends, mut values, mut validity) = (Vec::new(), Vec::new(), Vec::new());
            for (valid, row) in rows {
                let before = values.len();
                let has = counts(*valid) && formula(row, &mut values);
                if !has {
                    values.truncate(before);
                }
                validity.push(u8::from(has));
                ends.push(values.len() as u32);
            }
            Column::U64List { ends, values, validity }
        }
        Formula::Derived(..) => return None,
    })
}
