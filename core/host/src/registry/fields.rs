//! Fields of a registry file: looking one up, and reading it as what it must be.

use super::error::{Position, RegistryError};
use super::model::{Sha256, Source};
use super::node::{Key, Node, Value};
use crate::name::{Name, near};
use std::path::{Component, Path, PathBuf};

/// Reads values of one file.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
}

/// A value on the way down: the node and its dotted path.
#[derive(Clone)]
pub(super) struct Field<'n> {
    pub(super) node: &'n Node,
    pub(super) path: String,
}

impl<'n> Field<'n> {
    pub(super) fn child(&self, key: &str, node: &'n Node) -> Self {
        let path = if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        };
        Self { node, path }
    }
}

/// What reading a value gives.
pub(super) type Read<T> = Result<T, RegistryError>;

impl Reader<'_> {
    pub(super) fn fail(
        &self,
        at: Position,
        path: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> RegistryError {
        RegistryError {
            file: self.source.file().to_owned(),
            position: Some(at),
            field: path.to_owned(),
            problem: problem.into(),
            help: help.into(),
        }
    }

    pub(super) fn wrong(
        &self,
        field: &Field<'_>,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> RegistryError {
        self.fail(field.node.at, &field.path, problem, help)
    }

    pub(super) fn map<'n>(&self, field: &Field<'n>) -> Read<&'n [(Key, Node)]> {
        match &field.node.value {
            Value::Map(fields) => Ok(fields),
            _ => Err(self.wrong(
                field,
                format!("expected a map, found {}", field.node.kind()),
                "write `key: value` lines",
            )),
        }
    }

    pub(super) fn known_map<'n>(&self, field: &Field<'n>, known: &[&'static str]) -> Read<&'n [(Key, Node)]> {
        let fields = self.map(field)?;
        match fields.iter().find(|(key, _)| !known.contains(&key.text.as_str())) {
            None => Ok(fields),
            Some((key, node)) => {
                let help = match near(&key.text, known.iter().copied()).as_slice() {
                    [] => format!("known keys: {}", known.join(", ")),
                    names => format!("did you mean {}?", names.join(" or ")),
                };
                Err(self.fail(key.at, &field.child(&key.text, node).path, "unknown key", help))
            }
        }
    }

    pub(super) fn optional<'n>(&self, parent: &Field<'n>, fields: &'n [(Key, Node)], name: &str) -> Option<Field<'n>> {
        fields
            .iter()
            .find(|(key, _)| key.text == name)
            .map(|(_, node)| parent.child(name, node))
    }

    pub(super) fn required<'n>(&self, parent: &Field<'n>, fields: &'n [(Key, Node)], name: &str) -> Read<Field<'n>> {
        self.optional(parent, fields, name).ok_or_else(|| {
            let path = parent.child(name, parent.node).path;
            self.fail(parent.node.at, &path, "missing", format!("add `{name}:`"))
        })
    }

    pub(super) fn text<'n>(&self, field: &Field<'n>) -> Read<&'n str> {
        match &field.node.value {
            Value::Text(text) if !text.trim().is_empty() => Ok(text),
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) => {
                let problem = format!("expected text, found {}", field.node.kind());
                Err(self.wrong(field, problem, "put it in quotation marks"))
            }
            _ => Err(self.wrong(
                field,
                format!("expected text, found {}", field.node.kind()),
                "write some text",
            )),
        }
    }

    pub(super) fn texts<'n>(&self, field: &Field<'n>) -> Read<Vec<(Field<'n>, &'n str)>> {
        let Value::List(items) = &field.node.value else {
            let problem = format!("expected a list, found {}", field.node.kind());
            return Err(self.wrong(field, problem, "write `[one, two]`"));
        };
        let item = |(index, node)| {
            let item = Field {
                node,
                path: format!("{}[{index}]", field.path),
            };
            self.text(&item).map(|text| (item, text))
        };
        items.iter().enumerate().map(item).collect()
    }

    pub(super) fn names(&self, field: &Field<'_>) -> Read<Vec<Name>> {
        let items = self.texts(field)?;
        items
            .into_iter()
            .map(|(item, text)| self.name(item.node.at, &item.path, text))
            .collect()
    }

    pub(super) fn name(&self, at: Position, path: &str, text: &str) -> Read<Name> {
        Name::parse(text).ok_or_else(|| {
            let help = "use letters, digits, `_`, `-` and `.`, and begin with a letter or digit";
            self.fail(at, path, format!("`{}` is not a name", text.escape_debug()), help)
        })
    }

    pub(super) fn digest(&self, field: &Field<'_>) -> Read<Sha256> {
        Sha256::parse(self.text(field)?).ok_or_else(|| {
            self.wrong(
                field,
                "not a SHA-256 digest",
                "write its 64 hexadecimal digits in quotation marks",
            )
        })
    }

    /// A relative path that stays inside the folder of the registry file.
    pub(super) fn path(&self, field: &Field<'_>) -> Read<PathBuf> {
        let text = self.text(field)?;
        let stays_inside = |component: Component<'_>| matches!(component, Component::Normal(_) | Component::CurDir);
        if text.contains('\\') || !Path::new(text).components().all(stays_inside) {
            let problem = format!("`{text}` leads out of the folder of the registry file");
            return Err(self.wrong(field, problem, "use a relative path with `/` and without `..`"));
        }
        Ok(PathBuf::from(text))
    }
}
