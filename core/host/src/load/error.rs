//! Why a package cannot be opened.

use crate::name::Name;
use crate::registry::{ApiRange, RegistryError, Sha256};
use aiperf_plugin_api::record::ApiVersion;
use std::fmt;
use std::path::PathBuf;

/// A package that cannot be opened: what, where, which versions met, why, and what to do.
#[derive(Debug, Clone)]
pub struct LoadError {
    /// The package.
    pub package: Name,
    /// Its version according to the registry file.
    pub version: String,
    /// The registry file and line that declare it.
    pub declared: String,
    /// The library, where one is meant.
    pub library: Option<PathBuf>,
    /// The entry that was asked for (`endpoint/chat`), if it was one.
    pub entry: Option<String>,
    /// What went wrong.
    pub cause: LoadCause,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot open plugin package {} {}", self.package, self.version)?;
        if let Some(entry) = &self.entry {
            write!(f, " for {entry}")?;
        }
        write!(f, ": {}", self.cause)?;
        if let Some(library) = &self.library {
            write!(f, "\n  file: {}", library.display())?;
        }
        write!(f, "\n  declared: {}", self.declared)?;
        write!(f, "\n  likely cause: {}", self.cause.likely())?;
        write!(f, "\n  next: {}", self.cause.remedy())
    }
}

impl std::error::Error for LoadError {}

/// What went wrong while a package was being opened.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadCause {
    /// The file cannot be read.
    #[error("the file cannot be read: {message}")]
    Unreadable {
        /// What the system said.
        message: String,
    },
    /// A symbolic link leads out of the folder of the registry file.
    #[error("the file lies outside the folder of its registry file, at {}", .found.display())]
    OutsideFolder {
        /// Where it really is.
        found: PathBuf,
    },
    /// The package has no library for this platform.
    #[error("no library for {host}; the package has: {}", .available.join(", "))]
    NoTarget {
        /// The target triple of this program.
        host: String,
        /// Those the package has.
        available: Vec<String>,
    },
    /// The file is something else.
    #[error("the file is not a shared library but {found}")]
    NotALibrary {
        /// What it is.
        found: String,
    },
    /// The library is for another operating system or processor.
    #[error("the library is for another platform: {found}; this aiperf runs on {host}")]
    OtherPlatform {
        /// Its platform.
        found: String,
        /// The platform of this program.
        host: String,
    },
    /// The library is cut short or garbled.
    #[error("the file is incomplete or damaged: {detail}")]
    Damaged {
        /// What the reader of the format said.
        detail: String,
    },
    /// A shared library, but no plugin.
    #[error("the library has no aiperf version record")]
    NoRecord,
    /// Another major version of the contract.
    #[error("the library speaks plugin API {plugin}, this aiperf {host}")]
    ApiMajor {
        /// The library's version.
        plugin: ApiVersion,
        /// Ours.
        host: ApiVersion,
    },
    /// The registry file excludes the API version of this program.
    #[error("the package works with plugin API {range}, this aiperf speaks {host}")]
    ApiRange {
        /// The declared range.
        range: ApiRange,
        /// Our version.
        host: ApiVersion,
    },
    /// Same major version, yet the types do not fit.
    #[error(
        "the library's types do not fit: {difference}; it was built for plugin API {plugin}, this aiperf speaks {host}"
    )]
    Layout {
        /// The library's version.
        plugin: ApiVersion,
        /// Ours.
        host: ApiVersion,
        /// The first difference, in one line.
        difference: String,
        /// The full comparison, for a file rather than a screen.
        dump: String,
    },
    /// The bytes are not the declared ones.
    #[error("SHA-256 is {found}, the registry file declares {declared}")]
    Digest {
        /// The declared digest.
        declared: Sha256,
        /// The file's.
        found: Sha256,
    },
    /// The verified bytes cannot be put where the loader can see them.
    #[error("a sealed copy of the verified library cannot be made: {message}")]
    Seal {
        /// What the system said.
        message: String,
    },
    /// The dynamic loader refused.
    #[error("the dynamic loader refused it: {message}")]
    Dynamic {
        /// What the loader said.
        message: String,
    },
    /// The library exports no root module.
    #[error("the library exports no plugin root")]
    MissingSymbol,
    /// Built with another base of the ABI.
    #[error("the library was built on another ABI base: {message}")]
    AbiBase {
        /// What differs.
        message: String,
    },
    /// The library's own initialisation failed.
    #[error("it failed to start: {message}")]
    Start {
        /// What it said.
        message: String,
    },
    /// The file and the library disagree.
    #[error("the registry file and the library disagree: {}", .differences.join("; "))]
    Declaration {
        /// One sentence each.
        differences: Vec<String>,
    },
    /// No such package in the binary.
    #[error("this aiperf has no bundled package `{name}`; it has: {}", .available.join(", "))]
    NotBundled {
        /// The name asked for.
        name: String,
        /// Those it has.
        available: Vec<String>,
    },
    /// The schema of its options is broken.
    #[error("its config_schema cannot be used: {error}")]
    ConfigSchema {
        /// What is wrong, and where.
        error: Box<RegistryError>,
    },
    /// The file is no component.
    #[error("the file is not a WebAssembly component but {found}")]
    NotAComponent {
        /// What it is.
        found: String,
    },
    /// A component, but no plugin.
    #[error("the component exports no interface of aiperf:plugin")]
    NoInterface,
    /// The component wants what is given to no plugin.
    #[error("the component asks for {}; plugins get the services of aiperf:plugin and nothing else", .imports.join(", "))]
    Demands {
        /// The interfaces.
        imports: Vec<String>,
    },
    /// The component cannot be compiled.
    #[error("the component cannot be compiled: {message}")]
    Compile {
        /// What the compiler said.
        message: String,
    },
    /// The component's interfaces are not those of this program.
    #[error("the component does not fit the interfaces of this aiperf: {message}")]
    Link {
        /// What differs.
        message: String,
    },
    /// `--wasm-only` was given.
    #[error("it is native code, and --wasm-only refuses native packages")]
    NativeRefused,
}

