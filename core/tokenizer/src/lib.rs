//! Tokenizers that need no network, and prompt text of exact token length.
//!
//! * [`resolve()`] decides which tokenizer a run uses: an embedded encoding, or a `tokenizer.json` on this machine.
//! * [`Tokenizer`] encodes, counts and decodes; [`Tokenizer::load_in_background`] keeps loading off the start-up path.
//! * [`PromptGenerator`] writes prose that encodes to exactly as many tokens as asked for.
//! * [`rng`] derives one independent random stream per name from the run's seed.
//!
//! Nothing here opens a socket.

#![forbid(unsafe_code)]

mod embedded;
#[cfg(test)]
mod fixtures;
mod hub_cache;
mod hugging_face;
mod prompt;
mod prose;
mod resolve;
pub mod rng;
mod tokenizer;
pub mod words;

pub use embedded::Encoding;
pub use prompt::{Prompt, PromptGenerator};
pub use resolve::{Choice, Reason, Request, ResolveError, resolve};
pub use tokenizer::{LoadError, Pending, Source, TokenizeError, Tokenizer};
