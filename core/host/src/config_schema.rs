//! `config_schema:` of a package: a JSON Schema of the user's options for its entries.
//!
//! The schema is of one object with a property per entry, `category/name`, whose schema is that of the entry's options.
//! Entries that it does not list check their options themselves. Defaults are shown, never filled in: the plugin owns them.

use crate::name::{Name, Role};
use crate::registry::{Entry, Node, Package, Position, RegistryError, RegistryFile, SchemaSource, Tree};
use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs;

/// The schema of a package, ready to judge.
#[derive(Debug)]
pub struct ConfigSchema {
    /// Where it stands, for messages.
    place: String,
    validator: Validator,
    entries: Vec<Listed>,
}

/// An entry that the schema lists.
#[derive(Debug)]
struct Listed {
    role: Role,
    name: Name,
    /// The property, as the schema writes it.
    key: String,
    options: Vec<OptionInfo>,
}

/// What the schema says about an option.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OptionInfo {
    /// Its name.
    pub name: String,
    /// Its type, or its values where they are listed; empty if the schema does not say.
    pub kind: String,
    /// What the plugin uses when the option is not given, as the schema tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// It must be given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// What is wrong with an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The option, with the path inside of it: `limits.tokens`. Empty if none is meant.
    pub(crate) option: String,
    /// What is wrong with it.
    pub(crate) problem: String,
    /// Where the schema stands.
    pub(crate) schema: String,
}

impl ConfigSchema {
    /// Reads and checks the schema of a package; `None` if it has none.
    ///
    /// # Errors
    /// The schema cannot be read, is not one, refers to something outside of itself, lists an entry that the package does not
    /// have, or does not accept its own defaults and examples. The error names the place.
    pub fn of(file: &RegistryFile, package: &Package) -> Result<Option<Self>, RegistryError> {
        let Some(source) = &package.config_schema else {
            return Ok(None);
        };
        let document = Document::read(file, package, source)?;
        document.check_references(&document.root)?;
        let schema = document.root.to_json();
        let validator = jsonschema::options()
            .offline()
            .build(&schema)
            .map_err(|error| document.wrong(error.instance_path().as_str(), &error))?;
        let ours = file.entries().iter().filter(|entry| entry.package == package.name);
        let entries = document.entries(&schema, &ours.collect::<Vec<_>>())?;
        document.check_samples(&schema, &validator, &entries)?;
        Ok(Some(Self {
            place: document.place,
            validator,
            entries,
        }))
    }

    /// The options of an entry that the schema lists.
    pub fn options(&self, entry: &Entry) -> &[OptionInfo] {
        self.listed(entry).map_or(&[], |listed| &listed.options)
    }

    fn listed(&self, entry: &Entry) -> Option<&Listed> {
        let is_it = |listed: &&Listed| listed.role == entry.role && listed.name == entry.name;
        self.entries.iter().find(is_it)
    }

    /// Judges the user's options for an entry. An entry that the schema does not list may have any.
    pub(crate) fn check(&self, entry: &Entry, options: &Map<String, Value>) -> Result<(), Complaint> {
        let Some(listed) = self.listed(entry) else {
            return Ok(());
        };
        let all = object(&listed.key, Value::Object(options.clone()));
        let inside = |error: &ValidationError<'_>| error.instance_path().as_str().starts_with(&pointer(&[&listed.key]));
        match self.validator.iter_errors(&all).find(inside) {
            None => Ok(()),
            Some(error) => {
                let path: Vec<String> = segments(error.instance_path().as_str()).skip(1).collect();
                let (name, problem) = told(&error, &listed.options);
                Err(Complaint {
                    option: path.into_iter().chain(name).collect::<Vec<_>>().join("."),
                    problem,
                    schema: self.place.clone(),
                })
            }
        }
    }
}

/// A member that the error is about besides its path, and what is wrong.
fn told(error: &ValidationError<'_>, options: &[OptionInfo]) -> (Option<String>, String) {
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().map(str::to_owned);
            (name, "the package needs it, and it is not given".to_owned())
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let mut problem = "there is no such option".to_owned();
            let known: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
            // Of the entry itself; what may stand deeper inside is not listed.
            if segments(error.instance_path().as_str()).count() == 1 && !known.is_empty() {
                problem = format!("{problem}; there are: {}", known.join(", "));
            }
            (unexpected.first().cloned(), problem)
        }
        _ => (None, error.to_string()),
    }
}

