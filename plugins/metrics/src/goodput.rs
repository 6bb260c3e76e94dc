//! Goodput: requests that met every service level objective. The objectives may name any per-record metric of the run.

use aiperf_sdk::{
    Batch, Column, ColumnRef, Metric, MetricFamily, MetricKind, MetricSpec, PluginError, Result, fields,
    metric::{Population, Window, flags},
};

use crate::{
    definition::{Definition, Formula, Totals},
    inputs::Nothing,
    options::Options,
    package::every_spec,
};

const GOOD: &str = "good_request_count";
const NEEDS: [&str; 3] = [GOOD, "min_request_timestamp", "max_response_timestamp"];

/// One objective, in the native unit of its metric.
#[derive(Debug, Clone, PartialEq)]
struct Objective {
    tag: String,
    threshold: f64,
    at_least: bool,
}

impl Objective {
    /// A request without the value misses the objective.
    fn met(&self, column: &ColumnRef<'_>, i: usize) -> bool {
        column.f64(i).is_some_and(|value| {
            if self.at_least {
                value >= self.threshold
            } else {
                value <= self.threshold
            }
        })
    }
}

/// The family; without objectives it has no metrics.
#[derive(Debug)]
pub(crate) struct Goodput {
    objectives: Vec<Objective>,
}

impl Goodput {
    /// Refuses objectives that this run can't judge.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let objectives = options
            .slos
            .iter()
            .map(|(tag, &value)| objective(tag, value, options))
            .collect::<Result<_>>()?;
        Ok(Self { objectives })
    }
}

fn objective(tag: &str, value: f64, options: &Options) -> Result<Objective> {
    if !value.is_finite() {
        return Err(refused(tag, "its value is not a finite number"));
    }
    let Some(spec) = options.catalogue.iter().find(|spec| spec.tag == tag) else {
        return Err(unknown(tag, options));
    };
    if let Some(reason) = unusable(spec, options) {
        return Err(refused(tag, reason).with_help(suggestion(tag, options)));
    }
    let factor = native_per_display(&spec.unit, spec.reported_unit()).ok_or_else(|| {
        refused(
            tag,
            &format!(
                "no conversion from `{}` to `{}` is known",
                spec.reported_unit(),
                spec.unit
            ),
        )
    })?;
    Ok(Objective {
        tag: tag.to_owned(),
        threshold: value * factor,
        at_least: spec.is(flags::LARGER_IS_BETTER),
    })
}

fn unusable(spec: &MetricSpec, options: &Options) -> Option<&'static str> {
    if let Some(lack) = options.lacks(spec.flags) {
        return Some(lack);
    }
    match (spec.kind, spec.population) {
        (_, Population::Errors) => Some("it looks at failed requests only"),
        (MetricKind::Record | MetricKind::Sum | MetricKind::Min | MetricKind::Max, _) => None,
        (MetricKind::List, _) => Some("it has many values per request"),
        _ => Some("it has no value per request"),
    }
}

fn unknown(tag: &str, options: &Options) -> PluginError {
    let reason = every_spec()
        .iter()
        .find(|spec| spec.tag == tag)
        .map_or("no metric of that tag exists", |spec| {
            unusable(spec, options).unwrap_or("it is not among the metrics of this run")
        });
    refused(tag, reason).with_help(suggestion(tag, options))
}

fn refused(tag: &str, reason: &str) -> PluginError {
    PluginError::options(format!("goodput: `{tag}` can't be a service level objective: {reason}"))
}

/// The tags nearest to a wrong one, of those that would do.
fn suggestion(tag: &str, options: &Options) -> String {
    let mut near: Vec<(f64, &str)> = options
        .catalogue
        .iter()
        .filter(|spec| spec.tag != tag && unusable(spec, options).is_none() && !spec.is(flags::INTERNAL))
        .map(|spec| (strsim::jaro_winkler(tag, &spec.tag), spec.tag.as_str()))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let tags: Vec<String> = near.iter().take(5).map(|(_, tag)| format!("`{tag}`")).collect();
    if tags.is_empty() {
        "the run has no metric that could be an objective".to_owned()
    } else {
        format!("metrics of this run with a near name: {}", tags.join(", "))
    }
}

/// What a value in the display unit is multiplied by to be in the native one.
fn native_per_display(native: &str, display: &str) -> Option<f64> {
    fn in_family(unit: &str) -> Option<(char, f64)> {
        Some(match unit {
            "ns" => ('t', 1.0),
            "us" => ('t', 1e3),
            "ms" => ('t', 1e6),
            "sec" => ('t', 1e9),
            "B" => ('b', 1.0),
            "KB" => ('b', 1024.0),
            "MB" => ('b', 1_048_576.0),
            "GB" => ('b', 1_073_741_824.0),
            _ => return None,
        })
    }
    if native == display {
        return Some(1.0);
    }
    let ((kind, native), (other, display)) = (in_family(native)?, in_family(display)?);
    (kind == other).then(|| display / native)
}

fn definitions() -> Vec<Definition<Nothing>> {
    type Define = Definition<Nothing>;
    vec![
        // The count has a formula only for its facts' sake: `Goodput::record` computes it.
        Define::integer(GOOD, "Good Request Count", "", "requests", |()| None)
            .kind(MetricKind::Sum)
            .group("none")
            .flags(flags::GOODPUT),
        Define::derived(
            "good_request_fraction",
            "GoodRequestFraction",
            "GoodReqFrac",
            "ratio",
            &NEEDS,
            |totals| {
                let attempted = totals.window.valid + totals.window.errors;
                (attempted > 0).then(|| totals.sum(GOOD).unwrap_or(0.0) / attempted as f64)
            },
        )
        .group("none")
        .flags(flags::GOODPUT | flags::LARGER_IS_BETTER),
        Define::derived("goodput", "Goodput", "Goodput", "requests/sec", &NEEDS, |totals| {
            totals.per_second(totals.sum(GOOD)?)
        })
        .order(1000)
        .flags(flags::GOODPUT),
    ]
}

pub(crate) fn specs() -> impl Iterator<Item = MetricSpec> {
    definitions().into_iter().map(|one| one.spec)
}

impl Metric for Goodput {
    fn describe(&self) -> Result<MetricFamily> {
        if self.objectives.is_empty() {
            return Ok(MetricFamily {
                needs: Vec::new(),
                derive_needs: Vec::new(),
                metrics: Vec::new(),
            });
        }
        let tags = self.objectives.iter().map(|objective| objective.tag.clone());
        Ok(MetricFamily {
            needs: std::iter::once(fields::VALID.to_owned()).chain(tags).collect(),
            derive_needs: NEEDS.map(str::to_owned).to_vec(),
            metrics: specs().collect(),
        })
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        if self.objectives.is_empty() {
            return Ok(Vec::new());
        }
        let valid = batch.column(0);
        let good = |i: usize| {
            self.objectives
                .iter()
                .enumerate()
                .all(|(index, objective)| objective.met(&batch.column(index + 1), i))
        };
        Ok(vec![Column::u64s(
            (0..batch.len).map(|i| (valid.u64(i) == Some(1)).then(|| u64::from(good(i)))),
        )])
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        if self.objectives.is_empty() {
            return Ok(Vec::new());
        }
        let tags = NEEDS.map(str::to_owned);
        let totals = Totals { window, tags: &tags };
        Ok(definitions()
            .iter()
            .filter_map(|one| match one.formula {
                Formula::Derived(_, formula) => Some(formula(&totals).filter(|value| value.is_finite())),
                _ => None,
            })
            .collect())
    }
}
