//! What an answer of a plugin must hold. The host checks every answer once, where it comes in, so that nothing behind it has
//! to doubt a length, an index or a header. Each check names what is wrong as a fragment that follows "it returned".

use std::path::{Component, Path};

use crate::{
    Chunks, Conversation, Decoded, HttpRequest, Output,
    endpoint::{AuthKind, EndpointDescription, Part},
    exporter::ExporterNeeds,
    gpu::Poll,
};

/// What is wrong, as a fragment.
type Checked = Result<(), String>;

/// Headers that frame a message or name the server; they are the core's.
const FRAMING: [&str; 7] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
];

fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

fn path(path: &str) -> Checked {
    let origin = path.starts_with('/') && !path.starts_with("//");
    if !origin {
        return Err(format!("the path {path:?}, which is no path on its server"));
    }
    if path.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("the path {path:?}, which has blanks or line breaks"));
    }
    Ok(())
}

fn header(name: &str, value: &str) -> Checked {
    if !is_token(name) {
        return Err(format!("the header name {name:?}, which is none"));
    }
    if FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
        return Err(format!("the header `{name}`, which is the core's to set"));
    }
    // The value is not repeated: it may be a secret.
    if value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
        return Err(format!(
            "a value of the header `{name}` with a line break or another control character"
        ));
    }
    Ok(())
}

/// A name below the artifact folder.
fn artifact(name: &str) -> Checked {
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || name.contains(['\\', ':', '\0']) || !inside {
        return Err(format!(
            "the file name {name:?}; one that is relative and stays inside the artifact folder is needed"
        ));
    }
    Ok(())
}

impl ExporterNeeds {
    /// Checks the names of files.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Checked {
        self.files.iter().try_for_each(|file| artifact(file))
    }
}

impl Output {
    /// Checks the name of the file, if it is one.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Checked {
        if self.file.is_empty() {
            Ok(())
        } else {
            artifact(&self.file)
        }
    }
}

impl EndpointDescription {
    /// Checks paths and the name of the authentication header.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Checked {
        for own in [Some(&self.path), self.streaming_path.as_ref()].into_iter().flatten() {
            if !own.is_empty() {
                path(own)?;
            }
        }
        if self.auth == AuthKind::Header {
            header(&self.auth_header, "")?;
        }
        Ok(())
    }
}

impl HttpRequest {
    /// Checks that method, path and headers are what HTTP allows and lead nowhere but to the endpoint's own server.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Checked {
        if !is_token(&self.method) {
            return Err(format!("the method {:?}, which is none", self.method));
        }
        self.path.as_deref().map_or(Ok(()), path)?;
        self.headers.iter().try_for_each(|(name, value)| header(name, value))?;
        let texts = |part: &Part| {
            let optional = [part.file_name.clone(), part.content_type.clone()];
            optional.into_iter().flatten().chain([part.name.clone()])
        };
        match self
            .parts
            .iter()
            .flat_map(texts)
            .find(|text| text.contains(['"', '\r', '\n']))
        {
            Some(text) => Err(format!("a part described as {text:?}, with a quote or a line break")),
            None => Ok(()),
        }
    }
}

impl Chunks {
    /// Checks that the columns are of one length, the ends divide the text between characters, and the indexes are those of
    /// `events` events, ascending.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, events: usize) -> Checked {
        let (count, kinds, ends) = (self.events.len(), self.kinds.len(), self.ends.len());
        if kinds != count || ends != count {
            return Err(format!("chunks of {count} events, {kinds} kinds and {ends} ends"));
        }
        let last = self.ends.last().copied().unwrap_or(0) as usize;
        let ordered = self.ends.windows(2).all(|pair| pair[0] <= pair[1]);
        let between = |end: &u32| self.text.is_char_boundary(*end as usize);
        if !ordered || last != self.text.len() || !self.ends.iter().all(between) {
            return Err(format!(
                "chunk ends that do not divide {} bytes of text",
                self.text.len()
            ));
        }
        if self.events.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("chunks whose events do not ascend".to_owned());
        }
        match self.events.last() {
            Some(&event) if event as usize >= events => Err(format!("a chunk of event {event} of {events} events")),
            _ => Ok(()),
        }
    }
}

impl Decoded {
    /// Checks the chunks against the number of events of all exchanges, and that numbers are numbers.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, events: usize) -> Checked {
        self.chunks.check(events)?;
        finite("fact", &self.facts)?;
        let audio = self.usage.and_then(|usage| usage.prompt_audio_seconds);
        match audio {
            Some(seconds) if !(seconds.is_finite() && seconds >= 0.0) => Err(format!("{seconds} s of audio")),
            _ => Ok(()),
        }
    }
}

