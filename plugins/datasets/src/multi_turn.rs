//! `multi_turn`: a row is a conversation, or a part of one.

use aiperf_sdk::{Conversation, Turn};

use crate::{
    conversations::Format,
    options::Options,
    row::{Refusal, TurnRow, check_kind},
};

/// The format.
pub(crate) struct MultiTurn;

/// A row. Unknown fields are ignored.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Row {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    turns: Vec<TurnRow>,
}

impl Format for MultiTurn {
    type Row = Row;

    fn read(row: Row) -> Result<(Option<String>, Vec<Turn>), Refusal> {
        check_kind(row.kind.as_deref(), "multi_turn")?;
        if row.turns.is_empty() {
            return Err("`turns` is empty".to_owned());
        }
        let turns = row.turns.into_iter().enumerate();
        let turns = turns.map(|(i, turn)| turn.into_turn().map_err(|refusal| format!("turns[{i}]: {refusal}")));
        Ok((row.session_id, turns.collect::<Result<_, _>>()?))
    }

    /// Lifts a leading system turn to the conversation's system message, which goes with every turn. As a turn it would be a
    /// request without a user. It stays where it would be lost: endpoints without system messages, no other turn, a second
    /// system turn behind it, or something a system message can't carry.
    fn finish(conversation: &mut Conversation, _: usize, options: &Options) {
        let [first, second, ..] = conversation.turns.as_slice() else {
            return;
        };
        if options.supports_system_message && second.role() != "system" && is_only_system_text(first) {
            let first = conversation.turns.remove(0);
            let texts = first.texts.into_iter().flat_map(|group| group.contents);
            conversation.system_message = Some(texts.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn is_only_system_text(turn: &Turn) -> bool {
    let bare = Turn {
        role: "system".to_owned(),
        texts: turn.texts.clone(),
        ..Turn::default()
    };
    *turn == bare
        && turn
            .texts
            .iter()
            .any(|group| group.contents.iter().any(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use crate::testing::{probe, read};
    use aiperf_sdk::ContextMode;

    /// The system message, then role and text of each turn.
    fn shape(options: &str, row: &str) -> (Option<String>, Vec<String>) {
        let all = read("multi_turn", options, row).unwrap();
        assert_eq!(all.len(), 1);
        let turns = all[0].turns.iter();
        let turns = turns.map(|turn| format!("{}: {}", turn.role(), turn.texts[0].contents.join("+")));
        (all[0].system_message.clone(), turns.collect())
    }

    #[test]
    fn a_leading_system_turn_becomes_the_system_message() {
        for (row, system, turns) in [
            (
                r#"{"turns":[{"role":"system","text":"Be brief."},{"text":"Hi"},{"text":"And?","delay":800}]}"#,
                Some("Be brief."),
                vec!["user: Hi", "user: And?"],
            ),
            (
                r#"{"turns":[{"role":"system","texts":["a","b"]},{"text":"Hi"}]}"#,
                Some("a\nb"),
                vec!["user: Hi"],
            ),
            (
                r#"{"turns":[{"role":"system","text":"alone"}]}"#,
                None,
                vec!["system: alone"],
            ),
            (
                r#"{"turns":[{"role":"system","text":"a"},{"role":"system","text":"b"},{"text":"Hi"}]}"#,
                None,
                vec!["system: a", "system: b", "user: Hi"],
            ),
            (
                r#"{"turns":[{"role":"system","text":"a","output_length":5},{"text":"Hi"}]}"#,
                None,
                vec!["system: a", "user: Hi"],
            ),
            (
                r#"{"turns":[{"role":"system","text":"a","delay":0},{"text":"Hi"}]}"#,
                None,
                vec!["system: a", "user: Hi"],
            ),
            (
                r#"{"turns":[{"text":"Hi"},{"role":"system","text":"late"}]}"#,
                None,
                vec!["user: Hi", "system: late"],
            ),
        ] {
            let (found, found_turns) = shape("{}", row);
            assert_eq!(
                (found.as_deref(), found_turns),
                (system, turns.iter().map(|t| t.to_string()).collect()),
                "{row}"
            );
        }
        let row = r#"{"turns":[{"role":"system","text":"a"},{"text":"Hi"}]}"#;
        let (system, turns) = shape(r#"{"supports_system_message":false}"#, row);
        assert_eq!((system, turns.len()), (None, 2));
    }

    #[test]
    fn lines_of_a_session_are_appended() {
        let all = read(
            "multi_turn",
            "{}",
            "{\"session_id\":\"c\",\"turns\":[{\"text\":\"1\"},{\"text\":\"2\"}]}\n\
             {\"turns\":[{\"text\":\"x\"}]}\n\
             {\"session_id\":\"c\",\"turns\":[{\"text\":\"3\",\"session_id\":\"ignored\"}]}\n",
        )
        .unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].id.as_str(), all[0].turns.len()), ("c", 3));
        assert_eq!(all[0].context, ContextMode::DeltasWithoutResponses);
        assert_eq!((all[1].id.as_str(), all[1].turns.len()), ("session_000000", 1));
    }

    #[test]
    fn probe_looks_at_the_first_row() {
        for (head, accepts) in [
            (r#"{"session_id":"c","turns":[{"text":"b"}]}"#, true),
            (r#"{"text":"a","turns":[{"text":"b"}]}"#, true),
            (r#"{"turns":[{"text":"b","forks":["x"]}]}"#, true),
            (r#"{"type":"multi_turn","turns":[{"text":"b"}]}"#, true),
            (r#"{"session_id":"c","turns":[{"messages":[]}]}"#, false),
            (r#"{"turns":[]}"#, false),
            (r#"{"text":"a"}"#, false),
        ] {
            let (accepted, reason) = probe("multi_turn", head);
            assert_eq!(accepted, accepts, "{head}: {reason}");
        }
        let (_, reason) = probe("multi_turn", r#"{"turns":[{"text":"a"},{}]}"#);
        assert!(reason.starts_with("first row: turns[1]: a text, an image"), "{reason}");
    }
}
