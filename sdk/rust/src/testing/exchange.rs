//! Requests and responses for tests of endpoints.

use aiperf_plugin_api::{Decoded, Endpoint, Exchange, RequestInfo, Result, Turn, endpoint::ChunkKind};

/// A streaming request of turns to the model `test-model`.
///
/// ```
/// use aiperf_sdk::{prelude::*, testing};
///
/// let request = testing::request(vec![Turn::text("Hello")]);
/// assert!(request.streaming && request.model == "test-model");
/// ```
pub fn request(turns: Vec<Turn>) -> RequestInfo {
    RequestInfo {
        model: "test-model".to_owned(),
        streaming: true,
        turns,
        system_message: None,
        user_context: None,
        carry: None,
        request_id: "00000000-0000-0000-0000-000000000001".to_owned(),
        correlation_id: "00000000-0000-0000-0000-000000000002".to_owned(),
    }
}

/// A response as the core hands it to an endpoint: cut into events where it is a stream, whole else.
///
/// ```
/// use aiperf_sdk::testing::Response;
///
/// let stream = Response::events(["{\"text\": \"Hi\"}", "[DONE]"]);
/// assert_eq!(stream.exchange().events().count(), 2);
/// let refusal = Response::json("{\"error\": \"busy\"}").with_status(503);
/// assert_eq!(refusal.exchange().status, 503);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    status: u16,
    streamed: bool,
    content_type: String,
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Response {
    /// An event stream: the `data` of each server-sent event.
    pub fn events<T: AsRef<[u8]>>(events: impl IntoIterator<Item = T>) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for event in events {
            bytes.extend_from_slice(event.as_ref());
            ends.push(bytes.len() as u32);
        }
        Self {
            status: 200,
            streamed: true,
            content_type: "text/event-stream".to_owned(),
            bytes,
            ends,
        }
    }

    /// A JSON body.
    pub fn json(body: impl AsRef<[u8]>) -> Self {
        Self::body("application/json", body)
    }

    /// A body of any content type.
    pub fn body(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self {
            streamed: false,
            content_type: content_type.to_owned(),
            ..Self::events([body])
        }
    }

    /// With another HTTP status than 200.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The response in the form that [`Endpoint::decode`] takes.
    pub fn exchange(&self) -> Exchange<'_> {
        Exchange {
            status: self.status,
            streamed: self.streamed,
            content_type: &self.content_type,
            bytes: &self.bytes,
            ends: &self.ends,
        }
    }
}

/// What an endpoint reads from one response.
///
/// # Errors
/// Those of the endpoint.
pub fn decode(endpoint: &dyn Endpoint, response: &Response) -> Result<Decoded> {
    endpoint.decode(&[response.exchange()])
}

/// The content of a decoded response as event, kind and text.
pub fn chunks(decoded: &Decoded) -> Vec<(u32, ChunkKind, &str)> {
    decoded.chunks.iter().collect()
}
