//! Options of every endpoint of this package.

use crate::json::Object;

/// What the core passes, and what a user may add.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    /// Merged over the top level of each body (`--extra-inputs`).
    pub(crate) extra: Object,
    /// `max_tokens` instead of `max_completion_tokens` in chat bodies.
    pub(crate) use_legacy_max_tokens: bool,
    /// Read by the core alone; usage is always reported.
    pub(crate) use_server_token_count: bool,
    /// Asks for usage on each chunk and reports the tokens of the first one.
    pub(crate) per_chunk_usage: bool,
    /// Replaces the endpoint's path; the empty string means the base URL as given.
    pub(crate) custom_path: Option<String>,
    /// A lone text goes as a list of parts too.
    pub(crate) force_content_parts: bool,
}