impl LoadCause {
    /// The most likely reason.
    pub fn likely(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "the package is incompletely installed, or its files may not be read",
            Self::OutsideFolder { .. } => "a symbolic link; a package may only load files beside its registry file",
            Self::NoTarget { .. } => "the vendor does not build for this platform",
            Self::NotALibrary { .. } => "the `library:` path names the wrong file, or a download failed",
            Self::OtherPlatform { .. } => "the `library:` path names the build for another machine",
            Self::Damaged { .. } => "a download or copy was cut short",
            Self::NoRecord => "the file is a program or a library of another kind, or it lacks the SDK's `export!`",
            Self::ApiMajor { plugin, host } if plugin.major > host.major => "the plugin is newer than this aiperf",
            Self::ApiMajor { .. } => "the plugin is older than this aiperf",
            Self::ApiRange { .. } => "the package was released for other versions of aiperf",
            Self::Layout { .. } => "the plugin was built against a changed copy of the plugin API",
            Self::Digest { .. } => "the file was replaced or damaged after its digest was written down",
            Self::Seal { .. } => "memory files are forbidden or exhausted on this machine",
            Self::Dynamic { .. } => "a library that the plugin needs is missing or too old (glibc, for one)",
            Self::MissingSymbol => "the library was stripped of its exports, or lacks the SDK's `export!`",
            Self::AbiBase { .. } => "the plugin was built with another version of abi_stable",
            Self::Start { .. } => "a fault in the plugin",
            Self::Declaration { .. } => "the registry file belongs to another version of the library",
            Self::NotBundled { .. } => "the built-in registry names a package that this build leaves out",
            Self::ConfigSchema { .. } => "a mistake in the package's schema",
            Self::NotAComponent { .. } => {
                "the `wasm:` path names the wrong file, or the module was built without the SDK"
            }
            Self::NoInterface => "a component made for another program",
            Self::Demands { .. } => {
                "it was built for a WASI target, where the standard library asks for files and clocks"
            }
            Self::Compile { .. } => "a damaged component, or one made to be costly to compile",
            Self::Link { .. } => "the component was built against a changed or newer copy of the interfaces",
            Self::NativeRefused => "--wasm-only, or `wasm_only` in the configuration",
        }
    }

    /// What to do next.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } | Self::Damaged { .. } => "install the package again",
            Self::OutsideFolder { .. } => "copy the library into the folder of the registry file",
            Self::NoTarget { .. } | Self::OtherPlatform { .. } => "get the package for this platform from its vendor",
            Self::NotALibrary { .. } => "correct `library:` in the registry file, or install the package again",
            Self::NoRecord | Self::MissingSymbol => "run `aiperf plugins validate FILE`; rebuild with the SDK",
            Self::ApiMajor { plugin, host } if plugin.major > host.major => "update aiperf, or use an older package",
            Self::ApiMajor { .. } | Self::ApiRange { .. } => "update the package, or use an aiperf it works with",
            Self::Layout { .. } | Self::AbiBase { .. } => "rebuild the plugin with the released SDK",
            Self::Digest { .. } => "install the package again; do not run it before the digests agree",
            Self::Seal { .. } => "allow memfd_create, or remove `sha256:` if you trust the file",
            Self::Dynamic { .. } => "install what the message names, or get a build for this system",
            Self::Start { .. } => "report it to the package's vendor",
            Self::Declaration { .. } => "correct the registry file; `aiperf plugins validate FILE` checks it",
            Self::NotBundled { .. } => "use a complete build of aiperf",
            Self::ConfigSchema { .. } => "correct the schema, or get a newer package from its vendor",
            Self::NotAComponent { .. } => {
                "correct `wasm:` in the registry file; build with the SDK for wasm32-unknown-unknown"
            }
            Self::NoInterface => "build it with the SDK, or against the files in plugin-api/wit",
            Self::Demands { .. } => "build for wasm32-unknown-unknown; in Python, with `componentize-py --stub-wasi`",
            Self::Compile { .. } => {
                "report it to the package's vendor; if it is only large, --wasm-compile-timeout gives it more seconds"
            }
            Self::Link { .. } => "rebuild the plugin with the released SDK, or update aiperf",
            Self::NativeRefused => "choose a WebAssembly package, or drop --wasm-only if you trust this one",
        }
    }
}
