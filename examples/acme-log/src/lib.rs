//! Conversations from the session logs of the made-up vendor Acme.
//!
//! ```text
//! ACME-LOG 1
//! 0 alice system - You are terse.
//! 20 alice ask 64 How do magnets work?
//! 25 bob ask - Tell me a story.\nA long one.
//! 5020 alice ask 32 And superconductors?
//! 5900 alice end
//! ```
//!
//! A line is a time in ms since the start of the log, a session, what happened, and for `system` and `ask` a limit on output
//! tokens (`-` is none) and a text, in which `\n` is a line break and `\\` a backslash. Blank lines and those that begin with
//! `#` say nothing. Times never go back. Each session is a conversation; its turns carry their time, and what went by since
//! the question before as the delay.
//!
//! * [`line`]: one line. [`lines`]: the file, read in pieces. [`log`]: the dataset.
#![forbid(unsafe_code)]

pub mod line;
pub mod lines;
pub mod log;

use aiperf_sdk::prelude::*;

/// The package.
pub struct AcmeLog;

impl Package for AcmeLog {
    const NAME: &'static str = "acme-log";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Dataset, "acme_log")]
    }

    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        match open.entry.as_str() {
            "acme_log" => {
                let NoOptions {} = open.options()?;
                Ok(Box::new(log::Log::default()))
            }
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::AcmeLog, [Dataset]);
