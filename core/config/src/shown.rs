//! Typed values as they may be shown in errors and in the recorded command line.

use serde_json::{Map, Value};

use crate::flags::Secrecy;
use crate::pairs;
use crate::redact::{self, REDACTED};

/// One typed value with its secrets redacted.
pub(crate) fn value(secrecy: Secrecy, typed: &str) -> String {
    match secrecy {
        Secrecy::Open => typed.to_owned(),
        Secrecy::Whole => REDACTED.to_owned(),
        // A list of URLs may stand in one token.
        Secrecy::Url => typed.split(',').map(redact::url).collect::<Vec<_>>().join(","),
        Secrecy::Header => key_values(typed, redact::is_sensitive_header, pairs::split_headers(typed)),
        Secrecy::Pairs => key_values(typed, redact::is_sensitive_parameter, pairs::split_extra(typed)),
        Secrecy::Option => match typed.split_once('=') {
            Some((option, _)) if option_is_sensitive(option) => format!("{option}={REDACTED}"),
            _ => typed.to_owned(),
        },
    }
}

/// A token that belongs to no flag, after a flag of this secrecy: it may be the rest of an unquoted secret.
pub(crate) fn stray(after: Secrecy, token: &str) -> String {
    if after == Secrecy::Open {
        redact::url(token)
    } else {
        REDACTED.to_owned()
    }
}

/// `category/name.key`, with a key that is the name of a secret.
fn option_is_sensitive(option: &str) -> bool {
    option.rsplit('.').next().is_some_and(redact::is_sensitive_parameter)
}

fn key_values(typed: &str, is_sensitive: fn(&str) -> bool, pairs: Vec<&str>) -> String {
    if typed.trim_start().starts_with('{') {
        let Ok(members) = serde_json::from_str::<Map<String, Value>>(typed) else {
            return REDACTED.to_owned();
        };
        let members = members.into_iter().map(|(key, value)| {
            if is_sensitive(&key) {
                (key, Value::from(REDACTED))
            } else {
                (key, value)
            }
        });
        return Value::Object(members.collect()).to_string();
    }
    let holds_secret = pairs
        .iter()
        .any(|pair| pair.split_once(':').is_some_and(|(key, _)| is_sensitive(key)));
    let shown = pairs.into_iter().map(|pair| match pair.split_once(':') {
        Some((key, _)) if is_sensitive(key) => format!("{key}:{REDACTED}"),
        // Without a key it may be the rest of a secret that holds a comma.
        None if holds_secret => REDACTED.to_owned(),
        _ => pair.to_owned(),
    });
    shown.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_secret_is_redacted() {
        let cases = [
            (Secrecy::Open, "a b", "a b"),
            (Secrecy::Whole, "sk-1", "<redacted>"),
            (Secrecy::Url, "http://u:p@h,v:q@i", "http://<redacted>@h,<redacted>@i"),
            (Secrecy::Header, "Authorization: Bearer x", "Authorization:<redacted>"),
            (Secrecy::Header, "X-A:1,X-Token:s", "X-A:1,X-Token:<redacted>"),
            (Secrecy::Header, "Authorization:a, b", "Authorization:<redacted>"),
            (
                Secrecy::Header,
                r#"{"X-A": "1", "Cookie": "s"}"#,
                r#"{"X-A":"1","Cookie":"<redacted>"}"#,
            ),
            (Secrecy::Header, r#"{"Cookie": "s""#, "<redacted>"),
            (Secrecy::Pairs, "top_k:1,api_key:s", "top_k:1,api_key:<redacted>"),
            (Secrecy::Pairs, "api_key:s,t", "api_key:<redacted>,<redacted>"),
            (Secrecy::Option, "exporter/x.api_key=s", "exporter/x.api_key=<redacted>"),
            (Secrecy::Option, "exporter/x.url=s", "exporter/x.url=s"),
        ];
        for (secrecy, typed, expected) in cases {
            assert_eq!(value(secrecy, typed), expected);
        }
    }
}
