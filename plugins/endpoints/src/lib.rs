//! Built-in endpoints: OpenAI chat completions and completions.
//!
//! A request: `chat` and `completions` name the fields of a body, `body` merges the user's over them and writes them,
//! `message` renders turns. A response: `wire` and `usage` read an event, `answer` sums up the events of a response,
//! `tool_call` puts tool calls together again.
#![forbid(unsafe_code)]

use aiperf_sdk::{
    Category, Endpoint, Entry, Package, Result,
    package::{NoOptions, Open},
};

mod answer;
mod body;
mod chat;
mod completions;
mod json;
mod message;
mod options;
mod pattern;
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
