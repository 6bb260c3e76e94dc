//! Every dependency may be used under a licence that `deny.toml` allows.

#![expect(clippy::expect_used, reason = "tests and their helpers")]

use std::fs;
use std::path::Path;

use cargo_metadata::MetadataCommand;
use spdx::{Expression, LicenseReq, Licensee, ParseMode};

/// The licences under `[licenses] allow`.
fn allowed() -> Vec<Licensee> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    let text = fs::read_to_string(path).expect("deny.toml");
    let list = text.split("allow = [").nth(1).and_then(|rest| rest.split(']').next());
    let lines = list.expect("a list").lines().map(str::trim);
    let named = lines.filter_map(|line| line.strip_prefix('"')?.split('"').next());
    named.map(|name| Licensee::parse(name).expect(name)).collect()
}

#[test]
fn every_dependency_has_an_allowed_one() {
    let allowed = allowed();
    assert!(allowed.len() > 5);
    let allows = |required: &LicenseReq| allowed.iter().any(|licensee| licensee.satisfies(required));
    let metadata = MetadataCommand::new().exec().expect("cargo metadata runs");
    let foreign = metadata.packages.iter().filter(|package| package.source.is_some());
    let mut faults = Vec::new();
    let mut seen = 0;
    for package in foreign {
        seen += 1;
        let text = package.license.as_deref().unwrap_or("none is stated");
        // `MIT/Apache-2.0` is an old way to write `OR`.
        let licence = Expression::parse_mode(text, ParseMode::LAX);
        if !licence.is_ok_and(|licence| licence.evaluate(allows)) {
            faults.push(format!("{} {}: {text}", package.name, package.version));
        }
    }
    assert!(seen > 100, "{seen} dependencies");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_not_allowed_is_found() {
    let allowed = allowed();
    let allows = |required: &LicenseReq| allowed.iter().any(|licensee| licensee.satisfies(required));
    for (text, expected) in [
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-3.0-only", false),
        ("(Apache-2.0 OR GPL-2.0-only) AND Unicode-3.0", true),
    ] {
        let licence = Expression::parse(text).expect(text);
        assert_eq!(licence.evaluate(allows), expected, "{text}");
    }
}
