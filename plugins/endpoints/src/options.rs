//! What the endpoints of this package are opened with.

use crate::json::Object;

/// The user's options of `chat`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChatOptions {
    /// A lone text goes as a list of parts too.
    pub(crate) force_content_parts: bool,
}

/// What the core passes. Whether token counts are the server's (`use_server_token_count`) is for the core alone: usage is
/// always reported.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Core {
    /// Merged over the top level of each body (`--extra-inputs`).
    pub(crate) extra: Object,
    /// `max_tokens` instead of `max_completion_tokens` in chat bodies.
    pub(crate) use_legacy_max_tokens: bool,
    /// Asks for usage on each chunk and reports the tokens of the first one.
    pub(crate) per_chunk_usage: bool,
    /// Replaces the endpoint's path; the empty string means the base URL as given.
    pub(crate) custom_path: Option<String>,
}
