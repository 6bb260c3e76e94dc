//! A server that follows a script. It lives in the client's thread, as a task of the same runtime, so that it can let
//! the client read between two writes without a clock.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One thing a server does with a connection.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Reads one request to the end of its body.
    Request,
    /// Reads the head of a request and leaves its body.
    Head,
    /// Writes bytes, and lets the client read them.
    Send(Vec<u8>),
    /// Closes the connection. Implied at the end of a script.
    Close,
    /// Resets the connection.
    Reset,
    /// Waits until the client closes its end.
    Wait,
}

/// What a server does with one connection.
pub(crate) type Script = Vec<Step>;

pub(crate) fn send(text: impl AsRef<[u8]>) -> Step {
    Step::Send(text.as_ref().to_vec())
}

/// A listening server, with one script per connection.
pub(crate) struct Server {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl Server {
    /// Waits until every script was played; fails if one could not be.
    pub(crate) async fn finish(self) {
        self.task.await.unwrap();
    }
}

/// Starts a server that plays `scripts` on as many connections, in the order in which they come.
pub(crate) async fn serve(scripts: Vec<Script>) -> Server {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::task::spawn_local(async move {
        let mut playing = Vec::new();
        for script in scripts {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            playing.push(tokio::task::spawn_local(play(stream, script)));
        }
        for play in playing {
            play.await.unwrap();
        }
    });
    Server { port, task }
}

async fn play(mut stream: TcpStream, script: Script) {
    let mut steps = VecDeque::from(script);
    while let Some(step) = steps.pop_front() {
        match step {
            Step::Request => read_request(&mut stream, true).await,
            Step::Head => read_request(&mut stream, false).await,
            Step::Send(bytes) => {
                // A client that has given up is no fault of the server.
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                // Each yield lets the runtime look for readable sockets and run the client.
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
            }
            Step::Close => return,
            Step::Reset => {
                // What was sent must have been read: a reset discards the rest.
                tokio::time::sleep(Duration::from_millis(5)).await;
                stream.set_zero_linger().unwrap();
                return;
            }
            Step::Wait => {
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream, with_body: bool) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a request"));
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().unwrap());
    if with_body {
        stream.read_exact(&mut vec![0; length]).await.expect("a request's body");
    }
}
