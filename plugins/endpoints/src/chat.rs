//! OpenAI chat completions.

use std::sync::Arc;

use aiperf_sdk::{
    Decoded, Endpoint, Exchange, Host, HttpRequest, PluginError, RequestInfo, Result,
    endpoint::{AuthKind, ChunkKind, EndpointDescription},
};

use crate::{
    answer::Answer,
    body::{Body, Value, estimated_length, verbatim},
    json::Object,
    message::write_messages,
    options::{ChatOptions, Core},
    reader::Reader,
    wire::Event,
};

/// The endpoint.
pub(crate) struct Chat {
    options: ChatOptions,
    core: Core,
    reader: Reader,
}

impl Chat {
    /// An endpoint with its options.
    pub(crate) fn new(options: ChatOptions, core: Core, host: Arc<dyn Host>) -> Self {
        Self {
            reader: Reader::new(host, core.per_chunk_usage, content),
            options,
            core,
        }
    }
}

impl Endpoint for Chat {
    fn describe(&self) -> Result<EndpointDescription> {
        let path = self.core.custom_path.as_deref();
        Ok(EndpointDescription {
            path: path.unwrap_or("/v1/chat/completions").to_owned(),
            streaming_path: None,
            auth: AuthKind::Bearer,
            auth_header: String::new(),
        })
    }

    fn prepare(&self, mut request: RequestInfo) -> Result<HttpRequest> {
        if let Some(ready) = verbatim(&mut request) {
            return Ok(ready);
        }
        let Some(last) = request.turns.last() else {
            return Err(PluginError::input("a chat request needs at least one turn"));
        };
        let tools = request.turns.iter().rev().find_map(|turn| turn.raw_tools.as_deref());
        let extra_body = match &last.extra_body {
            Some(json) => Object::parse(json, "extra_body")?,
            None => Object::default(),
        };
        let messages = |out: &mut Vec<u8>| write_messages(out, &request, self.options.force_content_parts);

        let mut body = Body::new();
        body.set("messages", Value::Written(&messages));
        body.set("model", Value::Text(last.model.as_deref().unwrap_or(&request.model)));
        body.set("stream", Value::Bool(request.streaming));
        if let Some(tools) = tools {
            body.set("tools", Value::Raw(tools));
        }
        if let Some(limit) = last.max_tokens {
            let name = if self.core.use_legacy_max_tokens {
                "max_tokens"
            } else {
                "max_completion_tokens"
            };
            body.set(name, Value::Count(limit));
        }
        body.merge(&self.core.extra);
        body.merge(&extra_body);
        body.ask_for_usage(self.core.per_chunk_usage)?;
        Ok(HttpRequest {
            headers: last.extra_headers.clone(),
            ..HttpRequest::post(body.write(estimated_length(&request))?)
        })
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        self.reader.decode(exchanges)
    }
}

/// The content of an event: reasoning, text and tool calls of the first choice. All of it was generated, so all of it
/// counts, whichever comes together in one event.
pub(crate) fn content(event: &Event<'_>, index: u32, answer: &mut Answer) -> Result<()> {
    let choice = &event.choice.0;
    let message = match event.object.as_str() {
        "chat.completion.chunk" => &choice.delta,
        "chat.completion" => &choice.message,
        _ => &None,
    };
    let Some(message) = message else { return Ok(()) };
    let reasoning = match message.reasoning_content.as_str() {
        "" => message.reasoning.as_str(),
        text => text,
    };
    if !reasoning.is_empty() {
        answer.push(index, ChunkKind::Reasoning, reasoning)?;
    }
    if !message.content.as_str().is_empty() {
        answer.push(index, ChunkKind::Text, message.content.as_str())?;
    }
    answer.tool_calls(index, message)
}

#[cfg(test)]
mod tests {
    use crate::testing::{body, endpoint, endpoint_of_user, request};
    use aiperf_sdk::{Conversation, ErrorKind, Media, Turn};

