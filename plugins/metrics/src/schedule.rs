//! Latencies from the schedule instead of the send: they show the waiting that a slow server causes in the client. Errors
//! waited too, so every record counts.

use aiperf_sdk::{
    fields,
    metric::{Population, flags},
};

use crate::{definition::Definition, inputs::inputs};

inputs! {
    /// Credit, start and end of one request.
    Schedule => Scheduled<'a> {
        credit: u64 = fields::CREDIT,
        start: u64 = fields::START,
        end: u64 = fields::END,
    }
}

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Definition<Schedule>> {
    let time = |tag, header, formula: fn(&Scheduled<'_>) -> Option<u64>| {
        Definition::<Schedule>::time(tag, header, "", formula)
            .population(Population::All)
            .flags(flags::NOT_PER_RECORD)
    };
    vec![
        time("effective_latency", "Effective Latency (CO-aware)", |one| {
            Some(one.end?.saturating_sub(one.credit?))
        })
        .group("effective"),
        time("credit_to_start_latency", "Credit-to-Start Latency", |one| {
            Some(one.start?.saturating_sub(one.credit?))
        })
        .group("none"),
    ]
}
