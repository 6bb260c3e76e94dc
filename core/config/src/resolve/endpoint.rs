//! The server, the models and what is added to each request.

use serde_json::{Map, Value};
use url::Url;

use super::transport;
use crate::error::{ConfigError, ConfigErrorKind, shortened};
use crate::pairs;
use crate::plan::{EndpointPlan, Headers, Secret, UrlSpec};
use crate::redact;
use crate::typed::Typed;

const DEFAULT_URL: &str = "http://localhost:8000";
const DEFAULT_TYPE: &str = "chat";
/// Six hours.
const DEFAULT_TIMEOUT_S: f64 = 21_600.0;
/// What the mock server's model is called unless the user names one.
const MOCK_MODEL: &str = "mock-model";

pub(super) fn endpoint(typed: &Typed) -> Result<EndpointPlan, ConfigError> {
    let custom_path = typed.text("custom-endpoint").map(str::to_owned);
    if custom_path.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err(typed.bad_value("custom-endpoint", "the path must start with /"));
    }
    if custom_path
        .as_ref()
        .is_some_and(|path| path.contains(|c: char| c.is_whitespace() || c.is_control()))
    {
        return Err(typed.bad_value("custom-endpoint", "the path must not hold blanks"));
    }
    let api_key = typed.full_text("api-key")?;
    if api_key.is_some_and(|key| key.contains(|c: char| c.is_control())) {
        return Err(typed.bad("api-key", "the key holds control characters, which no header can carry"));
    }
    let urls = urls(typed)?;
    let endpoint = EndpointPlan {
        tls: transport::tls(typed, &urls)?,
        proxy: transport::proxy(typed, &urls)?,
        urls,
        endpoint_type: typed.name("endpoint-type")?.unwrap_or_else(|| DEFAULT_TYPE.to_owned()),
        custom_path,
        streaming: typed.switch("streaming"),
        api_key: api_key.map(Secret::new),
        headers: headers(typed)?,
        extra: extra(typed)?,
        timeout_s: typed.float("request-timeout-seconds")?.unwrap_or(DEFAULT_TIMEOUT_S),
        use_server_token_count: typed.switch("use-server-token-count"),
        per_chunk_usage: typed.switch("per-chunk-usage"),
        legacy_max_tokens: typed.switch("use-legacy-max-tokens"),
    };
    check_per_chunk_usage(typed, &endpoint)?;
    Ok(endpoint)
}

pub(super) fn models(typed: &Typed, endpoint: &EndpointPlan) -> Result<Vec<String>, ConfigError> {
    let models = typed.list("model-names")?;
    if !models.is_empty() {
        return Ok(models);
    }
    if endpoint.urls.iter().all(UrlSpec::is_mock) {
        return Ok(vec![MOCK_MODEL.to_owned()]);
    }
    Err(
        ConfigError::new(ConfigErrorKind::Missing, "--model", "no model was given")
            .remedy("add --model NAME with the name under which the server knows it"),
    )
}

fn check_per_chunk_usage(typed: &Typed, endpoint: &EndpointPlan) -> Result<(), ConfigError> {
    if !endpoint.per_chunk_usage {
        return Ok(());
    }
    let needs = |what: &str| {
        typed
            .conflict("per-chunk-usage", format!("needs {what}"))
            .remedy("add it")
    };
    if !endpoint.use_server_token_count {
        return Err(needs("--use-server-token-count"));
    }
    if !endpoint.streaming {
        return Err(needs("--streaming"));
    }
    if endpoint.endpoint_type != DEFAULT_TYPE {
        return Err(needs("--endpoint-type chat"));
    }
    Ok(())
}

fn urls(typed: &Typed) -> Result<Vec<UrlSpec>, ConfigError> {
    let mut items = typed.list("url")?;
    if items.is_empty() {
        items.push(DEFAULT_URL.to_owned());
    }
    items
        .into_iter()
        .map(|item| {
            if UrlSpec::is_mock_text(&item) {
                Ok(UrlSpec::Mock(item))
            } else {
                server_url(typed, "url", item)
            }
        })
        .collect()
}

