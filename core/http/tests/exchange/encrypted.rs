//! https.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use aiperf_http::{Body, Cancel, ErrorKind, Options, Target, Tls, TlsSettings};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{OnEvent, STREAM, events, post, run, whole};

pub(crate) type Peer = BufReader<StreamOwned<ServerConnection, std::net::TcpStream>>;

/// A server with a certificate that nobody trusts; `play` gets its only connection.
pub(crate) fn serve(play: impl FnOnce(Peer) + Send + 'static) -> (u16, JoinHandle<()>) {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let key = PrivateKeyDer::try_from(certificate.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        play(BufReader::new(StreamOwned::new(session, stream)));
    });
    (port, server)
}

/// Trusts anyone.
pub(crate) fn trusting() -> Tls {
    let settings = TlsSettings {
        insecure: true,
        ..TlsSettings::default()
    };
    settings.load().unwrap()
}

pub(crate) fn read_request(peer: &mut Peer) {
    let mut length = 0;
    loop {
        let mut line = String::new();
        peer.read_line(&mut line).unwrap();
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim_end().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    peer.read_exact(&mut vec![0; length]).unwrap();
}

pub(crate) fn send(peer: &mut Peer, text: &str) {
    peer.get_mut().write_all(text.as_bytes()).unwrap();
    peer.get_mut().flush().unwrap();
}

pub(crate) fn https(port: u16, body: usize) -> aiperf_http::Request {
    let mut request = post(port, "");
    request.target = Arc::new(Target::parse(&format!("https://127.0.0.1:{port}"), Some("/v1/test")).unwrap());
    request.body = vec![b'x'; body].into();
    request
}

#[test]
fn encrypted_exchanges_share_a_connection_and_are_stamped() {
    const SIZE: usize = 3 << 20;
    let (seen, next) = channel();
    let (port, server) = serve(move |mut peer| {
        read_request(&mut peer);
        send(&mut peer, STREAM);
        for text in ["one", "two", "three"] {
            send(&mut peer, &format!("{:x}\r\ndata: {text}\n\n\r\n", text.len() + 8));
            next.recv().unwrap();
        }
        send(&mut peer, "0\r\n\r\n");
        // A large request and a large answer: many records each.
        read_request(&mut peer);
        send(
            &mut peer,
            &format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n{}", "y".repeat(SIZE)),
        );
    });
    run(
        Options {
            tls: Some(trusting()),
            ..Options::default()
        },
        async |client| {
            let mut observer = OnEvent(|_: &[u8]| seen.send(()).unwrap());
            let exchange = client
                .send_observed(&https(port, 2), &Cancel::new(), &mut observer)
                .await;
            assert_eq!(exchange.error, None);
            assert_eq!(events(&exchange), ["one", "two", "three"]);
            let Body::Events(events) = &exchange.body else {
                unreachable!()
            };
            let at: Vec<_> = events.arrivals.iter().map(|arrival| arrival.at()).collect();
            assert!(at.is_sorted() && at[0] < at[2], "{at:?}");
            assert!(
                events.arrivals.iter().all(|arrival| arrival.lower().is_none()),
                "{:?}",
                events.arrivals
            );

            let exchange = client.send(&https(port, SIZE), &Cancel::new()).await;
            assert_eq!((exchange.error.as_ref(), exchange.reused), (None, true));
            assert_eq!(whole(&exchange).len(), SIZE);
            assert!(exchange.bytes_sent > SIZE as u64 && exchange.bytes_received > SIZE as u64);
        },
    );
    server.join().unwrap();
}

#[test]
fn a_session_ended_before_the_answer_is_a_close_without_a_byte() {
    let (port, server) = serve(|mut peer| {
        read_request(&mut peer);
        peer.get_mut().conn.send_close_notify();
        peer.get_mut().flush().unwrap();
    });
    let options = Options {
        tls: Some(trusting()),
        ..Options::default()
    };
    let exchange = run(options, async |client| {
        client.send(&https(port, 2), &Cancel::new()).await
    });
    server.join().unwrap();
    assert_eq!(exchange.error.map(|error| error.kind), Some(ErrorKind::Closed));
    assert_eq!(exchange.bytes_received, 0, "tickets and alerts are no answer");
}

#[test]
fn an_untrusted_certificate_is_refused() {
    let (port, server) = serve(|mut peer| {
        let mut byte = [0];
        assert!(peer.read(&mut byte).is_err(), "the client must refuse the handshake");
    });
    let exchange = run(Options::default(), async |client| {
        client.send(&https(port, 2), &Cancel::new()).await
    });
    server.join().unwrap();
    assert_eq!(exchange.error.map(|error| error.kind), Some(ErrorKind::Tls));
    assert_eq!(exchange.timings.send, None);
}

#[test]
fn a_server_without_tls_is_told() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let options = Options {
        tls: Some(trusting()),
        ..Options::default()
    };
    let exchange = run(options, async |client| {
        client.send(&https(port, 2), &Cancel::new()).await
    });
    server.join().unwrap();
    assert_eq!(exchange.error.map(|error| error.kind), Some(ErrorKind::Tls));
}
