//! The dataset: sessions become conversations as they end, the rest at the end of the log.

use std::collections::{HashSet, VecDeque};

use aiperf_sdk::{ContextMode, prelude::*};

use crate::{
    line::{Happened, Line},
    lines::Lines,
};

/// First line of a log.
const HEADER: &str = "ACME-LOG 1";

/// The dataset.
#[derive(Default)]
pub struct Log {
    lines: Option<Lines>,
    last_ms: u64,
    /// In the order in which they began.
    open: Vec<Session>,
    ended: HashSet<String>,
    ready: VecDeque<Conversation>,
}

struct Session {
    id: String,
    system: Option<String>,
    turns: Vec<Turn>,
    asked_ms: Option<u64>,
}

impl Dataset for Log {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        let accepts = !sample.folder && sample.head.starts_with(HEADER.as_bytes());
        let reason = if accepts { "begins with" } else { "does not begin with" };
        Ok(Probe {
            accepts,
            reason: format!("{reason} `{HEADER}`"),
        })
    }

    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        let mut lines = Lines::open(source)?;
        match lines.next_line()?.as_deref() {
            Some(HEADER) => {}
            Some(other) => {
                let shown: String = other.chars().take(40).collect();
                return Err(lines.error(&format!("expected `{HEADER}`, found `{shown}`")));
            }
            None => return Err(PluginError::input("the log is empty")),
        }
        *self = Self {
            lines: Some(lines),
            ..Self::default()
        };
        Ok(DatasetInfo {
            conversations: None,
            context: ContextMode::DeltasWithoutResponses,
            trace: true,
            notes: Vec::new(),
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let count = count as usize;
        let Some(mut lines) = self.lines.take() else {
            return Err(PluginError::failed("the log was not opened"));
        };
        while self.ready.len() < count {
            let Some(line) = lines.next_line()? else {
                for session in std::mem::take(&mut self.open) {
                    self.ready.extend(session.finished());
                }
                break;
            };
            if !line.is_empty() && !line.starts_with('#') {
                self.take_line(&line).map_err(|fault| lines.error(&fault))?;
            }
        }
        self.lines = Some(lines);
        let count = count.min(self.ready.len());
        Ok(self.ready.drain(..count).collect())
    }
}

impl Log {
    fn take_line(&mut self, line: &str) -> std::result::Result<(), String> {
        let line = Line::parse(line)?;
        if line.time_ms < self.last_ms {
            return Err(format!("time goes back from {} to {} ms", self.last_ms, line.time_ms));
        }
        self.last_ms = line.time_ms;
        if self.ended.contains(line.session) {
            return Err(format!("session `{}` has already ended", line.session));
        }
        let known = self.open.iter().position(|session| session.id == line.session);
        let at = known.unwrap_or_else(|| {
            self.open.push(Session::new(line.session));
            self.open.len() - 1
        });
        let session = &mut self.open[at];
        match line.happened {
            Happened::System(_) if !session.turns.is_empty() => {
                return Err("the system message comes after a question".to_owned());
            }
            Happened::System(text) => session.system = Some(text),
            Happened::Ask { max_tokens, text } => session.ask(line.time_ms, max_tokens, text),
            Happened::End => {
                self.ended.insert(line.session.to_owned());
                let session = self.open.remove(at);
                self.ready.extend(session.finished());
            }
        }
        Ok(())
    }
}

impl Session {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            system: None,
            turns: Vec::new(),
            asked_ms: None,
        }
    }

    fn ask(&mut self, time_ms: u64, max_tokens: Option<u32>, text: String) {
        let since = self.asked_ms.map(|before_ms| (time_ms - before_ms) as f64);
        self.asked_ms = Some(time_ms);
        self.turns.push(Turn {
            max_tokens,
            timestamp_ms: Some(time_ms as f64),
            delay_ms: since,
            ..Turn::text(text)
        });
    }

    /// A session in which nothing was asked is no conversation.
    fn finished(self) -> Option<Conversation> {
        (!self.turns.is_empty()).then(|| Conversation {
            system_message: self.system,
            ..Conversation::new(self.id, self.turns)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing;

    fn read(rows: &str, piece: usize) -> Result<Vec<Conversation>> {
        let log = format!("{HEADER}\n{rows}");
        testing::conversations(&mut Log::default(), testing::source_in_pieces([("a.log", log)], piece))
    }

    #[test]
    fn sessions_become_conversations() {
        let rows = "# a comment\n\
                    0 alice system - You are terse.\n\
                    20 alice ask 64 How do magnets work?\n\
                    25 bob ask - Tell me a story.\\nA long one.\n\
                    \n\
                    5020 alice ask 32 And superconductors?\n\
                    5900 bob end\n\
                    6000 carl end\n";
        for piece in [1, 7, 1_000] {
            let all = read(rows, piece).unwrap();
            let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
            assert_eq!(ids, ["bob", "alice"], "bob ended first; carl asked nothing");
            let (bob, alice) = (&all[0], &all[1]);
            assert_eq!(bob.turns[0].texts[0].contents, ["Tell me a story.\nA long one."]);
            assert_eq!((bob.turns[0].max_tokens, bob.system_message.as_deref()), (None, None));
            assert_eq!(alice.system_message.as_deref(), Some("You are terse."));
            let times: Vec<_> = alice
                .turns
                .iter()
                .map(|turn| (turn.timestamp_ms, turn.delay_ms, turn.max_tokens))
                .collect();
            assert_eq!(
                times,
                [(Some(20.0), None, Some(64)), (Some(5_020.0), Some(5_000.0), Some(32))]
            );
        }
    }

    #[test]
    fn faults_name_file_and_line() {
        for (rows, expected) in [
            ("5 a ask - x\n4 b ask - y", "a.log:3: time goes back from 5 to 4 ms"),
            ("1 a end\n2 a ask - x", "a.log:3: session `a` has already ended"),
            (
                "1 a ask - x\n\n2 a system - y",
                "a.log:4: the system message comes after a question",
            ),
            ("1 a frobs", "a.log:2: `frobs` is none of `system`, `ask` and `end`"),
        ] {
            assert_eq!(read(rows, 5).unwrap_err().message, expected);
        }
        let csv = testing::source([("a.csv", "time,text\n")]);
        let error = Log::default().open(csv).unwrap_err();
        assert_eq!(error.message, "a.csv:1: expected `ACME-LOG 1`, found `time,text`");
    }

    #[test]
    fn probe_looks_at_the_header() {
        for (head, accepts) in [
            ("ACME-LOG 1\n", true),
            ("ACME-LOG 1", true),
            ("acme-log 1", false),
            ("", false),
        ] {
            let probe = Log::default().probe(&testing::sample([("a.log", head)])).unwrap();
            assert_eq!(probe.accepts, accepts, "{head:?}: {}", probe.reason);
        }
    }

    #[test]
    fn a_mistyped_option_is_refused() {
        use crate::AcmeLog;
        assert!(AcmeLog::dataset(testing::open("acme_log", "")).is_ok());
        assert!(AcmeLog::dataset(testing::open("acme_log", r#"{"header": true}"#)).is_err());
    }
}
