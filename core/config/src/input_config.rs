//! The `input_config` member of the summary: what was set explicitly, in the shape of the YAML configuration's
//! `benchmark` body, without secrets.

use serde_json::{Map, Value, json};

use crate::plan::{DatasetSource, ExportLevel, NormalSpec, PhaseKind, PhasePlan, RunPlan, TokenizerChoice, Ui};

impl RunPlan {
    /// What was set explicitly, shaped like the `benchmark` body of a YAML configuration and without secrets. Models,
    /// URLs, the dataset's type and the phases' types and stop conditions are always there.
    #[must_use]
    pub fn input_config(&self) -> Value {
        let mut body = Members::default();
        let models: Vec<Value> = self.models.iter().map(|name| json!({"name": name})).collect();
        body.put("models", json!({"items": models}));
        body.put("endpoint", self.endpoint_config());
        body.put("datasets", json!([self.dataset_config()]));
        body.put(
            "phases",
            self.phases.iter().map(|phase| self.phase_config(phase)).collect(),
        );
        body.put_if_any("artifacts", self.artifacts_config());
        if !self.slos.is_empty() {
            let slos: Map<String, Value> = self
                .slos
                .iter()
                .map(|(tag, value)| (tag.clone(), json!(value)))
                .collect();
            body.put("slos", Value::Object(slos));
        }
        if self.is_explicit("tokenizer") {
            body.put("tokenizer", json!({"name": tokenizer_name(&self.tokenizer)}));
        }
        if !self.gpu_collectors.is_empty() {
            body.put("gpu_telemetry", self.gpu_telemetry_config());
        }
        for (flag, member) in [
            ("no-gpu-telemetry", "gpu_telemetry"),
            ("no-server-metrics", "server_metrics"),
        ] {
            if self.is_explicit(flag) {
                body.put(member, json!({"enabled": false}));
            }
        }
        body.put_if_any("runtime", self.runtime_config());
        if ["log-level", "verbose", "extra-verbose"]
            .iter()
            .any(|flag| self.is_explicit(flag))
        {
            body.put("logging", json!({"level": self.log_level.name()}));
        }
        body.put_if_any("plugins", self.plugins_config());
        Value::Object(body.0)
    }

    fn endpoint_config(&self) -> Value {
        let endpoint = &self.endpoint;
        let mut members = Members::default();
        members.put("urls", endpoint.urls.iter().map(ToString::to_string).collect());
        members.put_when(self.is_explicit("endpoint-type"), "type", json!(endpoint.endpoint_type));
        members.put_when(endpoint.custom_path.is_some(), "path", json!(endpoint.custom_path));
        members.put_when(endpoint.api_key.is_some(), "api_key", json!(endpoint.api_key));
        members.put_when(
            self.is_explicit("request-timeout-seconds"),
            "timeout",
            json!(endpoint.timeout_s),
        );
        let mut tls = Members::default();
        for (member, path) in [
            ("ca_file", &endpoint.tls.ca_file),
            ("client_cert", &endpoint.tls.client_cert),
            ("client_key", &endpoint.tls.client_key),
        ] {
            tls.put_when(path.is_some(), member, json!(path));
        }
        tls.put_when(endpoint.tls.insecure, "insecure", json!(true));
        members.put_if_any("tls", tls);
        members.put_when(endpoint.proxy.is_some(), "http_proxy", json!(endpoint.proxy));
        members.put_when(self.is_explicit("streaming"), "streaming", json!(endpoint.streaming));
        members.put_when(
            self.is_explicit("use-legacy-max-tokens"),
            "use_legacy_max_tokens",
            json!(endpoint.legacy_max_tokens),
        );
        members.put_when(
            self.is_explicit("use-server-token-count"),
            "use_server_token_count",
            json!(endpoint.use_server_token_count),
        );
        members.put_when(
            self.is_explicit("per-chunk-usage"),
            "per_chunk_usage",
            json!(endpoint.per_chunk_usage),
        );
        let headers: Map<String, Value> = endpoint
            .headers
            .redacted()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        members.put_when(!headers.is_empty(), "headers", Value::Object(headers));
        members.put_when(
            !endpoint.extra.is_empty(),
            "extra",
            Value::Object(crate::redact::members(&endpoint.extra)),
        );
        Value::Object(members.0)
    }

