//! What every line about a record says of it: identities, times on the wall clock, phase, error.

use aiperf_sdk::{Batch, fields};

use crate::{json::push_string, numbers::push_integer};

/// The columns that a line needs, in the order asked for. An exporter's own follow.
macro_rules! columns {
    ($($name:ident = $field:expr,)*) => {
        #[derive(Clone, Copy)]
        pub(crate) enum Field { $($name,)* }
        pub(crate) const COLUMNS: &[&str] = &[$($field),*];
    };
}

columns! {
    SessionNum = fields::SESSION_NUM,
    RequestId = fields::REQUEST_ID,
    CorrelationId = fields::CORRELATION_ID,
    ConversationId = fields::CONVERSATION_ID,
    TurnIndex = fields::TURN_INDEX,
    Credit = fields::CREDIT,
    Start = fields::START,
    StartWall = fields::START_WALL,
    Ack = fields::ACK,
    End = fields::END,
    WorkerId = fields::WORKER_ID,
    RecordProcessorId = fields::RECORD_PROCESSOR_ID,
    PhaseIndex = fields::PHASE_INDEX,
    ProfilingIndex = fields::PROFILING_INDEX,
    PhaseName = fields::PHASE_NAME,
    PhaseKind = fields::PHASE_KIND,
    Cancelled = fields::CANCELLED,
    CancelledWall = fields::CANCELLED_WALL,
    ErrorCode = fields::ERROR_CODE,
    ErrorType = fields::ERROR_TYPE,
    ErrorMessage = fields::ERROR_MESSAGE,
}

/// Writes the members of `metadata` of record `i`.
pub(crate) fn write_metadata(out: &mut Vec<u8>, batch: &Batch<'_>, i: usize) {
    let column = |field: Field| batch.column(field as usize);
    let number = |field| column(field).u64(i);
    let text = |field| column(field).text(i);
    let start = number(Field::Start);
    let start_wall = number(Field::StartWall);
    // The wall clock may step during a run; the distance from the start never does.
    let wall = |field| {
        let (start, start_wall, at) = (start?, start_wall?, number(field)?);
        if at >= start {
            start_wall.checked_add(at - start)
        } else {
            start_wall.checked_sub(start - at)
        }
    };
    let kind = text(Field::PhaseKind);
    let correlation = text(Field::CorrelationId);

    push_number(out, "\"session_num\":", number(Field::SessionNum));
    push_text(out, "\"x_request_id\":", text(Field::RequestId));
    push_text(out, "\"x_correlation_id\":", correlation);
    push_text(out, "\"conversation_id\":", text(Field::ConversationId));
    push_number(out, "\"turn_index\":", number(Field::TurnIndex));
    push_number(out, "\"credit_issued_ns\":", wall(Field::Credit));
    push_number(out, "\"request_start_ns\":", start_wall);
    push_number(out, "\"request_ack_ns\":", wall(Field::Ack));
    push_number(out, "\"request_end_ns\":", wall(Field::End));
    push_text(out, "\"worker_id\":", text(Field::WorkerId));
    push_text(out, "\"record_processor_id\":", text(Field::RecordProcessorId));
    push_text(out, "\"benchmark_phase\":", kind);
    push_number(out, "\"phase_index\":", number(Field::PhaseIndex));
    push_number(out, "\"profiling_index\":", number(Field::ProfilingIndex));
    push_text(out, "\"phase_name\":", text(Field::PhaseName));
    push_text(out, "\"phase_kind\":", kind);
    out.extend_from_slice(match number(Field::Cancelled) {
        Some(1..) => b"\"was_cancelled\":true,".as_slice(),
        _ => b"\"was_cancelled\":false,",
    });
    push_number(out, "\"cancellation_time_ns\":", number(Field::CancelledWall));
    out.extend_from_slice(b"\"context_overflow_skip\":false,\"agent_depth\":0,");
    // Without agents, every conversation is its own root.
    push_text(out, "\"root_correlation_id\":", correlation);
    out.pop();
}

/// Writes a comma and the error of record `i`; `false` if it has none.
pub(crate) fn write_error(out: &mut Vec<u8>, batch: &Batch<'_>, i: usize) -> bool {
    let column = |field: Field| batch.column(field as usize);
    let code = column(Field::ErrorCode).u64(i);
    let kind = column(Field::ErrorType).text(i);
    let message = column(Field::ErrorMessage).text(i);
    if code.is_none() && kind.is_none() && message.is_none() {
        return false;
    }
    out.extend_from_slice(b",\"error\":{");
    push_number(out, "\"code\":", code);
    push_text(out, "\"type\":", kind);
    push_text(out, "\"message\":", message);
    out.pop();
    out.push(b'}');
    true
}

/// Writes key, value and a comma; nothing without a value. Inlined, so that the key is written without a call.
#[inline(always)]
pub(crate) fn push_number(out: &mut Vec<u8>, key: &str, value: Option<u64>) {
    if let Some(value) = value {
        out.extend_from_slice(key.as_bytes());
        push_integer(out, value);
        out.push(b',');
    }
}

/// As [`push_number`].
#[inline(always)]
fn push_text(out: &mut Vec<u8>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.extend_from_slice(key.as_bytes());
        push_string(out, value);
        out.push(b',');
    }
}
