//! Messages between services: plain data, no `Arc`, descriptor or channel inside, so that any [`Bus`](crate::bus::Bus) can
//! carry them. All times are ns on the monotonic clock unless the name says `wall`.

use aiperf_plugin_api::{
    Column, PluginError,
    endpoint::Usage,
    gpu::Reading,
    report::{PhaseReport, Report, gpu::GpuSection},
    timing::Outcome,
    validity::Fidelity,
};
use serde::{Deserialize, Serialize};

use crate::columns::FieldColumn;

/// A permit for one request. It ends exactly once, in one [`CreditReturn`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// Number within the phase, from 0.
    pub id: u64,
    /// Position of the phase among all phases.
    pub phase: u32,
    /// Conversation instance, as the timing mode numbers it.
    pub session: u64,
    /// Identity of the conversation instance.
    pub correlation_id: u128,
    /// Index of the conversation in the dataset.
    pub conversation: u32,
    /// Turn to send, from 0.
    pub turn: u32,
    /// Turns that this instance will send in all; the last one has index `turns - 1`.
    pub turns: u32,
    /// Index of the base URL.
    pub url: u32,
    /// When the schedule wanted it to be sent.
    pub intended_ns: u64,
    /// When it was issued.
    pub issued_ns: u64,
    /// Replaces the turn's limit on output tokens.
    pub max_tokens: Option<u32>,
}

impl Credit {
    /// It is the conversation's last turn.
    pub fn is_last_turn(&self) -> bool {
        self.turn + 1 >= self.turns
    }
}

/// Why a credit was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// The grace period was over.
    GracePeriod,
    /// The user interrupted the run.
    Interrupt,
    /// A service failed and the run was given up.
    Abort,
}

impl CancelReason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::GracePeriod => "grace_period",
            Self::Interrupt => "interrupt",
            Self::Abort => "abort",
        }
    }
}

/// How a credit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreditReturn {
    /// The credit's number within its phase.
    pub id: u64,
    /// Its phase.
    pub phase: u32,
    /// The worker that had it.
    pub worker: u32,
    /// Completed, failed or cancelled.
    pub outcome: Outcome,
    /// Why it was cancelled.
    pub cancelled: Option<CancelReason>,
    /// From send to last content.
    pub latency_ns: Option<u64>,
    /// From send to first content.
    pub ttft_ns: Option<u64>,
    /// Output tokens as the server reports them.
    pub tokens: Option<u64>,
}

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

/// Counts of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// Credits issued.
    pub issued: u64,
    /// Ended with a valid response.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Cancelled at the end of grace.
    pub cancelled_grace: u64,
    /// Cancelled by the user.
    pub cancelled_interrupt: u64,
    /// Cancelled because the run was given up.
    pub cancelled_abort: u64,
    /// Conversations started.
    pub sessions: u64,
}

impl PhaseCounts {
    /// Credits that have ended.
    pub fn returned(&self) -> u64 {
        self.completed + self.failed + self.cancelled_grace + self.cancelled_interrupt + self.cancelled_abort
    }
}

/// A phase has ended: every credit has returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseComplete {
    /// Position among all phases.
    pub phase: u32,
    /// When it began to issue credits.
    pub start_ns: u64,
    /// The same instant on the wall clock.
    pub start_wall_ns: u64,
    /// When the last credit had returned.
    pub end_ns: u64,
    /// Its counts.
    pub counts: PhaseCounts,
    /// Lines of the timing mode's event log.
    pub notes: Vec<String>,
    /// The phase was cut short.
    pub interrupted: bool,
}

/// Where a phase stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Position among all phases.
    pub phase: u32,
    /// Its counts so far.
    pub counts: PhaseCounts,
    /// Time since it began.
    pub elapsed_ns: u64,
    /// No more credits will be issued.
    pub sending_complete: bool,
}

/// What came of the phases: from records manager to controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    /// The phases that have ended.
    pub phases: Vec<PhaseReport>,
    /// How exactly each of them was timed.
    pub fidelity: Vec<Fidelity>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Valid records of profiling phases.
    pub valid: u64,
    /// What GPU collectors read; `None` for a run without any.
    pub gpu: Option<GpuSection>,
}

/// What a GPU collector read at one time: to the records manager.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuReadings {
    /// Position among all collectors and sources of the run.
    pub source: u32,
    /// When it was read.
    pub at_ns: u64,
    /// The same instant on the wall clock.
    pub wall_ns: u64,
    /// What was read.
    pub readings: Vec<Reading>,
}

