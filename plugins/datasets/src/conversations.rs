//! Conversations from a file of JSON lines. Rows of one session belong together wherever they stand, so the file is read
//! twice: once to check each row and note where it lies, once to build the conversations. Memory holds the notes only.

use std::{
    collections::{HashMap, HashSet},
    marker::PhantomData,
};

use aiperf_sdk::{
    ContextMode, Conversation, Dataset, Host, PluginError, Result, Source, Turn,
    dataset::{DatasetInfo, Probe, Sample},
};
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;

use crate::{
    lines::{Lines, Span},
    options::Options,
    random::stream,
    row::Refusal,
    session_id::SessionIds,
};

/// A format of JSON lines.
pub(crate) trait Format: Send {
    /// A row.
    type Row: DeserializeOwned;

    /// Checks a row: its session, where it names one, and its turns.
    fn read(row: Self::Row) -> std::result::Result<(Option<String>, Vec<Turn>), Refusal>;

    /// What the rows of a session make together; `rows` is their number, `conversation` has all their turns.
    fn finish(conversation: &mut Conversation, rows: usize, options: &Options);
}

/// A dataset of a format.
pub(crate) struct JsonLines<F> {
    options: Options,
    ids: SessionIds,
    limits: ChaCha8Rng,
    file: Option<Lines>,
    sessions: std::vec::IntoIter<Session>,
    /// Ids that the file gives.
    taken: HashSet<String>,
    format: PhantomData<F>,
}

/// The rows of a conversation.
struct Session {
    id: Option<String>,
    rows: Vec<Span>,
}

impl<F: Format> JsonLines<F> {
    /// A dataset with its options.
    pub(crate) fn new(options: Options, host: &dyn Host) -> Self {
        Self {
            ids: SessionIds::new(options.seeded, host),
            limits: stream(host, "composer.turn.max_tokens"),
            options,
            file: None,
            sessions: Vec::new().into_iter(),
            taken: HashSet::new(),
            format: PhantomData,
        }
    }

    fn conversation(&mut self, session: Session) -> Result<Conversation> {
        let Some(file) = &mut self.file else {
            return Err(PluginError::failed("`next` before `open`"));
        };
        let id = session.id.unwrap_or_else(|| self.ids.next(&self.taken));
        let mut conversation = Conversation::new(id, Vec::new());
        for span in &session.rows {
            let row = read_row::<F>(file.at(*span)?);
            let (_, turns) = row.map_err(|refusal| file.error(*span, &refusal))?;
            conversation.turns.extend(turns);
        }
        F::finish(&mut conversation, session.rows.len(), &self.options);
        if let Some(osl) = self.options.osl {
            for turn in &mut conversation.turns {
                turn.max_tokens.get_or_insert_with(|| osl.sample(&mut self.limits));
            }
        }
        Ok(conversation)
    }
}

impl<F: Format> Dataset for JsonLines<F> {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        Ok(match probe::<F>(sample) {
            Ok(()) => Probe {
                accepts: true,
                reason: "the first row is valid".to_owned(),
            },
            Err(reason) => Probe { accepts: false, reason },
        })
    }

    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        let mut file = Lines::open(source)?;
        let mut sessions: Vec<Session> = Vec::new();
        let mut by_id: HashMap<String, usize> = HashMap::new();
        while let Some((span, line)) = file.next()? {
            let row = read_row::<F>(line);
            let (id, _) = row.map_err(|refusal| file.error(span, &refusal))?;
            let id = id.filter(|id| !id.is_empty());
            match id.as_ref().and_then(|id| by_id.get(id)) {
                Some(&session) => sessions[session].rows.push(span),
                None => {
                    if let Some(id) = &id {
                        by_id.insert(id.clone(), sessions.len());
                    }
                    sessions.push(Session { id, rows: vec![span] });
                }
            }
        }
        if sessions.is_empty() {
            return Err(PluginError::input(format!("{}: the file has no rows", file.name())));
        }
        let conversations = sessions.len() as u64;
        self.file = Some(file);
        self.sessions = sessions.into_iter();
        self.taken = by_id.into_keys().collect();
        Ok(DatasetInfo {
            conversations: Some(conversations),
            context: ContextMode::DeltasWithoutResponses,
            trace: false,
            notes: Vec::new(),
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let sessions: Vec<Session> = self.sessions.by_ref().take(count as usize).collect();
        sessions.into_iter().map(|session| self.conversation(session)).collect()
    }
}