/// The URL of a server, given to the flag `id`; `http://` is assumed.
pub(super) fn server_url(typed: &Typed, id: &str, item: String) -> Result<UrlSpec, ConfigError> {
    let url = if item.contains("://") {
        item
    } else {
        format!("http://{item}")
    };
    let bad = |problem: String| typed.bad(id, problem).value(shown_even_if_malformed(&url));
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(bad("a URL must not hold blanks".to_owned()));
    }
    let parsed = Url::parse(&url).map_err(|error| {
        bad(format!("not a URL ({error})")).remedy("expected http://host:port or https://host:port")
    })?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(bad(format!("the scheme {} is not supported", parsed.scheme())).remedy("use http or https"));
    }
    if parsed.host_str().is_none_or(str::is_empty) {
        return Err(bad("the URL has no host".to_owned()).remedy("expected http://host:port or https://host:port"));
    }
    if parsed.port() == Some(0) {
        return Err(bad("port 0 is outside of 1 to 65535".to_owned()));
    }
    Ok(UrlSpec::Server(url))
}

/// A password that holds `/` makes a URL malformed and defeats the redaction of well-formed ones.
fn shown_even_if_malformed(url: &str) -> String {
    let shown = redact::url(url);
    match shown.rsplit_once('@') {
        Some((before, host)) if !before.ends_with(redact::REDACTED) => format!("{}@{host}", redact::REDACTED),
        _ => shown,
    }
}

fn headers(typed: &Typed) -> Result<Headers, ConfigError> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for token in typed.each("header") {
        match pairs::json_object(token) {
            Some(members) => {
                let members = members.map_err(|error| typed.bad("header", format!("not a JSON object: {error}")))?;
                for (name, value) in members {
                    let value = header_text(value).ok_or_else(|| {
                        typed.bad(
                            "header",
                            format!("the value of {name} is neither text nor a number nor a boolean"),
                        )
                    })?;
                    add_header(typed, &mut headers, &name, &value)?;
                }
            }
            None => {
                for pair in pairs::split_headers(token) {
                    let (name, value) = pair.split_once(':').ok_or_else(|| {
                        typed
                            .bad("header", "expected Name:value")
                            .remedy("quote a header whose value holds blanks: --header 'Name: the value'")
                    })?;
                    add_header(typed, &mut headers, name.trim(), value.trim())?;
                }
            }
        }
    }
    Ok(Headers(headers))
}

/// Adds a header. A later one of the same name replaces an earlier one.
fn add_header(typed: &Typed, headers: &mut Vec<(String, String)>, name: &str, value: &str) -> Result<(), ConfigError> {
    if !pairs::is_header_name(name) {
        return Err(typed.bad("header", format!("{} is not a header name", shortened(name))));
    }
    if value.contains(|c: char| c.is_control() && c != '\t') {
        return Err(typed.bad("header", format!("the value of {name} holds control characters")));
    }
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
    Ok(())
}

fn header_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    }
}

fn extra(typed: &Typed) -> Result<Map<String, Value>, ConfigError> {
    let mut extra = Map::new();
    for token in typed.each("extra-inputs") {
        match pairs::json_object(token) {
            Some(members) => {
                let members =
                    members.map_err(|error| typed.bad("extra-inputs", format!("not a JSON object: {error}")))?;
                extra.extend(members);
            }
            None => {
                for pair in pairs::split_extra(token) {
                    let (key, value) = pair
                        .split_once(':')
                        .map(|(key, value)| (key.trim(), value.trim()))
                        .filter(|(key, _)| !key.is_empty())
                        .ok_or_else(|| {
                            typed
                                .bad_value("extra-inputs", "expected key:value pairs")
                                .remedy("use a JSON object for values that hold commas: '{\"stop\": \"a,b\"}'")
                        })?;
                    extra.insert(key.to_owned(), pairs::typed_value(value));
                }
            }
        }
    }
    Ok(extra)
}
