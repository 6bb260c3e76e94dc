use aiperf_plugin_api::{
    Column,
    endpoint::Usage,
    gpu::Reading,
    report::{Credits, PhaseReport, gpu::GpuSection},
    timing::Outcome,
    validity::Fidelity,
};

use super::*;
use crate::columns::FieldColumn;

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
