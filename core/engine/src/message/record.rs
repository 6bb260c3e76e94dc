//! Finished requests, one by one and in batches.

use aiperf_plugin_api::{Column, endpoint::Usage};
use serde::{Deserialize, Serialize};

use super::{CancelReason, Credit};
use crate::columns::FieldColumn;

/// An error of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordError {
    /// HTTP status, or the code that the original gives to the case.
    pub code: Option<u16>,
    /// Type, for grouping.
    pub kind: String,
    /// Message.
    pub message: String,
}

/// Transport facts of a request; what did not happen is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Transport {
    /// Waiting for a free connection.
    pub blocked_ns: Option<u64>,
    /// Looking up the name.
    pub dns_ns: Option<u64>,
    /// Connecting.
    pub connect_ns: Option<u64>,
    /// From the start to the write that completed the request.
    pub sending_ns: Option<u64>,
    /// From there to the first body bytes.
    pub waiting_ns: Option<u64>,
    /// From the first to the last body bytes.
    pub receiving_ns: Option<u64>,
    /// A connection was reused.
    pub reused: bool,
    /// Requests that were sent again, because a kept connection turned out to be dead.
    pub resent: u32,
    /// Body bytes written.
    pub bytes_sent: u64,
    /// Body bytes read.
    pub bytes_received: u64,
    /// Read operations.
    pub chunks_received: u64,
}

/// How exactly the arrivals of a response are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrivalFacts {
    /// Events, or whole bodies, with content.
    pub messages: u32,
    /// Those that were followed by more bytes in the same read.
    pub bounded: u32,
    /// Longest time between receipt by the kernel and reading; `None` without the kernel's stamps.
    pub lag_ns: Option<u64>,
    /// Width of the bracket around the write that completed the (first) request.
    pub send_bracket_ns: Option<u64>,
}

/// When something arrived, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When the kernel received it, if it told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u64>,
    /// When the read that brought it returned.
    pub user: u64,
    /// Set when more bytes followed in the same read: it came between this and the kernel's stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<u64>,
}

/// A finished request, decoded: from worker to record processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// The credit.
    pub credit: Credit,
    /// Identity of the request.
    pub request_id: u128,
    /// The worker.
    pub worker: u32,
    /// The conversation's identity in the dataset.
    pub conversation_id: String,
    /// Model asked for.
    pub model: String,
    /// When the worker received the credit.
    pub received_ns: u64,
    /// When the request was handed to the HTTP client.
    pub start_ns: u64,
    /// The same instant on the wall clock.
    pub start_wall_ns: u64,
    /// Arrival of the last response message of any kind; else end of transport; else the start.
    pub end_ns: u64,
    /// When a 2xx head had been read.
    pub ack_ns: Option<u64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Arrivals of the content responses.
    pub content_ns: Vec<u64>,
    /// Arrival of the first content that is output.
    pub first_output_ns: Option<u64>,
    /// All output text; `None` when there was none.
    pub output: Option<String>,
    /// All reasoning text; `None` when there was none.
    pub reasoning: Option<String>,
    /// Usage as the server reports it.
    pub usage: Option<Usage>,
    /// Completion tokens at the first content response.
    pub first_chunk_tokens: Option<u64>,
    /// Limit on output tokens that the request asked for.
    pub requested_output_tokens: Option<u32>,
    /// Headers of the (first) request as a JSON object, credentials redacted, where the run keeps them.
    pub request_headers: Option<String>,
    /// The responses as a JSON array, where the run keeps them.
    pub responses: Option<String>,
    /// What happened on the connection as a JSON object, where the run keeps it.
    pub trace: Option<String>,
    /// Both stamps of the first content response.
    pub first_content: Option<Stamp>,
    /// Both stamps of the last content response.
    pub last_content: Option<Stamp>,
    /// Right before and right after the write that completed the (first) request.
    pub send_ns: Option<(u64, u64)>,
    /// Body of the (first) request, for counting its tokens.
    pub body: Vec<u8>,
    /// Other numbers of dataset and response.
    pub facts: Vec<(String, f64)>,
    /// Other texts of dataset and response.
    pub labels: Vec<(String, String)>,
    /// Transport facts.
    pub transport: Transport,
    /// How exactly it was timed.
    pub arrivals: ArrivalFacts,
    /// The error; `None` for a valid record.
    pub error: Option<RecordError>,
    /// Why and when (wall) it was cancelled.
    pub cancelled: Option<(CancelReason, u64)>,
}

/// Records with their metrics, as columns: from record processor to records manager.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordBatch {
    /// Phase of all its records.
    pub phase: u32,
    /// Number of records.
    pub len: usize,
    /// All of them were cancelled: they are exported, and counted with the credits, but are no part of any metric.
    pub cancelled: bool,
    /// Requests that were sent again over a fresh connection.
    pub resent: u64,
    /// Record columns in the order of the run's column plan.
    pub fields: Vec<FieldColumn>,
    /// Metric columns, by family; `None` for a family that was skipped on this batch.
    pub metrics: Vec<Option<Vec<Column>>>,
}
