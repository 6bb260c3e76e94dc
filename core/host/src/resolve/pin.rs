//! The user's word on who wins: `--plugin category/name=package`.

use super::ResolveError;
use crate::name::{Name, Role};
use std::fmt;

/// Gives a name, an alias or a metric tag to one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The role of the entry.
    pub role: Role,
    /// Its name, an alias of it, or a metric tag.
    pub name: Name,
    /// The package that shall win.
    pub package: Name,
}

impl Pin {
    /// Reads `category/name=package`.
    ///
    /// # Errors
    /// The text has another form or names an unknown category.
    pub fn parse(text: &str) -> Result<Self, ResolveError> {
        let read = || {
            let (entry, package) = text.split_once('=')?;
            let (role, name) = entry.split_once('/')?;
            Some(Self {
                role: Role::parse(role)?,
                name: Name::parse(name)?,
                package: Name::parse(package)?,
            })
        };
        read().ok_or_else(|| ResolveError::PinSyntax { text: text.to_owned() })
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}={}", self.role, self.name, self.package)
    }
}
