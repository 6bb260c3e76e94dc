//! The text of a request body: what the model is given, in walk order, joined with one blank. Works on the exact bytes that
//! were sent, whatever endpoint made them.

use serde_json::Value;

/// Text of a body and the tokens that it brings ready-made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputText {
    /// Texts joined with one blank; `None` if there is none.
    pub text: Option<String>,
    /// Integers in `input` count as tokens.
    pub tokens: u64,
}

/// Walks a JSON body; `None` when it isn't JSON or has no shape that is known.
pub fn input_text(body: &[u8]) -> Option<InputText> {
    let Value::Object(body) = serde_json::from_slice(body).ok()? else {
        return None;
    };
    let mut walk = Walk::default();
    let mut known = false;
    for key in ["instructions", "system"] {
        if let Some(value) = body.get(key) {
            walk.content(value);
        }
    }
    for key in ["messages", "input"] {
        if let Some(Value::Array(items)) = body.get(key)
            && items
                .iter()
                .any(|item| item.get("role").is_some() || item.get("type").is_some())
        {
            known = true;
            items.iter().for_each(|item| walk.message(item));
        }
    }
    if known {
        if let Some(Value::Array(tools)) = body.get("tools") {
            tools.iter().for_each(|tool| walk.tool(tool));
        }
    } else if let Some(value) = ["prompt", "input"].iter().find_map(|key| body.get(*key)) {
        known = walk.plain(value);
    } else if let (Some(query), Some(passages)) = (body.get("query").filter(|q| q.is_string()), body.get("passages")) {
        known = walk.plain(query) | walk.plain(passages);
    } else if let Some(value) = body.get("inputs") {
        known = walk.plain(value);
    }
    known.then(|| InputText {
        text: (!walk.parts.is_empty()).then(|| walk.parts.join(" ")),
        tokens: walk.tokens,
    })
}

/// Images of a body: parts of type `image_url`, `input_image` or `image`. `None` when it isn't JSON.
pub fn images(body: &[u8]) -> Option<u64> {
    fn count(value: &Value) -> u64 {
        match value {
            Value::Object(members) => {
                let image = matches!(
                    members.get("type").and_then(Value::as_str),
                    Some("image_url" | "input_image" | "image")
                );
                u64::from(image) + members.values().map(count).sum::<u64>()
            }
            Value::Array(items) => items.iter().map(count).sum(),
            _ => 0,
        }
    }
    serde_json::from_slice(body).ok().as_ref().map(count)
}

#[derive(Default)]
struct Walk {
    parts: Vec<String>,
    tokens: u64,
}

impl Walk {
    fn push(&mut self, value: Option<&Value>) {
        if let Some(Value::String(text)) = value
            && !text.is_empty()
        {
            self.parts.push(text.clone());
        }
    }

    fn message(&mut self, message: &Value) {
        match message.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                self.push(message.get("name"));
                self.push(message.get("arguments"));
            }
            Some("function_call_output") => self.push(message.get("output")),
            _ => {
                if let Some(content) = message.get("content") {
                    self.content(content);
                }
                for call in message
                    .get("tool_calls")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    if let Some(function) = call.get("function") {
                        self.push(function.get("name"));
                        self.push(function.get("arguments"));
                    }
                }
            }
        }
    }

    fn content(&mut self, content: &Value) {
        match content {
            Value::String(_) => self.push(Some(content)),
            Value::Array(parts) => {
                for part in parts {
                    match part {
                        Value::String(_) => self.push(Some(part)),
                        _ => self.push(part.get("text")),
                    }
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, tool: &Value) {
        let tool = tool.get("function").unwrap_or(tool);
        self.push(tool.get("name"));
        self.push(tool.get("description"));
        if let Some(parameters) = tool.get("parameters").filter(|parameters| !parameters.is_null()) {
            self.parts.push(parameters.to_string());
        }
    }

    fn plain(&mut self, value: &Value) -> bool {
        match value {
            Value::String(_) => {
                self.push(Some(value));
                true
            }
            Value::Number(number) if number.is_u64() => {
                self.tokens += 1;
                true
            }
            Value::Array(items) => items.iter().fold(false, |known, item| self.plain(item) | known),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_counted() {
        let body = br#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}},{"type":"image","source":{"type":"base64","data":""}}]}]}"#;
        assert_eq!(images(body), Some(2));
        assert_eq!(images(b"no json"), None);
    }

    /// Text and ready-made tokens.
    type Case = Option<(Option<&'static str>, u64)>;

    #[test]
    fn bodies_and_their_text() {
        let cases: &[(&str, Case)] = &[
            (
                r#"{"messages":[{"role":"user","content":"hi"}],"model":"m"}"#,
                Some((Some("hi"), 0)),
            ),
            (
                r#"{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"b"}]}]}"#,
                Some((Some("S a b"), 0)),
            ),
            (
                r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]}"#,
                Some((Some(r#"f {} f d {"type":"object"}"#), 0)),
            ),
            (r#"{"prompt":"one"}"#, Some((Some("one"), 0))),
            (r#"{"prompt":["one","two"]}"#, Some((Some("one two"), 0))),
            (r#"{"input":[1,2,3]}"#, Some((None, 3))),
            (r#"{"input":[[1,2],[3]]}"#, Some((None, 3))),
            (
                r#"{"instructions":"I","input":[{"type":"message","role":"user","content":"x"},{"type":"function_call_output","output":"o"}]}"#,
                Some((Some("I x o"), 0)),
            ),
            (r#"{"query":"q","passages":["p1","p2"]}"#, Some((Some("q p1 p2"), 0))),
            (r#"{"query":{"text":"q"},"passages":[{"text":"p"}]}"#, None),
            (r#"{"inputs":"x","parameters":{}}"#, Some((Some("x"), 0))),
            ("not json", None),
        ];
        for &(body, expected) in cases {
            let expected = expected.map(|(text, tokens)| InputText {
                text: text.map(Into::into),
                tokens,
            });
            assert_eq!(input_text(body.as_bytes()), expected, "{body}");
        }
    }
}
