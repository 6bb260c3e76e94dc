//! The metrics of a run: what the plugins describe, checked, and the curves composed from them.

use std::collections::HashMap;

use aiperf_plugin_api::{
    metric::{MetricFamily, MetricKind, MetricSpec, flags::ERROR_ADJUSTED},
    report::CatalogueEntry,
};

use crate::{
    composition::{Composition, Formula},
    units::{UnitError, display_factor},
};

/// The metrics of a run cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// Two metrics of the run have one tag.
    #[error(
        "metric `{tag}` is defined twice in this run: choose one with `priority:` or `--plugin metric/NAME=PACKAGE`"
    )]
    Duplicate {
        /// The tag.
        tag: String,
    },
    /// A tag is not made of lower-case letters, digits, `_` and `.`.
    #[error("`{tag}` is no tag for a metric: use lower-case letters, digits and `_`")]
    Tag {
        /// The tag.
        tag: String,
    },
    /// A metric cannot be shown in its display unit.
    #[error("metric `{tag}`: {source}")]
    Unit {
        /// The tag.
        tag: String,
        /// Why not.
        source: UnitError,
    },
    /// A composed curve needs curves and got something else.
    #[error("curve `{tag}` cannot be composed of `{part}`, which is no curve of the kind it needs")]
    Composition {
        /// Tag of the composed curve.
        tag: String,
        /// The part.
        part: String,
    },
    /// Derived metrics need each other.
    #[error("derived metrics need each other in a circle: the families of {}", .tags.join(", "))]
    Circle {
        /// First derived tag of each family in the circle.
        tags: Vec<String>,
    },
}

/// One metric of the run.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) entry: CatalogueEntry,
    /// Where its values come from.
    pub(crate) origin: Origin,
}

/// Where the values of a metric come from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The column number `column` that `family` returns for its records.
    Column { family: usize, column: usize },
    /// The value number `value` that `family` derives.
    Derived { family: usize, value: usize },
    /// Other curves.
    Composed(Formula),
}

/// All metrics of a run, in the order of the families.
#[derive(Clone, Debug)]
pub struct Catalogue {
    families: Vec<MetricFamily>,
    metrics: Vec<Metric>,
    by_tag: HashMap<String, usize>,
    derive_order: Vec<usize>,
}

impl Catalogue {
    /// Collects the metrics of `families` that `keep` (called with the family's number and the metric) accepts: a metric
    /// that another package's takes precedence over, or that does not apply to this run, is left out. `compositions` whose
    /// parts are not all there are left out too.
    ///
    /// # Errors
    /// If two kept metrics share a tag, a tag or unit is unusable, or derived metrics depend on each other in a circle.
    pub fn new(
        families: Vec<MetricFamily>,
        compositions: Vec<Composition>,
        keep: impl Fn(usize, &MetricSpec) -> bool,
    ) -> Result<Self, CatalogueError> {
        let derive_order = derive_order(&families)?;
        let mut catalogue = Self {
            families: Vec::new(),
            metrics: Vec::new(),
            by_tag: HashMap::new(),
            derive_order,
        };
        for (family, described) in families.iter().enumerate() {
            let (mut columns, mut values) = (0.., 0..);
            for spec in &described.metrics {
                let origin = if spec.kind == MetricKind::Derived {
                    values.next().map(|value| Origin::Derived { family, value })
                } else {
                    columns.next().map(|column| Origin::Column { family, column })
                };
                if let Some(origin) = origin
                    && keep(family, spec)
                {
                    catalogue.add(spec.clone(), origin)?;
                }
            }
        }
        for Composition { spec, formula } in compositions {
            if formula.parts().iter().all(|tag| catalogue.by_tag.contains_key(*tag)) {
                if let Some(part) = catalogue.unfit_part(&formula) {
                    return Err(CatalogueError::Composition {
                        tag: spec.tag,
                        part: part.to_owned(),
                    });
                }
                catalogue.add(spec, Origin::Composed(formula))?;
            }
        }
        let twin_exists = |metric: &&Metric| {
            let spec = &metric.entry.spec;
            spec.is(ERROR_ADJUSTED) && catalogue.by_tag.contains_key(&twin_tag(&spec.tag))
        };
        if let Some(metric) = catalogue.metrics.iter().find(twin_exists) {
            return Err(CatalogueError::Duplicate {
                tag: twin_tag(&metric.entry.spec.tag),
            });
        }
        catalogue.families = families;
        Ok(catalogue)
    }

    /// The metrics in order, for exporters to know before the first record.
    pub fn entries(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.metrics.iter().map(|metric| &metric.entry)
    }

    /// The metric of that tag.
    #[must_use]
    pub fn entry(&self, tag: &str) -> Option<&CatalogueEntry> {
        self.position(tag).map(|position| &self.metrics[position].entry)
    }

