//! All about one name.

use std::fmt::Write as _;

use aiperf_host::{
    Name, Role, load,
    resolve::{EntryRef, Resolution},
};
use serde::Serialize;

use super::{
    list::status,
    view::{EntryView, PackageView},
};
use crate::failure::Failure;

/// An entry with its package.
#[derive(Debug, Serialize)]
pub(super) struct Detail {
    #[serde(flatten)]
    entry: EntryView,
    from: PackageView,
    /// What the library's file says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
    /// Why the library can't be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// The version record of a library.
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
    let (record, problem) = match load::inspect(file, package) {
        Ok(info) => (info, None),
        Err(error) => (None, Some(error.cause.to_string())),
    };
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
    line("asks for", &from.capabilities.join(", "));
    if let Some(record) = record {
        let panics = if record.unwinds {
            "panics are caught"
        } else {
            "a panic ends the whole run"
        };
        line(
            "record",
            &format!(
                "{} {}, plugin API {}, {}, {panics}",
                record.package, record.version, record.api, record.rustc
            ),
        );
    }
    line("problem", problem.as_deref().unwrap_or_default());
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
