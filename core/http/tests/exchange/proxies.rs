//! A proxy in between.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use aiperf_http::{Cancel, ErrorKind, Exchange, Options, Proxy, Target};

use crate::encrypted::{self, https, read_request, trusting};
use crate::server::{Peer, Server};
use crate::{handler, post, run, whole};

fn options(proxy: &str) -> Options {
    Options {
        proxy: Some(Proxy::parse(proxy).unwrap()),
        tls: Some(trusting()),
        ..Options::default()
    }
}

/// A proxy that opens one tunnel, and tells what it was asked.
fn tunnel() -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let proxy = std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let mut peer = Peer::new(client.try_clone().unwrap());
        let head = peer.read_head();
        let to = head.split(' ').nth(1).unwrap();
        let server = TcpStream::connect(to).unwrap();
        peer.send("HTTP/1.1 200 Connection established\r\nX-Via: p\r\n\r\n");
        let there = std::thread::spawn({
            let (client, server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            move || copy(client, server)
        });
        copy(server, client);
        there.join().unwrap();
        head
    });
    (port, proxy)
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn http_goes_to_the_proxy_as_a_whole_url() {
    let server = Server::start(vec![handler(|mut peer| {
        for answer in ["a", "b"] {
            let request = peer.read_request();
            // RFC 7617's own example.
            assert!(
                request.starts_with(
                    "POST http://model.invalid:81/v1/test HTTP/1.1\r\nHost: model.invalid:81\r\n\
                     Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"
                ),
                "{request}"
            );
            peer.answer(answer);
        }
    })]);
    let proxy = format!("http://Aladdin:open%20sesame@127.0.0.1:{}", server.port);
    run(options(&proxy), async |client| {
        for (answer, reused) in [("a", false), ("b", true)] {
            let mut request = post(1, "{}");
            request.target = Arc::new(Target::parse("http://model.invalid:81", Some("/v1/test")).unwrap());
            let exchange = client.send(&request, &Cancel::new()).await;
            assert_eq!(exchange.error, None);
            assert_eq!((whole(&exchange), exchange.reused), (answer, reused));
        }
    });
    server.finish();
}

#[test]
fn https_goes_through_a_tunnel() {
    let (port, server) = encrypted::serve(|mut peer| {
        for _ in 0..2 {
            read_request(&mut peer);
            encrypted::send(&mut peer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let (proxy_port, proxy) = tunnel();
    run(options(&format!("http://u:p@127.0.0.1:{proxy_port}")), async |client| {
        for reused in [false, true] {
            let exchange = client.send(&https(port, 2), &Cancel::new()).await;
            assert_eq!(exchange.error, None);
            assert_eq!((whole(&exchange), exchange.reused), ("ok", reused));
            assert_eq!(exchange.remote.map(|remote| remote.port()), Some(proxy_port));
        }
    });
    server.join().unwrap();
    assert_eq!(
        proxy.join().unwrap(),
        format!(
            "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        )
    );
}

fn ask(proxy: &str, target: &aiperf_http::Request) -> Exchange {
    run(options(proxy), async |client| client.send(target, &Cancel::new()).await)
}

#[test]
fn a_proxy_that_refuses_is_told_without_its_credentials() {
    for (answer, part) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "credentials"),
        ("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n", "503 Busy"),
        ("SSH-2.0\r\n\r\n", "not HTTP"),
        ("HTTP/1.1 200 OK\r\n", "closed the connection"),
        ("", "closed the connection"),
    ] {
        let server = Server::start(vec![handler(move |mut peer| {
            assert!(peer.read_head().starts_with("CONNECT 127.0.0.1:9 "));
            peer.send(answer);
        })]);
        let address = format!("127.0.0.1:{}", server.port);
        let exchange = ask(&format!("http://u:hunter2@{address}"), &https(9, 2));
        server.finish();
        let error = exchange.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Proxy, "{error}");
        assert!(
            error.message.contains(part) && error.message.contains(&address),
            "{part}: {error}"
        );
        assert!(!error.message.contains("hunter2"), "{error}");
        assert!(exchange.timings.connect.is_some() && exchange.timings.send.is_none());
    }
}

#[test]
fn a_proxy_out_of_reach_is_the_proxys_fault() {
    let port = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for proxy in [
        format!("http://127.0.0.1:{port}"),
        format!("http://{}:1", "a".repeat(64)),
    ] {
        let error = ask(&proxy, &post(9, "{}")).error.unwrap();
        assert_eq!(error.kind, ErrorKind::Proxy, "{error}");
        assert!(error.message.contains("proxy"), "{error}");
    }
}