    /// The families, by number.
    #[must_use]
    pub fn families(&self) -> &[MetricFamily] {
        &self.families
    }

    /// The numbers of the families that derive something, each after those whose derived metrics it needs.
    #[must_use]
    pub fn derive_order(&self) -> &[usize] {
        &self.derive_order
    }

    pub(crate) fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    pub(crate) fn position(&self, tag: &str) -> Option<usize> {
        self.by_tag.get(tag).copied()
    }

    /// A part of the formula that is not the curve it has to be.
    fn unfit_part<'a>(&self, formula: &'a Formula) -> Option<&'a str> {
        let plain = |tag: &str, kind: MetricKind| {
            self.position(tag).is_some_and(|position| {
                let Metric { entry, origin } = &self.metrics[position];
                matches!(origin, Origin::Column { .. }) && entry.spec.kind == kind
            })
        };
        let composed = |tag: &str, fits: fn(&Formula) -> bool| {
            self.position(tag)
                .is_some_and(|position| match &self.metrics[position].origin {
                    Origin::Composed(formula) => fits(formula),
                    _ => false,
                })
        };
        let curve = |tag: &str, fits: fn(&Formula) -> bool| {
            plain(tag, MetricKind::Interval) || plain(tag, MetricKind::Steps) || composed(tag, fits)
        };
        let parts = || formula.parts().into_iter();
        match formula {
            Formula::Held { steps, until } => [(steps, MetricKind::Steps), (until, MetricKind::Interval)]
                .into_iter()
                .find_map(|(tag, kind)| (!plain(tag, kind)).then_some(tag.as_str())),
            Formula::Sum(_) => {
                parts().find(|tag| !curve(tag, |part| matches!(part, Formula::Held { .. } | Formula::Sum(_))))
            }
            Formula::Ratio { .. } | Formula::While { .. } => {
                parts().find(|tag| !curve(tag, |part| !matches!(part, Formula::While { .. })))
            }
        }
    }

    fn add(&mut self, spec: MetricSpec, origin: Origin) -> Result<(), CatalogueError> {
        let tag = spec.tag.clone();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
        if tag.is_empty() || !tag.chars().all(allowed) {
            return Err(CatalogueError::Tag { tag });
        }
        let display_factor =
            display_factor(&spec.unit, spec.reported_unit()).map_err(|source| CatalogueError::Unit {
                tag: tag.clone(),
                source,
            })?;
        if self.by_tag.insert(tag.clone(), self.metrics.len()).is_some() {
            return Err(CatalogueError::Duplicate { tag });
        }
        self.metrics.push(Metric {
            entry: CatalogueEntry {
                spec,
                factor: display_factor,
            },
            origin,
        });
        Ok(())
    }
}

/// Tag of a metric's error-adjusted twin.
pub(crate) fn twin_tag(tag: &str) -> String {
    format!("adj_{tag}")
}