    fn dataset_config(&self) -> Value {
        let mut members = Members::default();
        members.put("name", json!("main"));
        let sampling = self.is_explicit("dataset-sampling-strategy");
        let entries_chosen = ["num-dataset-entries", "conversation-num", "request-count"]
            .iter()
            .any(|flag| self.is_explicit(flag));
        match &self.dataset.source {
            DatasetSource::Synthetic {
                entries,
                isl,
                osl,
                turns,
                turn_delay_ms,
                turn_delay_ratio,
            } => {
                members.put("type", json!("synthetic"));
                members.put_when(entries_chosen, "entries", json!(entries));
                members.put_when(sampling, "sampling", json!(self.dataset.sampling.name()));
                members.put_when(self.seed.is_some(), "random_seed", json!(self.seed));
                let mut prompts = Members::default();
                prompts.put("isl", normal(isl));
                if let Some(osl) = osl {
                    prompts.put("osl", normal(osl));
                }
                members.put("prompts", Value::Object(prompts.0));
                members.put_when(
                    self.any_explicit(&["conversation-turn-mean", "conversation-turn-stddev"]),
                    "turns",
                    normal(turns),
                );
                members.put_when(
                    self.any_explicit(&["conversation-turn-delay-mean", "conversation-turn-delay-stddev"]),
                    "turn_delay",
                    normal(turn_delay_ms),
                );
                members.put_when(
                    self.is_explicit("conversation-turn-delay-ratio"),
                    "turn_delay_ratio",
                    json!(turn_delay_ratio),
                );
            }
            DatasetSource::File {
                path,
                format,
                entries,
                osl,
            } => {
                members.put("type", json!("file"));
                members.put("path", json!(path.to_string_lossy()));
                members.put_when(format.is_some(), "format", json!(format));
                members.put_when(sampling, "sampling", json!(self.dataset.sampling.name()));
                members.put_when(entries.is_some(), "entries", json!(entries));
                members.put_when(self.seed.is_some(), "random_seed", json!(self.seed));
                if let Some(osl) = osl {
                    members.put("osl", normal(osl));
                }
            }
        }
        Value::Object(members.0)
    }

    fn phase_config(&self, phase: &PhasePlan) -> Value {
        let warmup = phase.kind == PhaseKind::Warmup;
        let mut members = Members::default();
        members.put("name", json!(phase.name));
        members.put("kind", json!(if warmup { "warmup" } else { "profiling" }));
        members.put("type", json!(phase.type_name()));
        members.put_when(warmup, "exclude_from_results", json!(true));
        members.put_when(phase.requests.is_some(), "requests", json!(phase.requests));
        members.put_when(phase.duration_s.is_some(), "duration", json!(phase.duration_s));
        members.put_when(phase.sessions.is_some(), "sessions", json!(phase.sessions));
        // The default limit of plain concurrency is not a choice of the user's.
        let limit_chosen = self.is_explicit("concurrency") || (warmup && self.is_explicit("warmup-concurrency"));
        members.put_when(limit_chosen, "concurrency", json!(phase.concurrency));
        let grace_flag = if warmup {
            "warmup-grace-period"
        } else {
            "benchmark-grace-period"
        };
        let grace = phase.grace_s.map_or_else(|| json!("inf"), |grace| json!(grace));
        members.put_when(
            phase.grace_s.is_some() || self.is_explicit(grace_flag),
            "grace_period",
            grace,
        );
        members.put_when(phase.rate.is_some(), "rate", json!(phase.rate));
        members.put_when(
            self.is_explicit("arrival-smoothness") && phase.smoothness.is_some(),
            "smoothness",
            json!(phase.smoothness),
        );
        Value::Object(members.0)
    }

    fn artifacts_config(&self) -> Members {
        let mut members = Members::default();
        members.put_when(
            self.is_explicit("output-artifact-dir"),
            "dir",
            json!(self.artifacts.dir.to_string_lossy()),
        );
        members.put_when(self.artifacts.prefix.is_some(), "prefix", json!(self.artifacts.prefix));
        if self.is_explicit("export-level") {
            let records = if self.artifacts.level >= ExportLevel::Records {
                json!(["jsonl"])
            } else {
                json!(false)
            };
            members.put("records", records);
            members.put("raw", json!(self.artifacts.level == ExportLevel::Raw));
        }
        members.put_when(self.artifacts.http_trace, "trace", json!(true));
        members
    }

