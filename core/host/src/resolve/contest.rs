//! The rule of precedence for one name.

use crate::name::Name;
use crate::registry::RegistryFile;
use std::fmt;

/// An entry of a registry file, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryRef {
    pub(crate) file: usize,
    pub(crate) entry: usize,
}

/// The entries that claim one name, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contest {
    claims: Vec<(EntryRef, Verdict)>,
}

/// How an entry fared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It answers to the name.
    Won,
    /// It ties with another entry: a run that uses the name stops.
    Tied,
    /// Another has a higher priority.
    LowerPriority {
        /// Its own priority.
        own: i32,
        /// The winner's.
        winner: i32,
    },
    /// Built in, and an external entry of equal priority exists.
    YieldsToExternal,
    /// The user gave the name to another package.
    NotPinned {
        /// The package that got it.
        package: Name,
    },
    /// A more explicitly named file declares the same package.
    PackageReplaced {
        /// That file.
        by: String,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Won => f.write_str("won"),
            Self::Tied => f.write_str("tied at equal priority"),
            Self::LowerPriority { own, winner } => write!(f, "shadowed: priority {own} is below {winner}"),
            Self::YieldsToExternal => f.write_str("shadowed: at equal priority an external entry beats a built-in one"),
            Self::NotPinned { package } => write!(f, "shadowed: --plugin gives the name to package {package}"),
            Self::PackageReplaced { by } => write!(f, "shadowed: {by} declares the same package"),
        }
    }
}

impl Contest {
    /// Decides between `candidates`. `pinned` is the package that shall win, if it is among them.
    pub(super) fn decide(files: &[RegistryFile], candidates: &[EntryRef], pinned: Option<&Name>) -> Self {
        let entry = |r: &EntryRef| &files[r.file].entries[r.entry];
        let external = |r: &EntryRef| !files[r.file].source.is_builtin();
        let (replaced, mut alive): (Vec<EntryRef>, Vec<EntryRef>) = candidates
            .iter()
            .copied()
            .partition(|r| replacement(files, *r).is_some());
        let mut losers = Vec::new();
        if let Some(package) = pinned.filter(|package| alive.iter().any(|r| entry(r).package == **package)) {
            let (chosen, others) = alive.into_iter().partition(|r| entry(r).package == *package);
            alive = chosen;
            losers.extend(others.into_iter().map(|r| {
                (
                    r,
                    Verdict::NotPinned {
                        package: package.clone(),
                    },
                )
            }));
        }
        alive.sort_by_key(|r| (std::cmp::Reverse((entry(r).priority, external(r))), *r));
        let mut claims = Vec::new();
        if let Some(first) = alive.first().copied() {
            let best = (entry(&first).priority, external(&first));
            let ties = alive
                .iter()
                .filter(|r| (entry(r).priority, external(r)) == best)
                .count();
            for (place, r) in alive.into_iter().enumerate() {
                let verdict = match place {
                    _ if place < ties && ties > 1 => Verdict::Tied,
                    0 => Verdict::Won,
                    _ if entry(&r).priority < best.0 => Verdict::LowerPriority {
                        own: entry(&r).priority,
                        winner: best.0,
                    },
                    _ => Verdict::YieldsToExternal,
                };
                claims.push((r, verdict));
            }
        }
        claims.extend(losers);
        for r in replaced {
            let by = replacement(files, r)
                .map(|file| file.source.to_string())
                .unwrap_or_default();
            claims.push((r, Verdict::PackageReplaced { by }));
        }
        Self { claims }
    }

    /// Every entry that claims the name with its verdict, best first.
    pub fn claims(&self) -> &[(EntryRef, Verdict)] {
        &self.claims
    }

    /// The winner; `None` while entries tie, or when every package was replaced.
    pub fn winner(&self) -> Option<EntryRef> {
        self.claims
            .iter()
            .find(|(_, verdict)| *verdict == Verdict::Won)
            .map(|&(r, _)| r)
    }

    /// The entries that tie.
    pub fn tied(&self) -> impl Iterator<Item = EntryRef> + '_ {
        self.claims
            .iter()
            .filter(|(_, verdict)| *verdict == Verdict::Tied)
            .map(|&(r, _)| r)
    }
}

/// The more explicitly named file that declares the package of `claim` anew, if any.
pub(super) fn replacement(files: &[RegistryFile], claim: EntryRef) -> Option<&RegistryFile> {
    let own = &files[claim.file];
    let package = &own.entries[claim.entry].package;
    files.iter().find(|file| {
        !own.source.is_builtin() && file.source.rank() > own.source.rank() && file.package(package).is_some()
    })
}
