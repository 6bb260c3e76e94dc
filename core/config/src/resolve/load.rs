//! The phases: how requests are started and when that ends.

use crate::error::ConfigError;
use crate::plan::{PhaseKind, PhasePlan, PluginPlan};
use crate::typed::Typed;

const DEFAULT_CONCURRENCY: u32 = 1;
const DEFAULT_REQUESTS: u64 = 10;
const DEFAULT_PATTERN: &str = "poisson";
const DEFAULT_SMOOTHNESS: f64 = 1.0;
const DEFAULT_GRACE_S: f64 = 30.0;

/// Each of these makes a warmup phase.
const WARMUP_CREATORS: [&str; 3] = ["warmup-request-count", "warmup-duration", "num-warmup-sessions"];
/// These only shape it.
const WARMUP_TUNING: [&str; 4] = [
    "warmup-concurrency",
    "warmup-request-rate",
    "warmup-arrival-pattern",
    "warmup-grace-period",
];

pub(super) fn phases(typed: &Typed, plugins: &PluginPlan) -> Result<Vec<PhasePlan>, ConfigError> {
    let profiling = profiling(typed, plugins)?;
    let warmup = warmup(typed, &profiling)?;
    Ok(warmup.into_iter().chain([profiling]).collect())
}

fn profiling(typed: &Typed, plugins: &PluginPlan) -> Result<PhasePlan, ConfigError> {
    let timing = plugins
        .timing
        .clone()
        .unwrap_or_else(|| PhasePlan::REQUEST_RATE.to_owned());
    let plain = timing == PhasePlan::REQUEST_RATE;
    let rate = typed.float("request-rate")?;
    let (arrival, smoothness) = arrival(typed, rate, plain)?;
    let concurrency = typed.int32("concurrency")?;
    let sessions = typed.int("conversation-num")?;
    let duration_s = typed.float("benchmark-duration")?;
    let requests = typed.int("request-count")?;
    let endless = requests.is_none() && sessions.is_none() && duration_s.is_none();
    let grace_s = typed.float("benchmark-grace-period")?;
    if grace_s.is_some() && duration_s.is_none() {
        return Err(typed
            .conflict(
                "benchmark-grace-period",
                "follows the end of --benchmark-duration, which was not given",
            )
            .remedy("add --benchmark-duration or leave it out"));
    }
    Ok(PhasePlan {
        name: "profiling".to_owned(),
        kind: PhaseKind::Profiling,
        timing,
        arrival,
        rate,
        smoothness,
        // A timing plugin decides itself how much runs at once unless the user limits it.
        concurrency: concurrency.or((plain && rate.is_none()).then_some(DEFAULT_CONCURRENCY)),
        requests: requests.or(endless.then_some(DEFAULT_REQUESTS)),
        sessions,
        duration_s,
        grace_s: duration_s
            .and(grace_s.or(Some(DEFAULT_GRACE_S)))
            .filter(|grace| grace.is_finite()),
    })
}

/// Arrival pattern and smoothness of the profiling phase.
fn arrival(typed: &Typed, rate: Option<f64>, plain: bool) -> Result<(String, Option<f64>), ConfigError> {
    let pattern = typed.name("arrival-pattern")?;
    let smoothness = typed.float("arrival-smoothness")?;
    let is_burst = pattern.as_deref() == Some(PhasePlan::BURST);
    if rate.is_none() && plain {
        let useless = [
            ("arrival-smoothness", smoothness.is_some()),
            ("arrival-pattern", pattern.is_some() && !is_burst),
        ];
        if let Some((id, _)) = useless.into_iter().find(|(_, given)| *given) {
            return Err(typed
                .conflict(id, "spaces the requests of a rate, and no rate was given")
                .remedy("add --request-rate or leave it out"));
        }
        return Ok((PhasePlan::BURST.to_owned(), None));
    }
    if rate.is_some() && is_burst {
        return Err(typed
            .conflict(
                "arrival-pattern",
                "starts requests as soon as --concurrency permits, which leaves --request-rate without effect",
            )
            .value(PhasePlan::BURST)
            .remedy("leave out --request-rate or choose another pattern"));
    }
    let pattern = pattern.unwrap_or_else(|| {
        let default = match (smoothness, rate) {
            (Some(_), _) => PhasePlan::GAMMA,
            (None, Some(_)) => DEFAULT_PATTERN,
            (None, None) => PhasePlan::BURST,
        };
        default.to_owned()
    });
    if pattern == PhasePlan::GAMMA {
        return Ok((pattern, smoothness.or(Some(DEFAULT_SMOOTHNESS))));
    }
    if smoothness.is_some() {
        return Err(typed
            .conflict(
                "arrival-smoothness",
                format!("shapes gamma arrivals and has no effect on {pattern} ones"),
            )
            .remedy("use --arrival-pattern gamma"));
    }
    Ok((pattern, None))
}

