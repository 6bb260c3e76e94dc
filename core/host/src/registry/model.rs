//! What a registry file says, once it has been read.

use super::node::Node;
use super::{ApiRange, Position, RegistryError};
use crate::capability::Capability;
use crate::name::{Name, Role};
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a registry file was found; later kinds are the more explicit ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Embedded in the binary.
    BuiltIn,
    /// In the user's data directory.
    Installed(PathBuf),
    /// Named by `AIPERF_PLUGIN_REGISTRY`.
    Environment(PathBuf),
    /// Named by `--plugin-registry`.
    CommandLine(PathBuf),
}

impl Source {
    /// The file, or `built-in registry`.
    pub fn file(&self) -> &Path {
        match self {
            Self::BuiltIn => Path::new("built-in registry"),
            Self::Installed(file) | Self::Environment(file) | Self::CommandLine(file) => file,
        }
    }

    /// Whether this is the registry embedded in the binary.
    pub fn is_builtin(&self) -> bool {
        matches!(self, Self::BuiltIn)
    }

    /// How explicitly the user named the file: a package in a file of higher rank replaces one of the same name.
    pub fn rank(&self) -> u8 {
        match self {
            Self::BuiltIn => 0,
            Self::Installed(_) => 1,
            Self::Environment(_) => 2,
            Self::CommandLine(_) => 3,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file().display())
    }
}

/// One registry file.
#[derive(Debug, Clone)]
pub struct RegistryFile {
    /// Where it was found.
    pub source: Source,
    pub(crate) packages: Vec<Package>,
    pub(crate) entries: Vec<Entry>,
}

impl RegistryFile {
    /// Reads the text of a registry file.
    ///
    /// # Errors
    /// The first thing in the text that the schema does not allow.
    pub fn parse(text: &str, source: Source) -> Result<Self, RegistryError> {
        super::read::registry_file(text, source)
    }

    /// Its packages, in file order.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// Its entries, in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The folder that `library` and `wasm` paths are relative to.
    pub fn folder(&self) -> &Path {
        self.source.file().parent().unwrap_or(Path::new(""))
    }

    /// The package of that name.
    pub fn package(&self, name: &Name) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == *name)
    }
}

/// One library or component with any number of entries.
#[derive(Debug, Clone)]
pub struct Package {
    /// Its name.
    pub name: Name,
    /// Its own version.
    pub version: String,
    /// The plugin API versions it works with.
    pub api: ApiRange,
    /// Where its code is.
    pub form: Form,
    /// What it asks for. Asking grants nothing.
    pub capabilities: Vec<Capability>,
    /// JSON Schema of its options.
    pub(crate) config_schema: Option<SchemaSource>,
    /// Its licence.
    pub license: Option<String>,
    /// Its home page.
    pub homepage: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Where the file declares it.
    pub at: Position,
}

/// Where the JSON Schema of a package is.
#[derive(Debug, Clone)]
pub(crate) enum SchemaSource {
    /// A file, relative to the registry file, and where it is named.
    File { path: PathBuf, at: Position },
    /// In the registry file itself.
    Inline(Node),
}

impl Package {
    /// The file of its JSON Schema, relative to the registry file, if it is one.
    pub fn schema_file(&self) -> Option<&Path> {
        match &self.config_schema {
            Some(SchemaSource::File { path, .. }) => Some(path),
            Some(SchemaSource::Inline(_)) | None => None,
        }
    }
}

/// Where the code of a package is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Linked into the binary under this name.
    Bundled(String),
    /// Native libraries: one for any platform, or one for each target triple.
    Native(Vec<Library>),
    /// A WebAssembly component.
    Wasm {
        /// Relative to the registry file.
        path: PathBuf,
        /// Digest of the file, if declared.
        sha256: Option<Sha256>,
    },
}

impl Form {
    /// `bundled`, `native` or `wasm`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Bundled(_) => "bundled",
            Self::Native(_) => "native",
            Self::Wasm { .. } => "wasm",
        }
    }
}

/// One native library file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The platform; `None` in the short form, which promises nothing about the platform.
    pub target: Option<String>,
    /// Relative to the registry file, never outside its folder.
    pub path: PathBuf,
    /// Digest of the file, if declared.
    pub sha256: Option<Sha256>,
}

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (char::from(pair[0]).to_digit(16)?, char::from(pair[1]).to_digit(16)?);
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One thing a package brings.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is.
    pub role: Role,
    /// Its name, unique within role and file.
    pub name: Name,
    /// The package that brings it, declared in the same file.
    pub package: Name,
    pub(crate) package_index: usize,
    /// What it is for.
    pub description: String,
    /// The higher one wins; 0 unless stated.
    pub priority: i32,
    /// Other names it answers to.
    pub aliases: Vec<Name>,
    /// What happens when it fails.
    pub on_error: OnError,
    /// Facts about the entry that the category defines.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// `metadata.tags` of a metric entry: the metrics it defines. Empty for other categories.
    pub tags: Vec<Name>,
    /// Where the file declares it.
    pub at: Position,
}

/// What happens when an entry fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The request or the run fails.
    Fail,
    /// A counted warning; metrics and exporters only.
    Skip,
}
