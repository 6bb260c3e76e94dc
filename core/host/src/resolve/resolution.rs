//! The outcome of resolving, and look-ups in it.

use super::contest::{Contest, EntryRef, replacement};
use super::error::{ResolveError, Rival};
use super::pin::Pin;
use crate::name::{Name, Role, near};
use crate::registry::{Entry, Package, RegistryFile};
use std::collections::{BTreeMap, BTreeSet};

/// Who wins which name, over all registry files.
#[derive(Debug)]
pub struct Resolution {
    files: Vec<RegistryFile>,
    pins: Vec<Pin>,
    contests: BTreeMap<(Role, Name), Contest>,
    aliases: BTreeMap<(Role, Name), BTreeSet<Name>>,
}

/// Decides every name of `files` (built-in first).
///
/// # Errors
/// A pin that cannot take effect. Names that nobody uses never fail.
pub fn resolve(files: Vec<RegistryFile>, pins: Vec<Pin>) -> Result<Resolution, ResolveError> {
    let mut candidates: BTreeMap<(Role, Name), Vec<EntryRef>> = BTreeMap::new();
    let mut aliases: BTreeMap<(Role, Name), BTreeSet<Name>> = BTreeMap::new();
    for (file, registry) in files.iter().enumerate() {
        for (index, entry) in registry.entries.iter().enumerate() {
            let claim = EntryRef { file, entry: index };
            candidates
                .entry((entry.role, entry.name.clone()))
                .or_default()
                .push(claim);
            for alias in &entry.aliases {
                aliases
                    .entry((entry.role, alias.clone()))
                    .or_default()
                    .insert(entry.name.clone());
            }
        }
    }
    let mut resolution = Resolution {
        files,
        pins: Vec::new(),
        contests: BTreeMap::new(),
        aliases,
    };
    for pin in pins {
        resolution.accept(pin, &candidates)?;
    }
    for ((role, name), claims) in candidates {
        let contest = Contest::decide(&resolution.files, &claims, resolution.pinned(role, &name));
        resolution.contests.insert((role, name), contest);
    }
    Ok(resolution)
}

impl Resolution {
    /// Checks a pin and keeps it under the entry's own name.
    fn accept(&mut self, mut pin: Pin, candidates: &BTreeMap<(Role, Name), Vec<EntryRef>>) -> Result<(), ResolveError> {
        let own_names = self.aliases.get(&(pin.role, pin.name.clone()));
        if let (Some(own), false) = (own_names, candidates.contains_key(&(pin.role, pin.name.clone()))) {
            let of_package = own.iter().find(|name| {
                let claims = candidates.get(&(pin.role, (*name).clone()));
                claims.is_some_and(|claims| claims.iter().any(|&claim| self.entry(claim).package == pin.package))
            });
            if let Some(name) = of_package {
                pin.name = name.clone();
            }
        }
        if self.pinned_entries(&pin).next().is_none() {
            let providers: BTreeSet<Name> = self
                .entries(pin.role)
                .filter(|&claim| self.entry(claim).name == pin.name || self.entry(claim).tags.contains(&pin.name))
                .map(|claim| self.entry(claim).package.clone())
                .collect();
            return Err(ResolveError::PinUnknown {
                pin: Box::new(pin),
                providers: providers.into_iter().collect(),
            });
        }
        let earlier = self
            .pins
            .iter()
            .find(|other| other.role == pin.role && other.name == pin.name);
        match earlier {
            Some(first) if first.package != pin.package => Err(ResolveError::PinTwice {
                first: Box::new(first.clone()),
                second: Box::new(pin),
            }),
            Some(_) => Ok(()),
            None => {
                self.pins.push(pin);
                Ok(())
            }
        }
    }

    /// The entries that a pin is about.
    pub(super) fn pinned_entries<'a>(&'a self, pin: &'a Pin) -> impl Iterator<Item = EntryRef> + 'a {
        self.entries(pin.role).filter(|&claim| {
            let entry = self.entry(claim);
            entry.package == pin.package
                && (entry.name == pin.name || entry.tags.contains(&pin.name))
                && replacement(&self.files, claim).is_none()
        })
    }

    /// The package that the user gave the name to.
    pub(super) fn pinned(&self, role: Role, name: &Name) -> Option<&Name> {
        self.pins
            .iter()
            .find(|pin| pin.role == role && pin.name == *name)
            .map(|pin| &pin.package)
    }

    /// The pins in force, each under the entry's own name or a metric tag.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// The registry files, the built-in one first.
    pub fn files(&self) -> &[RegistryFile] {
        &self.files
    }

    /// The registry file of an entry.
    pub fn file(&self, entry: EntryRef) -> &RegistryFile {
        &self.files[entry.file]
    }

    /// What the registry says about an entry.
    pub fn entry(&self, entry: EntryRef) -> &Entry {
        &self.files[entry.file].entries[entry.entry]
    }

