//! Conversations to prepare.

use aiperf_sdk::{Media, RequestInfo, Turn};

use crate::{bench::Bench, text};

/// A 1×1 PNG.
const IMAGE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const AUDIO: &str = "wav,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// A request and what it is about.
pub(super) struct Request {
    pub(super) what: String,
    pub(super) info: RequestInfo,
    /// A text that must arrive at the server, if the request can be prepared at all.
    pub(super) marker: Option<String>,
}

fn info(turns: Vec<Turn>, streaming: bool) -> RequestInfo {
    RequestInfo {
        model: "conformance/model-7b".to_owned(),
        streaming,
        turns,
        system_message: None,
        user_context: None,
        carry: None,
        request_id: "00000000-0000-4000-8000-000000000001".to_owned(),
        correlation_id: "00000000-0000-4000-8000-000000000002".to_owned(),
    }
}

fn of_role(role: &str, text: &str) -> Turn {
    Turn {
        role: role.to_owned(),
        ..Turn::text(text)
    }
}

/// The table: usual shapes of every category of input, then odd ones. Each once plain and once streamed.
pub(super) fn table(bench: &Bench) -> Vec<Request> {
    let mut table = Vec::new();
    for streaming in [false, true] {
        let mut add = |what: &str, marker: Option<&str>, info: RequestInfo| {
            let mode = if streaming { "streamed" } else { "plain" };
            table.push(Request {
                what: format!("{what}, {mode}"),
                info,
                marker: marker.map(str::to_owned),
            });
        };
        let plain = |turn: Turn| info(vec![turn], streaming);
        let prompt = "Tell me something about the sea.";

        add("one text", Some(prompt), plain(Turn::text(prompt)));
        add(
            "a limit on output tokens, own model, extra body",
            Some(prompt),
            plain(Turn {
                max_tokens: Some(17),
                model: Some("another/model".to_owned()),
                extra_body: Some(r#"{"temperature":0.25,"user":"u"}"#.to_owned()),
                extra_headers: vec![("X-Team".to_owned(), "a".to_owned())],
                ..Turn::text(prompt)
            }),
        );
        add(
            "three turns with answers",
            Some("third question"),
            info(
                vec![
                    Turn::text("first question"),
                    of_role("assistant", "first answer"),
                    Turn::text("second question"),
                    of_role("assistant", "second answer"),
                    Turn::text("third question"),
                ],
                streaming,
            ),
        );
        add(
            "system message and user context",
            Some(prompt),
            RequestInfo {
                system_message: Some("Be brief.".to_owned()),
                user_context: Some("The user is a sailor.".to_owned()),
                carry: Some("an opaque text".to_owned()),
                ..plain(Turn::text(prompt))
            },
        );
        let media = |turn: Turn| plain(turn);
        add(
            "a text and an image",
            None,
            media(Turn {
                images: vec![Media::one(IMAGE)],
                ..Turn::text(prompt)
            }),
        );
        add(
            "an image alone",
            None,
            media(Turn {
                images: vec![Media::one(IMAGE)],
                ..Turn::default()
            }),
        );
        add(
            "an audio clip",
            None,
            media(Turn {
                audios: vec![Media::one(AUDIO)],
                ..Turn::text(prompt)
            }),
        );
        add(
            "a video",
            None,
            media(Turn {
                videos: vec![Media::one("http://127.0.0.1/clip.mp4")],
                ..Turn::text(prompt)
            }),
        );
        let group = |name: &str, contents: &[&str]| Media {
            name: name.to_owned(),
            contents: contents.iter().map(|&text| text.to_owned()).collect(),
            uuids: Vec::new(),
        };
        add(
            "a query and passages",
            None,
            plain(Turn {
                texts: vec![group("query", &["what?"]), group("passages", &["this", "that"])],
                ..Turn::default()
            }),
        );
        add(
            "several texts in a group",
            None,
            plain(Turn {
                texts: vec![group("", &["one", "two", "three"])],
                ..Turn::default()
            }),
        );
        add(
            "messages and tools as authored",
            None,
            plain(Turn {
                raw_messages: Some(r#"[{"role":"user","content":"as authored"}]"#.to_owned()),
                raw_tools: Some(
                    r#"[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]"#.to_owned(),
                ),
                ..Turn::default()
            }),
        );
        add(
            "a whole body as authored",
            None,
            plain(Turn {
                raw_payload: Some(r#"{"as":"authored","n":[1,2]}"#.to_owned()),
                ..Turn::default()
            }),
        );
        add("no turn at all", None, info(Vec::new(), streaming));
        add("a turn without content", None, plain(Turn::default()));
        for odd in text::ODD {
            let what = format!("the text {odd:?}");
            let marker = (!odd.trim().is_empty()).then_some(*odd);
            add(&what, marker, plain(Turn::text(*odd)));
        }
        let mut random = bench.random("endpoint.requests");
        let long: String = (0..300_000)
            .map(|_| char::from(b' ' + random.below(95) as u8))
            .collect();
        add(
            "a text of 300,000 characters",
            Some(&long),
            plain(Turn::text(long.as_str())),
        );
        add(
            "a model with odd characters",
            None,
            RequestInfo {
                model: "m\r\nX-Evil: 1 \"q\" /..".to_owned(),
                ..plain(Turn::text(prompt))
            },
        );
        add(
            "extra body that is no JSON",
            None,
            plain(Turn {
                extra_body: Some("{\"a\":".to_owned()),
                ..Turn::text(prompt)
            }),
        );
    }
    table
}