/// A schema with the places of its words.
struct Document {
    file: std::path::PathBuf,
    /// Path of the schema inside the file; empty if it is the file.
    field: String,
    place: String,
    root: Node,
}

impl Document {
    fn read(file: &RegistryFile, package: &Package, source: &SchemaSource) -> Result<Self, RegistryError> {
        let field = format!("packages.{}.config_schema", package.name);
        let (path, at) = match source {
            SchemaSource::File { path, at } => (path, at),
            SchemaSource::Inline(root) => {
                return Ok(Self {
                    file: file.source.file().to_owned(),
                    place: format!("{}:{}", file.source, root.at),
                    field,
                    root: root.clone(),
                });
            }
        };
        let schema = file.folder().join(path);
        let unreadable = |problem: String| RegistryError {
            file: file.source.file().to_owned(),
            position: Some(*at),
            field: field.clone(),
            problem: format!("{}: {problem}", schema.display()),
            help: "install the package again, or correct the path".to_owned(),
        };
        // A symbolic link must not lead out of the folder.
        let real = schema.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let folder = file
            .folder()
            .canonicalize()
            .map_err(|error| unreadable(error.to_string()))?;
        if !real.starts_with(&folder) {
            return Err(unreadable("lies outside the folder of the registry file".to_owned()));
        }
        let text = fs::read_to_string(&real).map_err(|error| unreadable(error.to_string()))?;
        // JSON is YAML, and this reader knows the place of each word.
        let root = Node::parse(&text).map_err(|error| RegistryError {
            file: schema.clone(),
            position: error.at,
            field: String::new(),
            problem: error.problem,
            help: "correct the JSON".to_owned(),
        })?;
        Ok(Self {
            place: schema.display().to_string(),
            file: schema,
            field: String::new(),
            root,
        })
    }

    /// The error about what stands at a JSON pointer.
    fn fail(&self, pointer: &str, problem: String, help: &str) -> RegistryError {
        let mut field = self.field.clone();
        for segment in segments(pointer) {
            if !field.is_empty() {
                field.push('.');
            }
            field.push_str(&segment);
        }
        RegistryError {
            file: self.file.clone(),
            position: Some(self.place_of(pointer)),
            field,
            problem,
            help: help.to_owned(),
        }
    }

    fn wrong(&self, pointer: &str, error: &ValidationError<'_>) -> RegistryError {
        self.fail(
            pointer,
            format!("not a valid JSON Schema: {error}"),
            "correct the schema",
        )
    }

    /// The place of what a pointer leads to, or of the last thing on the way.
    fn place_of(&self, pointer: &str) -> Position {
        let mut node = &self.root;
        for segment in segments(pointer) {
            let next = match &node.value {
                Tree::Map(fields) => fields.iter().find(|(key, _)| key.text == segment).map(|(_, node)| node),
                Tree::List(items) => segment.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.at
    }

    /// References stay inside the document: nothing is fetched, and no other file is read.
    fn check_references(&self, node: &Node) -> Result<(), RegistryError> {
        match &node.value {
            Tree::Map(fields) => fields.iter().try_for_each(|(key, node)| {
                if let ("$ref" | "$dynamicRef", Tree::Text(target)) = (key.text.as_str(), &node.value)
                    && !target.starts_with('#')
                {
                    return Err(RegistryError {
                        file: self.file.clone(),
                        position: Some(node.at),
                        field: [&self.field, key.text.as_str()]
                            .into_iter()
                            .filter(|part| !part.is_empty())
                            .collect::<Vec<_>>()
                            .join("."),
                        problem: format!("`{target}` leads out of the schema, and nothing else is read"),
                        help: "copy it under `$defs` and refer to it with `#/$defs/...`".to_owned(),
                    });
                }
                self.check_references(node)
            }),
            Tree::List(items) => items.iter().try_for_each(|item| self.check_references(item)),
            _ => Ok(()),
        }
    }

    /// The entries that the schema lists.
    fn entries(&self, schema: &Value, ours: &[&Entry]) -> Result<Vec<Listed>, RegistryError> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            let help = "list entries under `properties:` as category/name, each with the schema of its options";
            return Err(self.fail("", "the schema lists no entry".to_owned(), help));
        };
        let listed = |(key, entry): (&String, &Value)| {
            let (category, name) = key.split_once('/').unwrap_or((key, ""));
            let found = Role::parse(category).zip(Name::parse(name)).and_then(|(role, name)| {
                ours.iter().find(|entry| {
                    entry.name == name
                        && (entry.role == role
                            || (role.as_str() == entry.role.category().name()
                                && role.category() == entry.role.category()))
                })
            });
            let Some(found) = found else {
                let known: Vec<String> = ours
                    .iter()
                    .map(|entry| format!("{}/{}", entry.role, entry.name))
                    .collect();
                return Err(self.fail(
                    &pointer(&["properties", key]),
                    "the package has no such entry".to_owned(),
                    &format!("its entries are: {}", known.join(", ")),
                ));
            };
            Ok(Listed {
                role: found.role,
                name: found.name.clone(),
                key: key.clone(),
                options: infos(schema, resolved(schema, entry)),
            })
        };
        properties.iter().map(listed).collect()
    }

