//! What comes of requests.

use aiperf_sdk::{Endpoint, ErrorKind, HttpRequest, PluginError};
use serde_json::Value;

use super::{in_threads, requests};
use crate::{
    bench::Bench,
    case::{Stop, Verdict, told},
    text::{is_header_value, is_origin_form, is_token},
};

/// Headers that frame a message or name its receiver.
const FRAMING: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "proxy-connection",
    "expect",
];

/// Prepares the whole table and looks at what could be prepared.
fn each(bench: &Bench, mut look: impl FnMut(&requests::Request, &HttpRequest) -> Result<(), String>) -> Verdict {
    let endpoint = bench.endpoint()?;
    for request in requests::table(bench) {
        if let Ok(prepared) = endpoint.prepare(request.info.clone())
            && let Err(problem) = look(&request, &prepared)
        {
            fail!("{}: {problem}", request.what);
        }
    }
    Ok(())
}

pub(super) fn accepts(bench: &Bench) -> Verdict {
    let endpoint = bench.endpoint()?;
    let (mut accepted, mut refused) = (0, Vec::new());
    for request in requests::table(bench) {
        match endpoint.prepare(request.info.clone()) {
            Ok(_) => accepted += 1,
            Err(error) => {
                refusal(&error).map_err(|problem| Stop::Failed(format!("{}: {problem}", request.what)))?;
                refused.push(format!("{}: {}", request.what, told(&error)));
            }
        }
    }
    ensure!(accepted > 0, "nothing can be prepared:\n{}", refused.join("\n"));
    Ok(())
}

fn refusal(error: &PluginError) -> Result<(), String> {
    if error.kind != ErrorKind::InvalidInput && error.kind != ErrorKind::Unsupported {
        return Err(format!("refused, but not as invalid input: {}", told(error)));
    }
    if error.message.trim().is_empty() {
        return Err("refused without a message".to_owned());
    }
    Ok(())
}

pub(super) fn body(bench: &Bench) -> Verdict {
    each(bench, |_, prepared| check_body(prepared))
}

fn check_body(prepared: &HttpRequest) -> Result<(), String> {
    for part in &prepared.parts {
        let texts = [Some(&part.name), part.file_name.as_ref(), part.content_type.as_ref()];
        if part.name.is_empty() {
            return Err("a part has no name".to_owned());
        }
        if let Some(bad) = texts
            .into_iter()
            .flatten()
            .find(|text| text.contains(['"', '\r', '\n']))
        {
            return Err(format!("a part is called {bad:?}"));
        }
    }
    if !prepared.parts.is_empty() || (prepared.body.is_empty() && prepared.method != "POST") {
        return Ok(());
    }
    match serde_json::from_slice::<Value>(&prepared.body) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("the body is not JSON: {error}: {}", excerpt(&prepared.body))),
    }
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned()
}

pub(super) fn headers(bench: &Bench) -> Verdict {
    each(bench, |_, prepared| check_headers(prepared))
}

pub(crate) fn check_headers(prepared: &HttpRequest) -> Result<(), String> {
    for (name, value) in &prepared.headers {
        if !is_token(name) {
            return Err(format!("{name:?} is no header name"));
        }
        if !is_header_value(value) {
            return Err(format!("the header {name} has a control character: {value:?}"));
        }
        if FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
            return Err(format!("the header {name} is the core's to write"));
        }
        if name.eq_ignore_ascii_case("authorization") {
            return Err(format!("the header {name} is the core's to write: declare `auth`"));
        }
    }
    Ok(())
}

pub(super) fn path(bench: &Bench) -> Verdict {
    each(bench, |_, prepared| check_path(prepared))
}

pub(crate) fn check_path(prepared: &HttpRequest) -> Result<(), String> {
    if let Some(path) = &prepared.path
        && !is_origin_form(path)
    {
        return Err(format!("the path is {path:?}, which is not in origin form"));
    }
    if !is_token(&prepared.method) || prepared.method.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Err(format!("{:?} is no method", prepared.method));
    }
    Ok(())
}

/// All rules for a request that is asked for between two exchanges.
pub(super) fn check_all(prepared: &HttpRequest) -> Result<(), String> {
    check_body(prepared)?;
    check_headers(prepared)?;
    check_path(prepared)
}

pub(super) fn text(bench: &Bench) -> Verdict {
    let mut seen = 0;
    each(bench, |request, prepared| {
        let Some(marker) = &request.marker else { return Ok(()) };
        let in_parts = prepared
            .parts
            .iter()
            .any(|part| String::from_utf8_lossy(&part.data).contains(marker.as_str()));
        let in_body = || {
            serde_json::from_slice::<Value>(&prepared.body).is_ok_and(|body| has_text(&body, marker))
                || String::from_utf8_lossy(&prepared.body).contains(marker.as_str())
        };
        seen += 1;
        if in_parts || in_body() {
            return Ok(());
        }
        let sent = excerpt(&prepared.body);
        Err(format!("the text of the turn is not in the request: {sent}"))
    })?;
    if seen == 0 {
        skip!("no request with a text can be prepared");
    }
    Ok(())
}

fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| has_text(value, text)),
        Value::Object(values) => values.values().any(|value| has_text(value, text)),
        _ => false,
    }
}

pub(super) fn pure(bench: &Bench) -> Verdict {
    let (one, two) = (bench.endpoint()?, bench.endpoint()?);
    let table = requests::table(bench);
    let first: Vec<_> = table.iter().map(|request| one.prepare(request.info.clone())).collect();
    // The other instance, backwards: nothing may depend on what was asked before.
    for (request, expected) in table.iter().zip(&first).rev() {
        let again = two.prepare(request.info.clone());
        ensure!(
            again == *expected,
            "{}: prepared again, in another instance, it differs",
            request.what
        );
    }
    let all = |endpoint: &dyn Endpoint| {
        let prepared = table.iter().map(|request| endpoint.prepare(request.info.clone()));
        prepared.collect::<Vec<_>>()
    };
    for results in in_threads(&*one, all) {
        if let Some(index) = results.iter().zip(&first).position(|(now, before)| now != before) {
            fail!("{}: prepared in several threads at once, it differs", table[index].what);
        }
    }
    Ok(())
}
