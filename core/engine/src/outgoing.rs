//! Requests that plugins make of their own, aside from the measuring path: those of GPU collectors ([`crate::gpu::scrape`]), and
//! those that a plugin asks the host for. Which servers a package may reach has been decided before (`aiperf_host`).

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use aiperf_http::{
    Body, Cancel, Client, ErrorKind, Exchange, Method, Options, Request, Target, TargetError, TlsSettings,
};
use aiperf_plugin_api::{HttpAnswer, HttpRequest, PluginError, host::HTTP_TIMEOUT_MS};
use bytes::Bytes;
use tokio::task::LocalSet;

/// Limit on one request, from connecting to the last byte, where the plugin names none.
pub const TIMEOUT: Duration = Duration::from_millis(HTTP_TIMEOUT_MS as u64);
/// Largest answer, in bytes.
const LARGEST: usize = 64 << 20;

/// Options of clients for such requests.
pub fn options() -> Options {
    Options {
        kernel_timestamps: false,
        max_body: LARGEST,
        ..Options::default()
    }
}

/// A server that a plugin may ask. Plain data.
#[derive(Debug, Clone)]
pub struct Destination {
    base: String,
    whole: Arc<Target>,
    user_agent: String,
}

impl Destination {
    /// The destination of a URL, for this version of the program.
    ///
    /// # Errors
    /// When the URL can't be used.
    pub fn new(url: &str, version: &str) -> Result<Self, TargetError> {
        Ok(Self {
            base: url.to_owned(),
            whole: Arc::new(Target::parse(url, None)?),
            user_agent: format!("aiperf/{version}"),
        })
    }

    /// The request in the form of the HTTP client.
    ///
    /// # Errors
    /// When the plugin asks for something that is refused.
    pub fn request(&self, asked: HttpRequest, timeout: Duration) -> Result<Request, PluginError> {
        let target = match &asked.path {
            None => self.whole.clone(),
            Some(path) if path.starts_with('/') && !path.starts_with("//") => {
                Arc::new(Target::parse(&self.base, Some(path)).map_err(|error| PluginError::failed(error.to_string()))?)
            }
            Some(path) => {
                let problem = format!("the plugin asked for {path:?}, which is no path on its source");
                return Err(PluginError::failed(problem));
            }
        };
        let method = Method::from_bytes(asked.method.as_bytes())
            .map_err(|_| PluginError::failed(format!("the plugin asked for the method {:?}", asked.method)))?;
        if !asked.parts.is_empty() {
            return Err(PluginError::failed(
                "the plugin asked for a multipart body, which is for endpoints",
            ));
        }
        let mut request = Request::new(method, target, Bytes::from(asked.body));
        let named = asked
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("User-Agent"));
        if !named {
            request.headers.push("User-Agent", &self.user_agent);
        }
        for (name, value) in &asked.headers {
            request.headers.push(name, value);
        }
        request.timeout = Some(timeout);
        Ok(request)
    }
}

/// What came back; `Err` is why no whole answer came.
///
/// # Errors
/// In the outer result, when the client refused the request itself.
pub fn answer(exchange: Exchange) -> Result<Result<HttpAnswer, String>, PluginError> {
    let content_type = exchange.content_type.unwrap_or_default().into_owned();
    let (status, body) = match (exchange.error, exchange.status, exchange.body) {
        (Some(error), ..) if error.kind == ErrorKind::InvalidRequest => {
            return Err(PluginError::failed(format!("the plugin's request: {error}")));
        }
        (Some(error), ..) => return Ok(Err(error.to_string())),
        (None, Some(status), Body::Whole { bytes, .. }) => (status, bytes),
        (None, Some(status), Body::Events(events)) => (status, events.into_events().bytes),
        (None, Some(status), Body::Empty) => (status, Vec::new()),
        (None, None, _) => return Ok(Err("no answer came".to_owned())),
    };
    Ok(Ok(HttpAnswer {
        status,
        content_type,
        body,
    }))
}

/// A request on its way to the thread that makes them, and where the answer goes.
struct Errand {
    request: Request,
    answer: mpsc::Sender<Exchange>,
}

/// Makes the requests of all plugins of a run, on one thread that starts with the first.
pub struct Outgoing {
    version: String,
    /// Whom https trusts instead of the system's certificates.
    ca_file: Option<std::path::PathBuf>,
    errands: Mutex<Option<tokio::sync::mpsc::UnboundedSender<Errand>>>,
}

impl Outgoing {
    /// No thread yet. Certificates are checked against those of `ca_file`, else against the system's.
    pub fn new(version: &str, ca_file: Option<std::path::PathBuf>) -> Self {
        Self {
            version: version.to_owned(),
            ca_file,
            errands: Mutex::new(None),
        }
    }

