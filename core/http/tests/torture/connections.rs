//! When a connection is used again, and when a request is sent again.

use aiperf_http::{Bytes, Cancel, ErrorKind};

use crate::script::{Step, send, serve};
use crate::{post, run, shown};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Two requests, the second over the first's connection; `ending` is what the server does with the second.
#[test]
fn a_reused_connection_that_ends() {
    let fresh = vec![Step::Request, send(OK.replace("ok", "ng")), Step::Wait];
    for (name, ending, resent, error) in [
        ("closed before the request", vec![Step::Close], false, None),
        ("closed after the request", vec![Step::Request, Step::Close], true, None),
        ("reset after the request", vec![Step::Request, Step::Reset], true, None),
        (
            "closed within the head",
            vec![Step::Request, send("HTTP/1.1 2"), Step::Close],
            false,
            Some(ErrorKind::Closed),
        ),
        (
            "reset within the head",
            vec![Step::Request, send("HTTP/1.1 2"), Step::Reset],
            false,
            Some(ErrorKind::Reset),
        ),
        (
            "closed after an interim answer",
            vec![Step::Request, send("HTTP/1.1 100 Continue\r\n\r\n"), Step::Close],
            false,
            Some(ErrorKind::Closed),
        ),
        (
            "closed within the body",
            vec![
                Step::Request,
                send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
                Step::Close,
            ],
            false,
            Some(ErrorKind::BodyIncomplete),
        ),
    ] {
        run(async |client| {
            let mut first = vec![Step::Request, send(OK)];
            first.extend(ending);
            let again = error.is_none();
            let mut scripts = vec![first];
            scripts.extend(again.then(|| fresh.clone()));
            let server = serve(scripts).await;
            let answer = client.send(&post(server.port), &Cancel::new()).await;
            assert_eq!((answer.error, answer.reused), (None, false), "{name}");
            // The server may close now.
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            let answer = client.send(&post(server.port), &Cancel::new()).await;
            assert_eq!(answer.error.as_ref().map(|error| error.kind), error, "{name}");
            assert_eq!(answer.resent, resent, "{name}");
            if again {
                assert_eq!(shown(&answer.body), "ng", "{name}");
            }
            if resent {
                let (send, connect) = (answer.timings.send.unwrap(), answer.timings.connect.unwrap());
                assert!(send.end <= connect.start, "{name}: the first sending counts");
            }
            drop(client);
            server.finish().await;
        });
    }
}

#[test]
fn an_answer_before_the_request_is_read_counts() {
    run(async |client| {
        let server = serve(vec![vec![send(OK), Step::Wait]]).await;
        let answer = client.send(&post(server.port), &Cancel::new()).await;
        assert_eq!((answer.error, answer.status), (None, Some(200)));
        drop(client);
        server.finish().await;
    });
}

#[test]
fn an_early_refusal_counts_although_the_server_closes() {
    run(async |client| {
        let refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig";
        let server = serve(vec![vec![Step::Head, send(refusal), Step::Close]]).await;
        let mut request = post(server.port);
        request.body = Bytes::from(vec![b'x'; 32 << 20]);
        let answer = client.send(&request, &Cancel::new()).await;
        assert_eq!((answer.error.as_ref(), answer.status), (None, Some(413)), "{answer:?}");
        assert_eq!((shown(&answer.body).as_str(), client.idle_connections()), ("big", 0));
        assert_eq!(answer.timings.send, None, "the request was never completely written");
        server.finish().await;
    });
}

#[test]
fn bytes_nobody_asked_for_spoil_a_connection() {
    for late in [false, true] {
        run(async |client| {
            let forged = OK.replace("ok", "NO");
            let mut first = vec![Step::Request];
            match late {
                false => first.push(send(format!("{OK}{forged}"))),
                true => first.extend([send(OK), send(forged)]),
            }
            first.push(Step::Wait);
            let server = serve(vec![first, vec![Step::Request, send(OK), Step::Wait]]).await;
            let answer = client.send(&post(server.port), &Cancel::new()).await;
            assert_eq!(shown(&answer.body), "ok");
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            let answer = client.send(&post(server.port), &Cancel::new()).await;
            assert_eq!(
                (shown(&answer.body).as_str(), answer.reused, answer.error),
                ("ok", false, None)
            );
            drop(client);
            server.finish().await;
        });
    }
}
