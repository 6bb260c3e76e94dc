//! A turn becomes an HTTP request: the endpoint formats it, the core adds identity, authentication and framing.

use std::{borrow::Cow, sync::Arc, time::Duration};

use aiperf_config::plan::{EndpointPlan, UrlSpec};
use aiperf_http::{Method, Request, Target, TargetError};
use aiperf_plugin_api::{
    HttpRequest, PluginError,
    endpoint::{AuthKind, EndpointDescription},
};
use bytes::Bytes;
use uuid::Uuid;

/// What is the same for every request of a run.
#[derive(Debug, Clone)]
pub struct RequestTemplate {
    targets: Vec<Arc<Target>>,
    bases: Vec<String>,
    user_agent: String,
    custom: Vec<(String, String)>,
    auth: Option<(String, String)>,
    accept: &'static str,
    timeout: Option<Duration>,
}

/// Identities of one request.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// Of the request.
    pub request: Uuid,
    /// Of the conversation instance.
    pub correlation: Uuid,
}

impl RequestTemplate {
    /// The template of a plan. `urls` are the plan's, with the mock server's address in place of `mock:`.
    ///
    /// # Errors
    /// When a URL can't be used.
    pub fn new(
        plan: &EndpointPlan,
        urls: &[UrlSpec],
        endpoint: &EndpointDescription,
        version: &str,
        streaming: bool,
    ) -> Result<Self, TargetError> {
        let own = endpoint
            .streaming_path
            .as_deref()
            .filter(|_| streaming)
            .unwrap_or(&endpoint.path);
        let path = plan.custom_path.as_deref().unwrap_or(own);
        let targets = urls
            .iter()
            .map(|url| Target::parse(url.expose(), Some(path)).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let auth = plan.api_key.as_ref().and_then(|key| match endpoint.auth {
            AuthKind::Bearer => Some(("Authorization".to_owned(), format!("Bearer {}", key.expose()))),
            AuthKind::Header => Some((endpoint.auth_header.clone(), key.expose().to_owned())),
            AuthKind::None => None,
        });
        Ok(Self {
            targets,
            bases: urls.iter().map(|url| url.expose().to_owned()).collect(),
            user_agent: format!("aiperf/{version}"),
            custom: plan
                .headers
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            auth,
            accept: if streaming {
                "text/event-stream"
            } else {
                "application/json"
            },
            timeout: Some(Duration::from_secs_f64(plan.timeout_s)),
        })
    }

    /// The request for what an endpoint prepared. Later headers replace earlier ones of the same name.
    ///
    /// # Errors
    /// When the endpoint asked for something that is refused.
    pub fn request(
        &self,
        url: u32,
        prepared: HttpRequest,
        extra_headers: &[(String, String)],
        identity: Identity,
    ) -> Result<Request, PluginError> {
        let index = url as usize % self.targets.len().max(1);
        let HttpRequest {
            method,
            path,
            headers: own,
            body,
            parts,
        } = prepared;
        let target = match &path {
            None => self.targets[index].clone(),
            Some(path) if path.starts_with('/') && !path.starts_with("//") => Arc::new(
                Target::parse(&self.bases[index], Some(path))
                    .map_err(|error| PluginError::failed(error.to_string()))?,
            ),
            Some(path) => {
                return Err(PluginError::failed(format!(
                    "the endpoint asked for {path:?}, which is no path on its server"
                )));
            }
        };
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| PluginError::failed(format!("the endpoint asked for the method {method:?}")))?;
        let (body, content_type) = if parts.is_empty() {
            (body, "application/json".into())
        } else {
            multipart(&parts, identity.request)?
        };

        let mut buffers = [Uuid::encode_buffer(); 2];
        let [id, correlation] = &mut buffers;
        let id: &str = identity.request.hyphenated().encode_lower(id);
        let correlation: &str = identity.correlation.hyphenated().encode_lower(correlation);
        let mut headers = Vec::with_capacity(8 + self.custom.len() + own.len() + extra_headers.len());
        headers.push(("User-Agent", &*self.user_agent));
        headers.push(("X-Request-ID", id));
        headers.push(("X-Correlation-ID", correlation));
        for (name, value) in self.custom.iter().chain(&self.auth).chain(&own).chain(extra_headers) {
            replace(&mut headers, (name, value));
        }
        replace(&mut headers, ("Accept", self.accept));
        if method != Method::GET {
            replace(&mut headers, ("Content-Type", &content_type));
        }
        replace(&mut headers, ("X-Session-Affinity", correlation));
        let mut request = Request::new(method, target, Bytes::from(body));
        request.headers = headers.into_iter().collect();
        request.timeout = self.timeout;
        Ok(request)
    }
}

/// The usual text of an identity, made without the detour over a formatter.
pub fn text(identity: Uuid) -> String {
    let mut buffer = Uuid::encode_buffer();
    identity.hyphenated().encode_lower(&mut buffer).to_owned()
}

fn replace<'a>(headers: &mut Vec<(&'a str, &'a str)>, header: (&'a str, &'a str)) {
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case(header.0));
    headers.push(header);
}