    fn turn(json: &str) -> Turn {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn fields_of_the_body() {
        let hi = r#"{"texts":[{"name":"","contents":["hi"]}],"max_tokens":5}"#;
        let with = |more: &str| hi.replace("\"max_tokens\"", &format!("{more},\"max_tokens\""));
        let head = r#"{"messages":[{"role":"user","content":"hi"}],"model":"m","#;
        for (turn_json, streaming, options, rest) in [
            (
                hi.to_owned(),
                false,
                "{}",
                r#""stream":false,"max_completion_tokens":5}"#,
            ),
            (
                hi.to_owned(),
                false,
                r#"{"use_legacy_max_tokens":true}"#,
                r#""stream":false,"max_tokens":5}"#,
            ),
            (
                hi.replace('5', "0"),
                false,
                "{}",
                r#""stream":false,"max_completion_tokens":0}"#,
            ),
            (hi.replace(",\"max_tokens\":5", ""), false, "{}", r#""stream":false}"#),
            (
                hi.to_owned(),
                true,
                "{}",
                r#""stream":true,"max_completion_tokens":5,"stream_options":{"include_usage":true}}"#,
            ),
            (
                hi.to_owned(),
                true,
                r#"{"per_chunk_usage":true,"use_server_token_count":true}"#,
                r#""stream":true,"max_completion_tokens":5,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}"#,
            ),
            // The author's own options stay; only what lacks is added.
            (
                hi.to_owned(),
                true,
                r#"{"extra":{"stream_options":{"include_usage":false,"x":[1, 2]},"ü":"é"},"per_chunk_usage":true}"#,
                r#""stream":true,"max_completion_tokens":5,"stream_options":{"include_usage":false,"x":[1,2],"continuous_usage_stats":true},"ü":"é"}"#,
            ),
            (
                hi.to_owned(),
                true,
                r#"{"extra":{"stream_options":null,"seed":1}}"#,
                r#""stream":true,"max_completion_tokens":5,"stream_options":{"include_usage":true},"seed":1}"#,
            ),
            (
                hi.to_owned(),
                true,
                r#"{"extra":{"stream_options":"all"}}"#,
                r#""stream":true,"max_completion_tokens":5,"stream_options":"all"}"#,
            ),
            // The last word on `stream` decides.
            (
                hi.to_owned(),
                true,
                r#"{"extra":{"stream":false}}"#,
                r#""stream":false,"max_completion_tokens":5}"#,
            ),
            (
                hi.to_owned(),
                false,
                r#"{"extra":{"stream":true}}"#,
                r#""stream":true,"max_completion_tokens":5,"stream_options":{"include_usage":true}}"#,
            ),
            // Row over run over base, each in the place of the first.
            (
                with(r#""extra_body":"{ \"temperature\": 0, \"top_k\": 3, \"max_completion_tokens\": 9 }""#),
                false,
                r#"{"extra":{"temperature":1,"seed":2}}"#,
                r#""stream":false,"max_completion_tokens":9,"temperature":0,"seed":2,"top_k":3}"#,
            ),
            (
                with(r#""raw_tools":"[{\"type\":\"function\"}]""#),
                false,
                "{}",
                r#""stream":false,"tools":[{"type":"function"}],"max_completion_tokens":5}"#,
            ),
        ] {
            let mut request = request(vec![turn(&turn_json)]);
            request.streaming = streaming;
            assert_eq!(
                body("chat", options, request),
                format!("{head}{rest}"),
                "{turn_json} {options}"
            );
        }
    }

    #[test]
    fn limits_and_extras_are_the_last_turns_and_tools_the_newest() {
        let turns = vec![
            turn(
                r#"{"texts":[{"name":"","contents":["a"]}],"raw_tools":"[1]","max_tokens":7,"extra_body":"{\"x\":1}"}"#,
            ),
            turn(r#"{"texts":[{"name":"","contents":["b"]}],"raw_tools":"[2]"}"#),
            turn(r#"{"texts":[{"name":"","contents":["c"]}],"model":"other"}"#),
        ];
        assert_eq!(
            body("chat", "", request(turns)),
            r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"c"}],"model":"other","stream":false,"tools":[2]}"#
        );
    }

    #[test]
    fn messages_of_turns() {
        for (turn_json, options, expected) in [
            (
                r#"{"role":"tool","texts":[{"name":"","contents":["a\"\n\u0001é"]}]}"#,
                "",
                r#"{"role":"tool","content":"a\"\n\u0001é"}"#,
            ),
            (
                r#"{"texts":[{"name":"","contents":["a","","b"]}]}"#,
                "",
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            ),
            (
                r#"{"texts":[{"name":"","contents":["a"]}]}"#,
                r#"{"force_content_parts":true}"#,
                r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#,
            ),
            (r#"{}"#, "", r#"{"role":"user","content":""}"#),
            (
                r#"{"texts":[{"name":"","contents":["",""]}]}"#,
                "",
                r#"{"role":"user","content":""}"#,
            ),
            (
                r#"{"texts":[{"name":"","contents":["t"]}],
                    "images":[{"name":"","contents":["http://h/a.png",""]},{"name":"","contents":[""],"uuids":["u"]}],
                    "audios":[{"name":"","contents":["wav,QUJD","data:audio/mp3;base64,REVG"]}],
                    "videos":[{"name":"","contents":["http://h/v.mp4"]}]}"#,
                "",
                concat!(
                    r#"{"role":"user","content":[{"type":"text","text":"t"},"#,
                    r#"{"type":"image_url","image_url":{"url":"http://h/a.png"}},"#,
                    r#"{"type":"image_url","image_url":{"url":""},"uuid":"u"},"#,
                    r#"{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}},"#,
                    r#"{"type":"input_audio","input_audio":{"data":"REVG","format":"mp3"}},"#,
                    r#"{"type":"video_url","video_url":{"url":"http://h/v.mp4"}}]}"#
                ),
            ),
        ] {
            let expected = format!(r#"{{"messages":[{expected}],"model":"m","stream":false}}"#);
            let endpoint = endpoint_of_user("chat", options).unwrap();
            let prepared = endpoint.prepare(request(vec![turn(turn_json)])).unwrap();
            assert_eq!(String::from_utf8(prepared.body).unwrap(), expected, "{turn_json}");
        }
    }

    #[test]
    fn system_message_user_context_and_raw_messages() {
        let user = r#"{"texts":[{"name":"","contents":["q"]}]}"#;
        let raw = |messages: &str| format!(r#"{{"raw_messages":{}}}"#, serde_json::to_string(messages).unwrap());
        for (turns, system, context, expected) in [
            (
                vec![user.to_owned()],
                Some("S"),
                Some("C"),
                r#"{"role":"system","content":"S"},{"role":"user","content":"C"},{"role":"user","content":"q"}"#,
            ),
            (
                vec![user.to_owned()],
                Some(""),
                Some(""),
                r#"{"role":"user","content":"q"}"#,
            ),
            (
                vec![user.replace("texts", r#"role":"system","texts"#), user.to_owned()],
                Some("S"),
                Some("C"),
                r#"{"role":"system","content":"S\n\nq"},{"role":"user","content":"C"},{"role":"user","content":"q"}"#,
            ),
            (
                vec![raw(
                    r#"[{"role": "system", "content": "x", "name": "n"}, {"role": "user"}]"#,
                )],
                Some("S"),
                Some("C"),
                r#"{"role":"system","content":"S\n\nx","name":"n"},{"role":"user","content":"C"},{"role": "user"}"#,
            ),
            (
                vec![
                    raw("[]"),
                    raw(r#"[{"role":"system","content":[{"type":"text","text":"x"}]}]"#),
                    user.to_owned(),
                ],
                Some("S"),
                None,
                r#"{"role":"system","content":[{"type":"text","text":"S"},{"type":"text","text":"x"}]},{"role":"user","content":"q"}"#,
            ),
            (
                vec![raw(r#"[{"role":"system","content":null}]"#)],
                Some("S"),
                None,
                r#"{"role":"system","content":"S"}"#,
            ),
            (
                vec![raw(r#"[{"role":"user","content":"x"}]"#)],
                Some("S"),
                None,
                r#"{"role":"system","content":"S"},{"role":"user","content":"x"}"#,
            ),
            (
                vec![raw("[ ]"), user.to_owned(), raw(" [] ")],
                None,
                None,
                r#"{"role":"user","content":"q"}"#,
            ),
            (
                vec![user.to_owned(), raw(r#"[{"a":1},{"b":2}]"#), user.to_owned()],
                None,
                None,
                r#"{"role":"user","content":"q"},{"a":1},{"b":2},{"role":"user","content":"q"}"#,
            ),
            (
                vec![
                    user.to_owned(),
                    r#"{"raw_messages":"[{\"a\":1}]","reset_context":true}"#.to_owned(),
                    user.to_owned(),
                ],
                None,
                None,
                r#"{"a":1},{"role":"user","content":"q"}"#,
            ),
        ] {
            let mut request = request(turns.iter().map(|json| turn(json)).collect());
            request.system_message = system.map(str::to_owned);
            request.user_context = context.map(str::to_owned);
            let expected = format!(r#"{{"messages":[{expected}],"model":"m","stream":false}}"#);
            assert_eq!(body("chat", "", request), expected, "{turns:?} {system:?} {context:?}");
        }
    }

    #[test]
    fn a_whole_payload_goes_as_it_is() {
        let mut request = request(vec![
            Turn::text("earlier"),
            turn(
                r#"{"raw_payload":"{ \"any\": 1 }","max_tokens":3,"extra_body":"{\"x\":1}","extra_headers":[["X-A","b"]]}"#,
            ),
        ]);
        request.streaming = true;
        for entry in ["chat", "completions"] {
            let endpoint = endpoint(entry, r#"{"extra":{"y":2}}"#).unwrap();
            let made = endpoint.prepare(request.clone()).unwrap();
            assert_eq!(made.body, b"{ \"any\": 1 }", "{entry}");
            assert_eq!(made.headers, [("X-A".to_owned(), "b".to_owned())]);
        }
    }

    #[test]
    fn what_cannot_be_said_is_an_error() {
        let endpoint = endpoint("chat", "").unwrap();
        for (turns, part) in [
            (vec![], "at least one turn"),
            (
                vec![turn(r#"{"extra_body":"[]"}"#)],
                "`extra_body` of the turn is not a JSON object",
            ),
            (
                vec![turn(r#"{"raw_messages":"{}"}"#)],
                "`raw_messages` of the turn is not a JSON array",
            ),
            (
                vec![turn(r#"{"audios":[{"name":"","contents":["AAAA"]}]}"#)],
                "audio `AAAA` is not `FORMAT,BASE64`",
            ),
            (
                vec![turn(r#"{"images":[{"name":"","contents":["a","b"],"uuids":["u"]}]}"#)],
                "2 contents but 1 uuids",
            ),
        ] {
            let error = endpoint.prepare(request(turns)).unwrap_err();
            assert!(error.message.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn options_are_checked() {
        for (entry, options, part) in [
            (
                "chat",
                r#"{"force_content_part":true}"#,
                "unknown field `force_content_part`",
            ),
            (
                "chat",
                r#"{"force_content_parts":1}"#,
                "`force_content_parts`: invalid type",
            ),
            // The core passes it, so it is no option of the user's.
            ("chat", r#"{"custom_path":"/a"}"#, "unknown field `custom_path`"),
            (
                "completions",
                r#"{"force_content_parts":true}"#,
                "unknown field `force_content_parts`",
            ),
        ] {
            let error = endpoint_of_user(entry, options).err().unwrap();
            assert_eq!(error.kind, ErrorKind::InvalidOptions);
            assert!(error.message.contains(part), "{error}");
        }
        assert!(endpoint("chat", r#"{"extra":[]}"#).is_err());
        assert!(
            endpoint("completions", r#"{"later":1}"#).is_ok(),
            "a newer core may pass more"
        );
        assert!(endpoint("responses", "").is_err());
        let path = |options| endpoint("chat", options).unwrap().describe().unwrap().path;
        assert_eq!(path("{}"), "/v1/chat/completions");
        assert_eq!(path(r#"{"custom_path":"/chat"}"#), "/chat");
    }

    #[test]
    fn a_preview_has_each_turn_alone() {
        let mut conversation = Conversation::new("c", vec![Turn::text("a"), Turn::text("b")]);
        conversation.system_message = Some("S".to_owned());
        let previews = endpoint("chat", "")
            .unwrap()
            .preview(&conversation, "m", false)
            .unwrap();
        let bodies: Vec<String> = previews
            .into_iter()
            .map(|request| String::from_utf8(request.body).unwrap())
            .collect();
        let body = |text| {
            format!(
                r#"{{"messages":[{{"role":"system","content":"S"}},{{"role":"user","content":"{text}"}}],"model":"m","stream":false}}"#
            )
        };
        assert_eq!(bodies, [body("a"), body("b")]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_body_that_reads_back(texts in proptest::collection::vec(".*", 0..4), system in ".*") {
            let mut request = request(vec![Turn {
                texts: vec![Media { contents: texts.clone(), ..Media::default() }],
                ..Turn::default()
            }]);
            request.system_message = Some(system);
            let body: serde_json::Value = serde_json::from_str(&body("chat", "", request)).unwrap();
            let content = &body["messages"].as_array().unwrap().last().unwrap()["content"];
            let kept: Vec<&str> = match content {
                serde_json::Value::String(text) => vec![text.as_str()],
                parts => parts.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap()).collect(),
            };
            let expected: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            proptest::prop_assert_eq!(kept, if expected.is_empty() { vec![""] } else { expected });
        }
    }
}
