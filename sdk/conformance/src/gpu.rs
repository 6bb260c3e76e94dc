//! GPU collectors.

use aiperf_sdk::{
    HttpAnswer,
    gpu::{Poll, Reading},
};

use crate::{
    bench::Bench,
    case::{Definition, During, Stop, Verdict, must},
    endpoint::prepare,
    speed::Speed,
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "GP-1",
        "gpu.bounded",
        "a collector comes to rest: after a bounded number of requests and readings it waits, at least 1 ms",
        bounded,
    ),
    must(
        "GP-2",
        "gpu.requests",
        "requests are in origin form, with valid headers",
        requests,
    ),
    must(
        "GP-3",
        "gpu.readings",
        "readings are finite and name device and field",
        readings,
    ),
    must(
        "GP-4",
        "gpu.garbage",
        "any answer, or none, gives a next step or an error; nothing is read out of garbage that is not finite",
        garbage,
    ),
    must(
        "GP-5",
        "gpu.deterministic",
        "two instances that are told the same do the same, unless they read a device themselves",
        deterministic,
    ),
];

/// Steps at one time before a collector must wait.
const STEPS: usize = 64;

/// Virtual time of a poll.
const BEGIN_NS: u64 = 1_000_000_000;
const SECONDS: u64 = 30;

/// A page in the text format of Prometheus, with the fields of DCGM.
const PAGE: &str = "\
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).\n\
# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n\
DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\",modelName=\"NVIDIA H200\",Hostname=\"h\"} 123.5\n\
DCGM_FI_DEV_POWER_USAGE{gpu=\"1\",UUID=\"GPU-1\",device=\"nvidia1\",modelName=\"NVIDIA H200\",Hostname=\"h\"} 98.25\n\
# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n\
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-0\",modelName=\"NVIDIA H200\"} 9007199254740993\n\
# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n\
DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-0\",modelName=\"NVIDIA H200\"} 87\n\
DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",modelName=\"NVIDIA H200\"} 61\n";

fn answer(status: u16, body: impl Into<Vec<u8>>) -> HttpAnswer {
    HttpAnswer {
        status,
        content_type: "text/plain; version=0.0.4".to_owned(),
        body: body.into(),
    }
}

/// What a collector did, polled for some virtual seconds.
#[derive(Debug, Default, PartialEq)]
struct Polled {
    polls: Vec<Poll>,
    /// It never came to rest, at this time.
    restless_ns: Option<u64>,
    /// It waited for no time at all.
    waits_for_nothing: bool,
    /// It gave up, with this message.
    error: Option<String>,
}

impl Polled {
    fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.polls.iter().flat_map(|poll| match poll {
            Poll::Readings(readings) => readings.as_slice(),
            _ => &[],
        })
    }
}

/// Polls for some virtual seconds; `reply` answers each request.
fn poll(bench: &Bench, seconds: u64, mut reply: impl FnMut() -> Option<HttpAnswer>) -> Result<Polled, Stop> {
    let mut collector = bench.gpu_collector()?;
    let (mut polled, mut now_ns, mut at_once) = (Polled::default(), BEGIN_NS, 0);
    let mut scrape = None;
    while now_ns < BEGIN_NS + seconds * 1_000_000_000 && polled.polls.len() < 100_000 {
        match collector.poll(now_ns, scrape.take()) {
            Ok(poll) => {
                match &poll {
                    Poll::Wait(ms) => {
                        at_once = 0;
                        polled.waits_for_nothing |= *ms == 0;
                        now_ns = now_ns.saturating_add(ms.max(&1).saturating_mul(1_000_000));
                    }
                    Poll::Request(_) => {
                        scrape = reply();
                        at_once += 1;
                    }
                    Poll::Readings(_) => at_once += 1,
                }
                polled.polls.push(poll);
                if at_once > STEPS {
                    polled.restless_ns = Some(now_ns);
                    break;
                }
            }
            Err(error) => {
                ensure!(!error.message.trim().is_empty(), "it gives up without a message");
                polled.error = Some(error.message);
                break;
            }
        }
    }
    Ok(polled)
}

fn usual(bench: &Bench) -> Result<Polled, Stop> {
    poll(bench, SECONDS, || Some(answer(200, PAGE)))
}

fn at_rest(what: &str, polled: &Polled) -> Verdict {
    if let Some(now_ns) = polled.restless_ns {
        fail!("{what}: at {now_ns} ns it asks or reads {STEPS} times and more without a wait");
    }
    ensure!(!polled.waits_for_nothing, "{what}: it waits for 0 ms");
    Ok(())
}

