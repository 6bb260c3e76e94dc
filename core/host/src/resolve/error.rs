//! Why a name cannot be resolved.

use crate::name::{Name, Role};
use std::fmt;
use std::path::PathBuf;

/// One of several entries that claim a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rival {
    /// The entry's own name.
    pub entry: Name,
    /// Its package.
    pub package: Name,
    /// Its priority.
    pub priority: i32,
    /// The registry file that declares it.
    pub file: PathBuf,
    /// The line it stands on.
    pub line: u64,
}

impl fmt::Display for Rival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            package,
            priority,
            file,
            line,
        } = self;
        write!(
            f,
            "`{entry}` of package {package} (priority {priority}, {}:{line})",
            file.display()
        )
    }
}

/// Why a name cannot be resolved, with the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No entry has the name.
    #[error("no {role} plugin is named `{name}`{}", hints(.near, .elsewhere))]
    Unknown {
        /// The role asked for.
        role: Role,
        /// The name asked for.
        name: String,
        /// Names of the role that look like it.
        near: Vec<String>,
        /// Where else the name is known.
        elsewhere: Vec<String>,
    },
    /// Several entries claim the name with equal right.
    #[error(
        "{role}/{name} is claimed with equal priority by {}; give one of them a higher `priority:` in its registry \
         file, or choose with --plugin {role}/{name}={}",
        list(.rivals, " and by "), .rivals.first().map_or("PACKAGE", |rival| rival.package.as_str())
    )]
    Contested {
        /// The role.
        role: Role,
        /// The name or the metric tag.
        name: Name,
        /// The entries that tie.
        rivals: Vec<Rival>,
    },
    /// A name means several entries, because an alias of one equals a name or alias of another.
    #[error("{role}/{name} may mean {}; use the entry's own name", list(.rivals, " or "))]
    Ambiguous {
        /// The role.
        role: Role,
        /// The name asked for.
        name: Name,
        /// The entries it may mean.
        rivals: Vec<Rival>,
    },
    /// Not a pin.
    #[error("--plugin {text}: not of the form category/name=package (such as endpoint/chat=acme-inference)")]
    PinSyntax {
        /// What was written.
        text: String,
    },
    /// The pinned package brings no such entry.
    #[error("--plugin {pin}: package {} brings no such entry; {}", .pin.package, brought_by(.providers))]
    PinUnknown {
        /// The pin.
        pin: Box<super::Pin>,
        /// The packages that do.
        providers: Vec<Name>,
    },
    /// Two pins for one name.
    #[error("--plugin {first} and --plugin {second} contradict each other; keep one")]
    PinTwice {
        /// One pin.
        first: Box<super::Pin>,
        /// The other.
        second: Box<super::Pin>,
    },
}

fn list<T: fmt::Display>(items: &[T], between: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

fn hints(near: &[String], elsewhere: &[String]) -> String {
    let mut text = String::new();
    if !near.is_empty() {
        text = format!("; did you mean {}?", near.join(" or "));
    }
    for place in elsewhere {
        text = format!("{text}; {place}");
    }
    if text.is_empty() {
        text.push_str("; `aiperf plugins --all` lists the names, --plugin-registry FILE adds more");
    }
    text
}

fn brought_by(packages: &[Name]) -> String {
    if packages.is_empty() {
        "no package does: check the category and the name with `aiperf plugins --all`".to_owned()
    } else {
        format!("it is brought by: {}", list(packages, ", "))
    }
}
