//! JSON with an indent of two and keys in the order in which they are written, reals as Python has them.

use serde_json::Value;

use crate::{
    json::push_string,
    numbers::{push_float, push_integer},
};

/// A writer of one JSON document.
#[derive(Default)]
pub(crate) struct Pretty {
    out: Vec<u8>,
    depth: usize,
    /// The innermost container has items.
    has_items: bool,
}

impl Pretty {
    /// The bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// A key; its value must follow.
    pub(crate) fn key(&mut self, key: &str) -> &mut Self {
        self.item();
        push_string(&mut self.out, key);
        self.out.extend_from_slice(b": ");
        self
    }

    /// Begins an element of a list; its value must follow.
    pub(crate) fn item(&mut self) -> &mut Self {
        if self.has_items {
            self.out.push(b',');
        }
        self.new_line();
        self.has_items = true;
        self
    }

    /// An object.
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.container(*b"{}", fill);
    }

    /// A list.
    pub(crate) fn list(&mut self, fill: impl FnOnce(&mut Self)) {
        self.container(*b"[]", fill);
    }

    fn container(&mut self, [open, close]: [u8; 2], fill: impl FnOnce(&mut Self)) {
        self.out.push(open);
        self.depth += 1;
        self.has_items = false;
        fill(self);
        self.depth -= 1;
        if self.has_items {
            self.new_line();
        }
        self.has_items = true;
        self.out.push(close);
    }

    fn new_line(&mut self) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + 2 * self.depth, b' ');
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &str) {
        push_string(&mut self.out, text);
    }

    /// A whole number.
    pub(crate) fn integer(&mut self, value: u64) {
        push_integer(&mut self.out, value);
    }

    /// A real number, which must be finite.
    pub(crate) fn real(&mut self, value: f64) {
        push_float(&mut self.out, value);
    }

    /// True or false.
    pub(crate) fn truth(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Any value.
    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(value) => self.truth(*value),
            Value::Number(number) => match number.as_f64().filter(|value| number.is_f64() && value.is_finite()) {
                Some(real) => self.real(real),
                None => self.out.extend_from_slice(number.to_string().as_bytes()),
            },
            Value::String(text) => self.text(text),
            Value::Array(items) => self.list(|list| {
                for item in items {
                    list.item().value(item);
                }
            }),
            Value::Object(entries) => self.object(|object| {
                for (key, value) in entries {
                    object.key(key).value(value);
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_pythons_indent_of_two() {
        let value = serde_json::json!({"a": [], "b": {}, "c": [1, {"d": 10.0}, null], "e": "x", "f": -3, "g": true});
        let mut pretty = Pretty::default();
        pretty.value(&value);
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": 10.0\n    },\n    null\n  ],\n  \"e\": \"x\",\n  \"f\": -3,\n  \"g\": true\n}";
        assert_eq!(String::from_utf8(pretty.into_bytes()).unwrap(), expected);
    }
}
