//! Conversations in progress on a worker: what has been said so far.

use std::{collections::HashMap, sync::Arc};

use aiperf_plugin_api::{Conversation, Decoded, Turn, conversation::ContextMode, endpoint::ChunkKind};

/// A conversation in progress.
#[derive(Debug, Clone)]
pub struct Session {
    /// The conversation as the dataset has it.
    pub conversation: Arc<Conversation>,
    /// Live answers by turn.
    replies: HashMap<u32, Turn>,
    /// What the endpoint gave back for the previous turn.
    pub carry: Option<String>,
}

impl Session {
    /// A conversation at its first turn.
    pub fn new(conversation: Arc<Conversation>) -> Self {
        Self {
            conversation,
            replies: HashMap::new(),
            carry: None,
        }
    }

    /// The turns that turn `index` sends, oldest first. Empty if there is no such turn.
    pub fn turns_for(&self, index: u32) -> Vec<Turn> {
        let last = index as usize;
        let all = &self.conversation.turns;
        let Some(turn) = all.get(last) else { return Vec::new() };
        if self.conversation.context == ContextMode::MessageArrayWithResponses || turn.raw_payload.is_some() {
            return vec![turn.clone()];
        }
        let first = all[..=last].iter().rposition(|turn| turn.reset_context).unwrap_or(0);
        let live = self.conversation.context == ContextMode::DeltasWithoutResponses;
        let mut turns = Vec::with_capacity(2 * (last - first) + 1);
        for (position, turn) in all.iter().enumerate().take(last + 1).skip(first) {
            turns.push(turn.clone());
            if live
                && position < last
                && let Some(reply) = u32::try_from(position).ok().and_then(|turn| self.replies.get(&turn))
            {
                turns.push(reply.clone());
            }
        }
        turns
    }

    /// Keeps the live answer to a turn. Answers to failed turns are not kept.
    pub fn answered(&mut self, turn: u32, answer: Answer) {
        if self.conversation.context == ContextMode::DeltasWithoutResponses
            && let Some(reply) = answer.reply
        {
            self.replies.insert(turn, reply);
        }
        self.carry = answer.carry;
    }
}

/// What of an answer the next turn needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The answer as a turn.
    reply: Option<Turn>,
    /// What the endpoint gave back.
    carry: Option<String>,
}

impl Answer {
    /// Takes it out of what the endpoint read. The reply is the endpoint's own, else the text, else the reasoning.
    pub fn take(decoded: &mut Decoded) -> Self {
        let said = |kind| Some(decoded.chunks.text_of(kind)).filter(|text| !text.is_empty());
        let spoken = || {
            said(ChunkKind::Text)
                .or_else(|| said(ChunkKind::Reasoning))
                .map(Turn::text)
        };
        let reply = decoded.reply.take().or_else(|| {
            Some(Turn {
                role: "assistant".to_owned(),
                ..spoken()?
            })
        });
        Self {
            reply,
            carry: decoded.carry.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(context: ContextMode, reset: Option<usize>) -> Session {
        let mut turns: Vec<Turn> = ["a", "b", "c"].map(Turn::text).into();
        if let Some(index) = reset {
            turns[index].reset_context = true;
        }
        let mut session = Session::new(Arc::new(Conversation {
            context,
            ..Conversation::new("s", turns)
        }));
        session.answered(0, Answer::take(&mut decoded(&[(ChunkKind::Text, "A")])));
        session
    }

    fn decoded(chunks: &[(ChunkKind, &str)]) -> Decoded {
        let mut decoded = Decoded::default();
        for (event, &(kind, text)) in (0..).zip(chunks) {
            decoded.chunks.push(event, kind, text).unwrap();
        }
        decoded
    }

    #[test]
    fn the_reply_is_what_was_said_unless_the_endpoint_has_its_own() {
        use ChunkKind::{Data, Reasoning, Text, ToolCall};
        for (chunks, expected) in [
            (
                &[(Reasoning, "Hm."), (Text, "Hel"), (Data, "x"), (Text, "lo")][..],
                Some("Hello"),
            ),
            (
                &[(Reasoning, "only "), (Reasoning, "this"), (Text, "")],
                Some("only this"),
            ),
            (&[(ToolCall, "f{}"), (Data, "x")], None),
            (&[], None),
        ] {
            let mut said = decoded(chunks);
            let reply = Answer::take(&mut said).reply;
            let spoken = expected.map(|text| Turn {
                role: "assistant".into(),
                ..Turn::text(text)
            });
            assert_eq!(reply, spoken, "{chunks:?}");

            said.reply = Some(Turn::text("own"));
            said.carry = Some("carried".into());
            let answer = Answer::take(&mut said);
            assert_eq!(
                (answer.reply, answer.carry.as_deref()),
                (Some(Turn::text("own")), Some("carried"))
            );
        }
    }

    #[test]
    fn what_a_turn_sends_depends_on_the_context_mode() {
        use ContextMode::{DeltasWithResponses, DeltasWithoutResponses, MessageArrayWithResponses};
        // (mode, reset at, turn) → texts sent. Turn 1 was never answered.
        let cases: [(ContextMode, Option<usize>, u32, &[&str]); 7] = [
            (DeltasWithoutResponses, None, 0, &["a"]),
            (DeltasWithoutResponses, None, 1, &["a", "A", "b"]),
            (DeltasWithoutResponses, None, 2, &["a", "A", "b", "c"]),
            (DeltasWithoutResponses, Some(1), 2, &["b", "c"]),
            (DeltasWithResponses, None, 2, &["a", "b", "c"]),
            (MessageArrayWithResponses, None, 2, &["c"]),
            (DeltasWithoutResponses, None, 3, &[]),
        ];
        for (mode, reset, turn, expected) in cases {
            let turns = session(mode, reset).turns_for(turn);
            let texts: Vec<&str> = turns.iter().map(|turn| turn.texts[0].contents[0].as_str()).collect();
            assert_eq!(texts, expected, "{mode:?} {reset:?} {turn}");
        }
    }
}
