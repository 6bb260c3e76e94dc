//! The readers of bytes from outside. Each takes any bytes, and panics when the code under test breaks a promise.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aiperf_host::registry::{RegistryFile, Source};
use aiperf_http::response::{Head, Piece, Response, ResponseError};
use aiperf_http::sse::{Kind, Parser};
use aiperf_http::{Bytes, Cancel, Client, Exchange, Method, Options, Proxy, Request, Reuse, Target};
use aiperf_sdk::prelude::Open;
use aiperf_sdk::{Dataset, Endpoint, Package, testing};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// One reader.
pub struct Fuzz {
    /// Name, and that of its corpus folder.
    pub name: &'static str,
    /// Feeds it.
    pub run: fn(&[u8]),
    /// Words of its format.
    pub words: &'static [&'static [u8]],
}

/// All readers.
pub const ALL: &[Fuzz] = &[
    Fuzz {
        name: "sse",
        run: sse,
        words: &[
            b"data:",
            b"data: ",
            b"event:",
            b"event: error",
            b"id:",
            b"retry:",
            b":",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"{",
            b"}",
            b"[DONE]",
        ],
    },
    Fuzz {
        name: "response",
        run: response,
        words: RESPONSE_WORDS,
    },
    Fuzz {
        name: "http_response",
        run: http_response,
        words: RESPONSE_WORDS,
    },
    Fuzz {
        name: "registry",
        run: registry,
        words: &[
            b"schema_version: \"1.0\"\n",
            b"packages:",
            b"- ",
            b": ",
            b"\n  ",
            b"&a ",
            b"*a",
            b"<<: *a",
            b"? ",
            b"!!",
            b"|\n",
            b">-\n",
            b"[[[[",
            b"{a: ",
            b"---\n",
            b"metadata:",
            b"library:",
            b"sha256:",
            b"api: \"^1.0\"",
            b"endpoint:",
            b"metric:",
        ],
    },
    Fuzz {
        name: "component",
        run: component,
        words: &[
            b"\0asm\x0d\0\x01\0",
            b"\0asm\x01\0\0\0",
            b"aiperf:plugin/manifest@1.0.0",
            b"aiperf:plugin/host@1.0.0",
            b"aiperf:plugin/gpu-collector@1.0.0",
            b"@99999999999.0",
            b".aiperf",
            b"AIPERF\0\x01",
            b"\xff\xff\xff\xff\x0f",
            b"\x80\x80\x80\x80\x80\x80\0",
        ],
    },
    Fuzz {
        name: "version_record",
        run: version_record,
        words: &[
            b"AIPERF\0\x01",
            b".aiperf\0",
            b"\x7fELF",
            b"\xcf\xfa\xed\xfe",
            b"MZ",
            b"PE\0\0",
            b"\xff\xff\xff\xff",
            b"!<arch>\n",
        ],
    },
    Fuzz {
        name: "url",
        run: url,
        words: &[
            b"http://",
            b"https://",
            b"//",
            b"/v1",
            b"/",
            b"?",
            b"#",
            b"@",
            b":",
            b"[::1]",
            b"[",
            b"]",
            b"%",
            b"%00",
            b"&",
            b"=",
            b"..",
            b"\n",
            b"localhost",
            b"65535",
            b"\xe2\x80\xae",
            b"xn--",
        ],
    },
    Fuzz {
        name: "chat",
        run: chat,
        words: JSON_WORDS,
    },
    Fuzz {
        name: "completions",
        run: completions,
        words: JSON_WORDS,
    },
    Fuzz {
        name: "single_turn",
        run: single_turn,
        words: ROW_WORDS,
    },
    Fuzz {
        name: "multi_turn",
        run: multi_turn,
        words: ROW_WORDS,
    },
    Fuzz {
        name: "command_line",
        run: command_line,
        words: &[
            b"--model",
            b"--url",
            b"--isl",
            b"--extra-inputs",
            b"--header",
            b"--goodput",
            b"--plugin-opt",
            b"--input-file",
            b"--tokenizer",
            b"--http-proxy",
            b"=",
            b"\n",
            b",",
            b":",
            b"{\"a\":",
            b"mock:?",
            b"http://u:p@h",
            b"--concurrency",
            b"--osl-stddev",
            b"inf",
        ],
    },
];

const RESPONSE_WORDS: &[&[u8]] = &[
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 ",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 X\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"Content-Type: text/event-stream\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: deflate\r\n",
    b"Location: //u:p@h\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"0\r\n\r\n",
    b"ffffffff\r\n",
    b"data: x\n\n",
    b"\x1f\x8b\x08\x1f",
];

