//! Names of the record columns that the core provides. Metrics and exporters ask for them by name ([`MetricFamily::needs`],
//! [`ExporterNeeds::columns`]); a tag of another family's per-record metric is a name too, and `facts.NAME` and
//! `labels.NAME` reach what an endpoint or a dataset said beyond the fixed columns.
//!
//! Times are ns on the core's monotonic clock unless the name says `wall`. A column whose value is unknown for a record is
//! invalid there, never 0.
//!
//! [`MetricFamily::needs`]: crate::MetricFamily::needs
//! [`ExporterNeeds::columns`]: crate::exporter::ExporterNeeds::columns

macro_rules! fields {
    ($($(#[$meta:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$meta])* pub const $name: &str = $text;)*
        /// All names.
        pub const ALL: &[&str] = &[$($text),*];
    };
}

fields! {
    /// u64: 1 for a valid record (no error, at least one content response), else 0.
    VALID = "valid";
    /// u64: just before the request was handed to the HTTP client (`t0`).
    START = "start_ns";
    /// u64: the same instant on the wall clock, ns since the epoch.
    START_WALL = "start_wall_ns";
    /// u64: arrival of the last response message of any kind, `[DONE]` included; else end of transport; else start.
    END = "end_ns";
    /// u64: a 2xx response head had been read.
    ACK = "ack_ns";
    /// u64: when the schedule wanted the request to be sent.
    INTENDED = "intended_ns";
    /// u64: when the credit was issued.
    CREDIT = "credit_ns";
    /// u64: when the worker received the credit.
    CREDIT_RECEIVED = "credit_received_ns";
    /// u64 list: arrival of each content response, in order.
    CONTENT = "content_ns";
    /// u64: arrival of the first content that is output (text or tool call, not empty, not reasoning).
    FIRST_OUTPUT = "first_output_ns";
    /// u64: width of the bracket around the write that completed the request, ns.
    SEND_BRACKET = "send.bracket_ns";
    /// u64: longest time between the kernel's receipt of bytes of the response and their reading, ns.
    CLIENT_LAG = "client.lag_ns";
    /// u64: messages of the response that have content: events of a stream, or a whole body.
    MESSAGES = "messages";
    /// u64: those of which only bounds of the arrival are known, since more bytes came in the same read.
    MESSAGES_BOUNDED = "messages.bounded";
    /// u64: input tokens (counted here, or by the server where the run says so).
    INPUT_TOKENS = "input_tokens";
    /// u64: output tokens without reasoning.
    OUTPUT_TOKENS = "output_tokens";
    /// u64: reasoning tokens.
    REASONING_TOKENS = "reasoning_tokens";
    /// u64: cumulative completion tokens at the first content response, where the server tells.
    FIRST_CHUNK_TOKENS = "first_chunk_tokens";
    /// u64: limit on output tokens that the request asked for.
    REQUESTED_OUTPUT_TOKENS = "requested_output_tokens";
    /// u64: usage of the server: prompt tokens.
    USAGE_PROMPT = "usage.prompt";
    /// u64: completion tokens.
    USAGE_COMPLETION = "usage.completion";
    /// u64: total tokens.
    USAGE_TOTAL = "usage.total";
    /// u64: reasoning tokens.
    USAGE_REASONING = "usage.reasoning";
    /// u64: prompt tokens read from a cache.
    USAGE_CACHE_READ = "usage.cache_read";
    /// u64: prompt tokens written to a cache.
    USAGE_CACHE_WRITE = "usage.cache_write";
    /// u64: prompt tokens not found in a cache.
    USAGE_CACHE_MISS = "usage.cache_miss";
    /// u64: audio tokens of the prompt.
    USAGE_PROMPT_AUDIO = "usage.prompt_audio";
    /// u64: audio tokens of the completion.
    USAGE_COMPLETION_AUDIO = "usage.completion_audio";
    /// u64: accepted prediction tokens.
    USAGE_ACCEPTED_PREDICTION = "usage.accepted_prediction";
    /// u64: rejected prediction tokens.
    USAGE_REJECTED_PREDICTION = "usage.rejected_prediction";
    /// u64: prompt tokens of tool use.
    USAGE_TOOL_USE_PROMPT = "usage.tool_use_prompt";
    /// f64: seconds of audio in the prompt.
    USAGE_PROMPT_AUDIO_SECONDS = "usage.prompt_audio_seconds";
    /// u64 ns: waiting for a free connection.
    HTTP_BLOCKED = "http.blocked_ns";
    /// u64 ns: looking up the name.
    HTTP_DNS = "http.dns_ns";
    /// u64 ns: connecting.
    HTTP_CONNECT = "http.connect_ns";
    /// u64 ns: from the start to the write that completed the request.
    HTTP_SENDING = "http.sending_ns";
    /// u64 ns: from there to the first body bytes.
    HTTP_WAITING = "http.waiting_ns";
    /// u64 ns: from the first to the last body bytes.
    HTTP_RECEIVING = "http.receiving_ns";
    /// u64: 1 if the connection had been used before.
    HTTP_REUSED = "http.reused";
    /// u64: body bytes written.
    HTTP_BYTES_SENT = "http.bytes_sent";
    /// u64: body bytes read.
    HTTP_BYTES_RECEIVED = "http.bytes_received";
    /// u64: write operations.
    HTTP_CHUNKS_SENT = "http.chunks_sent";
    /// u64: read operations.
    HTTP_CHUNKS_RECEIVED = "http.chunks_received";
    /// u64: HTTP status, where a response came.
    STATUS = "status";
    /// u64: number of the credit within its phase.
    SESSION_NUM = "session_num";
    /// text: identity of the request.
    REQUEST_ID = "request_id";
    /// text: identity of the conversation instance.
    CORRELATION_ID = "correlation_id";
    /// text: identity of the conversation in the dataset.
    CONVERSATION_ID = "conversation_id";
    /// u64: turn, from 0.
    TURN_INDEX = "turn_index";
    /// text: model asked for.
    MODEL = "model";
    /// text: worker.
    WORKER_ID = "worker_id";
    /// text: record processor.
    RECORD_PROCESSOR_ID = "record_processor_id";
    /// text: name of the phase.
    PHASE_NAME = "phase_name";
    /// text: `warmup` or `profiling`.
    PHASE_KIND = "phase_kind";
    /// u64: position of the phase.
    PHASE_INDEX = "phase_index";
    /// u64: position among the profiling phases; invalid for warmup.
    PROFILING_INDEX = "profiling_index";
    /// u64: 1 if the request was cancelled.
    CANCELLED = "cancelled";
    /// u64: when it was cancelled, ns since the epoch.
    CANCELLED_WALL = "cancelled_wall_ns";
    /// u64: code of the error, where it has one.
    ERROR_CODE = "error.code";
    /// text: type of the error; valid for error records.
    ERROR_TYPE = "error.type";
    /// text: message of the error; valid for error records.
    ERROR_MESSAGE = "error.message";
    /// text: body of the request, where it is UTF-8.
    REQUEST_BODY = "request.body";
    /// text: headers of the (first) request as a JSON object, credentials redacted.
    REQUEST_HEADERS = "request.headers";
    /// text: the responses as a JSON array, in the form of the raw export (`perf_ns`, `packets` or `text`).
    RESPONSE_EVENTS = "response.events";
    /// text: what happened on the connection, as a JSON object: the `trace_data` of the records, with both stamps of the
    /// first and the last content.
    HTTP_TRACE = "http.trace";
    /// u64: images in the request body.
    IMAGES = "images";
    /// text: output of the model (text and tool calls).
    OUTPUT_TEXT = "output_text";
    /// text: reasoning of the model.
    REASONING_TEXT = "reasoning_text";
}
/// Columns of the table `gpu` ([`TableNeeds`](crate::exporter::TableNeeds)): one row per reading of a device, and one batch
/// for what a collector reads at one time.
pub mod gpu {
    /// u64: when it was read, ns since the epoch.
    pub const TIMESTAMP_WALL: &str = "timestamp_ns";
    /// Text: the URL that was asked, without credentials; `NAME://localhost` for a collector that asks none.
    pub const SOURCE: &str = "source";
    /// Text: name of the collector's entry.
    pub const COLLECTOR: &str = "collector";
    /// u64: index of the device.
    pub const INDEX: &str = "gpu";
    /// Text: UUID of the device.
    pub const UUID: &str = "uuid";
    /// Text: model name.
    pub const MODEL: &str = "model";
    /// Text: `nvidia`, `amd`, or what the label `platform` says.
    pub const PLATFORM: &str = "platform";
    /// Text: host.
    pub const HOST: &str = "host";
    /// Text: field (`nvidia_power_usage`).
    pub const FIELD: &str = "field";
    /// Text: unit. Fields of power, energy and time that AIPerf knows come in its units (`W`, `MJ`, `us`).
    pub const UNIT: &str = "unit";
    /// u64: 1 for a field that only grows, else 0.
    pub const COUNTER: &str = "counter";
    /// f64: value.
    pub const VALUE: &str = "value";
    /// What stands before the name of a label (`labels.pod`): text.
    pub const LABELS: &str = "labels.";
}