fn multipart(
    parts: &[aiperf_plugin_api::endpoint::Part],
    id: Uuid,
) -> Result<(Vec<u8>, Cow<'static, str>), PluginError> {
    let boundary = format!("aiperf-{}", id.simple());
    let clean = |text: &str| {
        if text.contains(['"', '\r', '\n']) {
            return Err(PluginError::failed(format!(
                "a multipart name with a quote or a line break: {text:?}"
            )));
        }
        Ok(text.to_owned())
    };
    let mut body = Vec::new();
    for part in parts {
        body.extend_from_slice(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
                clean(&part.name)?
            )
            .as_bytes(),
        );
        if let Some(file_name) = &part.file_name {
            body.extend_from_slice(format!("; filename=\"{}\"", clean(file_name)?).as_bytes());
        }
        if let Some(content_type) = &part.content_type {
            body.extend_from_slice(format!("\r\nContent-Type: {}", clean(content_type)?).as_bytes());
        }
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(&part.data);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, format!("multipart/form-data; boundary={boundary}").into()))
}

#[cfg(test)]
mod tests {
    use aiperf_config::plan::{Headers, Secret};
    use aiperf_plugin_api::endpoint::Part;

    use super::*;

    fn plan() -> EndpointPlan {
        EndpointPlan {
            urls: vec![UrlSpec::Server("http://127.0.0.1:9".into())],
            endpoint_type: "chat".into(),
            custom_path: None,
            streaming: true,
            api_key: Some(Secret::new("k")),
            headers: Headers(vec![
                ("X-Team".into(), "a".into()),
                ("authorization".into(), "mine".into()),
            ]),
            extra: serde_json::Map::new(),
            timeout_s: 5.0,
            tls: aiperf_config::TlsPlan::default(),
            proxy: None,
            use_server_token_count: false,
            per_chunk_usage: false,
            legacy_max_tokens: false,
        }
    }

    fn template(auth: AuthKind) -> RequestTemplate {
        let endpoint = EndpointDescription {
            path: "/v1/chat/completions".into(),
            streaming_path: None,
            auth,
            auth_header: "X-Key".into(),
        };
        let plan = plan();
        RequestTemplate::new(&plan, &plan.urls, &endpoint, "1.2.3", true).expect("a usable URL")
    }

    fn identity() -> Identity {
        Identity {
            request: Uuid::from_u128(1),
            correlation: Uuid::from_u128(2),
        }
    }

    #[test]
    fn headers_stand_in_order_and_later_ones_win() {
        let extra = [("x-team".to_owned(), "b".to_owned())];
        let request = template(AuthKind::Bearer)
            .request(0, HttpRequest::post(b"{}".to_vec()), &extra, identity())
            .expect("a request");
        let (one, two) = (
            "00000000-0000-0000-0000-000000000001",
            "00000000-0000-0000-0000-000000000002",
        );
        let expected = [
            ("User-Agent", "aiperf/1.2.3"),
            ("X-Request-ID", one),
            ("X-Correlation-ID", two),
            ("Authorization", "Bearer k"),
            ("x-team", "b"),
            ("Accept", "text/event-stream"),
            ("Content-Type", "application/json"),
            ("X-Session-Affinity", two),
        ];
        let got: Vec<_> = request.headers.iter().collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn the_key_goes_where_the_endpoint_says() {
        for (auth, expected) in [(AuthKind::Header, Some("k")), (AuthKind::None, None)] {
            let request = template(auth)
                .request(0, HttpRequest::post(Vec::new()), &[], identity())
                .expect("a request");
            let key = request
                .headers
                .iter()
                .find(|(name, _)| *name == "X-Key")
                .map(|(_, value)| value);
            assert_eq!(key, expected);
        }
    }

    #[test]
    fn only_paths_of_the_same_server_are_accepted() {
        for path in ["http://evil/", "//evil/x", "x", ""] {
            let prepared = HttpRequest {
                path: Some(path.into()),
                ..HttpRequest::post(Vec::new())
            };
            let error = template(AuthKind::None)
                .request(0, prepared, &[], identity())
                .expect_err(path);
            assert!(error.message.contains("no path on its server"), "{error}");
        }
    }

    #[test]
    fn multipart_bodies_have_one_boundary() {
        let part = |name: &str, file: Option<&str>| Part {
            name: name.into(),
            file_name: file.map(Into::into),
            content_type: file.map(|_| "image/png".into()),
            data: b"x".to_vec(),
        };
        let (body, content_type) =
            multipart(&[part("a", None), part("f", Some("i.png"))], Uuid::from_u128(1)).expect("clean");
        let boundary = "aiperf-00000000000000000000000000000001";
        assert_eq!(content_type, format!("multipart/form-data; boundary={boundary}"));
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--{boundary}\r\nContent-Disposition: \
             form-data; name=\"f\"; filename=\"i.png\"\r\nContent-Type: image/png\r\n\r\nx\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8_lossy(&body), expected);
        assert!(multipart(&[part("a\"b", None)], Uuid::nil()).is_err());
    }
}
