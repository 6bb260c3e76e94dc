//! The registry as it is shown: plain data, for text and JSON alike.

use aiperf_host::{
    Capability, ConfigSchema, OptionInfo, Role, granted_at_installation,
    registry::{Form, HOST_TARGET, OnError, Package, RegistryFile},
    resolve::{EntryRef, Resolution, Verdict},
};
use serde::Serialize;

/// Packages and entries.
#[derive(Debug, Serialize)]
pub(super) struct View {
    pub(super) packages: Vec<PackageView>,
    /// By category, then by name, the winner of a name first.
    pub(super) entries: Vec<EntryView>,
}

/// A package.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PackageView {
    pub(super) name: String,
    pub(super) version: String,
    /// `bundled`, `native` or `wasm`.
    pub(super) form: &'static str,
    /// Native code that did not come with this program.
    pub(super) unsandboxed: bool,
    /// Registry file and position.
    pub(super) declared: String,
    /// The library for this platform, or the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// Versions of the plugin API it works with.
    pub(super) api: String,
    pub(super) entries: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) homepage: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) capabilities: Vec<Capability>,
    /// Those of them that it was granted when it was installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) granted: Vec<Capability>,
}

impl PackageView {
    pub(super) fn new(file: &RegistryFile, package: &Package) -> Self {
        let path = match &package.form {
            Form::Bundled(_) => None,
            Form::Native(libraries) => libraries
                .iter()
                .find(|library| library.target.as_deref().is_none_or(|target| target == HOST_TARGET))
                .map(|library| &library.path),
            Form::Wasm { path, .. } => Some(path),
        };
        Self {
            name: package.name.to_string(),
            version: package.version.clone(),
            form: package.form.as_str(),
            unsandboxed: matches!(package.form, Form::Native(_)),
            declared: format!("{}:{}", file.source, package.at),
            file: path.map(|path| file.folder().join(path).display().to_string()),
            api: package.api.to_string(),
            entries: file
                .entries()
                .iter()
                .filter(|entry| entry.package == package.name)
                .count(),
            description: package.description.clone(),
            license: package.license.clone(),
            homepage: package.homepage.clone(),
            capabilities: package.capabilities.clone(),
            granted: granted_at_installation(file, package),
        }
    }

    /// What it asks for and what of that is granted, in words; empty if it asks for nothing.
    pub(super) fn asks_for(&self) -> String {
        let asked = self
            .capabilities
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        let granted = self
            .granted
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        match (asked.is_empty(), granted.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!("{asked} (not granted)"),
            (false, false) => format!("{asked} (granted: {granted})"),
        }
    }

    /// The form, with how far the code of others is confined.
    pub(super) fn form_text(&self) -> String {
        match self.form {
            "native" => format!("{}, unsandboxed", self.form),
            "wasm" => format!("{}, sandboxed", self.form),
            _ => self.form.to_owned(),
        }
    }
}

/// How an entry fared in the contest for its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// It answers to the name.
    Used,
    /// A run that uses the name stops.
    Tied,
    /// Another entry answers to the name.
    Shadowed,
}

/// An entry.
#[derive(Debug, Clone, Serialize)]
pub(super) struct EntryView {
    pub(super) category: &'static str,
    pub(super) name: String,
    pub(super) package: String,
    pub(super) version: String,
    /// Registry file and position.
    pub(super) declared: String,
    pub(super) status: Status,
    /// Why, unless it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) priority: i32,
    pub(super) aliases: Vec<String>,
    pub(super) on_error: &'static str,
    pub(super) description: String,
    pub(super) metadata: serde_json::Map<String, serde_json::Value>,
    /// What the user may set, as the package's schema tells it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) options: Vec<OptionInfo>,
    /// Metrics that it lists and another family defines where that family runs, with that family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tags_of_others: Vec<String>,
}

impl EntryView {
    pub(super) fn new(resolution: &Resolution, entry: EntryRef, verdict: &Verdict) -> Self {
        let (file, declared) = (resolution.file(entry), resolution.entry(entry));
        let (status, reason) = match verdict {
            Verdict::Won => (Status::Used, None),
            Verdict::Tied => (
                Status::Tied,
                Some(format!(
                    "tied at equal priority: set `priority:`, or choose with --plugin {}/{}=PACKAGE",
                    declared.role, declared.name
                )),
            ),
            lost => {
                let reason = lost.to_string();
                let reason = reason.strip_prefix("shadowed: ").unwrap_or(&reason);
                (Status::Shadowed, Some(reason.to_owned()))
            }
        };
        Self {
            category: declared.role.as_str(),
            name: declared.name.to_string(),
            package: declared.package.to_string(),
            version: resolution.package(entry).version.clone(),
            declared: format!("{}:{}", file.source, declared.at),
            status,
            reason,
            priority: declared.priority,
            aliases: declared.aliases.iter().map(ToString::to_string).collect(),
            on_error: match declared.on_error {
                OnError::Fail => "fail",
                OnError::Skip => "skip",
            },
            description: declared.description.clone(),
            metadata: declared.metadata.clone(),
            options: match ConfigSchema::of(file, resolution.package(entry)) {
                Ok(Some(schema)) => schema.options(declared).to_vec(),
                // What is wrong with it is told where the package is opened or validated.
                Ok(None) | Err(_) => Vec::new(),
            },
            tags_of_others: tags_of_others(resolution, entry),
        }
    }
}

/// A metric entry is a family; the contest is about each tag.
fn tags_of_others(resolution: &Resolution, entry: EntryRef) -> Vec<String> {
    let tags = resolution.entry(entry).tags.iter();
    tags.filter_map(|tag| {
        let rivals = resolution
            .entries(Role::Metric)
            .filter(|&rival| rival != entry && resolution.entry(rival).tags.contains(tag));
        rivals.count().gt(&0).then_some(())?;
        match resolution.find(Role::Metric, tag.as_str()) {
            Ok(winner) if winner == entry => None,
            Ok(winner) => {
                let family = resolution.entry(winner);
                Some(format!("{tag} (metric/{} of package {})", family.name, family.package))
            }
            Err(_) => Some(format!("{tag} (contested)")),
        }
    })
    .collect()
}

impl View {
    /// Everything.
    pub(super) fn new(resolution: &Resolution) -> Self {
        let packages = resolution
            .files()
            .iter()
            .flat_map(|file| file.packages().iter().map(|package| PackageView::new(file, package)))
            .collect();
        let contests = Role::ALL.into_iter().flat_map(|role| resolution.names(role));
        let entries = contests
            .flat_map(|(_, contest)| contest.claims())
            .map(|(entry, verdict)| EntryView::new(resolution, *entry, verdict))
            .collect();
        Self { packages, entries }
    }

    /// Leaves one category and the packages that bring its entries.
    pub(super) fn keep_role(&mut self, role: Role) {
        self.entries.retain(|entry| entry.category == role.as_str());
        self.packages
            .retain(|package| self.entries.iter().any(|entry| entry.package == package.name));
    }

    /// The entries of a category.
    pub(super) fn of(&self, role: Role) -> impl Iterator<Item = &EntryView> {
        self.entries.iter().filter(move |entry| entry.category == role.as_str())
    }
}
