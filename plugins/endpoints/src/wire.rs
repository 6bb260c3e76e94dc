//! The shape of an OpenAI response event, read leniently: a field whose value has another type than expected counts as
//! absent, so that one odd field of one vendor never costs the rest of the event. Only what is needed is kept, borrowed.

use crate::{
    lenient::{Count, First, List, Raw, Text, object},
    usage::Reported,
};

object! {
    /// An event of a stream, or a whole body.
    struct Event<'de> {
        /// What it is.
        b"object" => object: Text<'de>,
        /// Only the first choice counts.
        b"choices" => choice: First<Choice<'de>>,
        /// Token counts.
        b"usage" => usage: Reported,
        /// An error in place of an answer.
        b"error" => error: Raw<'de>,
        /// Numbers of the engine.
        b"metrics" => metrics: Metrics<'de>,
    }

    /// One choice.
    struct Choice<'de> {
        /// Of a stream.
        b"delta" => delta: Option<Box<Message<'de>>>,
        /// Of a whole body.
        b"message" => message: Option<Box<Message<'de>>>,
        /// Of completions.
        b"text" => text: Text<'de>,
        /// Why the model stopped.
        b"finish_reason" => finish_reason: Text<'de>,
    }

    /// What was generated.
    struct Message<'de> {
        /// Output.
        b"content" => content: Text<'de>,
        /// Reasoning as DeepSeek and vLLM name it.
        b"reasoning_content" => reasoning_content: Text<'de>,
        /// Reasoning as others do.
        b"reasoning" => reasoning: Text<'de>,
        /// Tool calls.
        b"tool_calls" => tool_calls: List<ToolCall<'de>>,
        /// The only call of old servers.
        b"function_call" => function_call: Function<'de>,
    }

    /// A tool call, or a piece of one.
    struct ToolCall<'de> {
        /// Tells calls of one message apart.
        b"index" => index: Count,
        /// Identity for the answer of the tool.
        b"id" => id: Text<'de>,
        /// `function`.
        b"type" => kind: Text<'de>,
        /// What is called.
        b"function" => function: Function<'de>,
    }

    /// What is called.
    struct Function<'de> {
        /// Name.
        b"name" => name: Text<'de>,
        /// Arguments: a piece of a JSON text.
        b"arguments" => arguments: Text<'de>,
    }

    /// Numbers of the engine.
    struct Metrics<'de> {
        /// vLLM: acceptance by position.
        b"speculative_decoding" => speculative_decoding: Raw<'de>,
    }
}

impl Function<'_> {
    /// Nothing is called.
    pub(crate) fn is_empty(&self) -> bool {
        self.name.as_str().is_empty() && self.arguments.as_str().is_empty()
    }
}
