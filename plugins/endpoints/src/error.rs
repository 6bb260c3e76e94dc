//! Errors that a response reports, though its status may say 200.

use aiperf_sdk::endpoint::ResponseError;
use serde_json::Value;

/// Kind of an error whose type the server does not tell.
const RESPONSE_ERROR: &str = "ResponseError";
/// Kind of an answer that is no JSON.
pub(crate) const INVALID_RESPONSE: &str = "InvalidResponse";
/// Characters of such an answer that are kept.
const EXCERPT: usize = 200;

/// An error from its JSON: an object or a bare message. Values that say "no error" (null, false, empty) give none.
pub(crate) fn response_error(json: &str) -> Option<ResponseError> {
    let value: Value = serde_json::from_str(json).ok()?;
    let error = |message: String| ResponseError {
        code: None,
        kind: RESPONSE_ERROR.to_owned(),
        message,
    };
    match &value {
        Value::Null | Value::Bool(false) => None,
        Value::String(message) if message.is_empty() => None,
        Value::String(message) => Some(error(message.clone())),
        Value::Object(fields) if fields.is_empty() => None,
        Value::Object(fields) => {
            let text = |name: &str| {
                let text = fields.get(name).and_then(Value::as_str);
                text.filter(|text| !text.is_empty()).map(str::to_owned)
            };
            Some(ResponseError {
                code: fields
                    .get("code")
                    .and_then(Value::as_u64)
                    .and_then(|code| u16::try_from(code).ok()),
                kind: text("type")
                    .or_else(|| text("code"))
                    .unwrap_or_else(|| RESPONSE_ERROR.to_owned()),
                message: text("message").unwrap_or_else(|| json.to_owned()),
            })
        }
        _ => Some(error(json.to_owned())),
    }
}

/// The error of an answer that is not JSON.
pub(crate) fn invalid_response(text: &str) -> ResponseError {
    ResponseError {
        code: None,
        kind: INVALID_RESPONSE.to_owned(),
        message: format!("the answer is not JSON: {}", excerpt(text)),
    }
}

/// The beginning of a text.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT).collect()
}

#[cfg(test)]
mod tests {
    use super::INVALID_RESPONSE;
    use crate::testing::{chat, delta};
    use aiperf_sdk::Decoded;

    #[test]
    fn errors_inside_a_response_keep_the_servers_words() {
        for (event, code, kind, message) in [
            (
                r#"{"error":{"message":"overloaded","type":"server_error","code":503}}"#,
                Some(503),
                "server_error",
                "overloaded",
            ),
            (
                r#"{"error":{"message":"slow down","type":null,"code":"rate_limit"}}"#,
                None,
                "rate_limit",
                "slow down",
            ),
            (r#"{"error":"boom"}"#, None, "ResponseError", "boom"),
            (
                r#"{"error":{"reason":"odd"}}"#,
                None,
                "ResponseError",
                r#"{"reason":"odd"}"#,
            ),
            (r#"{"error":{"message":"m","code":70000}}"#, None, "ResponseError", "m"),
            (
                r#"{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}"#,
                Some(400),
                "BadRequestError",
                "too long",
            ),
        ] {
            for (streamed, events) in [
                (false, vec![event]),
                (true, vec![&delta(r#"{"content":"a"}"#), event, "[DONE]"]),
            ] {
                let error = chat(streamed, &events).error.unwrap();
                let found = (error.code, error.kind.as_str(), error.message.as_str());
                assert_eq!(found, (code, kind, message), "{event}");
            }
        }
        for event in [
            r#"{"object":"chat.completion","error":null}"#,
            r#"{"error":false}"#,
            r#"{"error":""}"#,
            r#"{"error":{}}"#,
        ] {
            assert_eq!(chat(false, &[event]).error, None, "{event}");
        }
        let first = chat(true, &[r#"{"error":"first"}"#, r#"{"error":"second"}"#])
            .error
            .unwrap();
        assert_eq!(first.message, "first");
    }

    #[test]
    fn a_body_that_is_not_json_is_an_error_with_its_beginning() {
        let page = format!("<html>{}</html>", "é".repeat(300));
        let error = chat(false, &[&page]).error.unwrap();
        assert_eq!((error.code, error.kind.as_str()), (None, INVALID_RESPONSE));
        assert_eq!(
            error.message,
            format!("the answer is not JSON: <html>{}", "é".repeat(194))
        );
        for nothing in ["", " \n", "null", "[DONE]"] {
            assert_eq!(chat(false, &[nothing]), Decoded::default(), "{nothing:?}");
        }
    }
}
