//! Keeps secrets out of everything that is shown or written: which header and parameter names carry credentials, and
//! how URLs lose theirs. Over-redacting costs readability, under-redacting leaks a key; when in doubt, redact.

use serde_json::{Map, Value};
use url::form_urlencoded;

/// What stands in place of a secret.
pub const REDACTED: &str = "<redacted>";

/// Header names that carry credentials and hold none of [`HEADER_FRAGMENTS`].
const HEADER_NAMES: [&str; 2] = ["ocp-apim-subscription-key", "x-functions-key"];

/// A header whose name contains one of these carries credentials.
const HEADER_FRAGMENTS: [&str; 15] = [
    "auth",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "cookie",
    "apikey",
    "api-key",
    "api_key",
    "session",
    "signature",
    "sas-key",
    "access-key",
    "private-key",
];

/// Names of parameters that carry credentials, in lower case without `-`, `_` and blanks. Whole names, so that
/// `token_count` and `monkey` stay readable.
const PARAMETER_NAMES: [&str; 32] = [
    "accesskey",
    "accesskeyid",
    "accesstoken",
    "apikey",
    "apitoken",
    "auth",
    "authorization",
    "authtoken",
    "awsaccesskeyid",
    "bearertoken",
    "clientsecret",
    "credential",
    "credentials",
    "idtoken",
    "key",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "sig",
    "signature",
    "token",
    "xamzcredential",
    "xamzsecuritytoken",
    "xamzsignature",
    "xgoogcredential",
    "xgoogsignature",
];

/// True if a header of this name carries credentials. Letter case does not matter.
#[must_use]
pub fn is_sensitive_header(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    HEADER_NAMES.contains(&name.as_str()) || HEADER_FRAGMENTS.iter().any(|fragment| name.contains(fragment))
}

/// True if a parameter of this name carries credentials. Letter case, `-`, `_` and blanks do not matter.
#[must_use]
pub fn is_sensitive_parameter(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    PARAMETER_NAMES.contains(&name.as_str())
}

/// The value of a header as it may be shown.
#[must_use]
pub fn header_value<'a>(name: &str, value: &'a str) -> &'a str {
    if is_sensitive_header(name) { REDACTED } else { value }
}

/// Members with the values of sensitive parameters replaced, at every depth.
#[must_use]
pub fn members(members: &Map<String, Value>) -> Map<String, Value> {
    members
        .iter()
        .map(|(name, value)| (name.clone(), member(name, value)))
        .collect()
}

fn member(name: &str, value: &Value) -> Value {
    if is_sensitive_parameter(name) {
        return Value::from(REDACTED);
    }
    match value {
        Value::Object(inner) => Value::Object(members(inner)),
        // A list has no names of its own: its members go by the list's name.
        Value::Array(items) => items.iter().map(|item| member(name, item)).collect(),
        other => other.clone(),
    }
}

/// A URL without its credentials: user information is replaced, and so are the values of sensitive query parameters.
/// Everything else stays byte for byte. A missing scheme is fine.
#[must_use]
pub fn url(text: &str) -> String {
    let authority_start = match text.find("://") {
        Some(at) => at + "://".len(),
        // Relative to the scheme of another URL.
        None if text.starts_with("//") => "//".len(),
        None => 0,
    };
    let (scheme, rest) = text.split_at(authority_start);
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(authority_end);

    let mut shown = String::from(scheme);
    match authority.rsplit_once('@') {
        Some((_, host)) => {
            shown.push_str(REDACTED);
            shown.push('@');
            shown.push_str(host);
        }
        None => shown.push_str(authority),
    }
    let query_start = rest.find(['?', '#']).unwrap_or(rest.len());
    let (path, query) = rest.split_at(query_start);
    shown.push_str(path);
    for parameter in query.split_inclusive(['?', '&', '#']) {
        // A piece is `name=value` and the separator that follows it.
        let value_end = parameter.trim_end_matches(['?', '&', '#']).len();
        match parameter[..value_end].split_once('=') {
            Some((name, value)) if !value.is_empty() && is_sensitive_parameter(&decoded(name)) => {
                shown.push_str(name);
                shown.push('=');
                shown.push_str(REDACTED);
                shown.push_str(&parameter[value_end..]);
            }
            _ => shown.push_str(parameter),
        }
    }
    shown
}

/// A server decodes `api%5Fkey` to `api_key`, so the name is judged decoded.
fn decoded(name: &str) -> String {
    form_urlencoded::parse(name.as_bytes())
        .next()
        .map_or_else(String::new, |(name, _)| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn header_names_of_the_reference_are_sensitive() {
        for name in [
            "authorization",
            "Proxy-Authorization",
            "X-API-Key",
            "api-key",
            "Ocp-Apim-Subscription-Key",
            "x-goog-api-key",
            "x-functions-key",
            "aeg-sas-key",
            "x-amz-security-token",
            "Cookie",
            "set-cookie",
            "x-auth-token",
            "x-access-token",
            "x-csrf-token",
            "x-xsrf-token",
            "X-Acme-Secret",
            "X-Session-Affinity",
            "my_apikey",
        ] {
            assert!(is_sensitive_header(name), "{name}");
        }
        for name in [
            "accept",
            "content-type",
            "x-request-id",
            "x-tenant",
            "x-key-count",
            "user-agent",
        ] {
            assert!(!is_sensitive_header(name), "{name}");
        }
    }

    #[test]
    fn urls_lose_user_information_and_secret_parameters_only() {
        let cases = [
            ("http://h:1/v1?model=a#x", "http://h:1/v1?model=a#x"),
            ("http://u:p@h:1/v1", "http://<redacted>@h:1/v1"),
            ("http://u:p@ss@h/", "http://<redacted>@h/"),
            ("u:p@h:8000", "<redacted>@h:8000"),
            ("//u:p@h/x", "//<redacted>@h/x"),
            (
                "http://h/users@example.com?mail=a@b",
                "http://h/users@example.com?mail=a@b",
            ),
            ("https://h?api_key=zzz&n=1", "https://h?api_key=<redacted>&n=1"),
            ("https://h?n=1&api%5Fkey=zzz#f", "https://h?n=1&api%5Fkey=<redacted>#f"),
            ("https://h?%61pi+key=zzz", "https://h?%61pi+key=<redacted>"),
            ("https://h?X-Amz-Signature=abc", "https://h?X-Amz-Signature=<redacted>"),
            ("https://h?token_count=3&monkey=4", "https://h?token_count=3&monkey=4"),
            ("https://h#access_token=abc", "https://h#access_token=<redacted>"),
            ("https://h?key=", "https://h?key="),
            ("mock:?ttft=20&itl=5", "mock:?ttft=20&itl=5"),
            ("", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(url(given), expected);
        }
    }

    #[test]
    fn members_are_redacted_at_every_depth() {
        let given = json!({"url": "x", "api_key": "s", "inner": {"password": 1, "n": 2}, "list": [{"token": "t"}]});
        let expected = json!({
            "url": "x", "api_key": REDACTED, "inner": {"password": REDACTED, "n": 2}, "list": [{"token": REDACTED}]
        });
        assert_eq!(Value::Object(members(given.as_object().unwrap())), expected);
    }
}
