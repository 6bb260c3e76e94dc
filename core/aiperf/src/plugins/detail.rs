//! All about one name.

use std::fmt::Write as _;

use aiperf_host::{
    ConfigSchema, Name, OptionInfo, Role, load,
    resolve::{EntryRef, Resolution},
};
use serde::Serialize;

use super::{
    list::status,
    view::{EntryView, PackageView},
};
use crate::{components, failure::Failure};

/// An entry with its package.
#[derive(Debug, Serialize)]
pub(super) struct Detail {
    #[serde(flatten)]
    entry: EntryView,
    from: PackageView,
    /// What the file of the code says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
    /// Why the package can't be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// The version record of a library or component.
#[derive(Debug, Serialize)]
struct Record {
    package: String,
    version: String,
    api: String,
    rustc: String,
    /// A panic in it can be caught.
    unwinds: bool,
}

/// Everyone who claims the name, the winner first.
///
/// # Errors
/// When nobody does; the error names those who are near.
pub(super) fn details(resolution: &Resolution, role: Role, name: &str) -> Result<Vec<Detail>, Failure> {
    let own = Name::parse(name).and_then(|name| resolution.contest(role, &name));
    let contest = match own {
        Some(contest) => Some(contest),
        // An alias, or the tag of a metric.
        None => {
            let entry = resolution.entry(resolution.find(role, name)?);
            resolution.contest(role, &entry.name)
        }
    };
    let claims = contest.map(|contest| contest.claims()).unwrap_or_default();
    Ok(claims
        .iter()
        .map(|(entry, verdict)| detail(resolution, *entry, EntryView::new(resolution, *entry, verdict)))
        .collect())
}

fn detail(resolution: &Resolution, entry: EntryRef, view: EntryView) -> Detail {
    let (file, package) = (resolution.file(entry), resolution.package(entry));
    let (record, problem) = match load::inspect(file, package, &components::compiler(None)) {
        Ok(info) => (info, None),
        Err(error) => (None, Some(error.cause.to_string())),
    };
    let broken = ConfigSchema::of(file, package).err();
    let problems: Vec<String> = problem
        .into_iter()
        .chain(broken.map(|error| format!("config_schema: {error}")))
        .collect();
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    Detail {
        entry: view,
        from: PackageView::new(file, package),
        record: record.map(|info| Record {
            package: info.package,
            version: info.version,
            api: info.api.to_string(),
            rustc: info.rustc,
            unwinds: info.unwinds,
        }),
        problem,
    }
}

/// The details as text.
pub(super) fn text(details: &[Detail]) -> String {
    details.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn block(detail: &Detail) -> String {
    let Detail {
        entry,
        from,
        record,
        problem,
    } = detail;
    let mut text = format!("{}/{}\n", entry.category, entry.name);
    let mut line = |label: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "  {:14}{value}",
                if label.is_empty() {
                    String::new()
                } else {
                    format!("{label}:")
                }
            );
        }
    };
    line("description", &entry.description);
    line("status", &status(entry));
    line("priority", &entry.priority.to_string());
    line("aliases", &entry.aliases.join(", "));
    line("on error", entry.on_error);
    line("declared", &entry.declared);
    line("package", &format!("{} {}", entry.package, entry.version));
    line("", from.description.as_deref().unwrap_or_default());
    line("form", &from.form_text());
    line("file", from.file.as_deref().unwrap_or_default());
    line("plugin API", &from.api);
    line("license", from.license.as_deref().unwrap_or_default());
    line("homepage", from.homepage.as_deref().unwrap_or_default());
    line("asks for", &from.asks_for());
    if let Some(record) = record {
        let panics = if from.form == "wasm" {
            "a panic ends its instance alone"
        } else if record.unwinds {
            "panics are caught"
        } else {
            "a panic ends the whole run"
        };
        let built = if record.rustc.is_empty() {
            format!("plugin API {}, {panics}", record.api)
        } else {
            format!(
                "{} {}, plugin API {}, {}, {panics}",
                record.package, record.version, record.api, record.rustc
            )
        };
        line("record", &built);
    }
    line("problem", problem.as_deref().unwrap_or_default());
    for (index, option) in entry.options.iter().enumerate() {
        line(if index == 0 { "options" } else { "" }, &option_line(option));
    }
    for (index, (key, value)) in entry.metadata.iter().enumerate() {
        let value = match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect::<Vec<_>>()
                .join(", "),
            other => other.to_string(),
        };
        line(if index == 0 { "metadata" } else { "" }, &format!("{key}: {value}"));
    }
    text
}

/// An option in one line: name, what it may be, and what it is for.
pub(super) fn option_line(option: &OptionInfo) -> String {
    let facts = [
        option.kind.clone(),
        if option.required {
            "required".to_owned()
        } else {
            String::new()
        },
        option
            .default
            .as_ref()
            .map_or_else(String::new, |default| format!("default {default}")),
    ];
    let facts = facts
        .into_iter()
        .filter(|fact| !fact.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    let mut told = option.name.clone();
    if !facts.is_empty() {
        told = format!("{told} ({facts})");
    }
    if !option.description.is_empty() {
        told = format!("{told}: {}", option.description);
    }
    told
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plugins::{list, subject, view::View};

    const REGISTRY: &str = "schema_version: \"1.0\"
packages:
  acme:
    version: 1.0.0
    api: \">=1\"
    library: a.so
    capabilities: [http:telemetry.example.com:443, secrets]
    config_schema:
      properties:
        endpoint/acme_chat:
          required: [region]
          properties:
            retries: { type: integer, maximum: 10, default: 3, description: Attempts. }
            region: { enum: [eu, us] }
endpoint:
  acme_chat: { package: acme }
";

    #[test]
    fn options_capabilities_and_trust_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("registry.yaml");
        fs::write(&file, REGISTRY).unwrap();
        let host = subject::host(&[file]).unwrap();
        let details = details(host.resolution(), Role::Endpoint, "acme_chat").unwrap();
        let text = text(&details);
        for line in [
            "  form:         native, unsandboxed",
            "  asks for:     http:telemetry.example.com:443, secrets (not granted)",
            "  options:      retries (integer <= 10, default 3): Attempts.",
            "                region (eu | us, required)",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let json = serde_json::to_value(&details).unwrap();
        assert_eq!(
            json[0]["options"],
            serde_json::json!([
                { "name": "retries", "kind": "integer <= 10", "default": 3, "description": "Attempts." },
                { "name": "region", "kind": "eu | us", "required": true },
            ])
        );
        let from = &json[0]["from"];
        assert_eq!(
            (from["unsandboxed"].as_bool(), from["capabilities"][1].as_str()),
            (Some(true), Some("secrets"))
        );
        let mut package = View::new(host.resolution());
        package.packages.retain(|package| package.name == "acme");
        let text = list::package(&package);
        assert!(
            text.contains("native, unsandboxed") && text.contains("http:telemetry.example.com:443"),
            "{text}"
        );
    }

    #[test]
    fn a_broken_schema_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("registry.yaml");
        fs::write(&file, REGISTRY.replace("default: 3", "default: many")).unwrap();
        let host = subject::host(std::slice::from_ref(&file)).unwrap();
        let text = text(&details(host.resolution(), Role::Endpoint, "acme_chat").unwrap());
        let place = format!("config_schema: {}:13:61: ", file.display());
        assert!(
            text.contains(&place) && text.contains("refuses its own value"),
            "{text}"
        );
    }
}
