//! The arguments of `aiperf calibrate`.

use std::{ffi::OsString, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, Command, error::ErrorKind, value_parser};

use super::{calibration::Bounds, load::Load, measure::Protocol};
use crate::failure::Failure;

const NAME: &str = "aiperf calibrate";

/// What was asked for.
pub(super) struct Arguments {
    /// Loads of streams, then rates, each in the order given.
    pub(super) streams: Vec<Load>,
    pub(super) rates: Vec<Load>,
    pub(super) protocol: Protocol,
    /// Measure also beyond a load that is out of bounds.
    pub(super) all: bool,
    /// No load begins that could end later than this.
    pub(super) limit: Duration,
    /// Keep the table for later runs.
    pub(super) store: bool,
    pub(super) json: bool,
}

pub(super) enum Asked {
    For(Box<Arguments>),
    /// The help text.
    Help(String),
}

fn command() -> Command {
    let list = |id: &'static str, default: &'static str, help: &'static str| {
        Arg::new(id)
            .long(id)
            .value_name("LIST")
            .value_delimiter(',')
            .default_value(default)
            .help(help)
    };
    let bound = |id: &'static str, default: &'static str, help: &'static str| {
        Arg::new(id)
            .long(id)
            .value_name("MS")
            .value_parser(value_parser!(f64))
            .default_value(default)
            .help(help)
    };
    let switch = |id: &'static str, help: &'static str| Arg::new(id).long(id).action(ArgAction::SetTrue).help(help);
    Command::new(NAME)
        .about(
            "Measure how true timestamps and schedule are on this machine, with a mock server beside the client, at growing \
             loads. `aiperf profile` says when a run goes beyond the loads that were within bounds.",
        )
        .disable_version_flag(true)
        .arg(
            list("streams", "50,100,250,500,1000", "Numbers of concurrent streams")
                .value_parser(value_parser!(u32).range(1..=10_000)),
        )
        .arg(
            list(
                "rates",
                "200,1000,poisson:1000,2000,5000",
                "Request rates per second: RATE or poisson:RATE",
            )
            .value_parser(|text: &str| text.parse::<Load>()),
        )
        .arg(bound(
            "first-token-lag",
            "1",
            "Bound on the lag of first tokens, 99th percentile",
        ))
        .arg(bound(
            "itl-error",
            "0.1",
            "Bound on the error of a request's inter-token latency, 99th percentile",
        ))
        .arg(bound("send-lag", "1", "Bound on the send lag, 99th percentile"))
        .arg(
            Arg::new("seconds")
                .long("seconds")
                .value_name("S")
                .value_parser(value_parser!(f64))
                .default_value("3")
                .help("How long each load is held, at least one answer"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("S")
                .value_parser(value_parser!(f64))
                .default_value("55")
                .help("No load begins that could end later than this"),
        )
        .arg(
            Arg::new("tokens")
                .long("tokens")
                .value_name("N")
                .value_parser(value_parser!(u64).range(2..=10_000))
                .default_value("100")
                .help("Tokens of an answer, 10 ms apart"),
        )
        .arg(switch("quick", "A few loads, a second each, unless they are given"))
        .arg(switch("all", "Go on beyond a load that is out of bounds"))
        .arg(switch("no-store", "Do not keep the table for `aiperf profile`"))
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("FORM")
                .value_parser(["text", "json"])
                .default_value("text")
                .help("Form of the output"),
        )
}

/// Reads the arguments after the command's name.
///
/// # Errors
/// When they are not as the help text says.
pub(super) fn parse(arguments: &[OsString]) -> Result<Asked, Failure> {
    let name = OsString::from(NAME);
    let found = match command()
        .bin_name(NAME)
        .try_get_matches_from(std::iter::once(&name).chain(arguments))
    {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => return Ok(Asked::Help(error.to_string())),
        Err(error) => {
            let text = error.to_string();
            // The first paragraph says what is wrong; usage and more follow.
            let first = text.split("\n\n").next().unwrap_or(&text);
            let message = first.strip_prefix("error: ").unwrap_or(first).trim_end();
            return Err(Failure::usage(message).with_help(format!("`{NAME} --help` says what it takes")));
        }
    };
    read(&found).map(|arguments| Asked::For(Box::new(arguments)))
}

