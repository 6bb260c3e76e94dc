//! JSON texts that are carried rather than understood.

use aiperf_sdk::{PluginError, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::pull::plain_length;

/// The top level of a JSON object in its author's order: names, and values as compact JSON texts.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Object(pub(crate) Vec<(String, String)>);

impl Object {
    /// Reads an object; `what` names it in the error.
    pub(crate) fn parse(text: &str, what: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| PluginError::input(format!("`{what}` of the turn is not a JSON object: {error}")))
    }

    /// The JSON text of a value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .rfind(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Sets a value: in place if the name exists, else at the end.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Writes the object.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (i, (name, value)) in self.0.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write_string(out, name);
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
        out.push(b'}');
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
                let mut object = Object::default();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    object.set(&name, compact(value.get()));
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A JSON text without the blanks between its tokens.
pub(crate) fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    json.chars()
        .filter(|&c| {
            let inside = in_string;
            match c {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                _ => {}
            }
            inside || !matches!(c, ' ' | '\t' | '\n' | '\r')
        })
        .collect()
}

/// Writes a string with its quotes; only what JSON forbids is escaped.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    if plain_length(text.as_bytes()) == text.len() {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // A string into a vector: neither the value nor the writer can fail.
    let _ = serde_json::to_writer(out, text);
}

/// What stands between the brackets of a JSON array; `what` names it in the error.
pub(crate) fn array_items<'a>(json: &'a str, what: &str) -> Result<&'a str> {
    json.trim()
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .map(str::trim)
        .ok_or_else(|| PluginError::input(format!("`{what}` of the turn is not a JSON array")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_go_only_between_tokens() {
        for (json, expected) in [
            (r#"{ "a" : [ 1 , 2 ] }"#, r#"{"a":[1,2]}"#),
            (r#""a b""#, r#""a b""#),
            (r#" "a \" b" "#, r#""a \" b""#),
            ("{\"a\\\\\" :\n\t\"x  y\"}", "{\"a\\\\\":\"x  y\"}"),
        ] {
            assert_eq!(compact(json), expected, "{json}");
        }
    }

    #[test]
    fn objects_keep_order_and_the_last_of_equal_names() {
        let object = Object::parse(r#"{"z": 1, "a": {"k": "v w"}, "z": [2, 3]}"#, "extra").unwrap();
        let mut out = Vec::new();
        object.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"z":[2,3],"a":{"k":"v w"}}"#);
        assert_eq!(object.get("z"), Some("[2,3]"));
        let error = Object::parse("[1]", "extra_body").unwrap_err();
        assert!(
            error
                .message
                .starts_with("`extra_body` of the turn is not a JSON object"),
            "{error}"
        );
    }

    proptest::proptest! {
        #[test]
        fn strings_are_written_as_a_general_writer_does(text in "([a-zé ]{0,20}|[\"\\\\\u{0}-\u{7f}]{0,3}|\\PC{0,9}){0,3}") {
            let mut out = Vec::new();
            write_string(&mut out, &text);
            proptest::prop_assert_eq!(out, serde_json::to_vec(&text).unwrap());
        }
    }

    #[test]
    fn arrays_open_up() {
        assert_eq!(array_items(" [ {\"a\":1} ] ", "raw_messages").unwrap(), "{\"a\":1}");
        assert_eq!(array_items("[]", "raw_messages").unwrap(), "");
        assert!(array_items("{}", "raw_messages").is_err());
    }
}
