//! What the core offers to plugin instances: log, tokenizer, prompt text, seeds, arrival intervals, and what the user grants.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use aiperf_config::{EndpointPlan, Secret};
use aiperf_plugin_api::{Host, HttpAnswer, HttpRequest, PluginError, Result, Timing, host::LogLevel};
use aiperf_tokenizer::{Pending, PromptGenerator, Tokenizer, rng};

use crate::outgoing::{self, Outgoing};

/// A tokenizer that is loaded on a thread of its own; whoever needs it first waits for it.
#[derive(Default)]
pub struct SharedTokenizer {
    pending: Mutex<Option<Pending>>,
    loaded: OnceLock<std::result::Result<Option<Tokenizer>, String>>,
}

impl SharedTokenizer {
    /// One that is being loaded.
    pub fn loading(pending: Pending) -> Self {
        Self {
            pending: Mutex::new(Some(pending)),
            loaded: OnceLock::new(),
        }
    }

    /// No tokenizer.
    pub fn none() -> Self {
        Self::default()
    }

    /// The tokenizer, if the run has one.
    ///
    /// # Errors
    /// When it can't be loaded.
    pub fn get(&self) -> std::result::Result<Option<&Tokenizer>, String> {
        let loaded = self.loaded.get_or_init(|| {
            let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
            pending
                .map(|pending| pending.wait().map_err(|error| error.to_string()))
                .transpose()
        });
        loaded.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }
}

/// Services for one instance.
pub struct Services {
    label: String,
    tokenizer: Arc<SharedTokenizer>,
    root_seed: u64,
    prompts: Mutex<Option<Prompts>>,
    arrival: Option<Mutex<Box<dyn Timing>>>,
    requests: Arc<PluginRequests>,
}

/// What the host does for plugins that the user has granted it to: the same for all of a run.
pub struct PluginRequests {
    outgoing: Outgoing,
    api_key: Option<Secret>,
}

impl PluginRequests {
    /// As the plan says: certificates are checked against those of `--tls-ca-file`, if given. Neither `--insecure` nor the
    /// client's certificate nor the proxy are meant for other servers than that under test.
    pub fn new(endpoint: &EndpointPlan, version: &str) -> Self {
        Self {
            outgoing: Outgoing::new(version, endpoint.tls.ca_file.clone()),
            api_key: endpoint.api_key.clone(),
        }
    }
}

struct Prompts {
    generator: PromptGenerator,
    streams: HashMap<String, rng::Rng>,
}

impl Services {
    /// Services for the instance called `label` in messages.
    pub fn new(
        label: impl Into<String>,
        tokenizer: Arc<SharedTokenizer>,
        root_seed: u64,
        requests: Arc<PluginRequests>,
    ) -> Self {
        Self {
            label: label.into(),
            tokenizer,
            root_seed,
            prompts: Mutex::default(),
            arrival: None,
            requests,
        }
    }

    /// Binds the arrival pattern of a phase.
    #[must_use]
    pub fn with_arrival(mut self, pattern: Box<dyn Timing>) -> Self {
        self.arrival = Some(Mutex::new(pattern));
        self
    }

    fn tokenizer(&self) -> Result<&Tokenizer> {
        self.tokenizer.get().map_err(PluginError::failed)?.ok_or_else(|| {
            PluginError::failed("this needs a tokenizer, and the run has none")
                .with_help("give --tokenizer builtin, or --tokenizer DIR with a tokenizer.json")
        })
    }
}

impl Host for Services {
    fn log(&self, level: LogLevel, message: &str) {
        let plugin = self.label.as_str();
        match level {
            LogLevel::Debug => tracing::debug!(plugin, "{message}"),
            LogLevel::Info => tracing::info!(plugin, "{message}"),
            LogLevel::Warning => tracing::warn!(plugin, "{message}"),
            LogLevel::Error => tracing::error!(plugin, "{message}"),
        }
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer()?
            .encode(text)
            .map_err(|error| PluginError::failed(error.to_string()))
    }

    fn decode(&self, tokens: &[u32]) -> Result<String> {
        self.tokenizer()?
            .decode(tokens)
            .map_err(|error| PluginError::failed(error.to_string()))
    }

    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        let tokenizer = self.tokenizer()?;
        let failed = |error: &dyn std::fmt::Display| PluginError::failed(error.to_string());
        let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        if prompts.is_none() {
            let generator = PromptGenerator::new(tokenizer.clone()).map_err(|error| failed(&error))?;
            *prompts = Some(Prompts {
                generator,
                streams: HashMap::new(),
            });
        }
        let Some(prompts) = prompts.as_mut() else {
            return Err(PluginError::failed("no prompt generator"));
        };
        let rng = prompts
            .streams
            .entry(stream.to_owned())
            .or_insert_with(|| rng::stream(self.root_seed, stream));
        let prompt = prompts
            .generator
            .prompt(rng, tokens as usize)
            .map_err(|error| failed(&error))?;
        if prompt.tokens != tokens as usize {
            return Err(PluginError::failed(format!(
                "no text of exactly {tokens} tokens could be made; the nearest has {}",
                prompt.tokens
            )));
        }
        Ok(prompt.text)
    }

    fn seed(&self, stream: &str) -> u64 {
        rng::child_seed(self.root_seed, stream)
    }

    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        let Some(arrival) = &self.arrival else {
            return Err(PluginError::unsupported("intervals"));
        };
        arrival
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .intervals(rate, count)
    }

    fn http(&self, origin: &str, request: HttpRequest, timeout_ms: u32) -> Result<HttpAnswer> {
        let timeout = match timeout_ms {
            0 => outgoing::TIMEOUT,
            ms => Duration::from_millis(ms.into()),
        };
        self.requests.outgoing.ask(origin, request, timeout)
    }

    fn api_key(&self) -> Result<Option<String>> {
        Ok(self.requests.api_key.as_ref().map(|key| key.expose().to_owned()))
    }
}
