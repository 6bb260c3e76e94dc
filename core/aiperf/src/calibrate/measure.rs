//! One load, measured: a server and a client, each a process of its own as in a real run.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use aiperf_mock_server::Settings;
use crossbeam_channel::Receiver;

use super::{
    calibration::{Bounds, Row},
    figures,
    join::{self, Joined},
    load::Load,
};
use crate::{failure::Failure, mock::MockServers};

/// What came of measuring a load.
pub(super) enum Measured {
    /// Its figures.
    Row(Box<Row>),
    /// The user interrupted it.
    Interrupted,
    /// The client could not keep up and was ended.
    TimeIsUp,
}

/// What all measurements have in common.
pub(super) struct Protocol {
    /// Tokens of an answer, and the time between them, for loads of streams.
    pub(super) tokens: u64,
    pub(super) itl: Duration,
    /// How long a load is held, about.
    pub(super) length: Duration,
    pub(super) bounds: Bounds,
}

/// A client that needs so much longer than its load should take is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// First tokens come after so long, spread so that streams are out of step with each other.
const TTFT: Duration = Duration::from_millis(100);
const JITTER: f64 = 0.2;

impl Protocol {
    /// How long the load should take.
    pub(super) fn expected(&self, load: Load) -> Duration {
        match load {
            Load::Streams(_) => self.round() * self.rounds(),
            _ => self.length,
        }
    }

    /// One answer of a load of streams.
    fn round(&self) -> Duration {
        TTFT + self.itl * u32::try_from(self.tokens).unwrap_or(u32::MAX)
    }

    fn rounds(&self) -> u32 {
        (self.length.as_secs_f64() / self.round().as_secs_f64()).ceil().max(1.0) as u32
    }

    fn server(&self, load: Load) -> Settings {
        match load {
            Load::Streams(_) => Settings {
                tokens: self.tokens,
                ttft: TTFT,
                itl: self.itl,
                jitter: JITTER,
                ..Settings::default()
            },
            _ => Settings {
                tokens: 1,
                ttft: Duration::ZERO,
                itl: Duration::ZERO,
                ..Settings::default()
            },
        }
    }

    fn client(&self, load: Load) -> Vec<String> {
        let flags = match load {
            Load::Streams(streams) => {
                let requests = u64::from(streams) * u64::from(self.rounds());
                format!("--concurrency {streams} --request-count {requests}")
            }
            Load::Constant(rate) => self.rate(rate, "constant"),
            Load::Poisson(rate) => self.rate(rate, "poisson"),
        };
        flags.split(' ').map(str::to_owned).collect()
    }

    fn rate(&self, rate: f64, arrival: &str) -> String {
        let requests = (rate * self.length.as_secs_f64()).ceil().max(2.0);
        format!("--request-rate {rate} --arrival-pattern {arrival} --request-count {requests}")
    }

    /// Measures a load.
    ///
    /// # Errors
    /// When server or client fail, or do not agree on a single request.
    pub(super) fn measure(&self, load: Load, interrupts: &Receiver<()>) -> Result<Measured, Failure> {
        let failed = |what: String| Failure::usage(format!("{load}: {what}"));
        let scratch = tempfile::Builder::new()
            .prefix("aiperf-calibrate-")
            .tempdir()
            .map_err(|error| failed(format!("no temporary folder can be made: {error}")))?;
        let folder = scratch.path();
        let (log, prompt) = (folder.join("server.jsonl"), folder.join("prompt.jsonl"));
        fs::write(&prompt, "{\"text\":\"calibrate\"}\n")
            .map_err(|error| failed(format!("{}: {error}", prompt.display())))?;
        let mut servers = MockServers::default();
        let settings = Settings {
            log: Some(log.clone()),
            ..self.server(load)
        };
        let address = servers.start_one(settings).map_err(failed)?;
        let artifacts = folder.join("client");
        let mut arguments: Vec<OsString> = [
            "profile",
            "--model",
            "mock-model",
            "--streaming",
            "--tokenizer",
            "none",
            "--use-server-token-count",
            "--custom-dataset-type",
            "single_turn",
            "--random-seed",
            "1",
            "--export-http-trace",
            "--ui",
            "none",
            "--url",
        ]
        .map(OsString::from)
        .to_vec();
        arguments.push(format!("http://{address}").into());
        arguments.push("--input-file".into());
        arguments.push(prompt.into());
        arguments.push("--output-artifact-dir".into());
        arguments.push(artifacts.clone().into());
        arguments.extend(self.client(load).into_iter().map(OsString::from));
        let patience = self.expected(load) + PATIENCE;
        match run(&arguments, &folder.join("client.txt"), patience, interrupts).map_err(failed)? {
            End::Success => {}
            End::Interrupted => return Ok(Measured::Interrupted),
            End::TimeIsUp => return Ok(Measured::TimeIsUp),
        }
        // The log is whole when the server has ended.
        drop(servers);
        let read = |path: &Path| {
            fs::read_to_string(path).map_err(|error| failed(format!("{} can't be read: {error}", path.display())))
        };
        let records = read(&artifacts.join("profile_export.jsonl"))?;
        let joined = join::join(&read(&log)?, &records).map_err(failed)?;
        self.row(load, &joined)
            .map(|row| Measured::Row(Box::new(row)))
            .ok_or_else(|| failed("server and client do not agree on a single request".into()))
    }

