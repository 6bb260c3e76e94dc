//! Which connection a request takes.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use aiperf_http::{Cancel, Client, ErrorKind, Exchange, Options, Reuse, Target};

use crate::server::Server;
use crate::{handler, post, run, whole};

async fn get(client: &Client, port: u16) -> Exchange {
    client.send(&post(port, "{}"), &Cancel::new()).await
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = Server::start(vec![handler(|mut peer| {
        for answer in ["a", "b", "c"] {
            peer.read_request();
            peer.answer(answer);
        }
        peer.wait_for_close();
    })]);
    let port = server.port;
    run(Options::default(), async |client| {
        for (answer, reused) in [("a", false), ("b", true), ("c", true)] {
            let exchange = get(&client, port).await;
            assert_eq!((whole(&exchange), exchange.reused), (answer, reused));
            assert_eq!(exchange.timings.connect.is_some(), !reused);
            assert_eq!(client.idle_connections(), 1);
            assert_eq!(exchange.bytes_received, 39);
        }
    });
    server.finish();
}

#[test]
fn the_most_recently_used_connection_is_taken() {
    let (release, released) = channel::<()>();
    let server = Server::start(vec![
        handler(move |mut peer| {
            peer.read_request();
            released.recv().unwrap();
            peer.answer("first");
            // It came back last, so it is taken next.
            peer.read_request();
            peer.answer("first again");
            peer.wait_for_close();
        }),
        handler(|mut peer| {
            peer.read_request();
            peer.answer("second");
            peer.wait_for_close();
        }),
    ]);
    let port = server.port;
    run(Options::default(), async |client| {
        let other = client.clone();
        let first = tokio::task::spawn_local(async move { get(&other, port).await });
        tokio::task::yield_now().await;
        assert_eq!(whole(&get(&client, port).await), "second");
        release.send(()).unwrap();
        assert_eq!(whole(&first.await.unwrap()), "first");
        assert_eq!(client.idle_connections(), 2);
        assert_eq!(whole(&get(&client, port).await), "first again");
    });
    server.finish();
}

#[test]
fn never_reusing_opens_and_announces_it() {
    let play = || {
        handler(|mut peer: crate::server::Peer| {
            assert!(peer.read_request().contains("\r\nConnection: close\r\n"));
            peer.answer("x");
            peer.wait_for_close();
        })
    };
    let server = Server::start(vec![play(), play()]);
    let port = server.port;
    run(
        Options {
            reuse: Reuse::Never,
            ..Options::default()
        },
        async |client| {
            for _ in 0..2 {
                let exchange = get(&client, port).await;
                assert!(exchange.is_success() && !exchange.reused);
                assert_eq!(client.idle_connections(), 0);
            }
        },
    );
    server.finish();
}

#[test]
fn a_connection_the_server_gives_up_is_not_kept() {
    let server = Server::start(vec![
        handler(|mut peer| {
            peer.read_request();
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na");
        }),
        handler(|mut peer| {
            peer.read_request();
            peer.answer("b");
        }),
    ]);
    let port = server.port;
    run(Options::default(), async |client| {
        assert_eq!(whole(&get(&client, port).await), "a");
        assert_eq!(client.idle_connections(), 0);
        let exchange = get(&client, port).await;
        assert_eq!((whole(&exchange), exchange.resent), ("b", false));
    });
    server.finish();
}

#[test]
fn a_connection_closed_while_idle_is_replaced_unseen() {
    // After a rest in which the runtime did not look, and after a look.
    replaces_a_closed_connection(async || std::thread::sleep(Duration::from_millis(30)));
    replaces_a_closed_connection(async || tokio::task::yield_now().await);
}

fn replaces_a_closed_connection(rest: impl AsyncFn()) {
    let (closed, is_closed) = channel::<()>();
    let server = Server::start(vec![
        handler(move |mut peer| {
            peer.read_request();
            peer.answer("a");
            drop(peer);
            closed.send(()).unwrap();
        }),
        handler(|mut peer| {
            peer.read_request();
            peer.answer("b");
        }),
    ]);
    let port = server.port;
    run(Options::default(), async |client| {
        assert_eq!(whole(&get(&client, port).await), "a");
        is_closed.recv().unwrap();
        rest().await;
        let exchange = get(&client, port).await;
        assert_eq!(
            (whole(&exchange), exchange.reused, exchange.resent),
            ("b", false, false)
        );
    });
    server.finish();
}