    /// The package of an entry.
    pub fn package(&self, entry: EntryRef) -> &Package {
        &self.files[entry.file].packages[self.entry(entry).package_index]
    }

    /// Every entry of a role, winners or not, in file order.
    pub fn entries(&self, role: Role) -> impl Iterator<Item = EntryRef> + '_ {
        self.files.iter().enumerate().flat_map(move |(file, registry)| {
            let of_role = move |(_, entry): &(usize, &Entry)| entry.role == role;
            registry
                .entries
                .iter()
                .enumerate()
                .filter(of_role)
                .map(move |(entry, _)| EntryRef { file, entry })
        })
    }

    /// The names of a role with the contest for each, in alphabetical order.
    pub fn names(&self, role: Role) -> impl Iterator<Item = (&Name, &Contest)> + '_ {
        self.contests
            .iter()
            .filter(move |((of, _), _)| *of == role)
            .map(|((_, name), contest)| (name, contest))
    }

    /// The contest for an entry's own name.
    pub fn contest(&self, role: Role, name: &Name) -> Option<&Contest> {
        self.contests.get(&(role, name.clone()))
    }

    /// The entry that answers to `name`: an entry's own name, an alias, or (for metrics) a tag.
    ///
    /// # Errors
    /// No entry answers to it, several tie, or an alias makes it ambiguous.
    pub fn find(&self, role: Role, name: &str) -> Result<EntryRef, ResolveError> {
        let unknown = || self.unknown(role, name);
        let asked = Name::parse(name).ok_or_else(unknown)?;
        let key = (role, asked.clone());
        let mut meanings: BTreeSet<&Name> = self.aliases.get(&key).into_iter().flatten().collect();
        if let Some((own, _)) = self.contests.get_key_value(&key) {
            meanings.insert(&own.1);
        }
        let meanings: Vec<&Name> = meanings.into_iter().collect();
        match meanings.as_slice() {
            [] if role == Role::Metric => self.tag_winner(&asked)?.ok_or_else(unknown),
            [] => Err(unknown()),
            [own] => match self.contest(role, own) {
                Some(contest) => self.judged(role, own, contest),
                None => Err(unknown()),
            },
            _ => {
                let rivals = meanings.iter().filter_map(|own| self.contest(role, own));
                let rivals = rivals
                    .flat_map(|contest| contest.claims().first())
                    .map(|(claim, _)| self.rival(*claim));
                Err(ResolveError::Ambiguous {
                    role,
                    name: asked,
                    rivals: rivals.collect(),
                })
            }
        }
    }

    /// The winner of a contest, or the error that names those who tie.
    pub(super) fn judged(&self, role: Role, name: &Name, contest: &Contest) -> Result<EntryRef, ResolveError> {
        contest.winner().ok_or_else(|| {
            let rivals: Vec<Rival> = contest.tied().map(|claim| self.rival(claim)).collect();
            if rivals.is_empty() {
                self.unknown(role, name.as_str())
            } else {
                ResolveError::Contested {
                    role,
                    name: name.clone(),
                    rivals,
                }
            }
        })
    }

    fn rival(&self, claim: EntryRef) -> Rival {
        let entry = self.entry(claim);
        Rival {
            entry: entry.name.clone(),
            package: entry.package.clone(),
            priority: entry.priority,
            file: self.file(claim).source.file().to_owned(),
            line: entry.at.line,
        }
    }

    fn unknown(&self, role: Role, name: &str) -> ResolveError {
        let of_role = |key: &&(Role, Name)| key.0 == role;
        let own = self.contests.keys().filter(of_role).map(|key| key.1.as_str());
        let aliases = self.aliases.keys().filter(of_role).map(|key| key.1.as_str());
        let tags = self
            .entries(role)
            .flat_map(|claim| self.entry(claim).tags.iter())
            .map(Name::as_str);
        let near = near(name, own.chain(aliases).chain(tags));
        let mut elsewhere = Vec::new();
        if let Some(asked) = Name::parse(name) {
            for other in Role::ALL.into_iter().filter(|&other| other != role) {
                let found = self.entries(other).find(|&claim| {
                    let entry = self.entry(claim);
                    entry.name == asked || entry.aliases.contains(&asked)
                });
                if let Some(claim) = found {
                    elsewhere.push(format!("package {} brings {other}/{asked}", self.entry(claim).package));
                }
            }
            let of_package = |claim: &EntryRef| self.entry(*claim).package == asked;
            let brought: Vec<&str> = self
                .entries(role)
                .filter(of_package)
                .map(|claim| self.entry(claim).name.as_str())
                .collect();
            if !brought.is_empty() {
                elsewhere.push(format!("package {asked} brings {}", brought.join(", ")));
            }
        }
        ResolveError::Unknown {
            role,
            name: name.to_owned(),
            near,
            elsewhere,
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
