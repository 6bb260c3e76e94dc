//! The component specification and the suite name the same requirements.

use std::collections::BTreeSet;

use aiperf_conformance::requirements;

const SPECIFICATION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/plugins/component-specification.md"
);

/// Requirements of the document: rows of tables, `| EP-1 | MUST | … | \`endpoint.describe\` |`.
fn documented(text: &str) -> BTreeSet<(String, String, String)> {
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let [id, level, .., case] = cells.as_slice() else {
                return None;
            };
            let number = id.split_once('-')?.1;
            number.parse::<u32>().ok()?;
            Some(((*id).to_owned(), (*level).to_owned(), case.trim_matches('`').to_owned()))
        })
        .collect()
}

#[test]
fn every_requirement_is_documented_and_every_documented_one_is_executed() {
    let text = std::fs::read_to_string(SPECIFICATION).unwrap();
    let executed: BTreeSet<_> = requirements()
        .map(|one| (one.id.to_owned(), one.level.to_string(), one.case.to_owned()))
        .collect();
    let documented = documented(&text);
    let only = |one: &BTreeSet<_>, other: &BTreeSet<_>| one.difference(other).cloned().collect::<Vec<_>>();
    assert_eq!(only(&executed, &documented), [], "not in the specification");
    assert_eq!(only(&documented, &executed), [], "not in the suite");
}

#[test]
fn rows_of_requirements_are_told_from_others() {
    let text = "| EP-1 | MUST | a | `endpoint.a` |\n| id | level | text | case |\n|---|---|---|---|\nEP-2 is text\n";
    let expected = ("EP-1".to_owned(), "MUST".to_owned(), "endpoint.a".to_owned());
    assert_eq!(documented(text), BTreeSet::from([expected]));
}
