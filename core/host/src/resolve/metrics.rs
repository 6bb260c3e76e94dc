//! Metrics: the contest is about each tag, among the families a run uses.

use super::contest::{Contest, EntryRef};
use super::error::ResolveError;
use super::resolution::Resolution;
use crate::name::{Name, Role};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a metric family that a run takes from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricShare {
    /// The family.
    pub entry: EntryRef,
    /// The tags it won, in the order it lists them; empty if others define all of them.
    pub tags: Vec<Name>,
}

impl Resolution {
    /// The metric families of a run and the tags each of them defines: all built-in ones, those in `named` (names,
    /// aliases or tags), and those that a pin gives a tag to.
    ///
    /// # Errors
    /// A name that cannot be resolved, or a tag that two of these families define with equal right.
    pub fn metrics(&self, named: &[&str]) -> Result<Vec<MetricShare>, ResolveError> {
        let mut used: BTreeSet<EntryRef> = self
            .entries(Role::Metric)
            .filter(|&family| self.file(family).source.is_builtin())
            .collect();
        for name in named {
            used.insert(self.find(Role::Metric, name)?);
        }
        for pin in self.pins().iter().filter(|pin| pin.role == Role::Metric) {
            used.extend(self.pinned_entries(pin));
        }
        let mut claims: BTreeMap<&Name, Vec<EntryRef>> = BTreeMap::new();
        for &family in &used {
            for tag in &self.entry(family).tags {
                claims.entry(tag).or_default().push(family);
            }
        }
        let mut won: BTreeMap<&Name, EntryRef> = BTreeMap::new();
        for (tag, families) in claims {
            won.insert(tag, self.judged(Role::Metric, tag, &self.tag_contest(tag, &families))?);
        }
        let share = |entry| {
            let tags = self
                .entry(entry)
                .tags
                .iter()
                .filter(|tag| won.get(tag) == Some(&entry))
                .cloned()
                .collect();
            MetricShare { entry, tags }
        };
        Ok(used.into_iter().map(share).collect())
    }

    /// The family that defines `tag`, over all families; `None` if none does.
    pub(super) fn tag_winner(&self, tag: &Name) -> Result<Option<EntryRef>, ResolveError> {
        let families: Vec<EntryRef> = self
            .entries(Role::Metric)
            .filter(|&family| self.entry(family).tags.contains(tag))
            .collect();
        if families.is_empty() {
            return Ok(None);
        }
        self.judged(Role::Metric, tag, &self.tag_contest(tag, &families))
            .map(Some)
    }

    /// A pin may name the tag or the family: the one for the tag is the more precise.
    fn tag_contest(&self, tag: &Name, families: &[EntryRef]) -> Contest {
        let by_tag = self.pinned(Role::Metric, tag);
        let by_family = || {
            families
                .iter()
                .find_map(|&family| self.pinned(Role::Metric, &self.entry(family).name))
        };
        Contest::decide(self.files(), families, by_tag.or_else(by_family))
    }
}