    fn row(&self, load: Load, join: &join::Join) -> Option<Row> {
        let fidelity = figures::fidelity(&join.requests)?;
        let schedule = figures::schedule(&join.requests, load);
        Some(Row {
            load,
            requests: join.requests.len() as u64,
            left_out: join.left_out,
            events_per_s: events_per_s(&join.requests)?,
            fidelity,
            out_of_bounds: self.bounds.violations(&fidelity, schedule.as_ref()),
            schedule,
        })
    }
}

/// Tokens per second from the first one written to the last; `None` without any.
fn events_per_s(requests: &[Joined]) -> Option<f64> {
    let first = requests.iter().map(|joined| joined.first_written).min()?;
    let last = requests.iter().map(|joined| joined.last_written).max()?;
    let tokens: u64 = requests.iter().map(|joined| joined.tokens).sum();
    // A single event has no rate; a nanosecond keeps the quotient finite.
    Some(tokens as f64 * 1e9 / last.saturating_sub(first).max(1) as f64)
}

/// How the client ended, if it did not fail.
enum End {
    Success,
    /// It was ended, for the user's interrupt.
    Interrupted,
    /// It was ended, for it took too long.
    TimeIsUp,
}

/// Runs this program with the arguments; its output goes into a file and, if it fails, into the message.
fn run(arguments: &[OsString], output: &Path, patience: Duration, interrupts: &Receiver<()>) -> Result<End, String> {
    let told = |error: io::Error| format!("the client can't be run: {error}");
    let file = fs::File::create(output).map_err(told)?;
    let errors = file.try_clone().map_err(told)?;
    let mut child = Command::new(std::env::current_exe().map_err(told)?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        // Ctrl-C reaches the whole process group: what becomes of the client is decided here.
        .process_group(0)
        .spawn()
        .map_err(told)?;
    let deadline = Instant::now() + patience;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(told)? {
            break status;
        }
        // Looked at rarely enough to leave the cores to those who measure.
        let interrupted = interrupts.recv_timeout(Duration::from_millis(50)).is_ok();
        if interrupted || Instant::now() >= deadline {
            child.kill().and_then(|()| child.wait()).map_err(told)?;
            return Ok(if interrupted { End::Interrupted } else { End::TimeIsUp });
        }
    };
    if status.success() {
        return Ok(End::Success);
    }
    let text = fs::read_to_string(output).unwrap_or_default();
    let last = text.lines().rev().find(|line| line.starts_with("error:"));
    Err(match last {
        Some(error) => format!("the client failed: {}", error.trim_start_matches("error: ")),
        None => format!("the client ended with {status}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol() -> Protocol {
        Protocol {
            tokens: 90,
            itl: Duration::from_millis(10),
            length: Duration::from_millis(2500),
            bounds: Bounds {
                first_token_lag_ms: 1.0,
                itl_error_ms: 0.1,
                send_lag_ms: 1.0,
            },
        }
    }

    #[test]
    fn loads_are_held_for_about_the_length() {
        // An answer takes 100 + 900 ms; three fill 2.5 s.
        for (load, flags, expected) in [
            (
                Load::Streams(20),
                "--concurrency 20 --request-count 60",
                Duration::from_secs(3),
            ),
            (
                Load::Constant(200.0),
                "--request-rate 200 --arrival-pattern constant --request-count 500",
                Duration::from_millis(2500),
            ),
            (
                Load::Poisson(1.5),
                "--request-rate 1.5 --arrival-pattern poisson --request-count 4",
                Duration::from_millis(2500),
            ),
        ] {
            assert_eq!(protocol().client(load).join(" "), flags);
            assert_eq!(protocol().expected(load), expected, "{load}");
        }
    }
}