impl Conversation {
    /// Checks times, facts, and the turns that branches refer to.
    ///
    /// # Errors
    /// What is wrong, with conversation and turn.
    pub fn check(&self) -> Checked {
        let within = |problem: String| format!("conversation `{}` with {problem}", self.id);
        for (index, turn) in self.turns.iter().enumerate() {
            for (name, ms) in [("timestamp_ms", turn.timestamp_ms), ("delay_ms", turn.delay_ms)] {
                if let Some(ms) = ms.filter(|ms| !is_time(*ms)) {
                    return Err(within(format!("{name} {ms} at turn {index}")));
                }
            }
            finite("fact", &turn.facts).map_err(|problem| within(format!("{problem} at turn {index}")))?;
        }
        for branch in &self.branches {
            let turns = [branch.turn, branch.join_at];
            if let Some(turn) = turns
                .into_iter()
                .flatten()
                .find(|turn| *turn as usize >= self.turns.len())
            {
                return Err(within(format!("a branch at turn {turn} of {}", self.turns.len())));
            }
            let (delays, children) = (branch.delays_ms.len(), branch.children.len());
            if delays != 0 && delays != children {
                return Err(within(format!("a branch of {children} children and {delays} delays")));
            }
            if let Some(ms) = branch.delays_ms.iter().find(|ms| !is_time(**ms)) {
                return Err(within(format!("a branch after {ms} ms")));
            }
        }
        Ok(())
    }
}

impl Poll {
    /// Checks the request, or that readings are numbers.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Checked {
        match self {
            Self::Request(request) => request.check(),
            Self::Wait(_) => Ok(()),
            Self::Readings(readings) => match readings.iter().find(|reading| !reading.value.is_finite()) {
                Some(reading) => Err(format!("the reading {} of {}", reading.value, reading.field)),
                None => Ok(()),
            },
        }
    }
}

fn is_time(ms: f64) -> bool {
    ms.is_finite() && ms >= 0.0
}

