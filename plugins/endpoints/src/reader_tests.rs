//! Responses of any shape, well formed or not.

use std::sync::Arc;

use aiperf_sdk::{Decoded, Exchange, endpoint::ChunkKind::Text};
use proptest::prelude::*;

use crate::{
    answer::Answer,
    chat,
    error::INVALID_RESPONSE,
    pull::Pull,
    testing::{TestHost, chunks, decode, delta, endpoint, endpoint_with},
    wire::Event,
};

/// Events of token streams: those of a kind differ in their text, as far as it needs no escapes.
fn event() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-z ]{1,9}".boxed(),
        prop::sample::select(vec![
            "",
            "ü",
            "\\n",
            "\\\\",
            "\\\"",
            "\\u00e9",
            "\\ud800",
            "\",\"content\":\"b",
            "\u{1}"
        ])
        .prop_map(str::to_owned)
        .boxed(),
    ];
    let shape = prop::sample::select(vec![
        r#"{"content":"@"}"#,
        r#"{"content":"@"},"finish_reason":null"#,
        r#"{"content":"@","tool_calls":[]}"#,
        r#"{"content":"@","tool_calls":[{}]}"#,
        r#"{"content":"@","tool_calls":[{"function":{"name":"@"}}]}"#,
        r#"{"reasoning":"@"}"#,
        r#"{"reasoning":"@","content":"b"}"#,
        r#"{"reasoning":"b","content":"@"}"#,
        r#"{"reasoning":"@","reasoning_content":"b"}"#,
        r#"{"reasoning_content":"@","reasoning":"b"}"#,
        r#"{"content":"b","content":"@"}"#,
        r#"{"content":"@"},"finish_reason":"stop""#,
        r#"{"role":"@"}"#,
        r#"{"content":"a"},"finish_reason":"@""#,
    ]);
    let rest = prop::sample::select(vec![
        r#"}],"usage":null}"#,
        r#"}],"usage":{"completion_tokens":3}}"#,
        r#"}],"usage":{"completion_tokens":3,"x":"@"}}"#,
        r#"}],"usage":{"completion_tokens":40,"x":{}},"x":"@"}"#,
        r#"}],"usage":{"x":1}}"#,
        r#"}],"error":null}"#,
        r#"}],"error":"@"}"#,
        r#"}],"metrics":{"speculative_decoding":{"a":"@"}}}"#,
        "}]} ",
        "}]",
    ]);
    let ignored = prop::sample::select(vec![
        "1",
        "23",
        "-1.5e3",
        "0",
        "01",
        "\"\"",
        "\"i\"",
        "\"é\\\"\"",
        "null",
        "[1]",
        "\"a\",\"b\":2",
    ]);
    (shape, rest, text, ignored).prop_map(|(shape, rest, text, ignored)| {
        let event = format!(
            r#"{{"id":{ignored},"object":"chat.completion.chunk","choices":[{{"index":{ignored},"delta":{shape}{rest}"#
        );
        event.replace('@', &text)
    })
}

/// What `chat` reads from a stream if it knows nothing of other events.
fn each_alone(events: &[String]) -> Decoded {
    let mut answer = Answer::default();
    for (index, event) in (0..).zip(events) {
        if let Ok(read) = Pull::new(event).whole::<Event<'_>>() {
            answer.event(&read, event, index, chat::content).unwrap();
        }
    }
    answer.finish()
}

proptest! {
    /// No event is taken for what it is not because of others, of the same response or of earlier ones.
    #[test]
    fn events_are_read_one_by_one(
        responses in prop::collection::vec(prop::collection::vec(event(), 0..12), 1..4),
        repeats in 1..3_usize,
    ) {
        let endpoint = endpoint("chat", "").unwrap();
        for events in responses.iter().cycle().take(2 * responses.len()) {
            let repeated = events.iter().flat_map(|event| std::iter::repeat_n(event, repeats));
            let events: Vec<String> = repeated.cloned().collect();
            prop_assert_eq!(decode(&*endpoint, true, &events), each_alone(&events));
        }
    }
}

#[test]
fn an_event_that_is_not_json_is_skipped_with_one_warning() {
    let host = Arc::new(TestHost::default());
    let endpoint = endpoint_with("chat", "", host.clone()).unwrap();
    let event = delta(r#"{"content":"a"}"#);
    for _ in 0..2 {
        let decoded = decode(&*endpoint, true, &["not json", "{\"a\":1}\n{\"b\":2}", &event]);
        assert_eq!(chunks(&decoded), [(2, Text, "a".to_owned())]);
        assert_eq!(decoded.error, None);
    }
    let log = host.0.lock().unwrap();
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(log[0].ends_with(": not json"), "{log:?}");
}

#[test]
fn bad_utf_8_is_replaced() {
    let event = [&delta(r#"{"content":"a#"}"#).into_bytes()[..]].concat();
    let event: Vec<u8> = event
        .into_iter()
        .map(|byte| if byte == b'#' { 0xff } else { byte })
        .collect();
    let decoded = decode(&*endpoint("chat", "").unwrap(), true, &[event]);
    assert_eq!(decoded.chunks.text, "a\u{fffd}");
}

#[test]
fn events_are_numbered_over_all_exchanges() {
    let endpoint = endpoint("chat", "").unwrap();
    let event = delta(r#"{"content":"a"}"#);
    let exchange = Exchange {
        status: 200,
        streamed: true,
        content_type: "",
        bytes: event.as_bytes(),
        ends: &[event.len() as u32],
    };
    let decoded = endpoint.decode(&[exchange, exchange]).unwrap();
    assert_eq!(decoded.chunks.events, [0, 1]);
}

/// JSON of the usual names with values of any kind.
fn odd_json() -> impl proptest::strategy::Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1e3".to_owned()),
        Just("-7".to_owned()),
        Just("\"chat.completion.chunk\"".to_owned()),
        any::<u64>().prop_map(|number| number.to_string()),
    ];
    let names = prop::sample::select(vec![
        "object",
        "choices",
        "delta",
        "message",
        "content",
        "reasoning",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "index",
        "usage",
        "tokens",
        "meta",
        "prompt_tokens",
        "input_tokens",
        "prompt_tokens_details",
        "error",
        "code",
        "metrics",
        "speculative_decoding",
        "finish_reason",
    ]);
    leaf.prop_recursive(8, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|fields| {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{value}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(events: Vec<Vec<u8>>, streamed: bool, chat: bool) {
        let endpoint = endpoint(if chat { "chat" } else { "completions" }, "").unwrap();
        decode(&*endpoint, streamed, &events);
    }

    #[test]
    fn no_json_makes_it_panic_or_is_taken_for_something_else(json in odd_json(), chat: bool) {
        let endpoint = endpoint(if chat { "chat" } else { "completions" }, "").unwrap();
        let error = decode(&*endpoint, false, &[&json]).error;
        prop_assert!(error.is_none_or(|error| error.kind != INVALID_RESPONSE), "{}", json);
    }
}
