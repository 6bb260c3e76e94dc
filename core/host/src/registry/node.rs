//! A YAML document in which every key and value knows its line and column.
//!
//! Registry files are read through this tree rather than through derived types, so that each error can name the full
//! path of the field and the place of the very word that is wrong.

use super::error::Position;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{DuplicateKeyPolicy, MergeKeyPolicy, Spanned};
use std::fmt;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) value: Value,
}

/// A key and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) at: Position,
    pub(crate) text: String,
}

/// A YAML value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// Why a text is not a YAML document that a registry may be.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) at: Option<Position>,
    pub(crate) problem: String,
}

impl Node {
    /// Parses one document. Duplicate keys and merge keys (`<<`) are refused.
    pub(crate) fn parse(text: &str) -> Result<Self, SyntaxError> {
        let options = serde_yaml::options! {
            duplicate_keys: DuplicateKeyPolicy::Error,
            merge_keys: MergeKeyPolicy::Error,
            with_snippet: false,
        };
        serde_yaml::from_str_with_options(text, options).map_err(|error| SyntaxError {
            at: error.location().map(position),
            problem: match error.without_snippet() {
                serde_yaml::Error::DuplicateMappingKey { key: Some(key), .. } => {
                    format!("the key `{key}` stands here for the second time")
                }
                other => other.render_with_options(plain()),
            },
        })
    }

    /// What the value is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// The value as JSON; a float without a JSON form (infinity, NaN) becomes `null`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(fields) => serde_json::Value::Object(
                fields
                    .iter()
                    .map(|(key, node)| (key.text.clone(), node.to_json()))
                    .collect(),
            ),
        }
    }
}

fn plain() -> serde_yaml::RenderOptions<'static> {
    serde_yaml::RenderOptions::default()
}

fn position(location: serde_yaml::Location) -> Position {
    Position {
        line: location.line(),
        column: location.column(),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self {
            at: position(spanned.referenced),
            value: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value)
            .map(Value::Integer)
            .map_err(|_| E::custom("the number is too large"))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = fields.next_key::<Spanned<String>>()? {
            let key = Key {
                at: position(key.referenced),
                text: key.value,
            };
            map.push((key, fields.next_value()?));
        }
        Ok(Value::Map(map))
    }
}
