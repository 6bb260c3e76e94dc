//! What responses of the chat endpoint say.

use ChunkKind::{Reasoning, Text, ToolCall};
use aiperf_sdk::endpoint::ChunkKind;

use crate::testing::{chat, chunks, decode, delta, endpoint, stream};

#[test]
fn content_of_an_event() {
    for (json, expected) in [
        (r#"{"role":"assistant","content":""}"#, vec![]),
        (r#"{"content":null}"#, vec![]),
        (r#"{}"#, vec![]),
        ("null", vec![]),
        (r#"{"content":"a\nb"}"#, vec![(Text, "a\nb")]),
        (r#"{"content":["odd"],"role":7}"#, vec![]),
        (r#"{"reasoning_content":"r"}"#, vec![(Reasoning, "r")]),
        (r#"{"reasoning":"r","reasoning_content":null}"#, vec![(Reasoning, "r")]),
        (
            r#"{"reasoning":"no","reasoning_content":"r","content":"c"}"#,
            vec![(Reasoning, "r"), (Text, "c")],
        ),
        (r#"{"reasoning":"","content":"c"}"#, vec![(Text, "c")]),
        (
            r#"{"content":"c","tool_calls":[{"function":{"name":"f","arguments":"{"}},{"function":{"arguments":"}"}}]}"#,
            vec![(Text, "c"), (ToolCall, "f{}")],
        ),
        (r#"{"tool_calls":[{"index":0,"id":"i","function":null}]}"#, vec![]),
        (r#"{"tool_calls":null,"content":"c"}"#, vec![(Text, "c")]),
        (
            r#"{"function_call":{"name":"f","arguments":"x"}}"#,
            vec![(ToolCall, "fx")],
        ),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(kind, text)| (0, kind, text.to_owned()))
            .collect();
        assert_eq!(chunks(&stream(&[json])), expected, "{json}");
        let whole = format!(r#"{{"object":"chat.completion","choices":[{{"message":{json}}}]}}"#);
        assert_eq!(chunks(&chat(false, &[&whole])), expected, "{whole}");
    }
}

#[test]
fn the_object_says_which_events_have_content() {
    for (event, content) in [
        (
            r#"{"object":"chat.completion.chunk","choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
            true,
        ),
        (
            r#"{"object":"chat.completion.chunk","choices":[{"message":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
            false,
        ),
        (
            r#"{"object":"chat.completion","choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
            false,
        ),
        (
            r#"{"object":"text_completion","choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
            false,
        ),
        (
            r#"{"choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
            false,
        ),
        (
            r#"{"object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":3}}"#,
            false,
        ),
        (
            r#"{"object":"chat.completion.chunk","choices":null,"usage":{"total_tokens":3}}"#,
            false,
        ),
    ] {
        let decoded = chat(true, &[event]);
        assert_eq!(!decoded.chunks.is_empty(), content, "{event}");
        assert_eq!(
            decoded.usage.and_then(|usage| usage.total),
            Some(3),
            "usage is read anyway: {event}"
        );
    }
}

#[test]
fn a_stream_adds_up() {
    let events = [
        delta(r#"{"role":"assistant","content":""}"#),
        delta(r#"{"reasoning_content":"Hm. "}"#),
        delta(r#"{"content":"Hel"}"#),
        String::new(),
        delta(r#"{"content":"lo"}"#),
        r#"{"object":"chat.completion.chunk","choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#.to_owned(),
        r#"{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}"#
            .to_owned(),
        r#"{"object":"chat.completion.chunk","choices":[],"usage":{}}"#.to_owned(),
        " [DONE] ".to_owned(),
    ];
    let decoded = decode(&*endpoint("chat", "").unwrap(), true, &events);
    let expected = [(1, Reasoning, "Hm. "), (2, Text, "Hel"), (4, Text, "lo")];
    assert_eq!(
        chunks(&decoded),
        expected.map(|(event, kind, text)| (event, kind, text.to_owned()))
    );
    let usage = decoded.usage.unwrap();
    assert_eq!((usage.prompt, usage.completion, usage.total), (Some(9), Some(4), None));
    assert_eq!(decoded.finish_reason.as_deref(), Some("stop"));
    assert_eq!((decoded.error, decoded.first_chunk_tokens), (None, None));
    assert_eq!(decoded.reply, None, "the chunks say it all");
}

#[test]
fn tokens_of_the_first_chunk_are_told_where_usage_comes_with_each() {
    let event = |content: &str, tokens: u64| {
        format!(
            r#"{{"object":"chat.completion.chunk","choices":[{{"delta":{{"content":"{content}"}}}}],
                "usage":{{"completion_tokens":{tokens}}}}}"#
        )
    };
    let events = [event("", 0), event("a", 2), event("b", 5)];
    for (options, expected) in [(r#"{"per_chunk_usage":true}"#, Some(2)), ("{}", None)] {
        let decoded = decode(&*endpoint("chat", options).unwrap(), true, &events);
        assert_eq!(decoded.first_chunk_tokens, expected);
        assert_eq!(decoded.usage.and_then(|usage| usage.completion), Some(5));
    }
}

#[test]
fn replies_have_the_tool_calls() {
    for (deltas, raw) in [
        (vec![r#"{"reasoning":"r","content":"c"}"#], None),
        (vec![r#"{"content":""}"#], None),
        (
            vec![
                r#"{"content":"I look."}"#,
                r#"{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}]}"#,
                r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"{}"}}]}"#,
            ],
            Some(concat!(
                r#"[{"role":"assistant","content":"I look.","tool_calls":["#,
                r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},"#,
                r#"{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}]"#
            )),
        ),
        // Without an index each is a call of its own.
        (
            vec![r#"{"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]}"#],
            Some(concat!(
                r#"[{"role":"assistant","content":null,"tool_calls":["#,
                r#"{"id":"a","type":"function","function":{"name":"f","arguments":""}},"#,
                r#"{"id":"b","type":"function","function":{"name":"g","arguments":""}}]}]"#
            )),
        ),
        (
            vec![
                r#"{"function_call":{"name":"f","arguments":"{"}}"#,
                r#"{"function_call":{"arguments":"}"}}"#,
            ],
            Some(
                r#"[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}]"#,
            ),
        ),
    ] {
        let reply = stream(&deltas).reply;
        assert_eq!(reply.and_then(|turn| turn.raw_messages).as_deref(), raw, "{deltas:?}");
    }
}

#[test]
fn speculative_decoding_is_passed_on() {
    let event =
        r#"{"object":"chat.completion.chunk","choices":[],"metrics":{"speculative_decoding":{"accepted":[1, 2]}}}"#;
    let decoded = chat(true, &[event]);
    let expected = ("speculative_decoding".to_owned(), r#"{"accepted":[1, 2]}"#.to_owned());
    assert_eq!(decoded.labels, [expected]);
    let none = r#"{"object":"chat.completion.chunk","metrics":{"speculative_decoding":null}}"#;
    assert!(chat(true, &[none]).labels.is_empty());
}
