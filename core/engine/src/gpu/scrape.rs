//! Requests of a collector, performed against the source that it was granted and nothing else. One connection, on the
//! collector's own thread: the workers' clients and their pools are not touched.

use aiperf_http::{Cancel, Client, Options};
use aiperf_plugin_api::{HttpAnswer, HttpRequest, PluginError};
use tokio::{runtime::Runtime, task::LocalSet};

use crate::outgoing::{self, Destination, TIMEOUT};

/// Asks a source, from one thread.
pub struct Scraper {
    source: Destination,
    runtime: Runtime,
    tasks: LocalSet,
    client: Client,
}

impl Scraper {
    /// One without connection.
    ///
    /// # Errors
    /// When no runtime can be had.
    pub fn new(source: Destination) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let options = Options {
            max_connections: 1,
            ..outgoing::options()
        };
        let client = runtime.block_on(async { Client::new(options) });
        Ok(Self {
            source,
            runtime,
            tasks: LocalSet::new(),
            client,
        })
    }

    /// Performs a request. A source that does not answer is an answer of status 0; the instant is the one at which the
    /// answer began to arrive, or the attempt was over.
    ///
    /// # Errors
    /// When the collector asked for something that is refused.
    pub fn ask(&self, asked: HttpRequest) -> Result<(HttpAnswer, u64), PluginError> {
        let request = self.source.request(asked, TIMEOUT)?;
        let exchange = self.tasks.block_on(&self.runtime, async {
            self.client.send(&request, &Cancel::new()).await
        });
        let at_ns = exchange.timings.first_byte.unwrap_or(exchange.timings.end);
        let no_answer = |reason: String| HttpAnswer {
            status: 0,
            content_type: String::new(),
            body: reason.into_bytes(),
        };
        Ok((outgoing::answer(exchange)?.unwrap_or_else(no_answer), at_ns))
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

    /// A server for one connection: it plays the answers in turn and returns what it was asked.
    fn server(answers: &'static [&'static str]) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            for answer in answers {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    head.push(byte[0]);
                }
                asked.push(String::from_utf8(head).unwrap());
                stream.write_all(answer.as_bytes()).unwrap();
            }
            asked
        });
        (url, served)
    }

    fn get(path: Option<&str>) -> HttpRequest {
        HttpRequest {
            method: "GET".into(),
            path: path.map(str::to_owned),
            headers: vec![("Accept".into(), "text/plain".into())],
            body: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn scraper(url: &str) -> Scraper {
        Scraper::new(Destination::new(url, "1.2.3").unwrap()).unwrap()
    }

    #[test]
    fn one_connection_serves_all_scrapes() {
        let (url, served) = server(&[
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: 9\r\n\r\npower 1.5",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
        ]);
        let scraper = scraper(&url);
        let (first, at_ns) = scraper.ask(get(Some("/metrics"))).unwrap();
        assert_eq!(
            (first.status, first.content_type.as_str(), first.body.as_slice()),
            (200, "text/plain; version=0.0.4", &b"power 1.5"[..])
        );
        assert!(at_ns > 0);
        let (second, _) = scraper.ask(get(None)).unwrap();
        assert_eq!((second.status, second.body.as_slice()), (404, &b"no"[..]));
        let asked = served.join().unwrap();
        assert!(asked[0].starts_with("GET /metrics HTTP/1.1\r\n"), "{}", asked[0]);
        assert!(asked[1].starts_with("GET / HTTP/1.1\r\n"), "{}", asked[1]);
        for part in ["User-Agent: aiperf/1.2.3\r\n", "Accept: text/plain\r\n"] {
            assert!(asked[0].contains(part), "{part}: {}", asked[0]);
        }
    }

    #[test]
    fn a_path_that_the_url_ends_in_is_not_doubled() {
        let (url, served) = server(&["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]);
        let with_path = format!("{url}/metrics");
        let (answer, _) = scraper(&with_path).ask(get(Some("/metrics"))).unwrap();
        assert_eq!((answer.status, answer.body), (200, Vec::new()));
        assert!(served.join().unwrap()[0].starts_with("GET /metrics HTTP/1.1\r\n"));
    }

    #[test]
    fn no_whole_answer_is_a_status_of_0_with_the_reason() {
        let (url, served) = server(&["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut short"]);
        let (answer, _) = scraper(&url).ask(get(Some("/metrics"))).unwrap();
        served.join().unwrap();
        assert_eq!(answer.status, 0);
        assert!(!answer.body.is_empty());
        // Nobody listens there any more.
        let (answer, at_ns) = scraper(&url).ask(get(Some("/metrics"))).unwrap();
        assert_eq!(answer.status, 0);
        assert!(at_ns > 0 && !answer.body.is_empty());
    }

    #[test]
    fn what_leaves_the_source_is_refused() {
        let url = "http://127.0.0.1:9";
        let header = |name: &str, value: &str| HttpRequest {
            headers: vec![(name.into(), value.into())],
            ..get(Some("/metrics"))
        };
        let method = HttpRequest {
            method: "GET /".into(),
            ..get(None)
        };
        for (asked, part) in [
            (get(Some("http://elsewhere/")), "no path on its source"),
            (get(Some("//elsewhere/")), "no path on its source"),
            (get(Some("metrics")), "no path on its source"),
            (method, "method"),
            (header("Host", "elsewhere"), "Host"),
            (header("A", "b\r\nC: d"), "A"),
        ] {
            let error = scraper(url).ask(asked).unwrap_err();
            assert!(error.message.contains(part), "{part}: {error}");
        }
        assert!(Destination::new("http://u:p@h", "1").is_err());
    }
}
