//! The conversation with plugins that derive metrics.

use aiperf_plugin_api::metric::{self, MetricKind, Total};

use super::{Summary, metrics::Value};
use crate::{catalogue::Origin, statistics::Statistics};

/// What a family derived does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeriveError {
    /// Too many or too few values.
    #[error("the metric family of `{tag}` derived {given} values instead of {expected}: one for each derived metric")]
    Count {
        /// First derived tag of the family, or empty.
        tag: String,
        /// Number of values it returned.
        given: usize,
        /// Number of its derived metrics.
        expected: usize,
    },
    /// A value is infinite or not a number.
    #[error("derived metric `{tag}` is not a finite number; a value that cannot be computed is to be left out")]
    NotFinite {
        /// The metric.
        tag: String,
    },
}

impl Summary {
    /// What `family` (by its number) derives from. `facts` are passed on as they are.
    #[must_use]
    pub fn derive_input(&self, family: usize, facts: String) -> metric::Window {
        let needs = self
            .catalogue
            .families()
            .get(family)
            .map_or(&[][..], |family| &family.derive_needs);
        metric::Window {
            start_ns: self.window.start_ns,
            end_ns: self.window.end_ns,
            duration_ns: self.duration_ns,
            valid: self.valid,
            errors: self.errors,
            totals: needs.iter().map(|name| self.needed(name)).collect(),
            facts,
        }
    }

    /// The totals of a tag; for `TAG.p99` and the like that statistic as the value.
    fn needed(&self, name: &str) -> Total {
        if let Some(total) = self.total(name) {
            return total.clone();
        }
        let Some((tag, statistic)) = name.rsplit_once('.') else {
            return Total::default();
        };
        let value = self.statistics(tag).and_then(|statistics| {
            let all = statistics.values();
            all.into_iter()
                .find(|(known, _)| *known == statistic)
                .and_then(|(_, value)| value)
        });
        Total {
            value,
            ..Total::default()
        }
    }

    /// Takes what `family` derived: one value for each of its derived metrics, in their order.
    ///
    /// # Errors
    /// If the number of values is wrong or one is not finite. Then none has been taken.
    pub fn set_derived(&mut self, family: usize, derived: &[Option<f64>]) -> Result<(), DeriveError> {
        let metrics = self
            .catalogue
            .families()
            .get(family)
            .map_or(&[][..], |family| &family.metrics);
        let tags: Vec<&String> = metrics
            .iter()
            .filter(|spec| spec.kind == MetricKind::Derived)
            .map(|spec| &spec.tag)
            .collect();
        if tags.len() != derived.len() {
            let tag = tags.first().map_or_else(String::new, |&tag| tag.clone());
            return Err(DeriveError::Count {
                tag,
                given: derived.len(),
                expected: tags.len(),
            });
        }
        if let Some((&tag, _)) = tags
            .iter()
            .zip(derived)
            .find(|(_, value)| value.is_some_and(|v| !v.is_finite()))
        {
            return Err(DeriveError::NotFinite { tag: tag.clone() });
        }
        for (position, metric) in self.catalogue.metrics().iter().enumerate() {
            if let Origin::Derived { family: of, value } = metric.origin
                && of == family
            {
                self.values[position] = derived[value].map(|value| Value {
                    statistics: Statistics::single(value),
                    precision: None,
                    total: Total {
                        value: Some(value),
                        ..Total::default()
                    },
                });
            }
        }
        Ok(())
    }
}