const JSON_WORDS: &[&[u8]] = &[
    b"\"choices\":",
    b"\"delta\":",
    b"\"message\":",
    b"\"content\":",
    b"\"tool_calls\":",
    b"\"function\":",
    b"\"arguments\":",
    b"\"index\":",
    b"\"usage\":",
    b"\"prompt_tokens\":",
    b"\"completion_tokens_details\":",
    b"\"object\":\"chat.completion.chunk\"",
    b"\"text\":",
    b"\"error\":",
    b"\"finish_reason\":",
    b"\"reasoning_content\":",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\n",
    b"[DONE]",
];

const ROW_WORDS: &[&[u8]] = &[
    b"\"text\":",
    b"\"texts\":",
    b"\"turns\":",
    b"\"session_id\":",
    b"\"timestamp\":",
    b"\"delay\":",
    b"\"images\":",
    b"\"role\":",
    b"\"model\":",
    b"\"output_length\":",
    b"\"max_tokens\":",
    b"\"extra\":",
    b"\"tools\":",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\n",
];

/// Any split of a stream gives the same events.
fn sse(bytes: &[u8]) {
    let whole = events([bytes]);
    assert_eq!(events(bytes.chunks(1)), whole);
    let middle = bytes.len() / 2;
    assert_eq!(events([&bytes[..middle], &[], &bytes[middle..]]), whole);
}

fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(Vec<u8>, Vec<u8>, Kind)> {
    let mut parser = Parser::new();
    let (mut data, mut start, mut events) = (Vec::new(), 0, Vec::new());
    let mut take = |parser: &Parser, data: &[u8], start: &mut usize, kind| {
        events.push((parser.name().to_vec(), data[*start..].to_vec(), kind));
        *start = data.len();
    };
    for mut piece in pieces {
        while let Some(kind) = parser.next(&mut piece, &mut data, start) {
            take(&parser, &data, &mut start, kind);
        }
    }
    if let Some(kind) = parser.finish(&mut data, start) {
        take(&parser, &data, &mut start, kind);
    }
    events
}

/// Any split of a response is the same response.
fn response(bytes: &[u8]) {
    for bodiless in [false, true] {
        let whole = read(bodiless, [bytes]);
        assert_eq!(read(bodiless, bytes.chunks(1)), whole);
        let middle = bytes.len() / 2;
        assert_eq!(read(bodiless, [&bytes[..middle], &[], &bytes[middle..]]), whole);
    }
}

/// What a response is found to be.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    head: Option<Head>,
    body: Vec<u8>,
    error: Option<ResponseError>,
    /// The end has come, and whether the connection may stay.
    end: Option<bool>,
    /// Bytes behind it.
    rest: usize,
}

fn read<'a>(bodiless: bool, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let (mut response, mut seen) = (Response::new(bodiless), Seen::default());
    for mut piece in pieces {
        while seen.end.is_none() && seen.error.is_none() {
            match response.next(&mut piece) {
                Ok(None) => break,
                Ok(Some(Piece::Head(head))) => assert!(seen.head.replace(*head).is_none(), "two heads"),
                Ok(Some(Piece::Body(part))) => {
                    assert!(seen.head.is_some() && !part.is_empty());
                    seen.body.extend_from_slice(part);
                }
                Ok(Some(Piece::End)) => seen.end = Some(response.keeps_alive()),
                Err(error) => seen.error = Some(error),
            }
        }
        seen.rest += piece.len();
    }
    if seen.error.is_some() {
        // Where the bytes were cut says how many of them had been taken.
        seen.rest = 0;
    } else if seen.end.is_none() && response.close() {
        seen.end = Some(response.keeps_alive());
    }
    seen
}

/// A server that answers with these bytes and closes: the client comes to an end, and what it counts adds up.
fn http_response(bytes: &[u8]) {
    thread_local! {
        static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
    }
    RUNTIME.with(|runtime| {
        let runtime = runtime.get_or_init(|| {
            let builder = &mut tokio::runtime::Builder::new_current_thread();
            builder.enable_all().build().expect("a runtime")
        });
        let exchange = tokio::task::LocalSet::new().block_on(runtime, exchange(bytes.to_vec()));
        assert!(exchange.bytes_received <= bytes.len() as u64, "{exchange:?}");
        assert!(exchange.body_bytes <= exchange.bytes_received, "{exchange:?}");
        assert!(exchange.error.is_some() || exchange.status.is_some(), "{exchange:?}");
        let timings = &exchange.timings;
        assert!(
            timings.first_byte <= timings.last_byte && timings.start <= timings.end,
            "{timings:?}"
        );
        if let Some(error) = &exchange.error {
            assert!(
                !error.message.is_empty() && error.kind != aiperf_http::ErrorKind::Timeout,
                "{exchange:?}"
            );
        }
    });
}

