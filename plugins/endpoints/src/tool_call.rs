//! Tool calls, which a stream sends in pieces, put together for the history.

use std::collections::BTreeMap;

use crate::{
    json::write_string,
    wire::{Function, Message, ToolCall},
};

/// The calls of a response by their index.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls(BTreeMap<u64, Call>);

#[derive(Debug, Default)]
struct Call {
    id: String,
    kind: String,
    name: String,
    arguments: String,
}

impl ToolCalls {
    /// Adds the calls, or pieces of calls, of one message.
    pub(crate) fn add(&mut self, message: &Message<'_>) {
        for piece in &message.tool_calls.0 {
            self.add_piece(piece);
        }
        let Function { name, arguments } = &message.function_call;
        if !message.function_call.is_empty() {
            let call = self.0.entry(0).or_default();
            call.name.push_str(name.as_str());
            call.arguments.push_str(arguments.as_str());
        }
    }

    /// A piece without an index is a call of its own: index 0 would throw parallel calls into one.
    fn add_piece(&mut self, piece: &ToolCall<'_>) {
        let index = piece.index.0.unwrap_or(self.0.len() as u64);
        let call = self.0.entry(index).or_default();
        for (known, new) in [
            (&mut call.id, piece.id.as_str()),
            (&mut call.kind, piece.kind.as_str()),
            (&mut call.name, piece.function.name.as_str()),
        ] {
            if !new.is_empty() {
                new.clone_into(known);
            }
        }
        call.arguments.push_str(piece.function.arguments.as_str());
    }

    /// No calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The assistant's message as a list of one, for [`raw_messages`](aiperf_sdk::Turn::raw_messages).
    pub(crate) fn messages(&self, content: &str) -> String {
        let mut out = br#"[{"role":"assistant","content":"#.to_vec();
        if content.is_empty() {
            out.extend_from_slice(b"null");
        } else {
            write_string(&mut out, content);
        }
        out.extend_from_slice(br#","tool_calls":["#);
        for (i, call) in self.0.values().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            out.push(b'{');
            if !call.id.is_empty() {
                out.extend_from_slice(br#""id":"#);
                write_string(&mut out, &call.id);
                out.push(b',');
            }
            let kind = if call.kind.is_empty() { "function" } else { &call.kind };
            out.extend_from_slice(br#""type":"#);
            write_string(&mut out, kind);
            out.extend_from_slice(br#","function":{"name":"#);
            write_string(&mut out, &call.name);
            out.extend_from_slice(br#","arguments":"#);
            write_string(&mut out, &call.arguments);
            out.extend_from_slice(b"}}");
        }
        out.extend_from_slice(b"]}]");
        String::from_utf8_lossy(&out).into_owned()
    }
}
