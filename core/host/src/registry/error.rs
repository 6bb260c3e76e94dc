//! What can be wrong with a registry file.

use std::fmt;
use std::path::PathBuf;

/// Line and column in a file, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A registry file that cannot be used, with the place and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError {
    /// The file; `built-in registry` for the embedded one.
    pub file: PathBuf,
    /// Where in the file, unless the file as a whole is meant.
    pub position: Option<Position>,
    /// The field as a dotted path, such as `endpoint.chat.priority`; empty for the whole file.
    pub field: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub help: String,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(position) = self.position {
            write!(f, ":{position}")?;
        }
        f.write_str(": ")?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        // Quoted text of the file may hold line breaks; the message is one line.
        write!(f, "{}; {}", self.problem.replace(['\n', '\r'], " "), self.help)
    }
}

impl std::error::Error for RegistryError {}
