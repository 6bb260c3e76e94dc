//! Built-in datasets and samplers.
//!
//! `synthetic` generates conversations; `single_turn` and `multi_turn` read them from JSON lines: `lines` cuts the
//! file, `row` is what a line says about a turn, `conversations` builds what the rows of a session make together.
//! `sampler` orders conversations.
#![forbid(unsafe_code)]

use aiperf_sdk::{Category, Dataset, Entry, Package, Result, package::Open};

mod conversations;
mod lines;
mod multi_turn;
mod options;
mod random;
mod row;
mod sampler;
mod session_id;
mod single_turn;
mod synthetic;

#[cfg(test)]
mod testing;

use conversations::JsonLines;
use multi_turn::MultiTurn;
use options::Options;
use sampler::{Order, Sampler};
use single_turn::SingleTurn;
use synthetic::Synthetic;

/// The package.
pub struct BuiltIn;

impl Package for BuiltIn {
    const NAME: &'static str = "aiperf-datasets";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        [
            "synthetic",
            "single_turn",
            "multi_turn",
            "sequential",
            "random",
            "shuffle",
        ]
        .map(|name| Entry::new(Category::Dataset, name))
        .into()
    }

    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        let options = Options::of(&open)?;
        let sampler = |order| Ok(Box::new(Sampler::new(order, &*open.host)) as Box<dyn Dataset>);
        match open.entry.as_str() {
            "synthetic" => Ok(Box::new(Synthetic::new(options, open.host)?)),
            "single_turn" => Ok(Box::new(JsonLines::<SingleTurn>::new(options, &*open.host))),
            "multi_turn" => Ok(Box::new(JsonLines::<MultiTurn>::new(options, &*open.host))),
            "sequential" => sampler(Order::Sequential),
            "random" => sampler(Order::Random),
            "shuffle" => sampler(Order::Shuffle),
            _ => Err(open.unknown()),
        }
    }
}