fn bounded(bench: &Bench) -> Verdict {
    at_rest("with good answers", &usual(bench)?)?;
    at_rest(
        "with answers of 404",
        &poll(bench, SECONDS, || Some(answer(404, "not found")))?,
    )?;
    at_rest(
        "without answers",
        &poll(bench, SECONDS, || Some(answer(0, "connection refused")))?,
    )?;
    at_rest("with answers that are lost", &poll(bench, SECONDS, || None)?)
}

fn requests(bench: &Bench) -> Verdict {
    let mut seen = false;
    for poll in usual(bench)?.polls {
        if let Poll::Request(request) = poll {
            seen = true;
            if let Err(problem) = prepare::check_path(&request).and_then(|()| prepare::check_headers(&request)) {
                fail!("{problem}");
            }
        }
    }
    if !seen {
        skip!("it asks for nothing: it reads the device itself");
    }
    Ok(())
}

fn sound(reading: &Reading) -> Result<(), String> {
    if !reading.value.is_finite() {
        return Err(format!("a value that is not finite: {reading:?}"));
    }
    if reading.field.trim().is_empty() {
        return Err(format!("no field: {reading:?}"));
    }
    if reading.uuid.trim().is_empty() && reading.model.trim().is_empty() {
        return Err(format!("neither UUID nor model of the device: {reading:?}"));
    }
    Ok(())
}

fn readings(bench: &Bench) -> Verdict {
    let polled = usual(bench)?;
    for reading in polled.readings() {
        sound(reading).map_err(Stop::Failed)?;
    }
    if polled.readings().next().is_none() {
        let error = polled.error.unwrap_or_else(|| "no error".to_owned());
        skip!("it reads nothing out of a page in the format of DCGM ({error})");
    }
    Ok(())
}

fn garbage(bench: &Bench) -> Verdict {
    let mut random = bench.random("gpu.garbage");
    let mut answers = vec![
        ("nothing".to_owned(), answer(200, "")),
        ("no page".to_owned(), answer(200, "<html></html>")),
        ("invalid UTF-8".to_owned(), answer(200, &b"a{b=\"\xff\"} 1\n"[..])),
        ("random bytes".to_owned(), answer(200, random.bytes(4096))),
        ("16 MiB".to_owned(), answer(200, vec![b'x'; 16 << 20])),
        ("a status of 500 with a page".to_owned(), answer(500, PAGE)),
        ("a status of 0".to_owned(), answer(0, "timed out")),
    ];
    for number in [
        "NaN",
        "+Inf",
        "-Inf",
        "1e999",
        "-1",
        "",
        "one",
        "0x10",
        "1 1767225600000",
    ] {
        let page: String = PAGE
            .lines()
            .map(|line| match line.rsplit_once("} ") {
                Some((head, _)) => format!("{head}}} {number}\n"),
                None => format!("{line}\n"),
            })
            .collect();
        answers.push((format!("values of {number:?}"), answer(200, page)));
    }
    answers.push((
        "a GPU of -1".to_owned(),
        answer(200, PAGE.replace("gpu=\"0\"", "gpu=\"-1\"")),
    ));
    for length in 0..PAGE.len() {
        answers.push((
            format!("a page cut after {length} bytes"),
            answer(200, &PAGE.as_bytes()[..length]),
        ));
    }
    for (what, scrape) in answers {
        // Some polls tell; the answers are many.
        let polled = poll(bench, 1, || Some(scrape.clone()))?;
        if let Some(panic) = bench.panics.first() {
            fail!("{what}: {panic}");
        }
        at_rest(&what, &polled)?;
        for reading in polled.readings() {
            ensure!(reading.value.is_finite(), "{what}: read as {reading:?}");
        }
    }
    // An answer that nobody asked for.
    let _ = bench
        .gpu_collector()?
        .poll(1, Some(answer(200, PAGE)))
        .during("an answer unasked");
    Ok(())
}

fn deterministic(bench: &Bench) -> Verdict {
    let (one, two) = (usual(bench)?, usual(bench)?);
    if !one.polls.iter().any(|poll| matches!(poll, Poll::Request(_))) {
        skip!("it reads the device itself");
    }
    if let Some(at) = one
        .polls
        .iter()
        .zip(&two.polls)
        .position(|(first, second)| first != second)
    {
        fail!(
            "poll {at} is {:?}\nin one instance, {:?} in another",
            one.polls[at],
            two.polls[at]
        );
    }
    ensure!(
        one == two,
        "{} polls in one instance, {} in another",
        one.polls.len(),
        two.polls.len()
    );
    Ok(())
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let mut collector = bench.gpu_collector()?;
    let mut now_ns = 0;
    Ok(vec![Speed::measure("poll", "call", 1, || {
        now_ns += 100_000_000;
        collector.poll(now_ns, Some(answer(200, PAGE)))
    })])
}
