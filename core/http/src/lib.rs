//! HTTP client of the measuring path: timestamps, pools, SSE framing.
//!
//! A [`Client`] lives inside one I/O thread (a tokio current-thread runtime with I/O and time enabled) and is not
//! `Send`; what goes in ([`Request`]) and what comes out ([`Exchange`]) is plain data that may cross threads.
//! [`Client::send`] never fails: whatever happens is told by the exchange.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use aiperf_http::{Body, Bytes, Cancel, Client, Method, Options, Request, Target};
//! # async fn example() -> Result<(), aiperf_http::TargetError> {
//! let client = Client::new(Options::default());
//! let target = Target::parse("localhost:8000", Some("/v1/chat/completions"))?;
//! let request = Request::new(Method::POST, Arc::new(target), Bytes::from_static(b"{}"));
//! let exchange = client.send(&request, &Cancel::new()).await;
//! if let Body::Events(events) = &exchange.body {
//!     for (data, arrival) in events.iter() {
//!         println!("{} ns: {} bytes", arrival.at() - exchange.timings.start, data.len());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Reading order:
//! * [`clock`]: monotonic nanoseconds, wall anchors, precise sleeping.
//! * `receive`: the one system call that reads, with the kernel's receive timestamp beside it.
//! * `socket`: every read is stamped, and what is made of its bytes carries its stamp.
//! * [`response`]: bytes to head, body and end, in place; `outgoing`: the request, written by ourselves.
//! * `tls`: bytes in, bytes out, between the two when the target is https; `trust`, `validity`: with which certificates.
//! * `decode`: gzip and deflate, where a server sends them unasked.
//! * `collect` and [`sse`]: from parts of a body to events with arrivals; `stream`, `packed`: the events in little room.
//! * `perform`: one request on one connection.
//! * `connect`, `dns`, `proxy`, `pool`, [`client`](Client): everything around it.
//!
//! Only `clock` and `receive` contain `unsafe`.

mod cancel;
mod client;
pub mod clock;
mod collect;
mod connect;
mod connection;
mod decode;
mod dns;
mod error;
mod exchange;
mod headers;
mod outgoing;
mod packed;
mod perform;
mod pool;
mod proxy;
mod receive;
mod request;
pub mod response;
mod socket;
pub mod sse;
mod stamp;
mod stream;
mod target;
mod tls;
mod trust;
mod validity;

pub use bytes::Bytes;
pub use cancel::Cancel;
pub use client::{Client, Options, Reuse};
pub use clock::Clock;
pub use error::{ErrorKind, ExchangeError};
pub use exchange::{Arrival, Body, Chunk, Events, Exchange, Span, Timings};
pub use headers::{Headers, RequestError};
pub use http::Method;
pub use perform::Observer;
pub use proxy::{Proxy, ProxyError};
pub use request::Request;
pub use stream::Stream;
pub use target::{Scheme, Target, TargetError};
pub use trust::{Tls, TlsError, TlsSettings};