fn warmup(typed: &Typed, profiling: &PhasePlan) -> Result<Option<PhasePlan>, ConfigError> {
    if typed.first_of(&WARMUP_CREATORS).is_none() {
        return match typed.first_of(&WARMUP_TUNING) {
            Some(id) => Err(typed
                .conflict(id, "shapes the warmup, and there is none")
                .remedy("add --warmup-request-count, --warmup-duration or --num-warmup-sessions")),
            None => Ok(None),
        };
    }
    let duration_s = typed.float("warmup-duration")?;
    let grace_s = typed.float("warmup-grace-period")?;
    if grace_s.is_some() && duration_s.is_none() {
        return Err(typed
            .conflict(
                "warmup-grace-period",
                "follows the end of --warmup-duration, which was not given",
            )
            .remedy("add --warmup-duration or leave it out"));
    }
    let (arrival, rate) = warmup_arrival(typed, profiling)?;
    let smoothness = (arrival == PhasePlan::GAMMA).then(|| profiling.smoothness.unwrap_or(DEFAULT_SMOOTHNESS));
    // What profiling has by default is no wish of the user's: only an explicit limit is inherited.
    let concurrency = match typed.int32("warmup-concurrency")? {
        Some(concurrency) => Some(concurrency),
        None => typed.int32("concurrency")?,
    };
    Ok(Some(PhasePlan {
        name: "warmup".to_owned(),
        kind: PhaseKind::Warmup,
        timing: PhasePlan::REQUEST_RATE.to_owned(),
        arrival,
        rate,
        smoothness,
        concurrency: concurrency.or(rate.is_none().then_some(DEFAULT_CONCURRENCY)),
        requests: typed.int("warmup-request-count")?,
        sessions: typed.int("num-warmup-sessions")?,
        duration_s,
        grace_s: grace_s.filter(|grace| grace.is_finite()),
    }))
}

/// Arrival pattern and rate of the warmup phase: those of profiling unless given.
fn warmup_arrival(typed: &Typed, profiling: &PhasePlan) -> Result<(String, Option<f64>), ConfigError> {
    let pattern = typed.name("warmup-arrival-pattern")?;
    let own_rate = typed.float("warmup-request-rate")?;
    let rate = own_rate.or(profiling.rate);
    match pattern {
        Some(pattern) if pattern == PhasePlan::BURST => {
            if own_rate.is_some() {
                return Err(typed
                    .conflict("warmup-arrival-pattern", "leaves --warmup-request-rate without effect")
                    .value(PhasePlan::BURST)
                    .remedy("leave out one of the two"));
            }
            Ok((pattern, None))
        }
        Some(_) if rate.is_none() => Err(typed
            .conflict(
                "warmup-arrival-pattern",
                "spaces the requests of a rate, and no rate was given",
            )
            .remedy("add --warmup-request-rate or leave it out")),
        Some(pattern) => Ok((pattern, rate)),
        None if rate.is_none() => Ok((PhasePlan::BURST.to_owned(), None)),
        None if profiling.arrival == PhasePlan::BURST => Ok((DEFAULT_PATTERN.to_owned(), rate)),
        None => Ok((profiling.arrival.clone(), rate)),
    }
}