fn read_row<F: Format>(line: &[u8]) -> std::result::Result<(Option<String>, Vec<Turn>), Refusal> {
    // Derived types would take an array for an object, field by field.
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err("the row is not a JSON object".to_owned());
    }
    F::read(serde_json::from_slice(line).map_err(|error| json_refusal(&error))?)
}

/// A JSON error by its column: the line is the file's.
fn json_refusal(error: &serde_json::Error) -> Refusal {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} (column {})", error.column()),
        None => text,
    }
}

fn probe<F: Format>(sample: &Sample) -> std::result::Result<(), Refusal> {
    if sample.folder {
        return Err("it reads one file, not a folder".to_owned());
    }
    let head = sample.head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&sample.head);
    let first = head
        .split(|&byte| byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let line = first.ok_or("the file has no rows")?;
    read_row::<F>(line)
        .map(|_| ())
        .map_err(|refusal| format!("first row: {refusal}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestSource, dataset, read, take_all};

    #[test]
    fn a_bad_row_is_named_by_file_and_line() {
        for (entry, text, expected) in [
            (
                "single_turn",
                "{\"text\":\"a\"}\n\n{\"text\":\"b\"",
                "rows.jsonl:3: EOF while parsing an object (column 11)",
            ),
            (
                "single_turn",
                "{\"text\":\"a\"}\n[null,\"b\"]\n",
                "rows.jsonl:2: the row is not a JSON object",
            ),
            (
                "single_turn",
                "{\"text\":\"a\"}\n{\"text\":\"\u{1}\"}\n",
                "rows.jsonl:2: control character",
            ),
            (
                "single_turn",
                "\n{\"text\":\"a\",\"texts\":[\"b\"]}",
                "rows.jsonl:2: `text` and `texts` exclude each other",
            ),
            (
                "multi_turn",
                "{\"turns\":[{\"text\":\"a\"},{}]}",
                "rows.jsonl:1: turns[1]: a text, an image",
            ),
            ("multi_turn", "{\"turns\":[]}", "rows.jsonl:1: `turns` is empty"),
            (
                "multi_turn",
                "{\"session_id\":\"x\"}",
                "rows.jsonl:1: missing field `turns`",
            ),
            ("single_turn", "\n \n", "rows.jsonl: the file has no rows"),
        ] {
            let error = read(entry, "{}", text).unwrap_err();
            assert!(error.message.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error_with_a_line() {
        let mut dataset = dataset("single_turn", "{}").unwrap();
        let error = dataset
            .open(TestSource::in_pieces(b"{\"text\":\"a\"}\n{\"text\":\"\xff\"}", 5))
            .unwrap_err();
        assert!(error.message.starts_with("rows.jsonl:2: "), "{error}");
    }

    #[test]
    fn runs_without_a_seed_number_nothing() {
        let all = read(
            "single_turn",
            r#"{"seeded":false}"#,
            "{\"text\":\"a\"}\n{\"text\":\"b\"}",
        )
        .unwrap();
        assert_eq!((all[0].id.len(), all[1].id.len()), (36, 36));
        assert_ne!(all[0].id, all[1].id);
    }

    proptest::proptest! {
        #[test]
        fn no_file_makes_it_panic(bytes: Vec<u8>, multi: bool) {
            let mut dataset = dataset(if multi { "multi_turn" } else { "single_turn" }, "{}").unwrap();
            let _ = dataset.open(TestSource::in_pieces(&bytes, 7));
        }

        #[test]
        fn conversations_do_not_depend_on_how_the_file_is_read(
            rows in proptest::collection::vec((0..4_u8, 0..40_usize), 1..30),
            piece in 1..200_usize,
        ) {
            let text: String = rows.iter().map(|(session, length)| match session {
                0 => format!("{{\"text\":\"{}.\"}}\n", "x".repeat(*length)),
                n => format!("{{\"session_id\":\"s{n}\",\"text\":\"{}.\"}}\r\n", "y".repeat(*length)),
            }).collect();
            let whole = read("single_turn", "{}", &text).unwrap();
            let mut pieces = dataset("single_turn", "{}").unwrap();
            pieces.open(TestSource::in_pieces(text.as_bytes(), piece)).unwrap();
            proptest::prop_assert_eq!(take_all(&mut *pieces).unwrap(), whole.clone());
            let turns: usize = whole.iter().map(|c| c.turns.len()).sum();
            proptest::prop_assert_eq!(turns, rows.len());
        }
    }
}
