//! Ctrl-C and SIGTERM: the first one ends the run with a report, the second leaves at once.

use std::{sync::Arc, thread};

use aiperf_config::ExitCode;
use crossbeam_channel::{Receiver, bounded};
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::terminal::Terminal;

/// A message for the first interrupt. The second ends the process.
///
/// # Errors
/// When the system refuses a handler.
pub(crate) fn interrupts(terminal: Arc<Terminal>) -> std::io::Result<Receiver<()>> {
    let (sender, receiver) = bounded(1);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut seen = signals.forever();
        if seen.next().is_some() {
            let _ = sender.send(());
            terminal.line("Interrupted: reporting what was measured. Once more leaves at once.");
        }
        if seen.next().is_some() {
            terminal.line("Interrupted twice: leaving at once.");
            std::process::exit(i32::from(ExitCode::Interrupted.code()));
        }
    })?;
    Ok(receiver)
}
