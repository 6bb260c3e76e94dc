//! Curves made of other curves, which no single record can contribute: sums, ratios, and intensity while active.

use aiperf_plugin_api::metric::{MetricKind, MetricSpec, Population, flags::LARGER_IS_BETTER};

/// A metric computed from the curves of other metrics (of kind interval or steps, or composed before it).
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// How the metric is called and shown.
    pub spec: MetricSpec,
    /// What it is computed from.
    pub formula: Formula,
}

/// How curves are put together; the texts are tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The sum of several that records contribute, or of such sums.
    Sum(Vec<String>),
    /// One divided by another, 0 where the divisor is.
    Ratio {
        /// What is divided.
        dividend: String,
        /// By what.
        divisor: String,
    },
    /// A curve over the time during which another one is positive.
    While {
        /// The curve.
        curve: String,
        /// The other one.
        mask: String,
    },
    /// The weight of each step, added at its end and held until the record's interval in another metric ends: how much a
    /// request has piled up, instead of how fast.
    Held {
        /// A metric of kind steps.
        steps: String,
        /// A metric of kind interval.
        until: String,
    },
}

impl Formula {
    /// The tags it needs.
    pub(crate) fn parts(&self) -> Vec<&str> {
        match self {
            Self::Sum(tags) => tags.iter().map(String::as_str).collect(),
            Self::Ratio {
                dividend: a,
                divisor: b,
            }
            | Self::While { curve: a, mask: b }
            | Self::Held { steps: a, until: b } => vec![a, b],
        }
    }
}

/// The composed curves every run has, as far as the metrics plugins provide the parts:
///
/// | metric | composed of |
/// |---|---|
/// | `effective_total_throughput` | sum of `effective_prefill_throughput`, `request_decode_throughput` |
/// | `effective_{decode,prefill}_throughput_per_user` | throughput over concurrency |
/// | `tokens_in_flight` | sum of `prompt_tokens_in_flight`, `first_tokens_in_flight`, `chunk_tokens_in_flight` |
/// | `active_{decode,prefill,total}_throughput` | throughput while there is concurrency |
/// | `active_{decode,prefill}_throughput_per_user` | throughput per user while there is concurrency |
///
/// `chunk_tokens_in_flight` is `chunk_tokens` (kind steps: first token, chunk gaps, tokens per chunk) held until the end
/// of `effective_concurrency`; without it `tokens_in_flight` is the sum of the other two.
#[must_use]
pub fn standard(has: impl Fn(&str) -> bool) -> Vec<Composition> {
    let sum = |tags: &[&str]| Formula::Sum(tags.iter().map(|&tag| tag.to_owned()).collect());
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
    let mut in_flight = vec!["prompt_tokens_in_flight", "first_tokens_in_flight"];
    if has("chunk_tokens") {
        in_flight.push("chunk_tokens_in_flight");
    }
    let (rate, per_user) = ("tokens/sec", "tokens/sec/user");
    let (all, decode, prefill) = (
        "effective_concurrency",
        "effective_decode_concurrency",
        "effective_prefill_concurrency",
    );
    [
        (
            "effective_total_throughput",
            rate,
            "effective",
            sum(&["effective_prefill_throughput", "request_decode_throughput"]),
        ),
        (
            "effective_decode_throughput_per_user",
            per_user,
            "effective",
            ratio("effective_decode_throughput", decode),
        ),
        (
            "effective_prefill_throughput_per_user",
            per_user,
            "effective",
            ratio("effective_prefill_throughput", prefill),
        ),
        ("chunk_tokens_in_flight", "tokens", "none", held("chunk_tokens", all)),
        ("tokens_in_flight", "tokens", "effective", sum(&in_flight)),
        (
            "active_decode_throughput",
            rate,
            "active",
            active("effective_decode_throughput", decode),
        ),
        (
            "active_prefill_throughput",
            rate,
            "active",
            active("effective_prefill_throughput", prefill),
        ),
        (
            "active_decode_throughput_per_user",
            per_user,
            "active",
            active("effective_decode_throughput_per_user", decode),
        ),
        (
            "active_prefill_throughput_per_user",
            per_user,
            "active",
            active("effective_prefill_throughput_per_user", prefill),
        ),
        (
            "active_total_throughput",
            rate,
            "active",
            active("effective_total_throughput", all),
        ),
    ]
    .into_iter()
    .map(|(tag, unit, group, formula)| Composition {
        spec: spec(tag, unit, group),
        formula,
    })
    .collect()
}

fn spec(tag: &str, unit: &str, group: &str) -> MetricSpec {
    use aiperf_plugin_api::metric::flags::INTERNAL;
    MetricSpec {
        tag: tag.to_owned(),
        header: title_case(tag),
        short_header: String::new(),
        unit: unit.to_owned(),
        display_unit: String::new(),
        kind: MetricKind::Interval,
        population: Population::All,
        group: group.to_owned(),
        order: None,
        flags: match (group, unit) {
            ("none", _) => INTERNAL,
            (_, "tokens") => 0,
            _ => LARGER_IS_BETTER,
        },
    }
}

/// `tokens_in_flight` becomes `Tokens In Flight`.
fn title_case(tag: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    tag.split('_').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_the_tags_in_title_case() {
        for (tag, header) in [
            ("tokens_in_flight", "Tokens In Flight"),
            (
                "effective_decode_throughput_per_user",
                "Effective Decode Throughput Per User",
            ),
        ] {
            let composition = standard(|_| true).into_iter().find(|c| c.spec.tag == tag).unwrap();
            assert_eq!(composition.spec.header, header);
        }
    }

    #[test]
    fn parts_stand_before_what_is_made_of_them() {
        for chunks in [true, false] {
            let compositions = standard(|_| chunks);
            for (i, composition) in compositions.iter().enumerate() {
                for part in composition.formula.parts() {
                    assert!(!compositions[i..].iter().any(|later| later.spec.tag == part), "{part}");
                }
            }
            let total = compositions.iter().find(|c| c.spec.tag == "tokens_in_flight").unwrap();
            assert_eq!(total.formula.parts().len(), if chunks { 3 } else { 2 });
        }
    }
}
