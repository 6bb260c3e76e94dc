//! A turn becomes an HTTP request: the endpoint formats it, the core adds identity, authentication and framing.

use std::{borrow::Cow, sync::Arc, time::Duration};

use aiperf_config::plan::{EndpointPlan, UrlSpec};
use aiperf_http::{Header, Method, Request, Target, TargetError};
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
        let target = match &prepared.path {
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
        let method = Method::from_bytes(prepared.method.as_bytes())
            .map_err(|_| PluginError::failed(format!("the endpoint asked for the method {:?}", prepared.method)))?;
        let (body, content_type) = if prepared.parts.is_empty() {
            (prepared.body, "application/json".into())
        } else {
            multipart(&prepared.parts, identity.request)?
        };

        let mut headers = Vec::with_capacity(8 + self.custom.len() + extra_headers.len());
        headers.push(("User-Agent".into(), self.user_agent.clone().into()));
        headers.push(("X-Request-ID".into(), text(identity.request).into()));
        let correlation = text(identity.correlation);
        headers.push(("X-Correlation-ID".into(), correlation.clone().into()));
        for header in &self.custom {
            replace(&mut headers, owned(header.clone()));
        }
        if let Some(auth) = &self.auth {
            replace(&mut headers, owned(auth.clone()));
        }
        for header in prepared.headers.into_iter().chain(extra_headers.iter().cloned()) {
            replace(&mut headers, owned(header));
        }
        replace(&mut headers, ("Accept".into(), self.accept.into()));
        if method != Method::GET {
            replace(&mut headers, ("Content-Type".into(), content_type));
        }
        replace(&mut headers, ("X-Session-Affinity".into(), correlation.into()));
        let mut request = Request::new(method, target, Bytes::from(body));
        request.headers = headers;
        request.timeout = self.timeout;
        Ok(request)
    }
}

/// The usual text of an identity, made without the detour over a formatter.
pub fn text(identity: Uuid) -> String {
    let mut buffer = Uuid::encode_buffer();
    identity.hyphenated().encode_lower(&mut buffer).to_owned()
}

fn owned((name, value): (String, String)) -> Header {
    (name.into(), value.into())
}

fn replace(headers: &mut Vec<Header>, header: Header) {
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case(&header.0));
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
        let got: Vec<_> = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_ref()))
            .collect();
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
                .find(|(name, _)| name == "X-Key")
                .map(|(_, value)| value.as_ref());
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
