//! This program once more, as a child that opens plugins: it may crash or hang.

use std::{
    ffi::OsStr,
    io::{self, Read},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use aiperf_host::registry::{Form, Package};
use crossbeam_channel::bounded;

/// Bytes of a child's messages that are kept.
const LONGEST_MESSAGE: u64 = 16 * 1024;

/// Time that compiling may take, beyond all else: a component that is not in the cache has five minutes for it, two of them on a processor.
pub(super) fn compile_time(package: &Package) -> Duration {
    match package.form {
        Form::Wasm { .. } => Duration::from_secs(310),
        Form::Native(_) | Form::Bundled(_) => Duration::ZERO,
    }
}

/// A child that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// What it wrote to standard output.
    pub(super) said: String,
    /// What it wrote to standard error, cut to a bearable length, without the end of the last line.
    pub(super) complaint: String,
}

impl Ended {
    /// Why it did not do what it should: its own error, or how it ended. `doing` begins the sentence of the latter.
    pub(super) fn problem(&self, doing: &str) -> String {
        if let Some(message) = self.complaint.strip_prefix("error: ") {
            return message.to_owned();
        }
        let mut text = format!("{doing} ended the process: {}", self.status);
        if !self.complaint.is_empty() {
            text.push('\n');
            text.push_str(&self.complaint);
        }
        text
    }
}

/// Runs this program to its end.
///
/// # Errors
/// A sentence: it can't be started, or is not through after `patience`.
pub(super) fn run<S: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = S>,
    patience: Duration,
) -> Result<Ended, String> {
    let failed = |error: io::Error| format!("no process can be started for it: {error}");
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let Some((said, complaint)) = listen(&mut child, patience) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("it was not through after {} s: it hangs", patience.as_secs()));
    };
    Ok(Ended {
        status: child.wait().map_err(failed)?,
        said,
        complaint: complaint.trim_end().to_owned(),
    })
}

/// What the child writes to both outputs until it ends; `None` if that takes too long.
fn listen(child: &mut Child, patience: Duration) -> Option<(String, String)> {
    let (sender, receiver) = bounded(1);
    let (mut stdout, mut stderr) = (child.stdout.take()?, child.stderr.take()?);
    let complaint = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.by_ref().take(LONGEST_MESSAGE).read_to_end(&mut text);
        // The rest is read too: a child whose pipe is full would wait for ever.
        let _ = io::copy(&mut stderr, &mut io::sink());
        String::from_utf8_lossy(&text).into_owned()
    });
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        let said = String::from_utf8_lossy(&text).into_owned();
        let _ = sender.send((said, complaint.join().unwrap_or_default()));
    });
    receiver.recv_timeout(patience).ok()
}
