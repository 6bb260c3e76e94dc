//! Listings as text.

use aiperf_host::Role;

use super::{
    columns::aligned,
    view::{EntryView, Status, View},
};

/// Packages, the names of each category, and who was shadowed.
pub(super) fn overview(view: &View) -> String {
    let rows: Vec<_> = view
        .packages
        .iter()
        .map(|package| {
            [
                package.name.clone(),
                package.version.clone(),
                package.form_text(),
                package.entries.to_string(),
                package.declared.clone(),
                package.description.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let mut text = String::from("Packages\n");
    text.push_str(&aligned(
        ["PACKAGE", "VERSION", "FORM", "ENTRIES", "DECLARED", "DESCRIPTION"],
        &rows,
    ));
    text.push_str("\nEntries\n");
    let rows: Vec<_> = Role::ALL
        .into_iter()
        .filter_map(|role| {
            let mut names: Vec<&str> = view.of(role).map(|entry| entry.name.as_str()).collect();
            names.dedup_by_key(|name| name.to_ascii_lowercase().replace('-', "_"));
            (!names.is_empty()).then(|| [role.to_string(), names.join(", ")])
        })
        .collect();
    text.push_str(&aligned(["CATEGORY", "NAMES"], &rows));
    let lost: Vec<&EntryView> = view
        .entries
        .iter()
        .filter(|entry| entry.status != Status::Used || !entry.tags_of_others.is_empty())
        .collect();
    if !lost.is_empty() {
        text.push_str("\nContested names\n");
        text.push_str(&table(lost.iter().flat_map(|lost| {
            view.entries
                .iter()
                .filter(|entry| {
                    entry.category == lost.category && entry.name == lost.name && entry.status == Status::Used
                })
                .filter(|winner| winner.declared != lost.declared)
                .chain([*lost])
        })));
    }
    text.push_str(
        "\n`aiperf plugins CATEGORY` and `aiperf plugins CATEGORY NAME` say more, --all lists every entry,\n\
         --validate opens every package, --plugin-registry FILE adds packages.\n",
    );
    text
}

/// Packages with all that is known of them, and their entries.
pub(super) fn package(view: &View) -> String {
    let mut text = String::new();
    for package in &view.packages {
        text.push_str(&format!("{} {}\n", package.name, package.version));
        let lines = [
            ("description", package.description.clone().unwrap_or_default()),
            ("form", package.form_text()),
            ("file", package.file.clone().unwrap_or_default()),
            ("plugin API", package.api.clone()),
            ("declared", package.declared.clone()),
            ("license", package.license.clone().unwrap_or_default()),
            ("homepage", package.homepage.clone().unwrap_or_default()),
            ("asks for", package.asks_for()),
        ];
        for (label, value) in lines.into_iter().filter(|line| !line.1.is_empty()) {
            text.push_str(&format!("  {:14}{value}\n", format!("{label}:")));
        }
    }
    text.push('\n');
    text.push_str(&entries(view));
    text
}

/// Every entry.
pub(super) fn entries(view: &View) -> String {
    table(view.entries.iter())
}

/// The entries of a category.
pub(super) fn category(view: &View, role: Role) -> String {
    let mut entries = view.of(role).peekable();
    if entries.peek().is_none() {
        return format!("No plugin of category {role} is registered.\n");
    }
    table(entries)
}

fn table<'a>(entries: impl Iterator<Item = &'a EntryView>) -> String {
    let rows: Vec<_> = entries
        .map(|entry| {
            [
                format!("{}/{}", entry.category, entry.name),
                entry.package.clone(),
                entry.priority.to_string(),
                status(entry),
                entry.description.clone(),
            ]
        })
        .collect();
    aligned(["ENTRY", "PACKAGE", "PRIORITY", "STATUS", "DESCRIPTION"], &rows)
}

/// How the entry fared and why.
pub(super) fn status(entry: &EntryView) -> String {
    let status = match entry.status {
        Status::Used => "used",
        Status::Tied => "TIED",
        Status::Shadowed => "shadowed",
    };
    let mut text = match &entry.reason {
        Some(reason) => format!("{status}: {reason}"),
        None => status.to_owned(),
    };
    if !entry.tags_of_others.is_empty() {
        text.push_str(&format!(
            "; where they run, not for {}",
            entry.tags_of_others.join(", ")
        ));
    }
    text
}