async fn exchange(bytes: Vec<u8>) -> Exchange {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::task::spawn_local(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        // A client that has seen enough closes.
        let _ = stream.write_all(head).await;
        tokio::task::yield_now().await;
        let _ = stream.write_all(tail).await;
        let _ = stream.shutdown().await;
        // Closing with a request unread would be a reset.
        let mut request = [0; 4096];
        while let Ok(1..) = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await {}
    });
    let client = Client::new(Options {
        reuse: Reuse::Never,
        max_body: 1 << 20,
        ..Options::default()
    });
    let target = Target::parse(&format!("127.0.0.1:{port}"), None).expect("a URL");
    let mut request = Request::new(Method::POST, Arc::new(target), Bytes::from_static(b"{}"));
    request.timeout = Some(Duration::from_secs(20));
    let exchange = client.send(&request, &Cancel::new()).await;
    drop(client);
    server.await.expect("the server");
    exchange
}

/// A registry file is read or refused with a place and a reason.
fn registry(bytes: &[u8]) {
    let source = Source::CommandLine(PathBuf::from("registry.yaml"));
    if let Err(error) = RegistryFile::parse(&String::from_utf8_lossy(bytes), source) {
        let text = error.to_string();
        assert!(text.contains("registry.yaml") && !error.problem.is_empty(), "{text}");
    }
}

/// A library's version record.
fn version_record(bytes: &[u8]) {
    if let Err(cause) = aiperf_host::load::version_info(bytes) {
        assert!(!cause.to_string().is_empty());
    }
}

/// A component: what is read from it before anything is compiled.
fn component(bytes: &[u8]) {
    match aiperf_host::component_info(bytes) {
        Ok(info) => assert_eq!(info.api.major, aiperf_sdk::api::record::API.major),
        Err(cause) => assert!(!cause.to_string().is_empty()),
    }
}

/// A base URL and, on a second line, a path: what is accepted is read back as the same target, and can stand in a request.
fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (url, path) = text.split_once('\n').unwrap_or((&text, ""));
    if let Ok(target) = Target::parse(url, Some(path)) {
        let shown = target.to_string();
        // A slash at the end of a base is not told from none.
        if !target.path().split('?').next().is_some_and(|path| path.ends_with('/')) {
            assert_eq!(Target::parse(&shown, None).as_ref(), Ok(&target), "{shown}");
        }
        assert!(shown.bytes().all(|byte| byte.is_ascii_graphic()), "{shown:?}");
        let parameters = [("a b".to_owned(), path.to_owned())];
        let target = target.with_parameters(&parameters);
        assert!(target.path().starts_with('/') && target.path().bytes().all(|byte| byte.is_ascii_graphic()));
    }
    if let Ok(proxy) = Proxy::parse(url) {
        assert!(!proxy.to_string().contains('@'), "{proxy}");
    }
    let shown = aiperf_config::redact::url(url);
    assert!(!shown.is_empty() || url.is_empty());
}

fn chat(bytes: &[u8]) {
    decode("chat", bytes);
}

fn completions(bytes: &[u8]) {
    decode("completions", bytes);
}

/// An answer as a stream, one event per line, and as one body: chunks belong to events that exist.
fn decode(entry: &str, bytes: &[u8]) {
    for core in ["{}", "{\"per_chunk_usage\": true}"] {
        let open = Open {
            core: core.to_owned(),
            ..testing::open(entry, "")
        };
        let endpoint: Box<dyn Endpoint> = aiperf_endpoints::BuiltIn::endpoint(open).expect("an endpoint");
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        let streamed = testing::Response::events(&lines);
        for (response, events) in [(streamed, lines.len()), (testing::Response::json(bytes), 1)] {
            if let Ok(decoded) = testing::decode(&*endpoint, &response) {
                for (event, _, _) in decoded.chunks.iter() {
                    assert!((event as usize) < events, "a chunk of event {event} of {events}");
                }
            }
        }
    }
}

fn single_turn(bytes: &[u8]) {
    rows("single_turn", bytes);
}

fn multi_turn(bytes: &[u8]) {
    rows("multi_turn", bytes);
}

/// Rows of a file: however the file is read, the same conversations or the same error.
fn rows(entry: &str, bytes: &[u8]) {
    let read = |piece: usize| -> Result<Vec<_>, String> {
        let open = Open {
            core: "{\"seeded\": true, \"supports_system_message\": true}".to_owned(),
            ..testing::open(entry, "")
        };
        let mut dataset: Box<dyn Dataset> = aiperf_datasets::BuiltIn::dataset(open).expect("a dataset");
        let files = testing::source_in_pieces([("rows.jsonl", bytes)], piece);
        dataset.open(files).map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        loop {
            let more = dataset.next(3).map_err(|error| error.to_string())?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
        }
    };
    assert_eq!(read(usize::MAX), read(7));
    let open = testing::open(entry, "{}");
    let dataset = aiperf_datasets::BuiltIn::dataset(open).expect("a dataset");
    dataset
        .probe(&testing::sample([("rows.jsonl", bytes)]))
        .expect("an answer");
}

/// Arguments, one per line.
fn command_line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let arguments: Vec<&str> = text.split('\n').collect();
    match aiperf_config::parse_profile(&arguments) {
        Ok(plan) => assert!(plan.input_config().is_object()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
