//! From a YAML tree to a [`RegistryFile`]: every key is known, every value has its type, every reference exists.

use super::ApiRange;
use super::error::RegistryError;
use super::fields::{Field, Read, Reader};
use super::model::{Entry, Form, Library, OnError, Package, RegistryFile, SchemaSource, Sha256, Source};
use super::node::{Key, Node, Value};
use crate::capability::Capability;
use crate::name::{Name, Role, near};

/// The target triple this program was built for.
pub const HOST_TARGET: &str = env!("AIPERF_TARGET");

const SCHEMA_VERSION: &str = "1.0";

pub(super) fn registry_file(text: &str, source: Source) -> Result<RegistryFile, RegistryError> {
    let reader = Reader { source: &source };
    let root = Node::parse(text).map_err(|error| RegistryError {
        file: source.file().to_owned(),
        position: error.at,
        field: String::new(),
        problem: error.problem,
        help: "correct the YAML".to_owned(),
    })?;
    let (packages, entries) = reader.file(&root)?;
    Ok(RegistryFile {
        source,
        packages,
        entries,
    })
}

impl Reader<'_> {
    fn file(&self, root: &Node) -> Read<(Vec<Package>, Vec<Entry>)> {
        let root = Field {
            node: root,
            path: String::new(),
        };
        let fields = self.map(&root)?;
        let version = self.required(&root, fields, "schema_version")?;
        let found = self.text(&version)?;
        if found != SCHEMA_VERSION {
            let help = format!("this aiperf reads \"{SCHEMA_VERSION}\": use a newer aiperf or an older file");
            return Err(self.wrong(&version, format!("unknown schema version \"{found}\""), help));
        }
        let packages = match self.optional(&root, fields, "packages") {
            Some(field) => self.packages(&field)?,
            None => Vec::new(),
        };
        let mut entries: Vec<Entry> = Vec::new();
        for (key, node) in fields {
            if matches!(key.text.as_str(), "schema_version" | "packages") {
                continue;
            }
            let Some(role) = Role::parse(&key.text) else {
                let known = Role::ALL.map(Role::as_str);
                let mut suggestions = near(&key.text, known.into_iter().chain(["packages", "schema_version"]));
                if suggestions.is_empty() {
                    suggestions = known.map(str::to_owned).to_vec();
                }
                let help = format!("write one of: {}", suggestions.join(", "));
                return Err(self.fail(key.at, &key.text, "unknown category", help));
            };
            let section = root.child(&key.text, node);
            for (key, node) in self.map(&section)? {
                let entry = self.entry(role, key, &section.child(&key.text, node), &packages)?;
                self.check_collisions(&entry, &entries, &section.child(&key.text, node).path)?;
                entries.push(entry);
            }
        }
        Ok((packages, entries))
    }

    fn packages(&self, section: &Field<'_>) -> Read<Vec<Package>> {
        let mut packages: Vec<Package> = Vec::new();
        for (key, node) in self.map(section)? {
            let field = section.child(&key.text, node);
            let package = self.package(key, &field)?;
            if let Some(other) = packages.iter().find(|other| other.name == package.name) {
                let problem = format!("the same package as `{}` on line {}", other.name, other.at.line);
                return Err(self.fail(
                    key.at,
                    &field.path,
                    problem,
                    "names ignore case and `-` equals `_`: rename one",
                ));
            }
            packages.push(package);
        }
        Ok(packages)
    }

    fn package(&self, key: &Key, field: &Field<'_>) -> Read<Package> {
        const KNOWN: [&str; 11] = [
            "version",
            "api",
            "library",
            "wasm",
            "bundled",
            "sha256",
            "capabilities",
            "config_schema",
            "license",
            "homepage",
            "description",
        ];
        let fields = self.known_map(field, &KNOWN)?;
        let api_field = self.required(field, fields, "api")?;
        let api = ApiRange::parse(self.text(&api_field)?).ok_or_else(|| {
            self.wrong(
                &api_field,
                "not a range of API versions",
                "write bounds such as \">=1.0, <2\"",
            )
        })?;
        let text_at = |name| {
            self.optional(field, fields, name)
                .map(|field| self.text(&field).map(str::to_owned))
                .transpose()
        };
        Ok(Package {
            name: self.name(key.at, &field.path, &key.text)?,
            version: self.text(&self.required(field, fields, "version")?)?.to_owned(),
            api,
            form: self.form(key, field, fields)?,
            capabilities: match self.optional(field, fields, "capabilities") {
                Some(list) => self
                    .texts(&list)?
                    .into_iter()
                    .map(|(item, text)| self.capability(&item, text))
                    .collect::<Read<_>>()?,
                None => Vec::new(),
            },
            config_schema: self
                .optional(field, fields, "config_schema")
                .map(|field| self.schema(&field))
                .transpose()?,
            license: text_at("license")?,
            homepage: text_at("homepage")?,
            description: text_at("description")?,
            at: key.at,
        })
    }

    /// A JSON Schema: the name of its file, or the schema itself.
    fn schema(&self, field: &Field<'_>) -> Read<SchemaSource> {
        Ok(match field.node.value {
            Value::Map(_) => SchemaSource::Inline(field.node.clone()),
            _ => SchemaSource::File {
                path: self.path(field)?,
                at: field.node.at,
            },
        })
    }

    fn capability(&self, field: &Field<'_>, text: &str) -> Read<Capability> {
        Capability::asked(text)
            .ok_or_else(|| self.wrong(field, format!("unknown capability `{text}`"), Capability::ASKING))
    }

    fn form(&self, key: &Key, field: &Field<'_>, fields: &[(Key, Node)]) -> Read<Form> {
        const WAYS: &str = "say exactly one of `library:`, `wasm:` and `bundled:`";
        let library = self.optional(field, fields, "library");
        let wasm = self.optional(field, fields, "wasm");
        let bundled = self.optional(field, fields, "bundled");
        let digest_field = self.optional(field, fields, "sha256");
        let sha256 = digest_field.as_ref().map(|field| self.digest(field)).transpose()?;
        let form = match (library, wasm, bundled) {
            (Some(library), None, None) => self.libraries(&library, sha256)?,
            (None, Some(wasm), None) => Form::Wasm {
                path: self.path(&wasm)?,
                sha256,
            },
            (None, None, Some(bundled)) => self.bundled(key, &bundled)?,
            (None, None, None) => return Err(self.fail(key.at, &field.path, "nothing says where the code is", WAYS)),
            _ => return Err(self.fail(key.at, &field.path, "more than one form of the code", WAYS)),
        };
        let single_file = match &form {
            Form::Bundled(_) => false,
            Form::Native(libraries) => libraries.iter().all(|library| library.target.is_none()),
            Form::Wasm { .. } => true,
        };
        match digest_field {
            Some(digest) if !single_file => {
                let help = "a digest belongs to one file: write it beside the `path` of each target, or remove it";
                Err(self.wrong(&digest, "no single file has this digest", help))
            }
            _ => Ok(form),
        }
    }

    fn bundled(&self, key: &Key, field: &Field<'_>) -> Read<Form> {
        if !self.source.is_builtin() {
            let help = "name the file of the package with `library:` or `wasm:`";
            return Err(self.wrong(field, "only packages linked into the binary are bundled", help));
        }
        match &field.node.value {
            Value::Bool(true) => Ok(Form::Bundled(key.text.clone())),
            Value::Text(name) if !name.is_empty() => Ok(Form::Bundled(name.clone())),
            _ => Err(self.wrong(
                field,
                format!("expected true or a name, found {}", field.node.kind()),
                "write `true`",
            )),
        }
    }

    fn libraries(&self, field: &Field<'_>, sha256: Option<Sha256>) -> Read<Form> {
        if let Value::Text(_) = field.node.value {
            return Ok(Form::Native(vec![Library {
                target: None,
                path: self.path(field)?,
                sha256,
            }]));
        }
        let Value::Map(targets) = &field.node.value else {
            let help = "write a path, or a map from target triple to `path` and `sha256`";
            return Err(self.wrong(
                field,
                format!("expected a path or a map, found {}", field.node.kind()),
                help,
            ));
        };
        let mut libraries = Vec::new();
        for (target, node) in targets {
            let library = field.child(&target.text, node);
            if target.text.split('-').count() < 3 {
                let help = format!("write a triple such as {HOST_TARGET}");
                return Err(self.fail(target.at, &library.path, "not a target triple", help));
            }
            let fields = self.known_map(&library, &["path", "sha256"])?;
            libraries.push(Library {
                target: Some(target.text.clone()),
                path: self.path(&self.required(&library, fields, "path")?)?,
                sha256: self
                    .optional(&library, fields, "sha256")
                    .map(|field| self.digest(&field))
                    .transpose()?,
            });
        }
        if libraries.is_empty() {
            return Err(self.wrong(field, "no library for any target", "name at least one"));
        }
        Ok(Form::Native(libraries))
    }

    fn entry(&self, role: Role, key: &Key, field: &Field<'_>, packages: &[Package]) -> Read<Entry> {
        const KNOWN: [&str; 6] = ["package", "description", "priority", "aliases", "on_error", "metadata"];
        let fields = self.known_map(field, &KNOWN)?;
        let package_field = self.required(field, fields, "package")?;
        let package = self.name(package_field.node.at, &package_field.path, self.text(&package_field)?)?;
        let Some(package_index) = packages.iter().position(|known| known.name == package) else {
            let known: Vec<&str> = packages.iter().map(|known| known.name.as_str()).collect();
            let help = match near(package.as_str(), known).as_slice() {
                [] => "declare it under `packages:` in this file".to_owned(),
                names => format!("did you mean {}? Else declare it under `packages:`", names.join(" or ")),
            };
            return Err(self.wrong(&package_field, format!("unknown package `{package}`"), help));
        };
        let metadata = match self.optional(field, fields, "metadata") {
            Some(field) => self
                .map(&field)?
                .iter()
                .map(|(key, node)| (key.text.clone(), node.to_json()))
                .collect(),
            None => serde_json::Map::new(),
        };
        let role = self.role(role, field, fields)?;
        Ok(Entry {
            role,
            name: self.name(key.at, &field.path, &key.text)?,
            package,
            package_index,
            description: match self.optional(field, fields, "description") {
                Some(field) => self.text(&field)?.to_owned(),
                None => String::new(),
            },
            priority: match self.optional(field, fields, "priority") {
                Some(field) => self.priority(&field)?,
                None => 0,
            },
            aliases: match self.optional(field, fields, "aliases") {
                Some(field) => self.names(&field)?,
                None => Vec::new(),
            },
            on_error: match self.optional(field, fields, "on_error") {
                Some(field) => self.on_error(role, &field)?,
                None => OnError::Fail,
            },
            metadata,
            tags: if role == Role::Metric {
                self.tags(key, field, fields)?
            } else {
                Vec::new()
            },
            at: key.at,
        })
    }

    /// `metadata.kind` may narrow the role that the section gives.
    fn role(&self, section: Role, field: &Field<'_>, fields: &[(Key, Node)]) -> Read<Role> {
        let metadata = self.optional(field, fields, "metadata");
        let kind = metadata.and_then(|metadata| match &metadata.node.value {
            Value::Map(inner) => self.optional(&metadata, inner, "kind"),
            _ => None,
        });
        let Some(kind) = kind else { return Ok(section) };
        let text = self.text(&kind)?;
        let role = section.of_kind(text);
        let by_kind = Role::Timing.of_kind(text);
        if role == section && by_kind != Role::Timing && by_kind != section {
            let problem = format!("an entry of kind `{text}` stands under {section}");
            return Err(self.wrong(&kind, problem, format!("move it to `{by_kind}:`, or correct the kind")));
        }
        Ok(role)
    }

    fn tags(&self, key: &Key, field: &Field<'_>, fields: &[(Key, Node)]) -> Read<Vec<Name>> {
        let metadata = self.optional(field, fields, "metadata");
        let list = metadata.and_then(|metadata| match &metadata.node.value {
            Value::Map(inner) => self.optional(&metadata, inner, "tags"),
            _ => None,
        });
        let tags = list.map(|list| self.names(&list)).transpose()?.unwrap_or_default();
        if tags.is_empty() {
            let path = format!("{}.metadata.tags", field.path);
            return Err(self.fail(
                key.at,
                &path,
                "a metric entry names no metric",
                "list the tags it defines",
            ));
        }
        Ok(tags)
    }

    fn on_error(&self, role: Role, field: &Field<'_>) -> Read<OnError> {
        match self.text(field)? {
            "fail" => Ok(OnError::Fail),
            "skip" if role.may_skip() => Ok(OnError::Skip),
            "skip" => {
                let problem = format!("an entry of category {role} cannot be skipped: the measurement would change");
                Err(self.wrong(field, problem, "write `fail`, or remove the line"))
            }
            other => Err(self.wrong(field, format!("unknown value `{other}`"), "write `fail` or `skip`")),
        }
    }

    fn priority(&self, field: &Field<'_>) -> Read<i32> {
        let number = match field.node.value {
            Value::Integer(number) => i32::try_from(number).ok(),
            _ => None,
        };
        number.ok_or_else(|| {
            let problem = format!("expected a whole number, found {}", field.node.kind());
            self.wrong(
                field,
                problem,
                format!("write a number from {} to {}", i32::MIN, i32::MAX),
            )
        })
    }

    /// Within one file a name or alias means one entry.
    fn check_collisions(&self, entry: &Entry, earlier: &[Entry], path: &str) -> Read<()> {
        let mut own: Vec<&Name> = vec![&entry.name];
        for alias in &entry.aliases {
            if own.contains(&alias) {
                let problem = format!("the alias `{alias}` repeats a name of this entry");
                return Err(self.fail(
                    entry.at,
                    path,
                    problem,
                    "names ignore case and `-` equals `_`: remove it",
                ));
            }
            own.push(alias);
        }
        for other in earlier.iter().filter(|other| other.role == entry.role) {
            let taken = std::iter::once(&other.name)
                .chain(&other.aliases)
                .find(|name| own.contains(name));
            if let Some(name) = taken {
                let problem = format!("`{name}` already names the entry on line {}", other.at.line);
                let help = "a name or alias means one entry of its category: rename one";
                return Err(self.fail(entry.at, path, problem, help));
            }
            if let Some(tag) = other.tags.iter().find(|tag| entry.tags.contains(tag)) {
                let problem = format!("the metric `{tag}` is already defined by `{}`", other.name);
                return Err(self.fail(entry.at, path, problem, "let one entry of the file define it"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
