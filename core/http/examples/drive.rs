//! Drives a URL over a number of connections and tells what the client itself costs.
//!
//! `cargo run --release -p aiperf-http --example drive -- URL [CONNECTIONS] [SECONDS] [BODY]`

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use aiperf_http::{Body, Bytes, Cancel, Client, Clock, Method, Options, Request, Target};

#[derive(Default)]
struct Totals {
    requests: Cell<u64>,
    failures: Cell<u64>,
    events: Cell<u64>,
    bounded: Cell<u64>,
    without_kernel: Cell<u64>,
    lag: Cell<u64>,
    last_error: Cell<Option<String>>,
}

fn add(counter: &Cell<u64>, amount: u64) {
    counter.set(counter.get() + amount);
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .ok_or("usage: drive URL [CONNECTIONS] [SECONDS] [BODY]")?;
    let connections: usize = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let body = arguments.next();

    let method = if body.is_some() { Method::POST } else { Method::GET };
    let target = Arc::new(Target::parse(&url, None)?);
    let mut request = Request::new(method, target, Bytes::from(body.unwrap_or_default()));
    request.headers.extend([
        ("User-Agent", "drive"),
        ("Content-Type", "application/json"),
        ("Accept", "text/event-stream"),
    ]);
    request.timeout = Some(Duration::from_secs(60));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let totals = Rc::new(Totals::default());
    let (cpu, start) = (cpu_micros(), Clock.now());
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let client = Client::new(Options::default());
        let deadline = Clock.now() + seconds * 1_000_000_000;
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let (client, request, totals) = (client.clone(), request.clone(), Rc::clone(&totals));
                tokio::task::spawn_local(async move {
                    while Clock.now() < deadline {
                        count(client.send(&request, &Cancel::new()).await, &totals);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await?;
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    let wall = (Clock.now() - start) as f64 / 1e9;
    let cpu = cpu_micros() - cpu;

    let requests = totals.requests.get().max(1);
    let events = totals.events.get();
    println!(
        "{:.0} requests/s, {:.0} events/s",
        requests as f64 / wall,
        events as f64 / wall
    );
    println!(
        "{:.2} µs CPU per request, {:.0} % of a core",
        cpu as f64 / requests as f64,
        cpu as f64 / wall / 1e4
    );
    if events > 0 {
        let (bounded, missing) = (totals.bounded.get(), totals.without_kernel.get());
        println!("{:.2} µs CPU per event", cpu as f64 / events as f64);
        println!("{bounded} events bounded, {missing} without kernel stamp of {events}");
        println!(
            "{:.2} µs mean client lag",
            totals.lag.get() as f64 / 1e3 / (events - missing).max(1) as f64
        );
    }
    println!("{} failures {:?}", totals.failures.get(), totals.last_error.take());
    Ok(())
}

fn count(exchange: aiperf_http::Exchange, totals: &Totals) {
    add(&totals.requests, 1);
    if let Body::Events(events) = &exchange.body {
        for arrival in &events.arrivals {
            add(&totals.events, 1);
            add(&totals.bounded, u64::from(arrival.lower().is_some()));
            match arrival.lag() {
                Some(lag) => add(&totals.lag, lag),
                None => add(&totals.without_kernel, 1),
            }
        }
    }
    if !exchange.is_success() {
        add(&totals.failures, 1);
        totals.last_error.set(Some(
            exchange
                .error
                .map_or(exchange.reason.into_owned(), |error| error.message),
        ));
    }
}

/// User and system time of this process in microseconds.
fn cpu_micros() -> i64 {
    // SAFETY: rusage is plain data for which all zeros is valid, and getrusage only fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    #[allow(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
    let micros = |time: libc::timeval| time.tv_sec as i64 * 1_000_000 + time.tv_usec as i64;
    micros(usage.ru_utime) + micros(usage.ru_stime)
}
