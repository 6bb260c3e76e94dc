//! The metric families of a run, in an order in which each finds what it needs.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicBool, Ordering},
};

use aiperf_host::MetricHandle;
use aiperf_plugin_api::{
    Batch, Column, ColumnRef, Metric, MetricFamily, MetricKind, MetricSpec, PluginError, fields, metric::Population,
};

use super::build::Counted;
use crate::{columns::FieldColumn, validity::Observed};

/// A metric family in use.
pub struct Family {
    /// The plugin.
    pub handle: MetricHandle,
    /// What it describes.
    pub family: MetricFamily,
    /// Tags that are this family's by priority; what else it defines is another's.
    pub own: HashSet<String>,
    /// A failure skips the batch instead of ending the run.
    pub skip_on_error: bool,
    /// It has failed before.
    pub failed: AtomicBool,
}

/// Where an input of a family comes from.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// Column of the plan.
    Field(usize),
    /// Column of another family's result.
    Metric { family: usize, column: usize },
    /// Neither.
    Unknown,
}

/// All families of a run.
pub struct Families {
    families: Vec<Family>,
    order: Vec<usize>,
    inputs: Vec<Vec<Input>>,
    plan: Vec<String>,
}

/// Two families need each other.
#[derive(Debug, thiserror::Error)]
#[error("the metric families {0} need each other's values; leave one of them out")]
pub struct Circle(String);

impl Families {
    /// Orders families. `exported` are columns that exporters want besides.
    ///
    /// # Errors
    /// When families need each other in a circle.
    pub fn new(families: Vec<Family>, exported: &[String]) -> Result<Self, Circle> {
        let tags = columns_by_tag(families.iter().map(|family| (&family.family, &family.own)));
        // The core itself needs these of every record.
        let own = [
            fields::VALID,
            fields::START,
            fields::START_WALL,
            fields::END,
            fields::ERROR_CODE,
            fields::ERROR_TYPE,
            fields::ERROR_MESSAGE,
        ];
        let mut plan: Vec<String> = own.iter().map(|name| (*name).to_owned()).collect();
        let observed = Observed::COLUMNS.map(str::to_owned);
        let wanted = families.iter().flat_map(|family| &family.family.needs).chain(exported);
        for name in observed.iter().chain(wanted) {
            if !tags.contains_key(name) && !plan.contains(name) {
                plan.push(name.clone());
            }
        }
        let position: HashMap<&str, usize> = plan.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let inputs: Vec<Vec<Input>> = families
            .iter()
            .map(|family| {
                let input = |name: &String| match (position.get(name.as_str()), tags.get(name)) {
                    (Some(&index), _) => Input::Field(index),
                    (None, Some(&(family, column))) => Input::Metric { family, column },
                    (None, None) => Input::Unknown,
                };
                family.family.needs.iter().map(input).collect()
            })
            .collect();
        let order = order(&families, &inputs)?;
        Ok(Self {
            families,
            order,
            inputs,
            plan,
        })
    }

    /// Names of the record columns that the run needs, in order.
    pub fn plan(&self) -> &[String] {
        &self.plan
    }

    /// The families, by number.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Metric columns of a batch, by family; `None` where a family failed. Values of records outside a metric's population
    /// are invalid. Failures of families that may not be skipped come beside, each family's first.
    pub fn compute(&self, fields: &[FieldColumn], records: &[Counted]) -> (Vec<Option<Vec<Column>>>, Vec<PluginError>) {
        let mut results: Vec<Option<Vec<Column>>> = (0..self.families.len()).map(|_| None).collect();
        let mut failures = Vec::new();
        for &index in &self.order {
            let family = &self.families[index];
            let columns: Vec<ColumnRef<'_>> = self.inputs[index]
                .iter()
                .map(|input| match *input {
                    Input::Field(field) => fields[field].borrow(),
                    Input::Metric { family, column } => results[family]
                        .as_ref()
                        .and_then(|columns| columns.get(column))
                        .and_then(Column::borrow)
                        .unwrap_or(ColumnRef::Missing),
                    Input::Unknown => ColumnRef::Missing,
                })
                .collect();
            let computed = family.handle.record(&Batch {
                len: records.len(),
                columns: &columns,
            });
            results[index] = match computed {
                Ok(mut columns) => {
                    for (column, spec) in columns.iter_mut().zip(per_record(&family.family)) {
                        restrict(column, spec.population, records);
                    }
                    Some(columns)
                }
                Err(error) => {
                    // The report counts the records; the reason is said once.
                    if !family.failed.swap(true, Ordering::Relaxed) {
                        if family.skip_on_error {
                            tracing::warn!(
                                "{error}; its values are left out for such records, and the report counts them"
                            );
                        } else {
                            failures.push(error);
                        }
                    }
                    None
                }
            };
        }
        (results, failures)
    }
}

