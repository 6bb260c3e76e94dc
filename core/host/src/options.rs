//! What the user sets for entries: `--plugin-opt category/name.key=value`.

use crate::config_schema::ConfigSchema;
use crate::name::Role;
use crate::registry::RegistryError;
use crate::resolve::{EntryRef, Resolution, ResolveError};
use aiperf_plugin_api::{ErrorKind, PluginError};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An option that leads nowhere.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OptionError {
    /// There is no such category.
    #[error("--plugin-opt {option}: `{category}` is no category; write one of: {}", Role::ALL.map(Role::as_str).join(", "))]
    Category {
        /// `category/name.key`.
        option: String,
        /// What stands where the category should.
        category: String,
    },
    /// There is no such entry, or several.
    #[error("--plugin-opt {option}: {error}")]
    Entry {
        /// `category/name.key`.
        option: String,
        /// Why the name does not lead to one.
        error: ResolveError,
    },
    /// The schema of the entry's package does not allow it.
    #[error("--plugin-opt {option}: {problem} (schema: {schema}); `aiperf plugins info {name}` shows the options")]
    Refused {
        /// `category/name.key`.
        option: String,
        /// What is wrong with it.
        problem: String,
        /// Where the schema stands.
        schema: String,
        /// The entry's name.
        name: String,
    },
    /// The schema of the entry's package is broken.
    #[error("the options of {section} cannot be checked: {error}")]
    Schema {
        /// `category/name`.
        section: String,
        /// What is wrong, and where.
        error: Box<RegistryError>,
    },
}

/// The user's options by entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options(BTreeMap<EntryRef, Given>);

/// The options of one entry.
#[derive(Debug, Clone)]
struct Given {
    /// `category/name` as the user wrote it, which may be an alias.
    section: String,
    members: Map<String, Value>,
}

impl Given {
    /// Asks the schema of the package, if it has one. Nothing is loaded.
    fn check(&self, resolution: &Resolution, entry: EntryRef) -> Result<(), OptionError> {
        let declared = resolution.entry(entry);
        let schema = ConfigSchema::of(resolution.file(entry), resolution.package(entry)).map_err(|error| {
            OptionError::Schema {
                section: self.section.clone(),
                error: Box::new(error),
            }
        })?;
        let Some(schema) = schema else { return Ok(()) };
        schema
            .check(declared, &self.members)
            .map_err(|complaint| OptionError::Refused {
                option: match complaint.option.as_str() {
                    "" => self.section.clone(),
                    option => format!("{}.{option}", self.section),
                },
                problem: complaint.problem,
                schema: complaint.schema,
                name: declared.name.to_string(),
            })
    }
}

impl Options {
    /// Assigns options, given by `category/name`, to the entries that answer to the names.
    ///
    /// # Errors
    /// The first that no entry answers to, or that the schema of the entry's package refuses.
    pub(crate) fn assign<'a>(
        resolution: &Resolution,
        sections: impl IntoIterator<Item = (&'a str, &'a Map<String, Value>)>,
    ) -> Result<Self, OptionError> {
        let mut options: BTreeMap<EntryRef, Given> = BTreeMap::new();
        for (section, members) in sections {
            let entry = find(resolution, section, members)?;
            options
                .entry(entry)
                .or_insert_with(|| Given {
                    section: section.to_owned(),
                    members: Map::new(),
                })
                .members
                .extend(members.clone());
        }
        for (&entry, given) in &options {
            given.check(resolution, entry)?;
        }
        Ok(Self(options))
    }

    /// The options of an entry as JSON.
    pub(crate) fn json(&self, entry: EntryRef) -> String {
        self.0.get(&entry).map_or_else(
            || "{}".to_owned(),
            |given| Value::from(given.members.clone()).to_string(),
        )
    }

    /// Says which option a plugin complains of, in the words of the command line.
    pub(crate) fn named(&self, entry: EntryRef, mut error: PluginError) -> PluginError {
        let Some(given) = self.0.get(&entry).filter(|_| error.kind == ErrorKind::InvalidOptions) else {
            return error;
        };
        let quoted = |key: &&String| {
            // As a whole, or as the beginning of a path.
            ["`", ".", "["]
                .iter()
                .any(|end| error.message.contains(&format!("`{key}{end}")))
        };
        if let Some(key) = given.members.keys().find(quoted) {
            error.message = format!("--plugin-opt {}.{key}: {}", given.section, error.message);
        }
        error
    }

    /// Options of entries that are not among those `used`, each as `category/name` and key.
    pub(crate) fn unused(&self, used: impl Fn(EntryRef) -> bool) -> Option<(&str, &str)> {
        let unused = self.0.iter().filter(|(entry, _)| !used(**entry));
        unused
            .flat_map(|(_, given)| given.members.keys().map(|key| (given.section.as_str(), key.as_str())))
            .next()
    }
}

/// The entry that a section means. A category stands for the smaller parts in it too: `timing/gamma` is an arrival pattern.
fn find(resolution: &Resolution, section: &str, members: &Map<String, Value>) -> Result<EntryRef, OptionError> {
    let key = members.keys().next().map_or("", String::as_str);
    let option = || format!("{section}.{key}");
    let (category, name) = section.split_once('/').unwrap_or((section, ""));
    let role = Role::parse(category).ok_or_else(|| OptionError::Category {
        option: option(),
        category: category.to_owned(),
    })?;
    let parts = Role::ALL
        .into_iter()
        .filter(|part| *part != role && role.as_str() == part.category().name() && part.category() == role.category());
    resolution.find(role, name).or_else(|error| {
        let unknown = matches!(error, ResolveError::Unknown { .. });
        let mut found = parts.filter_map(|part| resolution.find(part, name).ok());
        match (unknown.then(|| found.next()).flatten(), found.next()) {
            (Some(entry), None) => Ok(entry),
            _ => Err(OptionError::Entry {
                option: option(),
                error,
            }),
        }
    })
}