/// Orders the families that derive something so that each comes after those it needs.
fn derive_order(families: &[MetricFamily]) -> Result<Vec<usize>, CatalogueError> {
    let derived = |family: &MetricFamily| -> Vec<String> {
        family
            .metrics
            .iter()
            .filter(|m| m.kind == MetricKind::Derived)
            .map(|m| m.tag.clone())
            .collect()
    };
    let mut waiting: Vec<(usize, Vec<String>)> = families
        .iter()
        .map(derived)
        .enumerate()
        .filter(|(_, tags)| !tags.is_empty())
        .collect();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        // A tag that nobody still has to derive is there already or will never be.
        let ready = |(family, _): &(usize, Vec<String>)| {
            let needed = |tag: &String| families[*family].derive_needs.contains(tag);
            !waiting.iter().any(|(_, tags)| tags.iter().any(needed))
        };
        let Some(next) = waiting.iter().position(ready) else {
            let tags = waiting
                .into_iter()
                .filter_map(|(_, tags)| tags.into_iter().next())
                .collect();
            return Err(CatalogueError::Circle { tags });
        };
        order.push(waiting.remove(next).0);
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{family, spec};

    fn new(families: Vec<MetricFamily>) -> Result<Catalogue, CatalogueError> {
        Catalogue::new(families, Vec::new(), |_, _| true)
    }

    fn deriving(tag: &str, needs: &[&str]) -> MetricFamily {
        MetricFamily {
            derive_needs: needs.iter().map(|&need| need.to_owned()).collect(),
            ..family(vec![spec(tag, "tokens", MetricKind::Derived)])
        }
    }

    #[test]
    fn families_that_derive_come_after_what_they_need() {
        let catalogue = new(vec![
            deriving("per_watt", &["throughput", "power"]),
            family(vec![spec("latency", "ns", MetricKind::Record)]),
            deriving("throughput", &["total", "unknown"]),
            deriving("total", &["latency"]),
        ])
        .unwrap();
        assert_eq!(catalogue.derive_order(), [3, 2, 0]);
    }

    #[test]
    fn what_cannot_be_accepted() {
        let ns = |tag| spec(tag, "ns", MetricKind::Record);
        let shown_as = |unit: &str| MetricSpec {
            display_unit: unit.to_owned(),
            ..ns("latency")
        };
        for (families, message) in [
            (
                vec![family(vec![ns("a")]), family(vec![ns("a")])],
                "metric `a` is defined twice",
            ),
            (
                vec![family(vec![ns("Time To First Token")])],
                "`Time To First Token` is no tag",
            ),
            (vec![family(vec![ns("")])], "`` is no tag"),
            (
                vec![family(vec![shown_as("KB")])],
                "metric `latency`: cannot show `ns` as `KB`",
            ),
            (
                vec![deriving("x", &["y"]), deriving("y", &["x"])],
                "in a circle: the families of x, y",
            ),
            (vec![deriving("x", &["x"])], "in a circle: the families of x"),
        ] {
            let error = new(families).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_twin_needs_its_own_tag() {
        let adjusted = MetricSpec {
            flags: ERROR_ADJUSTED,
            ..spec("latency", "ns", MetricKind::Record)
        };
        let error = new(vec![family(vec![
            adjusted,
            spec("adj_latency", "ns", MetricKind::Record),
        ])])
        .unwrap_err();
        assert_eq!(
            error,
            CatalogueError::Duplicate {
                tag: "adj_latency".to_owned()
            }
        );
    }

    #[test]
    fn compositions_need_curves_of_the_right_kind() {
        let metrics = || {
            family(vec![
                spec("level", "requests", MetricKind::Interval),
                spec("rate", "tokens/sec", MetricKind::Steps),
                spec("latency", "ns", MetricKind::Record),
            ])
        };
        let composed = |formulas: Vec<Formula>| {
            let compositions = formulas
                .into_iter()
                .enumerate()
                .map(|(i, formula)| Composition {
                    spec: spec(&format!("c{i}"), "x", MetricKind::Interval),
                    formula,
                })
                .collect();
            Catalogue::new(vec![metrics()], compositions, |_, _| true)
        };
        let ratio = |a: &str, b: &str| Formula::Ratio {
            dividend: a.to_owned(),
            divisor: b.to_owned(),
        };
        let active = |a: &str, b: &str| Formula::While {
            curve: a.to_owned(),
            mask: b.to_owned(),
        };
        let held = |a: &str, b: &str| Formula::Held {
            steps: a.to_owned(),
            until: b.to_owned(),
        };
        for (formulas, unfit) in [
            (vec![ratio("rate", "latency")], "latency"),
            (vec![held("level", "level")], "level"),
            (vec![held("rate", "rate")], "rate"),
            (vec![active("rate", "level"), Formula::Sum(vec!["c0".to_owned()])], "c0"),
            (vec![ratio("rate", "level"), Formula::Sum(vec!["c0".to_owned()])], "c0"),
            (vec![active("rate", "level"), ratio("c0", "level")], "c0"),
        ] {
            let error = composed(formulas).unwrap_err();
            assert!(
                matches!(&error, CatalogueError::Composition { part, .. } if part == unfit),
                "{error}"
            );
        }
        let fit = composed(vec![
            held("rate", "level"),
            ratio("c0", "level"),
            active("c1", "rate"),
            ratio("level", "absent"),
            Formula::Sum(vec!["c0".to_owned(), "level".to_owned()]),
        ]);
        // What needs an absent part is left out.
        assert_eq!(fit.unwrap().entries().count(), 3 + 4);
    }

    #[test]
    fn only_kept_metrics_count_but_columns_keep_their_place() {
        let families = vec![
            family(vec![
                spec("a", "ns", MetricKind::Record),
                spec("d", "ns", MetricKind::Derived),
                spec("b", "ns", MetricKind::Record),
            ]),
            family(vec![spec("a", "ns", MetricKind::Record)]),
        ];
        let catalogue = Catalogue::new(families, Vec::new(), |family, spec| spec.tag != "a" || family == 1).unwrap();
        let tags: Vec<_> = catalogue.entries().map(|entry| entry.spec.tag.as_str()).collect();
        assert_eq!(tags, ["d", "b", "a"]);
        assert!(matches!(
            catalogue.metrics()[1].origin,
            Origin::Column { family: 0, column: 1 }
        ));
        assert!(matches!(
            catalogue.metrics()[2].origin,
            Origin::Column { family: 1, column: 0 }
        ));
    }

    #[test]
    fn display_factors_are_worked_out_once() {
        let catalogue = new(vec![family(vec![MetricSpec {
            display_unit: "ms".to_owned(),
            ..spec("latency", "ns", MetricKind::Record)
        }])])
        .unwrap();
        assert_eq!(catalogue.entry("latency").unwrap().factor, 1e-6);
        assert!(catalogue.entry("absent").is_none());
    }
}