    fn runtime_config(&self) -> Members {
        let mut members = Members::default();
        match self.ui {
            Ui::Simple => members.put("ui", json!("simple")),
            Ui::None => members.put("ui", json!("none")),
            Ui::Auto => {}
        }
        members.put_when(self.workers.is_some(), "workers", json!(self.workers));
        members.put_when(
            self.record_processors.is_some(),
            "record_processors",
            json!(self.record_processors),
        );
        members
    }

    fn plugins_config(&self) -> Members {
        let plugins = &self.plugins;
        let mut members = Members::default();
        let registries: Vec<_> = plugins.registries.iter().map(|path| path.to_string_lossy()).collect();
        members.put_when(!registries.is_empty(), "registries", json!(registries));
        let pins: Map<String, Value> = plugins
            .pins
            .iter()
            .map(|pin| (format!("{}/{}", pin.category, pin.name), json!(pin.package)))
            .collect();
        members.put_when(!pins.is_empty(), "packages", Value::Object(pins));
        let options: Map<String, Value> = plugins
            .options
            .iter()
            .map(|(entry, options)| (entry.clone(), json!(options)))
            .collect();
        members.put_when(!options.is_empty(), "options", Value::Object(options));
        let grants: Vec<_> = plugins
            .grants
            .iter()
            .map(|grant| format!("{}={}", grant.package, grant.capability))
            .collect();
        members.put_when(!grants.is_empty(), "grants", json!(grants));
        members.put_when(plugins.timing.is_some(), "timing", json!(plugins.timing));
        members.put_when(!plugins.metrics.is_empty(), "metrics", json!(plugins.metrics));
        members.put_when(!plugins.exporters.is_empty(), "exporters", json!(plugins.exporters));
        members.put_when(plugins.wasm_only, "wasm_only", json!(true));
        members.put_when(
            plugins.wasm_timeout_s.is_some(),
            "wasm_timeout",
            json!(plugins.wasm_timeout_s),
        );
        members.put_when(
            plugins.wasm_memory_mib.is_some(),
            "wasm_memory",
            json!(plugins.wasm_memory_mib),
        );
        members.put_when(
            plugins.wasm_compile_timeout_s.is_some(),
            "wasm_compile_timeout",
            json!(plugins.wasm_compile_timeout_s),
        );
        members
    }

    /// As the original has it for one collector; a list of such members for several.
    fn gpu_telemetry_config(&self) -> Value {
        let collectors = self.gpu_collectors.iter().map(|one| {
            let mut members = Members::default();
            members.put("collector", json!(one.name));
            members.put_when(!one.sources.is_empty(), "urls", json!(one.sources));
            members
        });
        let mut collectors: Vec<Members> = collectors.collect();
        let mut members = Members::default();
        members.put("enabled", json!(true));
        match collectors.len() {
            1 => members.0.extend(collectors.remove(0).0),
            _ => members.put(
                "collectors",
                collectors.into_iter().map(|one| Value::Object(one.0)).collect(),
            ),
        }
        Value::Object(members.0)
    }

    fn any_explicit(&self, settings: &[&str]) -> bool {
        settings.iter().any(|setting| self.is_explicit(setting))
    }
}

/// Members of an object in the order they are put.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn put(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    fn put_when(&mut self, condition: bool, name: &str, value: Value) {
        if condition {
            self.put(name, value);
        }
    }

    fn put_if_any(&mut self, name: &str, members: Self) {
        self.put_when(!members.0.is_empty(), name, Value::Object(members.0));
    }
}

fn normal(spec: &NormalSpec) -> Value {
    if spec.stddev == 0.0 {
        json!({"mean": spec.mean})
    } else {
        json!({"mean": spec.mean, "stddev": spec.stddev})
    }
}

fn tokenizer_name(choice: &TokenizerChoice) -> String {
    match choice {
        TokenizerChoice::Builtin => "builtin".to_owned(),
        TokenizerChoice::None => "none".to_owned(),
        TokenizerChoice::ModelCache(name) => name.clone(),
        TokenizerChoice::Path(path) => path.to_string_lossy().into_owned(),
    }
}
