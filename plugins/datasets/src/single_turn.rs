//! `single_turn`: a row is a request.

use aiperf_sdk::{ContextMode, Conversation, Turn};

use crate::{
    conversations::Format,
    options::Options,
    row::{Refusal, TurnRow},
};

/// The format.
pub(crate) struct SingleTurn;

impl Format for SingleTurn {
    type Row = TurnRow;

    fn read(mut row: TurnRow) -> Result<(Option<String>, Vec<Turn>), Refusal> {
        let session_id = row.session_id.take();
        Ok((session_id, vec![row.into_turn()?]))
    }

    /// Rows of one session are sent one after the other, each alone.
    fn finish(conversation: &mut Conversation, rows: usize, _: &Options) {
        if rows > 1 {
            conversation.context = ContextMode::MessageArrayWithResponses;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{probe, read};

    #[test]
    fn rows_of_a_session_are_turns_sent_alone() {
        let all = read(
            "single_turn",
            "{}",
            "{\"text\":\"a\"}\n\
             {\"session_id\":\"u7\",\"text\":\"b\",\"timestamp\":120}\n\
             \n\
             {\"text\":\"c\",\"session_id\":\"\"}\n\
             {\"session_id\":\"session_000001\",\"text\":\"d\"}\n\
             {\"session_id\":\"u7\",\"text\":\"e\"}",
        )
        .unwrap();
        let ids: Vec<&str> = all.iter().map(|c| c.id.as_str()).collect();
        // The author's own session_000001 is no one else's.
        assert_eq!(ids, ["session_000000", "u7", "session_000002", "session_000001"]);
        let texts = |i: usize| {
            all[i]
                .turns
                .iter()
                .map(|t| t.texts[0].contents[0].as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (texts(0), texts(1), texts(2), texts(3)),
            (vec!["a"], vec!["b", "e"], vec!["c"], vec!["d"])
        );
        assert_eq!(all[1].context, ContextMode::MessageArrayWithResponses);
        assert_eq!(all[1].turns[0].timestamp_ms, Some(120.0));
        for i in [0, 2, 3] {
            assert_eq!(all[i].context, ContextMode::DeltasWithoutResponses);
        }
    }

    #[test]
    fn osl_fills_in_rows_without_a_length() {
        let rows = "{\"text\":\"a\",\"output_length\":40}\n{\"text\":\"b\"}";
        let limits = |options| -> Vec<Option<u32>> {
            let all = read("single_turn", options, rows).unwrap();
            all.iter().map(|c| c.turns[0].max_tokens).collect()
        };
        assert_eq!(limits(r#"{"osl":{"mean":7}}"#), [Some(40), Some(7)]);
        assert_eq!(limits("{}"), [Some(40), None]);
    }

    #[test]
    fn probe_looks_at_the_first_row() {
        for (head, accepts) in [
            (r#"{"text":"a"}"#, true),
            ("\u{feff}\n\n{\"image\":\"http://h/a\"}\nnonsense", true),
            (r#"{"input_length":5,"text":"x"}"#, true),
            (r#"{"text":"a","turns":[{"text":"b"}]}"#, true),
            (r#"{"session_id":"c","turns":[{"text":"b"}]}"#, false),
            (r#"{"text_input":"a"}"#, false),
            (r#"{"messages":[]}"#, false),
            (r#"{"prompt":"a"}"#, false),
            (r#"{"type":"text","text":"a"}"#, false),
            ("Timestamp,Request tokens", false),
            ("", false),
        ] {
            let (accepted, reason) = probe("single_turn", head);
            assert_eq!(accepted, accepts, "{head}: {reason}");
            assert!(!reason.is_empty());
        }
    }
}