    /// A default or an example that the schema refuses misleads whoever reads it.
    fn check_samples(&self, schema: &Value, validator: &Validator, entries: &[Listed]) -> Result<(), RegistryError> {
        for listed in entries {
            let entry = &schema["properties"][&listed.key];
            let Some(options) = entry.get("properties").and_then(Value::as_object) else {
                continue;
            };
            for (name, option) in options {
                let examples = option.get("examples").and_then(Value::as_array);
                let examples = examples.into_iter().flatten().enumerate();
                let samples = option
                    .get("default")
                    .map(|default| ("default".to_owned(), default))
                    .into_iter()
                    .chain(examples.map(|(index, example)| (format!("examples/{index}"), example)));
                for (what, sample) in samples {
                    let all = object(&listed.key, object(name, sample.clone()));
                    let own = pointer(&[&listed.key, name]);
                    if let Some(error) = validator
                        .iter_errors(&all)
                        .find(|error| error.instance_path().as_str().starts_with(&own))
                    {
                        let at = format!("{}/{what}", pointer(&["properties", &listed.key, "properties", name]));
                        return Err(self.fail(
                            &at,
                            format!("the schema refuses its own value: {error}"),
                            "correct one of them",
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// What the schema of an entry says about its options.
fn infos(schema: &Value, entry: &Value) -> Vec<OptionInfo> {
    let required: Vec<&str> = entry
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let options = entry.get("properties").and_then(Value::as_object);
    options
        .into_iter()
        .flatten()
        .map(|(name, own)| {
            let option = resolved(schema, own);
            let said = |key| own.get(key).or_else(|| option.get(key));
            OptionInfo {
                name: name.clone(),
                kind: kind(option),
                default: said("default").cloned(),
                description: said("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                required: required.contains(&name.as_str()),
            }
        })
        .collect()
}

/// The type of an option in words.
fn kind(option: &Value) -> String {
    let words = |values: &[Value]| values.iter().map(word).collect::<Vec<_>>().join(" | ");
    if let Some(values) = option.get("enum").and_then(Value::as_array) {
        return words(values);
    }
    let mut kind = match option.get("type") {
        Some(Value::Array(types)) => words(types),
        Some(one) => word(one),
        None => String::new(),
    };
    for (key, sign) in [
        ("minimum", ">="),
        ("exclusiveMinimum", ">"),
        ("maximum", "<="),
        ("exclusiveMaximum", "<"),
    ] {
        if let Some(bound) = option.get(key) {
            kind = format!("{kind} {sign} {bound}");
        }
    }
    kind.trim_start().to_owned()
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a schema's own `$ref` leads to, one step.
fn resolved<'s>(schema: &'s Value, part: &'s Value) -> &'s Value {
    part.get("$ref")
        .and_then(Value::as_str)
        .and_then(|target| schema.pointer(target.strip_prefix('#')?))
        .unwrap_or(part)
}

fn object(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// A JSON pointer.
fn pointer(segments: &[&str]) -> String {
    let escaped = segments
        .iter()
        .map(|segment| segment.replace('~', "~0").replace('/', "~1"));
    escaped.map(|segment| format!("/{segment}")).collect()
}

/// The segments of a JSON pointer.
fn segments(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer
        .split('/')
        .skip(1)
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
#[path = "config_schema_tests.rs"]
mod tests;
