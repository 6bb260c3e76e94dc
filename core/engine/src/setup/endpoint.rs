//! The endpoint of a run.

use std::sync::Arc;

use aiperf_host::{EndpointHandle, Role, resolve::EntryRef};
use aiperf_plugin_api::{Endpoint, endpoint::EndpointDescription};
use serde_json::{Value, json};

use super::{Opener, SetupError};

/// What the run's endpoint is.
pub struct EndpointSetup {
    entry: EntryRef,
    /// What the core passes.
    core: String,
    /// What the plugin says.
    pub description: EndpointDescription,
    /// One instance, for everything but workers.
    pub handle: EndpointHandle,
    /// Responses are streamed.
    pub streaming: bool,
    /// It produces tokens.
    pub produces_tokens: bool,
    /// It tokenizes its input.
    pub tokenizes_input: bool,
    /// It sends system messages.
    pub system_message: bool,
    /// It may answer an exchange with another request.
    pub polls: bool,
    /// Title of its tables.
    pub title: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl EndpointSetup {
    /// Opens the plan's endpoint.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn open(opener: &Opener<'_>) -> Result<Self, SetupError> {
        let plan = &opener.plan.endpoint;
        let entry = opener.find(Role::Endpoint, &plan.endpoint_type)?;
        let core = json!({
            "extra": plan.extra,
            "use_legacy_max_tokens": plan.legacy_max_tokens,
            "use_server_token_count": plan.use_server_token_count,
            "per_chunk_usage": plan.per_chunk_usage,
            "custom_path": plan.custom_path,
        })
        .to_string();
        let handle = opener
            .host
            .open_endpoint(entry, &core, Arc::new(opener.services(entry)))?;
        let description = handle.describe()?;
        let can_stream = opener.fact(entry, "supports_streaming");
        let mut warnings = Vec::new();
        if plan.streaming && !can_stream {
            warnings.push(format!(
                "--streaming has no effect: the endpoint `{}` does not stream",
                plan.endpoint_type
            ));
        }
        let title = opener
            .metadata(entry)
            .get("metrics_title")
            .and_then(Value::as_str)
            .unwrap_or("Metrics")
            .to_owned();
        Ok(Self {
            description,
            handle,
            streaming: plan.streaming && can_stream,
            produces_tokens: opener.fact(entry, "produces_tokens"),
            tokenizes_input: opener.fact(entry, "tokenizes_input"),
            system_message: opener.fact(entry, "consumes_system_message"),
            polls: opener.fact(entry, "requires_polling"),
            title,
            warnings,
            entry,
            core,
        })
    }

    /// Another instance, for a worker.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn instance(&self, opener: &Opener<'_>) -> Result<EndpointHandle, SetupError> {
        Ok(opener
            .host
            .open_endpoint(self.entry, &self.core, Arc::new(opener.services(self.entry)))?)
    }
}
