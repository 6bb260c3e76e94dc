//! Services of the core for tests of any category.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use aiperf_plugin_api::{
    ErrorKind, Host, HttpAnswer, HttpRequest, PluginError, Result, Timing, host::LogLevel, package::Open,
};

/// A host with a toy tokenizer, known seeds and prompts, that keeps what is logged.
///
/// * A token is a word with the blanks before it. What was never encoded can't be decoded.
/// * A prompt of `n` tokens is `n` words that name the stream, the call and the position.
/// * A seed depends on the stream's name alone, unless it is set.
///
/// ```
/// use aiperf_sdk::{prelude::*, testing::FakeHost};
///
/// let host = FakeHost::new();
/// let tokens = host.encode("one two  two")?;
/// assert_eq!(tokens.len(), 3);
/// assert_eq!(host.decode(&tokens)?, "one two  two");
/// let prompt = host.prompt("acme", 5)?;
/// assert_eq!(host.encode(&prompt)?.len(), 5);
/// assert_ne!(host.prompt("acme", 5)?, prompt, "each call gives another text");
/// # Ok::<(), PluginError>(())
/// ```
#[derive(Default)]
pub struct FakeHost {
    seeds: BTreeMap<String, u64>,
    arrivals: Option<Mutex<Box<dyn Timing>>>,
    words: Mutex<Vec<String>>,
    calls: Mutex<BTreeMap<String, u32>>,
    log: Mutex<Vec<(LogLevel, String)>>,
    servers: BTreeMap<String, HttpAnswer>,
    requests: Mutex<Vec<(String, HttpRequest)>>,
    api_key: Option<String>,
}

impl FakeHost {
    /// A host without an arrival pattern.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers [`Host::intervals`] with those of an arrival pattern.
    #[must_use]
    pub fn with_arrivals(mut self, arrivals: Box<dyn Timing>) -> Self {
        self.arrivals = Some(Mutex::new(arrivals));
        self
    }

    /// Sets the seed of a stream.
    #[must_use]
    pub fn with_seed(mut self, stream: &str, seed: u64) -> Self {
        self.seeds.insert(stream.to_owned(), seed);
        self
    }

    /// Grants requests to the server at an origin (`http://HOST:PORT`), which gives each this answer.
    #[must_use]
    pub fn with_server(mut self, origin: &str, answer: HttpAnswer) -> Self {
        self.servers.insert(origin.to_owned(), answer);
        self
    }

    /// Grants secrets, with this API key.
    #[must_use]
    pub fn with_api_key(mut self, key: &str) -> Self {
        self.api_key = Some(key.to_owned());
        self
    }

    /// The requests made so far, each with its origin.
    pub fn requests(&self) -> Vec<(String, HttpRequest)> {
        locked(&self.requests).clone()
    }

    /// What has been logged so far.
    pub fn logged(&self) -> Vec<(LogLevel, String)> {
        locked(&self.log).clone()
    }
}

/// What an entry is opened with: options of the user, nothing from the core, a fresh [`FakeHost`].
///
/// ```
/// use aiperf_sdk::testing;
///
/// #[derive(serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Options {
///     limit: u32,
/// }
/// let options: Options = testing::open("acme", r#"{"limit": 3}"#).options()?;
/// assert_eq!(options.limit, 3);
/// assert!(testing::open("acme", r#"{"limit": -3}"#).options::<Options>().is_err());
/// assert!(testing::open("acme", r#"{"limti": 3}"#).options::<Options>().is_err());
///
/// // What the core passes to the category is a field of its own.
/// let mut open = testing::open("acme", "");
/// open.core = r#"{"extra": {"top_k": 3}}"#.to_owned();
/// # Ok::<(), aiperf_sdk::PluginError>(())
/// ```
pub fn open(entry: &str, options: &str) -> Open {
    open_with(entry, options, Arc::new(FakeHost::new()))
}

/// As [`open`], on a host of your own.
pub fn open_with(entry: &str, options: &str, host: Arc<dyn Host>) -> Open {
    Open {
        entry: entry.to_owned(),
        options: options.to_owned(),
        core: String::new(),
        host,
    }
}

/// No value behind these locks can be left half changed by a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text cut before each run of blanks.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut in_word) = (0, false);
    for (at, letter) in text.char_indices() {
        if letter.is_whitespace() && in_word {
            pieces.push(&text[from..at]);
            from = at;
        }
        in_word = !letter.is_whitespace();
    }
    if from < text.len() {
        pieces.push(&text[from..]);
    }
    pieces
}

impl Host for FakeHost {
    fn log(&self, level: LogLevel, message: &str) {
        locked(&self.log).push((level, message.to_owned()));
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let mut words = locked(&self.words);
        let mut token = |piece: &str| {
            let known = words.iter().position(|word| word == piece);
            known.unwrap_or_else(|| {
                words.push(piece.to_owned());
                words.len() - 1
            }) as u32
        };
        Ok(pieces(text).into_iter().map(&mut token).collect())
    }

    fn decode(&self, tokens: &[u32]) -> Result<String> {
        let words = locked(&self.words);
        let text = |&token: &u32| {
            let word = words.get(token as usize).map(String::as_str);
            word.ok_or_else(|| PluginError::input(format!("token {token} was never encoded")))
        };
        tokens.iter().map(text).collect()
    }

    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        let mut calls = locked(&self.calls);
        let call = calls.entry(stream.to_owned()).or_default();
        *call += 1;
        let stream: String = stream.split_whitespace().collect();
        let words = (1..=tokens).map(|token| format!("{stream}-{call}-{token}"));
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    fn seed(&self, stream: &str) -> u64 {
        // FNV-1a: any fixed function of the name will do.
        let of_name = || {
            stream.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        self.seeds.get(stream).copied().unwrap_or_else(of_name)
    }

    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        match &self.arrivals {
            Some(arrivals) => locked(arrivals).intervals(rate, count),
            None => Err(PluginError::unsupported("intervals")),
        }
    }

    fn http(&self, origin: &str, request: HttpRequest, _timeout_ms: u32) -> Result<HttpAnswer> {
        let answer = self.servers.get(origin).cloned();
        locked(&self.requests).push((origin.to_owned(), request));
        answer.ok_or_else(|| not_granted(&format!("a request to {origin}")))
    }

    fn api_key(&self) -> Result<Option<String>> {
        let key = self.api_key.clone();
        key.map(Some).ok_or_else(|| not_granted("the API key"))
    }
}

fn not_granted(what: &str) -> PluginError {
    PluginError::new(ErrorKind::Unsupported, format!("{what} is not granted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_before_blanks() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a b", &["a", " b"]),
            (" a  bc\n", &[" a", "  bc", "\n"]),
            ("ä ö", &["ä", " ö"]),
            ("  ", &["  "]),
        ] {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }

    #[test]
    fn seeds_and_logs() {
        let host = FakeHost::new().with_seed("set", 7);
        assert_eq!(host.seed("set"), 7);
        assert_eq!(host.seed("a"), FakeHost::new().seed("a"));
        assert_ne!(host.seed("a"), host.seed("b"));
        host.log(LogLevel::Warning, "careful");
        assert_eq!(host.logged(), [(LogLevel::Warning, "careful".to_owned())]);
        assert!(host.decode(&[3]).is_err(), "nothing was encoded");
        assert!(host.intervals(1.0, 1).is_err(), "no arrival pattern");
    }
}