fn finite(what: &str, values: &[(String, f64)]) -> Checked {
    match values.iter().find(|(_, value)| !value.is_finite()) {
        Some((name, value)) => Err(format!("the {what} `{name}` of {value}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Turn,
        conversation::Branch,
        endpoint::{ChunkKind, Usage},
        gpu::Reading,
    };

    #[track_caller]
    fn refused(checked: Checked, part: &str) {
        let problem = checked.expect_err(part);
        assert!(problem.contains(part), "{problem}");
    }

    #[test]
    fn requests() {
        let request = |method: &str, path: Option<&str>, headers: &[(&str, &str)]| HttpRequest {
            method: method.into(),
            path: path.map(Into::into),
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            body: Vec::new(),
            parts: Vec::new(),
        };
        for path in [None, Some("/v1/x?a=b%20c"), Some("/")] {
            assert_eq!(request("POST", path, &[("X-A", "b\tc"), ("x", "")]).check(), Ok(()));
        }
        for method in ["", "PO ST", "GET\r\nX: y"] {
            refused(request(method, None, &[]).check(), "method");
        }
        for path in [
            "",
            "x",
            "//evil/x",
            "http://evil/",
            "/a b",
            "/a\r\nHost: evil",
            "/a\u{0}",
        ] {
            refused(request("GET", Some(path), &[]).check(), "path");
        }
        for name in ["", "a b", "a:", "a\r\nb", "ä"] {
            refused(request("GET", None, &[(name, "v")]).check(), "header name");
        }
        for name in ["Host", "CONTENT-LENGTH", "Transfer-Encoding", "Connection", "Upgrade"] {
            refused(request("GET", None, &[(name, "v")]).check(), "the core's");
        }
        for value in ["a\r\nX: y", "a\n", "\u{0}", "\u{7f}"] {
            refused(request("GET", None, &[("X-Secret", value)]).check(), "line break");
        }
        let hidden = request("GET", None, &[("X-Secret", "hush\n")])
            .check()
            .expect_err("refused");
        assert!(!hidden.contains("hush"), "{hidden}");
    }

    #[test]
    fn parts() {
        let part = |name: &str, file_name: Option<&str>, content_type: Option<&str>| HttpRequest {
            parts: vec![Part {
                name: name.into(),
                file_name: file_name.map(Into::into),
                content_type: content_type.map(Into::into),
                data: Vec::new(),
            }],
            ..HttpRequest::post(Vec::new())
        };
        assert_eq!(part("a", Some("b c"), Some("image/png")).check(), Ok(()));
        refused(part("a\"", None, None).check(), "quote");
        refused(part("a", Some("b\r\nX: y"), None).check(), "line break");
        refused(part("a", None, Some("c\n")).check(), "line break");
    }

    #[test]
    fn artifact_names() {
        let needs = |file: &str| ExporterNeeds {
            files: vec![file.into()],
            ..ExporterNeeds::default()
        };
        for name in ["report.md", "a/b.txt"] {
            assert_eq!((needs(name).check(), Output::file(name, "").check()), (Ok(()), Ok(())));
        }
        for name in ["/etc/x", "../x", "a/../../x", "./x", "c:x", "a\\b", "a\0b"] {
            refused(needs(name).check(), "file name");
            refused(Output::file(name, "").check(), "file name");
        }
        refused(needs("").check(), "file name");
        assert_eq!(Output::console(0, "text").check(), Ok(()));
    }

    #[test]
    fn descriptions() {
        let description = |path: &str, streaming: Option<&str>, auth_header: &str| EndpointDescription {
            path: path.into(),
            streaming_path: streaming.map(Into::into),
            auth: AuthKind::Header,
            auth_header: auth_header.into(),
        };
        assert_eq!(description("", Some("/s"), "X-Key").check(), Ok(()));
        refused(description("http://evil/", None, "X-Key").check(), "http://evil/");
        refused(description("/a", Some("b"), "X-Key").check(), "\"b\"");
        refused(description("/a", None, "X-Key\r\nX").check(), "header name");
        refused(description("/a", None, "host").check(), "the core's");
    }

    #[test]
    fn chunks() {
        let chunks = |events: &[u32], kinds: usize, ends: &[u32], text: &str| Chunks {
            events: events.to_vec(),
            kinds: vec![0; kinds],
            ends: ends.to_vec(),
            text: text.into(),
        };
        let mut good = Chunks::default();
        assert_eq!(good.check(0), Ok(()));
        for (event, text) in [(0, "ä"), (0, ""), (2, "bc")] {
            good.push(event, ChunkKind::Text, text).expect("short");
        }
        assert_eq!(good.check(3), Ok(()));
        refused(good.check(2), "event 2 of 2");
        refused(
            chunks(&[0, 0], 1, &[1, 2], "ab").check(1),
            "2 events, 1 kinds and 2 ends",
        );
        refused(chunks(&[0], 1, &[], "").check(1), "0 ends");
        for ends in [&[2, 1][..], &[1, 9], &[1, 1], &[0, u32::MAX]] {
            refused(chunks(&[0, 0], 2, ends, "ab").check(1), "do not divide 2 bytes");
        }
        refused(chunks(&[0, 0], 2, &[1, 2], "ä").check(1), "do not divide");
        refused(chunks(&[], 0, &[], "lost").check(1), "do not divide");
        refused(chunks(&[1, 0], 2, &[1, 2], "ab").check(2), "ascend");
    }

    #[test]
    fn decoded_numbers() {
        let fact = |value| Decoded {
            facts: vec![("speed".into(), value)],
            ..Decoded::default()
        };
        assert_eq!(fact(-1.0).check(0), Ok(()));
        refused(fact(f64::NAN).check(0), "`speed` of NaN");
        let audio = |seconds| Decoded {
            usage: Some(Usage {
                prompt_audio_seconds: Some(seconds),
                ..Usage::default()
            }),
            ..Decoded::default()
        };
        assert_eq!(audio(0.0).check(0), Ok(()));
        refused(audio(-1.0).check(0), "-1 s");
        refused(audio(f64::INFINITY).check(0), "inf s");
    }

    #[test]
    fn conversations() {
        let with = |change: &dyn Fn(&mut Conversation)| {
            let mut conversation = Conversation::new("c7", vec![Turn::text("a"), Turn::text("b")]);
            conversation.branches.push(Branch {
                turn: Some(0),
                children: vec!["d".into()],
                fork: false,
                join_at: Some(1),
                at_send: false,
                delays_ms: vec![0.0],
            });
            change(&mut conversation);
            conversation.check()
        };
        assert_eq!(with(&|_| {}), Ok(()));
        refused(
            with(&|c| c.turns[1].delay_ms = Some(f64::NAN)),
            "`c7` with delay_ms NaN at turn 1",
        );
        refused(with(&|c| c.turns[0].delay_ms = Some(-2.5)), "delay_ms -2.5 at turn 0");
        refused(
            with(&|c| c.turns[0].timestamp_ms = Some(f64::INFINITY)),
            "timestamp_ms inf",
        );
        refused(with(&|c| c.turns[0].facts = vec![("f".into(), f64::NAN)]), "fact `f`");
        refused(with(&|c| c.branches[0].turn = Some(2)), "a branch at turn 2 of 2");
        refused(with(&|c| c.branches[0].join_at = Some(9)), "a branch at turn 9 of 2");
        refused(
            with(&|c| c.branches[0].delays_ms = vec![0.0; 3]),
            "1 children and 3 delays",
        );
        refused(with(&|c| c.branches[0].delays_ms = vec![-1.0]), "after -1 ms");
    }

    #[test]
    fn readings() {
        let readings = |value| {
            Poll::Readings(vec![Reading {
                gpu: 0,
                uuid: String::new(),
                model: String::new(),
                field: "power_usage".into(),
                unit: "W".into(),
                counter: false,
                value,
                host: None,
                labels: Vec::new(),
            }])
        };
        assert_eq!(readings(1.5).check(), Ok(()));
        refused(readings(f64::NAN).check(), "NaN of power_usage");
        refused(Poll::Request(HttpRequest::get("http://evil/")).check(), "no path");
        assert_eq!(Poll::Wait(u64::MAX).check(), Ok(()));
    }
}
