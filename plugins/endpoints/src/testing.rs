//! Helpers of the tests: an endpoint from options, and exchanges from events.

use std::sync::{Arc, Mutex};

use aiperf_sdk::{
    Decoded, Endpoint, Exchange, Host, Package, RequestInfo, Result, Turn,
    endpoint::{ChunkKind, Usage},
    host::LogLevel,
    package::Open,
};

/// A host that keeps what is logged.
#[derive(Default)]
pub(crate) struct TestHost(pub(crate) Mutex<Vec<String>>);

impl Host for TestHost {
    fn log(&self, _: LogLevel, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

/// An endpoint of this package to which the core passes `core`.
pub(crate) fn endpoint(entry: &str, core: &str) -> Result<Box<dyn Endpoint>> {
    endpoint_with(entry, core, Arc::new(TestHost::default()))
}

/// As [`endpoint`], with a host.
pub(crate) fn endpoint_with(entry: &str, core: &str, host: Arc<dyn Host>) -> Result<Box<dyn Endpoint>> {
    crate::BuiltIn::endpoint(Open {
        entry: entry.to_owned(),
        options: String::new(),
        core: core.to_owned(),
        host,
    })
}

/// As [`endpoint`], with options of the user and nothing from the core.
pub(crate) fn endpoint_of_user(entry: &str, options: &str) -> Result<Box<dyn Endpoint>> {
    crate::BuiltIn::endpoint(Open {
        entry: entry.to_owned(),
        options: options.to_owned(),
        core: String::new(),
        host: Arc::new(TestHost::default()),
    })
}

/// A request of turns to the model `m`.
pub(crate) fn request(turns: Vec<Turn>) -> RequestInfo {
    RequestInfo {
        model: "m".to_owned(),
        streaming: false,
        turns,
        system_message: None,
        user_context: None,
        carry: None,
        request_id: String::new(),
        correlation_id: String::new(),
    }
}

/// The body that an endpoint makes of a request.
pub(crate) fn body(entry: &str, core: &str, request: RequestInfo) -> String {
    let request = endpoint(entry, core).unwrap().prepare(request).unwrap();
    assert_eq!(
        (request.method.as_str(), request.path, request.parts.len()),
        ("POST", None, 0)
    );
    String::from_utf8(request.body).unwrap()
}

/// What an endpoint reads from events.
pub(crate) fn decode(endpoint: &dyn Endpoint, streamed: bool, events: &[impl AsRef<[u8]>]) -> Decoded {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for event in events {
        bytes.extend_from_slice(event.as_ref());
        ends.push(bytes.len() as u32);
    }
    let exchange = Exchange {
        status: 200,
        streamed,
        content_type: "",
        bytes: &bytes,
        ends: &ends,
    };
    endpoint.decode(&[exchange]).unwrap()
}

/// The chunks as event, kind, text.
pub(crate) fn chunks(decoded: &Decoded) -> Vec<(u32, ChunkKind, String)> {
    let chunks = decoded.chunks.iter();
    chunks
        .map(|(event, kind, text)| (event, kind, text.to_owned()))
        .collect()
}

/// The usage of a chat body whose `usage` is this JSON.
pub(crate) fn usage(json: &str) -> Option<Usage> {
    let endpoint = endpoint("chat", "").unwrap();
    let decoded = decode(
        &*endpoint,
        false,
        &[format!(r#"{{"object":"chat.completion","usage":{json}}}"#)],
    );
    assert_eq!(decoded.error, None, "{json}");
    decoded.usage
}

/// What `chat` reads from events.
pub(crate) fn chat(streamed: bool, events: &[impl AsRef<[u8]>]) -> Decoded {
    decode(&*endpoint("chat", "").unwrap(), streamed, events)
}

/// A stream event with this delta.
pub(crate) fn delta(delta: &str) -> String {
    format!(r#"{{"id":"x","object":"chat.completion.chunk","created":1,"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

/// What `chat` reads from a stream of these deltas.
pub(crate) fn stream(deltas: &[&str]) -> Decoded {
    let events: Vec<String> = deltas.iter().map(|text| delta(text)).collect();
    chat(true, &events)
}