    /// Asks the server at `origin` and waits for the answer.
    ///
    /// # Errors
    /// When the request is refused, or no whole answer comes in time.
    pub fn ask(&self, origin: &str, asked: HttpRequest, timeout: Duration) -> Result<HttpAnswer, PluginError> {
        let wrong = |error: &dyn std::fmt::Display| PluginError::failed(format!("{origin}: {error}"));
        let destination = Destination::new(origin, &self.version).map_err(|error| wrong(&error))?;
        let request = destination.request(asked, timeout)?;
        let (answered, exchange) = mpsc::channel();
        self.thread()
            .and_then(|thread| {
                let errand = Errand {
                    request,
                    answer: answered,
                };
                thread.send(errand).map_err(|_| "its thread has ended".to_owned())
            })
            .map_err(|error| wrong(&error))?;
        let exchange = exchange.recv().map_err(|_| wrong(&"its thread has ended"))?;
        answer(exchange)?.map_err(|error| wrong(&error))
    }

    /// The thread, which ends when this is dropped.
    fn thread(&self) -> Result<tokio::sync::mpsc::UnboundedSender<Errand>, String> {
        let mut errands = self.errands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = errands.as_ref() {
            return Ok(running.clone());
        }
        let mut options = options();
        if self.ca_file.is_some() {
            let settings = TlsSettings {
                ca_file: self.ca_file.clone(),
                ..TlsSettings::default()
            };
            options.tls = Some(settings.load().map_err(|error| error.to_string())?);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<Errand>();
        std::thread::Builder::new()
            .name("plugin_requests".to_owned())
            .spawn(move || {
                let tasks = LocalSet::new();
                tasks.block_on(&runtime, async {
                    let client = Client::new(options);
                    while let Some(errand) = receiver.recv().await {
                        let client = client.clone();
                        tokio::task::spawn_local(async move {
                            let exchange = client.send(&errand.request, &Cancel::new()).await;
                            // Who asked may be gone.
                            let _ = errand.answer.send(exchange);
                        });
                    }
                });
            })
            .map_err(|error| error.to_string())?;
        Ok(errands.insert(sender).clone())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// Answers each connection once, echoing the body that it was sent.
    fn echo(connections: usize) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let served = thread::spawn(move || {
            let serve = |_| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    head.push(byte[0]);
                }
                let head = String::from_utf8(head).unwrap();
                let length = head.lines().find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length: ")
                        .map(str::to_owned)
                });
                let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
                stream.read_exact(&mut body).unwrap();
                let answer = format!(
                    "HTTP/1.1 201 Created\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).unwrap();
                stream.write_all(&body).unwrap();
                head
            };
            (0..connections).map(serve).collect()
        });
        (origin, served)
    }

    fn post(path: &str, body: &str) -> HttpRequest {
        HttpRequest {
            method: "POST".into(),
            path: Some(path.into()),
            headers: Vec::new(),
            body: body.into(),
            parts: Vec::new(),
        }
    }

    #[test]
    fn plugins_on_several_threads_are_served() {
        let (origin, served) = echo(8);
        let outgoing = Outgoing::new("1.2.3", None);
        thread::scope(|scope| {
            for number in 0..8 {
                let (outgoing, origin) = (&outgoing, &origin);
                scope.spawn(move || {
                    let body = format!("body {number}");
                    let answer = outgoing.ask(origin, post("/in", &body), TIMEOUT).unwrap();
                    assert_eq!((answer.status, answer.body), (201, body.into_bytes()));
                });
            }
        });
        for head in served.join().unwrap() {
            assert!(head.starts_with("POST /in HTTP/1.1\r\n"), "{head}");
            assert!(head.contains("User-Agent: aiperf/1.2.3\r\n"), "{head}");
        }
    }

    #[test]
    fn what_can_not_be_done_is_told() {
        let outgoing = Outgoing::new("1", None);
        // A port that was free a moment ago.
        let gone = {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            format!("http://{}", listener.local_addr().unwrap())
        };
        let error = outgoing.ask(&gone, post("/", ""), TIMEOUT).unwrap_err();
        assert!(
            error.message.starts_with(&gone) && error.message.len() > gone.len() + 2,
            "{error}"
        );
        for path in ["//elsewhere/", "http://elsewhere/", "in"] {
            let error = outgoing.ask(&gone, post(path, ""), TIMEOUT).unwrap_err();
            assert!(error.message.contains("no path on its source"), "{error}");
        }
        // Accepts, and never answers.
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let origin = format!("http://{}", silent.local_addr().unwrap());
        let error = outgoing
            .ask(&origin, post("/", ""), Duration::from_millis(50))
            .unwrap_err();
        assert!(error.message.contains("within 0.05 s"), "{error}");
        let missing = Outgoing::new("1", Some("/nowhere/ca.pem".into()));
        let error = missing.ask(&origin, post("/", ""), TIMEOUT).unwrap_err();
        assert!(error.message.contains("ca.pem"), "{error}");
    }
}
