//! Opening entries. The host adds the user's options to what the core passes.

use std::sync::Arc;

use aiperf_config::RunPlan;
use aiperf_host::{HostError, PluginHost, Role, resolve::EntryRef, resolve::ResolveError};
use aiperf_http::TargetError;
use aiperf_plugin_api::PluginError;
use aiperf_records::catalogue::CatalogueError;
use serde_json::{Map, Value};

use crate::{
    dataset::DatasetError,
    processor::families::Circle,
    records_manager::{ArtifactError, exporters::ExportError},
    services::{PluginRequests, Services, SharedTokenizer},
};

/// A run can't be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A name that leads to no entry, a package that can't be opened, or a plugin that refuses.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A plugin fails.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The dataset can't be prepared.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Two metrics collide, or the like.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Families need each other.
    #[error(transparent)]
    Circle(#[from] Circle),
    /// A URL can't be used.
    #[error("--url {0}")]
    Url(#[from] TargetError),
    /// An artifact can't be written.
    #[error("--artifact-dir: {0}")]
    Artifact(#[from] ArtifactError),
    /// An exporter asks for a file that it can't have.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A flag that this run can't follow.
    #[error("{flag}: {problem}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A file that https needs can't be used.
    #[error(transparent)]
    Tls(#[from] aiperf_http::TlsError),
    /// An option for an entry that this run does not use.
    #[error(
        "--plugin-opt {entry}.{key} has no effect: this run does not use {entry}; name it where the run chooses (--metric, \
         --exporter, --timing, --endpoint-type, ...), or leave the option out"
    )]
    UnusedOption {
        /// `category/name`.
        entry: String,
        /// The option.
        key: String,
    },
    /// The tokenizer can't be loaded.
    #[error("--tokenizer: {0}")]
    Tokenizer(String),
    /// The system refuses something.
    #[error("a service can't be started: {0}")]
    Start(#[from] std::io::Error),
}

impl From<ResolveError> for SetupError {
    fn from(error: ResolveError) -> Self {
        Self::Host(error.into())
    }
}

impl SetupError {
    /// A plugin can't be loaded or has failed; else the input is at fault.
    pub fn is_plugin(&self) -> bool {
        use aiperf_plugin_api::ErrorKind::{Breach, Failed, InvalidInput, InvalidOptions, Panicked, Unsupported};
        let at_fault = |error: &PluginError| match error.kind {
            Panicked | Breach | Failed | Unsupported => true,
            InvalidOptions | InvalidInput => false,
        };
        match self {
            Self::Host(HostError::Load(_)) | Self::Circle(_) | Self::Catalogue(_) => true,
            Self::Dataset(DatasetError::Endless(_)) => true,
            Self::Export(error) => error.is_plugin(),
            Self::Host(HostError::Plugin(error)) | Self::Plugin(error) | Self::Dataset(DatasetError::Plugin(error)) => {
                at_fault(error)
            }
            _ => false,
        }
    }

    /// What the user can do, where the message does not say it.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Host(HostError::Plugin(error)) | Self::Plugin(error) | Self::Dataset(DatasetError::Plugin(error)) => {
                error.help.as_deref()
            }
            _ => None,
        }
    }
}

/// Opens entries for a run.
pub struct Opener<'a> {
    /// The plan.
    pub plan: &'a RunPlan,
    /// The host.
    pub host: &'a PluginHost,
    /// The tokenizer.
    pub tokenizer: Arc<SharedTokenizer>,
    /// Seed that all streams derive from.
    pub seed: u64,
    /// What the host does for plugins that were granted it.
    pub requests: Arc<PluginRequests>,
}

impl Opener<'_> {
    /// The entry of a name.
    ///
    /// # Errors
    /// When the name leads to none.
    pub fn find(&self, role: Role, name: &str) -> Result<EntryRef, SetupError> {
        Ok(self.host.resolution().find(role, name)?)
    }

    /// Metadata of an entry.
    pub fn metadata(&self, entry: EntryRef) -> &Map<String, Value> {
        &self.host.resolution().entry(entry).metadata
    }

    /// A yes-or-no fact of an entry's metadata; `false` if it isn't stated.
    pub fn fact(&self, entry: EntryRef, key: &str) -> bool {
        self.metadata(entry).get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Checks that each option of the user's has found its entry. For the time when all have been opened.
    ///
    /// # Errors
    /// Names the first that has not.
    pub fn check_options(&self) -> Result<(), SetupError> {
        match self.host.unused_option() {
            None => Ok(()),
            Some((entry, key)) => Err(SetupError::UnusedOption {
                entry: entry.to_owned(),
                key: key.to_owned(),
            }),
        }
    }

    /// Services for an instance of an entry.
    pub fn services(&self, entry: EntryRef) -> Services {
        let declared = self.host.resolution().entry(entry);
        Services::new(
            format!("{}/{}", declared.role, declared.name),
            self.tokenizer.clone(),
            self.seed,
            self.requests.clone(),
        )
    }
}