fn read(found: &ArgMatches) -> Result<Arguments, Failure> {
    let quick = found.get_flag("quick");
    let given = |id: &str| found.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
    let streams: Vec<u32> = if quick && !given("streams") {
        vec![10, 100]
    } else {
        found.get_many("streams").into_iter().flatten().copied().collect()
    };
    let rates: Vec<Load> = if quick && !given("rates") {
        vec![Load::Constant(200.0), Load::Poisson(200.0)]
    } else {
        found.get_many("rates").into_iter().flatten().copied().collect()
    };
    let positive = |id: &str| -> Result<f64, Failure> {
        let value = found.get_one::<f64>(id).copied().unwrap_or_default();
        if value.is_finite() && value > 0.0 && value <= 86_400.0 {
            Ok(value)
        } else {
            Err(Failure::usage(format!("--{id} must be above 0 and at most 86400")))
        }
    };
    let length = if quick && !given("seconds") {
        1.0
    } else {
        positive("seconds")?
    };
    Ok(Arguments {
        streams: streams.into_iter().map(Load::Streams).collect(),
        rates,
        protocol: Protocol {
            tokens: found.get_one("tokens").copied().unwrap_or(100),
            itl: Duration::from_millis(10),
            length: Duration::from_secs_f64(length),
            bounds: Bounds {
                first_token_lag_ms: positive("first-token-lag")?,
                itl_error_ms: positive("itl-error")?,
                send_lag_ms: positive("send-lag")?,
            },
        },
        all: found.get_flag("all"),
        limit: Duration::from_secs_f64(positive("limit")?),
        store: !found.get_flag("no-store"),
        json: found.get_one::<String>("output").is_some_and(|form| form == "json"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Asked, Failure> {
        parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn arguments(words: &[&str]) -> Arguments {
        match read(words) {
            Ok(Asked::For(arguments)) => *arguments,
            _ => panic!("{words:?} are refused"),
        }
    }

    #[test]
    fn quick_yields_to_what_is_given() {
        let quick = arguments(&["--quick", "--rates", "poisson:7,8", "--send-lag=0.5"]);
        assert_eq!(quick.streams, [Load::Streams(10), Load::Streams(100)]);
        assert_eq!(quick.rates, [Load::Poisson(7.0), Load::Constant(8.0)]);
        assert_eq!(quick.protocol.length, Duration::from_secs(1));
        assert_eq!(quick.protocol.bounds.send_lag_ms, 0.5);
        assert!(quick.store && !quick.json && !quick.all);
        let slow = arguments(&["--quick", "--seconds", "2", "--no-store", "--output", "json"]);
        assert_eq!(slow.protocol.length, Duration::from_secs(2));
        assert!(!slow.store && slow.json);
    }

    #[test]
    fn mistakes_are_one_message() {
        for (words, part) in [
            (&["--streams", "0"][..], "--streams"),
            (&["--rates", "fast"], "fast is no rate"),
            (&["--seconds", "-1"], "-1"),
            (&["--seconds=-1"], "--seconds must be"),
            (&["--itl-error", "NaN"], "--itl-error must be"),
            (&["--tokens", "1"], "--tokens"),
            (&["stray"], "stray"),
        ] {
            let Err(failure) = read(words) else {
                panic!("{words:?} are taken")
            };
            assert!(failure.message.contains(part), "{words:?}: {}", failure.message);
        }
        assert!(matches!(read(&["--help"]), Ok(Asked::Help(text)) if text.contains("--first-token-lag")));
    }
}
