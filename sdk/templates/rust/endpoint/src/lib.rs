//! {{description}}
//!
//! A `POST` of `{"prompt": …}`; the answer is `{"text": …}`, whole or as events of a stream.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package: its entries, and how each is opened.
pub struct {{type}}Package;

impl Package for {{type}}Package {
    const NAME: &'static str = "{{name}}";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Endpoint, "{{entry}}")]
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        match open.entry.as_str() {
            "{{entry}}" => Ok(Box::new({{type}}::new(open.options()?, open.core()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::{{type}}Package, [Endpoint]);

/// Options: `--plugin-opt endpoint/{{entry}}.temperature=0.5`.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Sent with each request.
    pub temperature: Option<f64>,
}

/// What the core passes, as far as it matters here.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub struct Core {
    /// `--extra-inputs`: members to merge into each body.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The endpoint.
#[derive(Debug)]
pub struct {{type}} {
    options: Options,
    core: Core,
}

impl {{type}} {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options, core: Core) -> Result<Self> {
        if options
            .temperature
            .is_some_and(|temperature| temperature < 0.0)
        {
            return Err(PluginError::options("`temperature` is negative"));
        }
        Ok(Self { options, core })
    }
}

/// One event of a response, or all of it.
#[derive(serde::Deserialize)]
struct Answer {
    text: String,
}

impl Endpoint for {{type}} {
    fn describe(&self) -> Result<EndpointDescription> {
        Ok(EndpointDescription {
            path: "/v1/{{entry}}".into(),
            streaming_path: None,
            auth: AuthKind::Bearer,
            auth_header: String::new(),
        })
    }

    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        let mut texts = Vec::new();
        for turn in &request.turns {
            // What this API can't say is an error: a request without its image would measure something else.
            if !(turn.images.is_empty() && turn.audios.is_empty() && turn.videos.is_empty()) {
                return Err(PluginError::input("this API takes text alone"));
            }
            texts.extend(
                turn.texts
                    .iter()
                    .flat_map(|group| &group.contents)
                    .map(String::as_str),
            );
        }
        let mut body = serde_json::json!({
            "model": request.model,
            "prompt": texts.join("\n"),
            "stream": request.streaming,
        });
        if let Some(limit) = request.turns.last().and_then(|turn| turn.max_tokens) {
            body["max_tokens"] = limit.into();
        }
        if let Some(temperature) = self.options.temperature {
            body["temperature"] = temperature.into();
        }
        for (name, value) in &self.core.extra {
            body[name] = value.clone();
        }
        Ok(HttpRequest::post(body.to_string().into_bytes()))
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut decoded = Decoded::default();
        let events = exchanges.iter().flat_map(Exchange::events);
        for (index, event) in (0..).zip(events) {
            if event == b"[DONE]" {
                continue;
            }
            let answer: Answer = serde_json::from_slice(event).map_err(|error| {
                PluginError::input(format!("event {index} of the response: {error}"))
            })?;
            decoded.chunks.push(index, ChunkKind::Text, &answer.text)?;
        }
        Ok(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing::{self, Response};

    fn endpoint(options: &str) -> Result<Box<dyn Endpoint>> {
        {{type}}Package::endpoint(testing::open("{{entry}}", options))
    }

    #[test]
    fn requests() {
        let mut open = testing::open("{{entry}}", r#"{"temperature": 0.5}"#);
        open.core = r#"{"extra": {"top_k": 3}}"#.into();
        let endpoint = {{type}}Package::endpoint(open).unwrap();
        let http = endpoint
            .prepare(testing::request(vec![Turn::text("Hello")]))
            .unwrap();
        let body: serde_json::Value = serde_json::from_slice(&http.body).unwrap();
        let expected = serde_json::json!({
            "model": "test-model",
            "prompt": "Hello",
            "stream": true,
            "temperature": 0.5,
            "top_k": 3,
        });
        assert_eq!(body, expected);
        let image = Turn {
            images: vec![Media::one("data:image/png;base64,")],
            ..Turn::text("What is it?")
        };
        assert!(endpoint.prepare(testing::request(vec![image])).is_err());
    }

    #[test]
    fn responses() {
        let endpoint = endpoint("").unwrap();
        let stream = Response::events([r#"{"text": "Hel"}"#, r#"{"text": "lo"}"#, "[DONE]"]);
        let decoded = testing::decode(&*endpoint, &stream).unwrap();
        let chunks = [(0, ChunkKind::Text, "Hel"), (1, ChunkKind::Text, "lo")];
        assert_eq!(testing::chunks(&decoded), chunks);
        assert!(testing::decode(&*endpoint, &Response::json("{}")).is_err());
    }

    #[test]
    fn a_mistyped_option_is_refused() {
        assert!(endpoint(r#"{"temprature": 1}"#).is_err());
    }
}
