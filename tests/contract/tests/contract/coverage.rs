//! `docs/plugins/contract-coverage.md` names every entry of the original.

use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `(category, entries)` per line of the list.
fn listed(list: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| {
        let (category, entries) = line.split_once(':').expect("category: entries");
        (category, entries.split_whitespace().collect())
    })
    .collect()
}

/// The part of the document under the heading that names the category.
fn section<'a>(document: &'a str, category: &str) -> &'a str {
    let heading = format!("`{category}`");
    let mut sections = document.split("\n## ").skip(1);
    sections
        .find(|section| section.lines().next().is_some_and(|title| title.contains(&heading)))
        .unwrap_or_else(|| panic!("no section for {category}"))
}

#[test]
fn every_entry_of_the_original_is_mapped_in_the_section_of_its_category() {
    let (document, list) = (
        read("../../docs/plugins/contract-coverage.md"),
        read("data/entries.txt"),
    );
    let mut missing = Vec::new();
    for (category, entries) in listed(&list) {
        let section = section(&document, category);
        let absent = entries
            .into_iter()
            .filter(|entry| !section.contains(&format!("`{entry}`")));
        missing.extend(absent.map(|entry| format!("{category}/{entry}")));
    }
    assert!(missing.is_empty(), "not in the document: {missing:?}");
}

#[test]
fn the_list_is_complete() {
    // Numbers as the reference states them.
    let list = read("data/entries.txt");
    let count = |wanted| {
        listed(&list)
            .iter()
            .find(|(category, _)| *category == wanted)
            .map(|(_, entries)| entries.len())
    };
    assert_eq!(count("endpoint"), Some(19));
    assert_eq!(count("custom_dataset_loader"), Some(45));
    assert_eq!(count("public_dataset_loader"), Some(42));
    assert_eq!(count("timing_strategy"), Some(5));
    for (category, entries) in listed(&list) {
        let mut unique = entries.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), entries.len(), "{category}");
    }
}