/// Family and column of each per-record metric, by tag. A family counts only for the tags it owns.
pub fn columns_by_tag<'a>(
    families: impl Iterator<Item = (&'a MetricFamily, &'a HashSet<String>)>,
) -> HashMap<String, (usize, usize)> {
    let mut columns = HashMap::new();
    for (index, (family, own)) in families.enumerate() {
        for (column, spec) in per_record(family).enumerate() {
            if own.contains(&spec.tag) {
                columns.insert(spec.tag.clone(), (index, column));
            }
        }
    }
    columns
}

/// Metrics that have a column.
pub fn per_record(family: &MetricFamily) -> impl Iterator<Item = &MetricSpec> {
    family.metrics.iter().filter(|spec| spec.kind != MetricKind::Derived)
}

fn order(families: &[Family], inputs: &[Vec<Input>]) -> Result<Vec<usize>, Circle> {
    let mut order: Vec<usize> = Vec::with_capacity(families.len());
    while order.len() < families.len() {
        let ready = |index: &usize| {
            let waits = |input: &Input| matches!(input, Input::Metric { family, .. } if family != index && !order.contains(family));
            !order.contains(index) && !inputs[*index].iter().any(waits)
        };
        let Some(next) = (0..families.len()).find(ready) else {
            let left: Vec<&str> = (0..families.len())
                .filter(|index| !order.contains(index))
                .map(|index| families[index].handle.plugin().label())
                .collect();
            return Err(Circle(left.join(", ")));
        };
        order.push(next);
    }
    Ok(order)
}

/// Makes the values of records outside the population invalid.
fn restrict(column: &mut Column, population: Population, records: &[Counted]) {
    if population == Population::All {
        return;
    }
    let outside = |counted: &Counted| counted.record.error.is_some() != (population == Population::Errors);
    if !records.iter().any(outside) {
        return;
    }
    let validity = match column {
        Column::U64 { validity, .. }
        | Column::F64 { validity, .. }
        | Column::U64List { validity, .. }
        | Column::F64List { validity, .. }
        | Column::Intervals { validity, .. }
        | Column::Steps { validity, .. } => validity,
    };
    if validity.is_empty() {
        validity.resize(records.len(), 1);
    }
    for (byte, counted) in validity.iter_mut().zip(records) {
        if outside(counted) {
            *byte = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_from_the_family_that_owns_the_tag() {
        let family = |tags: &[(&str, MetricKind)]| MetricFamily {
            needs: Vec::new(),
            derive_needs: Vec::new(),
            metrics: tags
                .iter()
                .map(|(tag, kind)| MetricSpec::new(*tag, *tag, "ns", *kind))
                .collect(),
        };
        let own = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<HashSet<String>>();
        let (record, derived) = (MetricKind::Record, MetricKind::Derived);
        let first = family(&[("total", derived), ("a", record), ("b", record)]);
        let second = family(&[("b", record), ("a", record)]);
        // (owned by the first, owned by the second) → where `a` and `b` come from
        for (one, two, a, b) in [
            (own(&["total", "a", "b"]), own(&[]), (0, 0), (0, 1)),
            (own(&["total", "a"]), own(&["b"]), (0, 0), (1, 0)),
            (own(&["total", "b"]), own(&["a"]), (1, 1), (0, 1)),
        ] {
            let columns = columns_by_tag([(&first, &one), (&second, &two)].into_iter());
            assert_eq!((columns["a"], columns["b"], columns.len()), (a, b, 2));
        }
    }
}
