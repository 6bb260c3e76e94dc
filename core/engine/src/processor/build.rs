//! Records as columns: one column per name of the run's column plan.

use aiperf_plugin_api::{endpoint::Usage, fields};
use uuid::Uuid;

use super::{input_text::images, tokens::TokenCounts};
use crate::{
    bus::{ServiceId, ServiceKind},
    columns::FieldColumn,
    message::RequestRecord,
};

/// What records need to know about a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseLabel {
    /// Name.
    pub name: String,
    /// It is a warmup.
    pub warmup: bool,
    /// Position among profiling phases.
    pub profiling_index: Option<u32>,
    /// Limit on concurrent conversations.
    pub concurrency: Option<u32>,
}

/// A record with its token counts.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The record.
    pub record: RequestRecord,
    /// Its tokens.
    pub tokens: TokenCounts,
}

/// Builds the column `name` for records of one phase.
pub fn column(name: &str, records: &[Counted], phase: &PhaseLabel, processor: u32) -> FieldColumn {
    let u64s = |get: &dyn Fn(&RequestRecord) -> Option<u64>| {
        FieldColumn::u64s(records.iter().map(|counted| get(&counted.record)))
    };
    let tokens = |get: &dyn Fn(&TokenCounts) -> Option<u64>| {
        FieldColumn::u64s(records.iter().map(|counted| get(&counted.tokens)))
    };
    let usage = |get: &dyn Fn(&Usage) -> Option<u64>| {
        FieldColumn::u64s(
            records
                .iter()
                .map(|counted| counted.record.usage.as_ref().and_then(get)),
        )
    };
    let uuids = |get: &dyn Fn(&RequestRecord) -> u128| {
        FieldColumn::written(records, |counted, text| {
            let id = Uuid::from_u128(get(&counted.record)).hyphenated();
            text.push_str(id.encode_lower(&mut Uuid::encode_buffer()));
        })
    };
    let same = |text: &str| FieldColumn::texts(records.iter().map(|_| Some(text)));
    let number = |value: Option<u64>| FieldColumn::u64s(records.iter().map(|_| value));
    match name {
        fields::VALID => u64s(&|record| Some(u64::from(record.error.is_none()))),
        fields::START => u64s(&|record| Some(record.start_ns)),
        fields::START_WALL => u64s(&|record| Some(record.start_wall_ns)),
        fields::END => u64s(&|record| Some(record.end_ns)),
        fields::ACK => u64s(&|record| record.ack_ns),
        fields::INTENDED => u64s(&|record| Some(record.credit.intended_ns)),
        fields::CREDIT => u64s(&|record| Some(record.credit.issued_ns)),
        fields::CREDIT_RECEIVED => u64s(&|record| Some(record.received_ns)),
        fields::CONTENT => FieldColumn::lists(
            records
                .iter()
                .map(|counted| Some(counted.record.content_ns.as_slice()).filter(|arrivals| !arrivals.is_empty())),
        ),
        fields::FIRST_OUTPUT => u64s(&|record| record.first_output_ns),
        fields::INPUT_TOKENS => tokens(&|tokens| tokens.input),
        fields::OUTPUT_TOKENS => tokens(&|tokens| tokens.output),
        fields::REASONING_TOKENS => tokens(&|tokens| tokens.reasoning),
        fields::FIRST_CHUNK_TOKENS => u64s(&|record| record.first_chunk_tokens),
        fields::REQUESTED_OUTPUT_TOKENS => u64s(&|record| record.requested_output_tokens.map(u64::from)),
        fields::USAGE_PROMPT => usage(&|usage| usage.prompt),
        fields::USAGE_COMPLETION => usage(&|usage| usage.completion),
        fields::USAGE_TOTAL => usage(&|usage| usage.total),
        fields::USAGE_REASONING => usage(&|usage| usage.reasoning),
        fields::USAGE_CACHE_READ => usage(&|usage| usage.cache_read),
        fields::USAGE_CACHE_WRITE => usage(&|usage| usage.cache_write),
        fields::USAGE_CACHE_MISS => usage(&|usage| usage.cache_miss),
        fields::USAGE_PROMPT_AUDIO => usage(&|usage| usage.prompt_audio),
        fields::USAGE_COMPLETION_AUDIO => usage(&|usage| usage.completion_audio),
        fields::USAGE_ACCEPTED_PREDICTION => usage(&|usage| usage.accepted_prediction),
        fields::USAGE_REJECTED_PREDICTION => usage(&|usage| usage.rejected_prediction),
        fields::USAGE_TOOL_USE_PROMPT => usage(&|usage| usage.tool_use_prompt),
        fields::USAGE_PROMPT_AUDIO_SECONDS => FieldColumn::f64s(
            records
                .iter()
                .map(|counted| counted.record.usage.and_then(|usage| usage.prompt_audio_seconds)),
        ),
        fields::SEND_BRACKET => u64s(&|record| record.arrivals.send_bracket_ns),
        fields::CLIENT_LAG => u64s(&|record| record.arrivals.lag_ns),
        fields::MESSAGES => u64s(&|record| Some(u64::from(record.arrivals.messages))),
        fields::MESSAGES_BOUNDED => u64s(&|record| Some(u64::from(record.arrivals.bounded))),
        fields::HTTP_BLOCKED => u64s(&|record| record.transport.blocked_ns),
        fields::HTTP_DNS => u64s(&|record| record.transport.dns_ns),
        fields::HTTP_CONNECT => u64s(&|record| record.transport.connect_ns),
        fields::HTTP_SENDING => u64s(&|record| record.transport.sending_ns),
        fields::HTTP_WAITING => u64s(&|record| record.transport.waiting_ns),
        fields::HTTP_RECEIVING => u64s(&|record| record.transport.receiving_ns),
        fields::HTTP_REUSED => u64s(&|record| record.status.map(|_| u64::from(record.transport.reused))),
        fields::HTTP_BYTES_SENT => u64s(&|record| Some(record.transport.bytes_sent)),
        fields::HTTP_BYTES_RECEIVED => u64s(&|record| Some(record.transport.bytes_received)),
        // One write carries the body.
        fields::HTTP_CHUNKS_SENT => u64s(&|record| record.transport.sending_ns.map(|_| 1)),
        fields::HTTP_CHUNKS_RECEIVED => u64s(&|record| Some(record.transport.chunks_received)),
        fields::STATUS => u64s(&|record| record.status.map(u64::from)),
        fields::SESSION_NUM => u64s(&|record| Some(record.credit.id)),
        fields::REQUEST_ID => uuids(&|record| record.request_id),
        fields::CORRELATION_ID => uuids(&|record| record.credit.correlation_id),
        fields::CONVERSATION_ID => FieldColumn::texts(
            records
                .iter()
                .map(|counted| Some(counted.record.conversation_id.as_str())),
        ),
        fields::TURN_INDEX => u64s(&|record| Some(u64::from(record.credit.turn))),
        fields::MODEL => FieldColumn::texts(records.iter().map(|counted| Some(counted.record.model.as_str()))),
        fields::WORKER_ID => {
            let mut last = (u32::MAX, String::new());
            FieldColumn::written(records, |counted, text| {
                let worker = counted.record.worker;
                if worker != last.0 {
                    last = (worker, ServiceId::nth(ServiceKind::Worker, worker).to_string());
                }
                text.push_str(&last.1);
            })
        }
        fields::RECORD_PROCESSOR_ID => same(&ServiceId::nth(ServiceKind::RecordProcessor, processor).to_string()),
        fields::PHASE_NAME => same(&phase.name),
        fields::PHASE_KIND => same(if phase.warmup { "warmup" } else { "profiling" }),
        fields::PHASE_INDEX => u64s(&|record| Some(u64::from(record.credit.phase))),
        fields::PROFILING_INDEX => number(phase.profiling_index.map(u64::from)),
        fields::CANCELLED => u64s(&|record| Some(u64::from(record.cancelled.is_some()))),
        fields::CANCELLED_WALL => u64s(&|record| record.cancelled.map(|(_, at)| at)),
        fields::ERROR_CODE => u64s(&|record| record.error.as_ref().and_then(|error| error.code).map(u64::from)),
        fields::ERROR_TYPE => FieldColumn::texts(
            records
                .iter()
                .map(|counted| counted.record.error.as_ref().map(|error| error.kind.as_str())),
        ),
        fields::ERROR_MESSAGE => FieldColumn::texts(
            records
                .iter()
                .map(|counted| counted.record.error.as_ref().map(|error| error.message.as_str())),
        ),
        fields::REQUEST_BODY => FieldColumn::texts(records.iter().map(|counted| {
            std::str::from_utf8(&counted.record.body)
                .ok()
                .filter(|body| !body.is_empty())
        })),
        fields::REQUEST_HEADERS => {
            FieldColumn::texts(records.iter().map(|counted| counted.record.request_headers.as_deref()))
        }
        fields::RESPONSE_EVENTS => {
            FieldColumn::texts(records.iter().map(|counted| counted.record.responses.as_deref()))
        }
        fields::HTTP_TRACE => FieldColumn::texts(records.iter().map(|counted| counted.record.trace.as_deref())),
        fields::IMAGES => u64s(&|record| images(&record.body)),
        fields::OUTPUT_TEXT => FieldColumn::texts(records.iter().map(|counted| counted.record.output.as_deref())),
        fields::REASONING_TEXT => FieldColumn::texts(records.iter().map(|counted| counted.record.reasoning.as_deref())),
        other => named(other, records),
    }
}

/// `facts.NAME` and `labels.NAME`: the last one of that name.
fn named(name: &str, records: &[Counted]) -> FieldColumn {
    if let Some(fact) = name.strip_prefix("facts.") {
        let get = |counted: &Counted| {
            counted
                .record
                .facts
                .iter()
                .rev()
                .find(|(name, _)| name == fact)
                .map(|(_, value)| *value)
        };
        return FieldColumn::f64s(records.iter().map(get));
    }
    if let Some(label) = name.strip_prefix("labels.") {
        return FieldColumn::texts(records.iter().map(|counted| {
            counted
                .record
                .labels
                .iter()
                .rev()
                .find(|(name, _)| name == label)
                .map(|(_, value)| value.as_str())
        }));
    }
    FieldColumn::Missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_contract_has_a_column() {
        let phase = PhaseLabel {
            name: "p".into(),
            warmup: false,
            profiling_index: Some(0),
            concurrency: None,
        };
        for name in fields::ALL {
            assert_ne!(column(name, &[], &phase, 0), FieldColumn::Missing, "{name}");
        }
        assert_eq!(column("nonsense", &[], &phase, 0), FieldColumn::Missing);
    }
}
