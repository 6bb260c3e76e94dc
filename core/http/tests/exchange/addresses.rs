//! Names, address families, and which address is taken.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread::JoinHandle;

use aiperf_http::{Cancel, Exchange, Options, Target};

use crate::{post, run};

/// A server at this address that answers one request; None where the machine has no such address.
fn serve(address: &str) -> Option<(SocketAddr, JoinHandle<String>)> {
    let listener = TcpListener::bind(address).ok()?;
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut peer = crate::server::Peer::new(stream);
        let request = peer.read_request();
        peer.answer("ok");
        request
    });
    Some((address, server))
}

fn ask(url: &str) -> Exchange {
    run(Options::default(), async |client| {
        let mut request = post(1, "{}");
        request.target = Arc::new(Target::parse(url, None).unwrap());
        client.send(&request, &Cancel::new()).await
    })
}

#[test]
fn an_ipv6_literal_is_an_address() {
    let Some((address, server)) = serve("[::1]:0") else {
        return;
    };
    let exchange = ask(&format!("http://[::1]:{}", address.port()));
    assert!(exchange.is_success(), "{exchange:?}");
    assert_eq!((exchange.remote, exchange.timings.dns), (Some(address), None));
    let request = server.join().unwrap();
    assert!(
        request.contains(&format!("\r\nHost: [::1]:{}\r\n", address.port())),
        "{request}"
    );
}

#[test]
fn all_addresses_of_a_name_are_tried() {
    let both = ("localhost", 1)
        .to_socket_addrs()
        .is_ok_and(|addresses| addresses.into_iter().any(|address| address.is_ipv6()));
    let Some((address, server)) = serve("[::1]:0").filter(|_| both) else {
        return;
    };
    // IPv4 comes first, and nobody listens there.
    let exchange = ask(&format!("http://localhost:{}", address.port()));
    assert!(exchange.is_success(), "{exchange:?}");
    assert_eq!(exchange.remote, Some(address));
    server.join().unwrap();
}