/// A GPU collector reads no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuEnd {
    /// Position among all collectors and sources of the run.
    pub index: u32,
    /// Why it was switched off; `None` if the run was over.
    pub error: Option<String>,
    /// It was granted a source, and never asked it.
    pub unasked: bool,
}

/// What the exporters left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportDone {
    /// Texts for the console, in order.
    pub console: Vec<String>,
    /// Failures that were skipped.
    pub skipped: Vec<String>,
    /// Files, relative to the artifact folder.
    pub files: Vec<String>,
}

/// A failure that ends the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The service.
    pub service: String,
    /// What happened.
    pub message: String,
    /// A plugin is at fault.
    pub plugin: bool,
    /// What the user can do, where the plugin says so.
    pub help: Option<String>,
}

impl Failure {
    /// A plugin that failed in a service.
    pub fn of_plugin(service: impl Into<String>, error: &PluginError) -> Self {
        Self {
            service: service.into(),
            message: error.to_string(),
            plugin: true,
            help: error.help.clone(),
        }
    }
}

/// Everything that services say to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Timing manager → worker.
    Credit(Credit),
    /// Timing manager → worker: end these requests of a phase now.
    Cancel {
        /// The phase.
        phase: u32,
        /// Numbers of the credits.
        ids: Vec<u64>,
        /// Why.
        reason: CancelReason,
    },
    /// Worker → timing manager.
    Returned(CreditReturn),
    /// Worker → record processor, always before the return of its credit.
    Record(Box<RequestRecord>),
    /// Record processor → records manager.
    Records(Box<RecordBatch>),
    /// Timing manager → records manager, controller.
    PhaseComplete(Box<PhaseComplete>),
    /// Timing manager → controller.
    Progress(Progress),
    /// Records manager → controller: all records of all phases are in.
    RecordsComplete,
    /// Controller → records manager: report the phases.
    Summarise,
    /// Records manager → controller.
    Phases(Box<PhasesReport>),
    /// Controller → records manager: give this report to the exporters.
    Export(Box<Report>),
    /// Records manager → controller.
    Exported(Box<ExportDone>),
    /// Any service → controller.
    Failed(Failure),
    /// Controller → timing manager: stop issuing and cancel what is in flight.
    Interrupt(CancelReason),
    /// GPU telemetry manager → controller: the readings before the phases are in, or there are none yet.
    GpuReady(u32),
    /// GPU telemetry manager → records manager.
    GpuReadings(Box<GpuReadings>),
    /// Controller → GPU telemetry manager: the phases are over; read once more and end.
    CloseGpu,
    /// GPU telemetry manager → controller, always after its last readings.
    GpuEnded(GpuEnd),
    /// Controller → any service.
    Shutdown,
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::report::Credits;

    use super::*;

    fn credit() -> Credit {
        Credit {
            id: u64::MAX,
            phase: 1,
            session: 2,
            correlation_id: u128::MAX,
            conversation: 3,
            turn: 0,
            turns: 2,
            url: 1,
            intended_ns: 4,
            issued_ns: 5,
            max_tokens: Some(6),
        }
    }

    fn record() -> RequestRecord {
        RequestRecord {
            credit: credit(),
            request_id: 1 << 100,
            worker: 0,
            conversation_id: "c \u{1F600}".into(),
            model: "m".into(),
            received_ns: 6,
            start_ns: 7,
            start_wall_ns: 1_700_000_000_123_456_789,
            end_ns: 8,
            ack_ns: Some(7),
            status: Some(200),
            content_ns: vec![7, 8],
            first_output_ns: None,
            output: Some("o\n".into()),
            reasoning: None,
            usage: Some(Usage {
                prompt: Some(3),
                prompt_audio_seconds: Some(0.1),
                ..Usage::default()
            }),
            first_chunk_tokens: None,
            requested_output_tokens: Some(16),
            request_headers: Some("{}".into()),
            responses: Some("[]".into()),
            trace: Some("{}".into()),
            first_content: Some(Stamp {
                kernel: Some(6),
                user: 7,
                lower: None,
            }),
            last_content: Some(Stamp {
                kernel: None,
                user: 8,
                lower: Some(7),
            }),
            send_ns: Some((6, 7)),
            body: vec![0, 255, 10],
            facts: vec![("f".into(), 0.1 + 0.2)],
            labels: vec![("l".into(), "v".into())],
            transport: Transport {
                reused: true,
                resent: 1,
                ..Transport::default()
            },
            arrivals: ArrivalFacts {
                messages: 3,
                bounded: 1,
                lag_ns: Some(5),
                send_bracket_ns: None,
            },
            error: Some(RecordError {
                code: Some(503),
                kind: "k".into(),
                message: "m".into(),
            }),
            cancelled: Some((CancelReason::GracePeriod, 9)),
        }
    }

    #[test]
    fn every_message_survives_serialisation() {
        let failure = Failure {
            service: "s".into(),
            message: "m".into(),
            plugin: true,
            help: Some("h".into()),
        };
        let complete = PhaseComplete {
            phase: 0,
            start_ns: 1,
            start_wall_ns: 2,
            end_ns: 3,
            counts: PhaseCounts {
                issued: 4,
                completed: 3,
                failed: 1,
                ..PhaseCounts::default()
            },
            notes: vec!["{}".into()],
            interrupted: false,
        };
        let batch = RecordBatch {
            phase: 0,
            len: 2,
            cancelled: false,
            resent: 1,
            fields: vec![
                FieldColumn::u64s([Some(1), None].into_iter()),
                FieldColumn::f64s([Some(0.1), None].into_iter()),
                FieldColumn::texts([Some("a"), None].into_iter()),
                FieldColumn::lists([Some(&[1, 2][..]), None].into_iter()),
                FieldColumn::Missing,
            ],
            metrics: vec![
                None,
                Some(vec![Column::f64s([Some(1.5), None]), Column::u64s([Some(2), None])]),
            ],
        };
        let phase = PhaseReport {
            name: "p".into(),
            kind: "profiling".into(),
            index: 0,
            profiling_index: Some(0),
            start_wall_ns: 1,
            end_wall_ns: 2,
            credits: Credits {
                issued: 1,
                completed: 1,
                failed: 0,
                cancelled: vec![],
            },
            metrics: vec![],
            errors: vec![],
            slices: vec![],
        };
        let returned = CreditReturn {
            id: 1,
            phase: 0,
            worker: 0,
            outcome: Outcome::Cancelled,
            cancelled: Some(CancelReason::Interrupt),
            latency_ns: Some(1),
            ttft_ns: None,
            tokens: Some(2),
        };
        let progress = Progress {
            phase: 0,
            counts: PhaseCounts::default(),
            elapsed_ns: 1,
            sending_complete: true,
        };
        let reading = Reading {
            gpu: 0,
            uuid: "u".into(),
            model: "m".into(),
            field: "f".into(),
            unit: "W".into(),
            counter: true,
            value: 0.1,
            host: None,
            labels: vec![("a".into(), "b".into())],
        };
        let exported = ExportDone {
            console: vec!["t".into()],
            skipped: vec![],
            files: vec!["f".into()],
        };
        let messages = [
            Message::Credit(credit()),
            Message::Cancel {
                phase: 0,
                ids: vec![1, 2],
                reason: CancelReason::Abort,
            },
            Message::Returned(returned),
            Message::Record(Box::new(record())),
            Message::Records(Box::new(batch)),
            Message::PhaseComplete(Box::new(complete)),
            Message::Progress(progress),
            Message::RecordsComplete,
            Message::Summarise,
            Message::Phases(Box::new(PhasesReport {
                phases: vec![phase],
                fidelity: vec![Fidelity {
                    requests: 1,
                    achieved_rate: Some(0.1),
                    ..Fidelity::default()
                }],
                warnings: vec![],
                valid: 1,
                gpu: Some(GpuSection::default()),
            })),
            Message::GpuReady(1),
            Message::GpuReadings(Box::new(GpuReadings {
                source: 1,
                at_ns: 2,
                wall_ns: 3,
                readings: vec![reading],
            })),
            Message::CloseGpu,
            Message::GpuEnded(GpuEnd {
                index: 1,
                error: Some("e".into()),
                unasked: true,
            }),
            Message::Exported(Box::new(exported)),
            Message::Failed(failure),
            Message::Interrupt(CancelReason::Interrupt),
            Message::Shutdown,
        ];
        for message in messages {
            let text = serde_json::to_string(&message).expect("serialises");
            assert_eq!(
                serde_json::from_str::<Message>(&text).expect("reads back"),
                message,
                "{text}"
            );
        }
    }
}
