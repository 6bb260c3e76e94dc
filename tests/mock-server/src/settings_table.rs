//! Everything that can be set: one row each, with its key, what it accepts, its help, and how it is set and shown.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use crate::failure::FailureKind;
use crate::settings::{MAX_TOKENS, Settings};

const MAX_DELAY: Duration = Duration::from_secs(3600);

/// One row: `set` answers what was expected when the value is unusable; `get` is `None` when nothing is set.
pub(crate) struct Row {
    pub(crate) key: &'static str,
    /// An optional suffix with the unit: `ttft` is also `ttft_ms`.
    pub(crate) alias: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut Settings, &str) -> Option<()>,
    pub(crate) get: fn(&Settings) -> Option<String>,
}

/// What values a row accepts, in words for messages and help.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// May be given as a bare flag, which means `true`.
    Switch,
    Value(&'static str),
}

impl Kind {
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Kind::Switch => "true or false",
            Kind::Value(expected) => expected,
        }
    }
}

const MILLISECONDS: Kind = Kind::Value("milliseconds, 0 to 3600000");
const FRACTION: Kind = Kind::Value("a fraction, 0 to 1");
const TOKENS: Kind = Kind::Value("a number of tokens, 0 to 1000000");

pub(crate) static TABLE: [Row; 19] = [
    Row {
        key: "host",
        alias: None,
        kind: Kind::Value("a host name or address"),
        help: "where to listen",
        set: |s, v| text(v).map(|v| s.host = v),
        get: |s| Some(s.host.clone()),
    },
    Row {
        key: "port",
        alias: None,
        kind: Kind::Value("a port, 0 to 65535"),
        help: "port to listen on; 0: any free one",
        set: |s, v| number(v, 0, u16::MAX).map(|v| s.port = v),
        get: |s| Some(s.port.to_string()),
    },
    Row {
        key: "ttft",
        alias: Some("ttft_ms"),
        kind: MILLISECONDS,
        help: "from the request fully read to the first token",
        set: |s, v| milliseconds(v).map(|v| s.ttft = v),
        get: |s| Some(to_milliseconds(s.ttft)),
    },
    Row {
        key: "itl",
        alias: Some("itl_ms"),
        kind: MILLISECONDS,
        help: "from token to token, on an absolute schedule; 0: the whole answer at once",
        set: |s, v| milliseconds(v).map(|v| s.itl = v),
        get: |s| Some(to_milliseconds(s.itl)),
    },
    Row {
        key: "jitter",
        alias: None,
        kind: FRACTION,
        help: "spread of ttft and itl around their values, as a fraction of each",
        set: |s, v| number(v, 0.0, 1.0).map(|v| s.jitter = v),
        get: |s| Some(s.jitter.to_string()),
    },
    Row {
        key: "tokens",
        alias: None,
        kind: TOKENS,
        help: "visible tokens of an answer; a limit in the request takes precedence",
        set: |s, v| number(v, 0, MAX_TOKENS).map(|v| s.tokens = v),
        get: |s| Some(s.tokens.to_string()),
    },
    Row {
        key: "reasoning",
        alias: Some("reasoning_tokens"),
        kind: TOKENS,
        help: "reasoning tokens before the visible ones, counted by a limit in the request (chat only)",
        set: |s, v| number(v, 0, MAX_TOKENS).map(|v| s.reasoning = v),
        get: |s| Some(s.reasoning.to_string()),
    },
    Row {
        key: "usage",
        alias: None,
        kind: Kind::Switch,
        help: "report token usage where the request asks for it",
        set: |s, v| switch(v).map(|v| s.usage = v),
        get: |s| Some(s.usage.to_string()),
    },
    Row {
        key: "done_delay",
        alias: Some("done_delay_ms"),
        kind: MILLISECONDS,
        help: "from the last token to finish reason, usage and [DONE]",
        set: |s, v| milliseconds(v).map(|v| s.done_delay = v),
        get: |s| Some(to_milliseconds(s.done_delay)),
    },
    Row {
        key: "error_rate",
        alias: None,
        kind: FRACTION,
        help: "share of generation requests that fail, at their ttft",
        set: |s, v| number(v, 0.0, 1.0).map(|v| s.error_rate = v),
        get: |s| Some(s.error_rate.to_string()),
    },
    Row {
        key: "error_kind",
        alias: None,
        kind: Kind::Value("status, object, event, garbage or reset"),
        help: "how they fail: HTTP status; error object in a 200; SSE error event; no JSON; connection reset",
        set: |s, v| FailureKind::parse(v).map(|v| s.error_kind = v),
        get: |s| Some(s.error_kind.name().to_owned()),
    },
    Row {
        key: "error_status",
        alias: None,
        kind: Kind::Value("an HTTP status, 400 to 599"),
        help: "status of failures of kind `status`",
        set: |s, v| number(v, 400, 599).map(|v| s.error_status = v),
        get: |s| Some(s.error_status.to_string()),
    },
    Row {
        key: "rate_limit",
        alias: None,
        kind: Kind::Value("requests per second, above 0 up to 1000000"),
        help: "generation requests accepted per second, others get 429; unset: no limit",
        set: |s, v| number(v, f64::MIN_POSITIVE, 1e6).map(|v| s.rate_limit = Some(v)),
        get: |s| s.rate_limit.map(|v| v.to_string()),
    },
    Row {
        key: "seed",
        alias: None,
        kind: Kind::Value("a whole number, 0 or more"),
        help: "seed of jitter, failures and texts",
        set: |s, v| number(v, 0, u64::MAX).map(|v| s.seed = v),
        get: |s| Some(s.seed.to_string()),
    },
    Row {
        key: "model",
        alias: None,
        kind: Kind::Value("a model name"),
        help: "the model that /v1/models lists; any name is served",
        set: |s, v| text(v).map(|v| s.model = v),
        get: |s| Some(s.model.clone()),
    },
    Row {
        key: "spin",
        alias: Some("spin_us"),
        kind: Kind::Value("microseconds, 0 to 1000"),
        help: "spin this long before each event instead of sleeping until it is due",
        set: |s, v| number(v, 0, 1000).map(|v| s.spin = Duration::from_micros(v)),
        get: |s| Some(s.spin.as_micros().to_string()),
    },
    Row {
        key: "threads",
        alias: None,
        kind: Kind::Value("a number of threads, 1 to 64"),
        help: "serving threads",
        set: |s, v| number(v, 1, 64).map(|v| s.threads = v),
        get: |s| Some(s.threads.to_string()),
    },
    Row {
        key: "log",
        alias: None,
        kind: Kind::Value("a file to create"),
        help: "one JSON line per generation request: when it was read, when each event was written",
        set: |s, v| text(v).map(|v| s.log = Some(v.into())),
        get: |s| s.log.as_ref().and_then(|path| path.to_str()).map(str::to_owned),
    },
    Row {
        key: "exit_with_stdin",
        alias: None,
        kind: Kind::Switch,
        help: "stop when standard input ends, and not on SIGINT: the life of a child process",
        set: |s, v| switch(v).map(|v| s.exit_with_stdin = v),
        get: |s| Some(s.exit_with_stdin.to_string()),
    },
];

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

pub(crate) fn switch(value: &str) -> Option<bool> {
    value.parse().ok()
}

fn number<N: FromStr + PartialOrd + Display>(value: &str, least: N, most: N) -> Option<N> {
    // NaN compares with nothing and so is never in range.
    value.parse().ok().filter(|number| (least..=most).contains(number))
}

fn milliseconds(value: &str) -> Option<Duration> {
    let seconds = number(value, 0.0, MAX_DELAY.as_secs_f64() * 1e3)? / 1e3;
    Duration::try_from_secs_f64(seconds).ok()
}

fn to_milliseconds(delay: Duration) -> String {
    // Exact both ways: an hour of nanoseconds is far below 2^53.
    (delay.as_nanos() as f64 / 1e6).to_string()
}
