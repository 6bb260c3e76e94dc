//! What a family says it is.

use std::collections::HashSet;

use serde_json::Value;

use crate::{bench::Bench, case::Verdict, text::is_name};

pub(super) fn stable(bench: &Bench) -> Verdict {
    let one = bench.metric()?;
    let family = one.describe()?;
    let again = one.describe()?;
    ensure!(again == family, "asked again, it says {again:?}\ninstead of {family:?}");
    let other = bench.metric()?.describe()?;
    ensure!(
        other == family,
        "another instance says {other:?}\ninstead of {family:?}"
    );
    Ok(())
}

pub(super) fn specs(bench: &Bench) -> Verdict {
    let family = bench.metric()?.describe()?;
    ensure!(!family.metrics.is_empty(), "the family has no metric");
    let declared = bench.subject.metadata.get("tags").and_then(Value::as_array);
    let mut tags = HashSet::new();
    for spec in &family.metrics {
        let tag = spec.tag.as_str();
        ensure!(is_name(tag), "{tag:?} is no tag: lower case, digits and `_` make one");
        ensure!(tags.insert(tag), "the tag `{tag}` is used twice");
        ensure!(!spec.header.trim().is_empty(), "`{tag}` has no header");
        ensure!(!spec.unit.trim().is_empty(), "`{tag}` has no unit");
        ensure!(!spec.group.trim().is_empty(), "`{tag}` has no console group");
        if let Some(declared) = declared {
            ensure!(
                declared.iter().any(|one| one.as_str() == Some(tag)),
                "`{tag}` is missing in the `metadata.tags` of the registry file, so it can't be found"
            );
        }
    }
    for needs in [&family.needs, &family.derive_needs] {
        let mut known = HashSet::new();
        for need in needs {
            ensure!(!need.trim().is_empty(), "a need has no name");
            ensure!(known.insert(need.as_str()), "`{need}` is needed twice");
        }
    }
    Ok(())
}
