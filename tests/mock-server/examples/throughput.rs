//! Measures how many SSE events per second the server delivers on one core, with a client on another.
//!
//! The server is a child process pinned to the first core; its own processor time is read from `/proc`, so that the
//! figure "per core second" holds even if the client or another process is the bottleneck.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aiperf_mock_server::{Settings, listening_line, parse_listening_line, run};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use rustix::thread::{CpuSet, sched_setaffinity};

const SECONDS: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("serve") {
        pin(0)?;
        run(Settings::from_args(args)?, |addr| println!("{}", listening_line(addr)))?;
        return Ok(());
    }
    pin(std::thread::available_parallelism()?.get() - 1)?;
    println!(
        "{:<44} {:>12} {:>12} {:>16}",
        "", "events/s", "server core", "per core second"
    );
    for (name, connections, tokens, query) in [
        ("one write per event, 50 streams, saturated", 50, 200, "itl=0.001"),
        ("one write per event, 1000 streams, saturated", 1000, 50, "itl=0.001"),
        ("one write per event, 9000 streams, saturated", 9000, 20, "itl=0.001"),
        ("one write per event, 500 streams, itl 10 ms", 500, 50, "itl=10"),
        ("the same with a log", 500, 50, "itl=10&log=/dev/null"),
        (
            "one write per event, 9000 streams, itl 200 ms",
            9000,
            20,
            "itl=200&ttft=500&jitter=1",
        ),
        ("coalesced, 16 streams, 200 tokens", 16, 200, ""),
        ("coalesced, 16 streams, 16 tokens", 16, 16, ""),
        ("coalesced, 4 streams, 10000 tokens", 4, 10_000, ""),
    ] {
        let (rate, busy) = measure(query, connections, tokens)?;
        println!("{name:<44} {rate:>12.0} {:>11.0}% {:>16.0}", busy * 100.0, rate / busy);
    }
    Ok(())
}

fn pin(core: usize) -> Result<(), Box<dyn Error>> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)?;
    Ok(())
}

/// Events per second, and the share of a core that the server used.
fn measure(query: &str, connections: usize, tokens: i64) -> Result<(f64, f64), Box<dyn Error>> {
    let mut settings = Settings::from_query(query)?;
    settings.exit_with_stdin = true;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("serve")
        .args(settings.to_args())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let addr = parse_listening_line(&line).ok_or("no address")?;
    let result = drive(addr, &child, connections, tokens);
    drop(child.stdin.take());
    child.wait()?;
    result
}

fn drive(addr: SocketAddr, child: &Child, connections: usize, tokens: i64) -> Result<(f64, f64), Box<dyn Error>> {
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"hi there"}}],"stream":true,"max_tokens":{tokens}}}"#
    );
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: mock\r\nx-request-id: 01234567-89ab-cdef-0123-456789abcdef\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut poll = Poll::new()?;
    let mut streams = Vec::new();
    for slot in 0..connections {
        let stream = std::net::TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(slot), Interest::READABLE)?;
        stream.write_all(request.as_bytes())?;
        streams.push((stream, 0i64));
    }
    let mut buffer = vec![0; 1 << 20];
    let mut events = Events::with_capacity(1024);
    let mut begin: Option<(Instant, f64)> = None;
    // Signed: an answer begun before the count may take more back than was counted.
    let mut count = 0i64;
    let warm_up = Instant::now() + Duration::from_millis(500);
    loop {
        poll.poll(&mut events, Some(Duration::from_millis(100)))?;
        for event in &events {
            let (stream, seen) = &mut streams[event.token().0];
            // Short reads end the readiness; a full buffer needs another.
            loop {
                let got = stream.read(&mut buffer)?;
                if got == 0 {
                    return Err("the server closed a connection".into());
                }
                let bytes = &buffer[..got];
                // Each message ends its HTTP chunk with this; only a first approximation at the cuts between reads,
                // so the end of the answer sets the count right.
                let found = bytes.windows(4).filter(|w| w == b"\n\n\r\n").count() as i64;
                *seen += found;
                count += found;
                if bytes.ends_with(b"0\r\n\r\n") {
                    // Role, finish reason and end are messages, too, but no tokens.
                    count = count + tokens - *seen;
                    *seen = 0;
                    stream.write_all(request.as_bytes())?;
                }
                if got < buffer.len() {
                    break;
                }
            }
        }
        let now = Instant::now();
        match begin {
            None if now > warm_up => {
                count = 0;
                begin = Some((now, cpu_seconds(child)?));
            }
            Some((start, cpu)) if now > start + Duration::from_secs(SECONDS) => {
                let seconds = (now - start).as_secs_f64();
                return Ok((count as f64 / seconds, (cpu_seconds(child)? - cpu) / seconds));
            }
            _ => {}
        }
    }
}

/// User and system time of the child, in ticks of 10 ms.
fn cpu_seconds(child: &Child) -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let fields: Vec<_> = stat.rsplit(") ").next().ok_or("no fields")?.split(' ').collect();
    let ticks = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok(ticks / 100.0)
}
