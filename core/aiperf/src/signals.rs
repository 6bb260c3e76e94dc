//! Ctrl-C: the first one ends the run with a report, the second leaves at once.

use std::thread;

use aiperf_config::ExitCode;
use crossbeam_channel::{Receiver, bounded};
use signal_hook::{consts::SIGINT, iterator::Signals};

/// A message for the first interrupt. The second ends the process.
///
/// # Errors
/// When the system refuses a handler.
pub fn interrupts() -> std::io::Result<Receiver<()>> {
    let (sender, receiver) = bounded(1);
    let mut signals = Signals::new([SIGINT])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut seen = signals.forever();
        if seen.next().is_some() {
            let _ = sender.send(());
        }
        if seen.next().is_some() {
            eprintln!("interrupted twice: leaving at once");
            std::process::exit(i32::from(ExitCode::Interrupted.code()));
        }
    })?;
    Ok(receiver)
}