#[test]
fn a_reused_connection_that_dies_before_the_answer_is_replaced_once() {
    let die_on_second = |reset: bool| {
        handler(move |mut peer: crate::server::Peer| {
            peer.read_request();
            peer.answer("a");
            peer.read_request();
            if reset {
                peer.reset();
            }
        })
    };
    for reset in [false, true] {
        let server = Server::start(vec![
            die_on_second(reset),
            handler(|mut peer| {
                peer.read_request();
                peer.answer("b");
            }),
        ]);
        let port = server.port;
        run(Options::default(), async |client| {
            get(&client, port).await;
            let exchange = get(&client, port).await;
            assert_eq!((whole(&exchange), exchange.reused, exchange.resent), ("b", false, true));
            let timings = &exchange.timings;
            assert!(
                timings.send.unwrap().end <= timings.connect.unwrap().start,
                "the first sending counts"
            );
        });
        server.finish();

        // The second connection dies too: no third try.
        let server = Server::start(vec![
            die_on_second(reset),
            handler(|mut peer| {
                peer.read_request();
            }),
        ]);
        let port = server.port;
        run(Options::default(), async |client| {
            get(&client, port).await;
            let exchange = get(&client, port).await;
            assert_eq!(exchange.error.map(|error| error.kind), Some(ErrorKind::Closed));
            assert!(exchange.resent);
        });
        server.finish();
    }
}

#[test]
fn a_reused_connection_that_dies_within_the_answer_is_a_failure() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.answer("a");
        peer.read_request();
        peer.send("HTTP/1.1");
    })]);
    let port = server.port;
    run(Options::default(), async |client| {
        get(&client, port).await;
        let exchange = get(&client, port).await;
        assert_eq!(exchange.error.map(|error| error.kind), Some(ErrorKind::Closed));
        assert!(!exchange.resent);
    });
    server.finish();
}

#[test]
fn bytes_after_an_answer_spoil_the_connection() {
    let server = Server::start(vec![
        handler(|mut peer| {
            peer.read_request();
            peer.send(
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged",
            );
            peer.wait_for_close();
        }),
        handler(|mut peer| {
            peer.read_request();
            peer.answer("b");
        }),
    ]);
    let port = server.port;
    run(Options::default(), async |client| {
        assert_eq!(whole(&get(&client, port).await), "a");
        assert_eq!(whole(&get(&client, port).await), "b");
    });
    server.finish();
}

#[test]
fn idle_connections_are_not_kept_for_ever() {
    let play = || {
        handler(|mut peer: crate::server::Peer| {
            peer.read_request();
            peer.answer("x");
            peer.wait_for_close();
        })
    };
    let server = Server::start(vec![play(), play()]);
    let port = server.port;
    run(
        Options {
            idle_timeout: Duration::ZERO,
            ..Options::default()
        },
        async |client| {
            assert!(!get(&client, port).await.reused);
            assert!(!get(&client, port).await.reused);
        },
    );
    server.finish();
}

#[test]
fn waiting_for_a_slot_is_recorded() {
    let server = Server::start(vec![handler(|mut peer| {
        for answer in ["a", "b"] {
            peer.read_request();
            peer.answer(answer);
        }
    })]);
    let port = server.port;
    run(
        Options {
            max_connections: 1,
            ..Options::default()
        },
        async |client| {
            let other = client.clone();
            let first = tokio::task::spawn_local(async move { get(&other, port).await });
            tokio::task::yield_now().await;
            let second = get(&client, port).await;
            let first = first.await.unwrap();
            assert_eq!((whole(&first), first.timings.pool_wait), ("a", None));
            assert_eq!((whole(&second), second.reused), ("b", true));
            let wait = second.timings.pool_wait.unwrap();
            assert!(second.timings.start <= wait.start && wait.end <= second.timings.send.unwrap().start);
            assert!(wait.end >= first.timings.last_byte.unwrap());
        },
    );
    server.finish();
}

#[test]
fn a_session_keeps_its_own_connection_until_it_is_released() {
    let play = |answers: &'static [&'static str]| {
        handler(move |mut peer: crate::server::Peer| {
            for answer in answers {
                peer.read_request();
                peer.answer(answer);
            }
            peer.wait_for_close();
        })
    };
    let server = Server::start(vec![play(&["7", "7"]), play(&["8"]), play(&["7 anew"])]);
    let port = server.port;
    run(Options::default(), async |client| {
        let send = async |session| {
            let mut request = post(port, "{}");
            request.session = Some(session);
            let exchange = client.send(&request, &Cancel::new()).await;
            whole(&exchange).to_string()
        };
        assert_eq!(send(7).await, "7");
        assert_eq!(send(8).await, "8");
        assert_eq!(send(7).await, "7");
        client.release(7);
        assert_eq!(client.idle_connections(), 1);
        assert_eq!(send(7).await, "7 anew");
    });
    server.finish();
}

#[test]
fn a_name_is_resolved_once() {
    let play = || {
        handler(|mut peer: crate::server::Peer| {
            peer.read_request();
            peer.answer("x");
        })
    };
    let server = Server::start(vec![play(), play()]);
    let port = server.port;
    run(
        Options {
            reuse: Reuse::Never,
            ..Options::default()
        },
        async |client| {
            let mut request = post(port, "{}");
            request.target = Arc::new(Target::parse(&format!("localhost:{port}"), None).unwrap());
            for resolved in [true, false] {
                let exchange = client.send(&request, &Cancel::new()).await;
                assert!(exchange.is_success(), "{exchange:?}");
                assert_eq!(exchange.timings.dns.is_some(), resolved);
            }
        },
    );
    server.finish();
}
