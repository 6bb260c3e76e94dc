//! The `key:value` grammar of `--header` and `--extra-inputs`.

use serde_json::{Map, Value};

/// Splits a token of extra inputs into `key:value` pairs: at every comma.
pub(crate) fn split_extra(token: &str) -> Vec<&str> {
    token.split(',').collect()
}

/// Splits a token of headers into `Name:value` pairs: at commas, unless some piece would not be a header. So
/// `X-A:1,X-B:2` is two headers and `Accept: text/html, text/plain` is one.
pub(crate) fn split_headers(token: &str) -> Vec<&str> {
    let pieces: Vec<&str> = token.split(',').collect();
    let is_header = |piece: &&str| {
        piece
            .split_once(':')
            .is_some_and(|(name, _)| is_header_name(name.trim()))
    };
    if pieces.iter().all(is_header) {
        pieces
    } else {
        vec![token]
    }
}

/// The members of a JSON object, if the token starts like one.
pub(crate) fn json_object(token: &str) -> Option<Result<Map<String, Value>, serde_json::Error>> {
    token.trim_start().starts_with('{').then(|| serde_json::from_str(token))
}

/// A value as typed in a pair: `true` and `false` become booleans, `none` and `null` become null (in any letter
/// case), whole numbers without leading zeros and plain decimals become numbers. All else is text: `1e3` and `01` too.
pub(crate) fn typed_value(text: &str) -> Value {
    match text.to_ascii_lowercase().as_str() {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "none" | "null" => return Value::Null,
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::from(text))
}

fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match digits.split_once('.') {
        None => {
            let plain = !digits.is_empty() && all_digits(digits) && (digits == "0" || !digits.starts_with('0'));
            // Beyond 64 bits the digits are kept as text rather than rounded.
            plain.then(|| {
                text.parse::<i64>()
                    .map(Value::from)
                    .or_else(|_| text.parse::<u64>().map(Value::from))
                    .ok()
            })?
        }
        Some((whole, fraction)) => {
            let plain = !(whole.is_empty() && fraction.is_empty()) && all_digits(whole) && all_digits(fraction);
            plain.then(|| {
                text.parse::<f64>()
                    .ok()
                    .filter(|number| number.is_finite())
                    .map(Value::from)
            })?
        }
    }
}

/// True if a name may stand in front of a header's colon (RFC 9110 token).
pub(crate) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_typed() {
        let cases = [
            ("True", json!(true)),
            ("false", json!(false)),
            ("NONE", json!(null)),
            ("null", json!(null)),
            ("0", json!(0)),
            ("-7", json!(-7)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!("18446744073709551616")),
            ("01", json!("01")),
            ("0.50", json!(0.5)),
            ("-0.5", json!(-0.5)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            (".", json!(".")),
            ("1e3", json!("1e3")),
            ("1.2.3", json!("1.2.3")),
            ("+1", json!("+1")),
            ("-", json!("-")),
            ("", json!("")),
            ("inf", json!("inf")),
        ];
        for (text, expected) in cases {
            assert_eq!(typed_value(text), expected, "{text}");
        }
    }

    #[test]
    fn headers_split_only_into_headers() {
        let cases: [(&str, &[&str]); 4] = [
            ("X-A:1,X-B:2", &["X-A:1", "X-B:2"]),
            ("Accept: text/html, text/plain", &["Accept: text/html, text/plain"]),
            (
                "Date: Mon, 01 Jan 2026 10:00:00 GMT",
                &["Date: Mon, 01 Jan 2026 10:00:00 GMT"],
            ),
            ("X-A:1", &["X-A:1"]),
        ];
        for (token, expected) in cases {
            assert_eq!(split_headers(token), expected, "{token}");
        }
    }
}
