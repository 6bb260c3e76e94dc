//! Built-in endpoints: OpenAI chat completions and completions.
//!
//! A request: `chat` and `completions` name the fields of a body, `body` merges the user's over them and writes them,
//! `message` renders turns. A response: `reader` goes through its events. `pull` reads the JSON of one, `wire` and `usage` say
//! what is wanted of it (in terms of `lenient`). But nearly all events are like others: `form` knows those of earlier responses,
//! and `pattern` those that differ from the one before in a text alone.
//! `answer` sums them up, `tool_call` puts tool calls together again, `error` reads errors.
#![forbid(unsafe_code)]

use aiperf_sdk::{
    Category, Endpoint, Entry, Package, Result,
    package::{NoOptions, Open},
};

mod answer;
mod body;
mod chat;
mod completions;
mod error;
mod form;
mod json;
mod lenient;
mod message;
mod options;
mod pattern;
mod pull;
mod reader;
mod tool_call;
mod usage;
mod wire;

#[cfg(test)]
mod testing;

/// The package.
pub struct BuiltIn;

impl Package for BuiltIn {
    const NAME: &'static str = "aiperf-endpoints";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        ["chat", "completions"]
            .map(|name| Entry::new(Category::Endpoint, name))
            .into()
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        match open.entry.as_str() {
            "chat" => Ok(Box::new(chat::Chat::new(open.options()?, open.core()?, open.host))),
            "completions" => {
                let NoOptions {} = open.options()?;
                Ok(Box::new(completions::Completions::new(open.core()?, open.host)))
            }
            _ => Err(open.unknown()),
        }
    }
}
