//! Work on the bytes of files that nobody vouches for, in a child process with limits: a file can be made that costs its
//! compiler all the memory and time there is.

use super::engine::Runtime;
use super::inspect::one_line;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A core module becomes a component.
    Compose,
    /// A component becomes machine code.
    Compile,
}

impl Task {
    /// As the child is told.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compose => "compose",
            Self::Compile => "compile",
        }
    }

    /// As the child is told.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Compose, Self::Compile]
            .into_iter()
            .find(|task| task.as_str() == text)
    }

    /// Does it in this process: what a child does.
    ///
    /// # Errors
    /// The bytes are not what they should be.
    pub fn perform(self, input: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            // The same module gives the same component.
            Self::Compose => wit_component::ComponentEncoder::default()
                .validate(true)
                .module(input)
                .and_then(|mut encoder| encoder.encode())
                .map_err(|error| one_line(&format!("{error:#}"))),
            Self::Compile => Runtime::get()?
                .engine
                .precompile_component(input)
                .map_err(|error| one_line(&format!("{error:#}"))),
        }
    }
}

/// Who does the work.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// This process.
    Here,
    /// A child process: it reads the file on its standard input, calls [`Task::perform`], and writes what that gives.
    Child {
        /// The program.
        program: PathBuf,
        /// Its arguments; the name of the task and the seconds of `limit` follow.
        arguments: Vec<String>,
        /// Processor time that it grants itself. By the clock it is given three times that.
        limit: Duration,
    },
}

impl Compiler {
    /// Has it done.
    pub(super) fn perform(&self, task: Task, input: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Here => task.perform(input),
            Self::Child {
                program,
                arguments,
                limit,
            } => in_child(Command::new(program).args(arguments), task, *limit, input),
        }
    }
}

fn in_child(command: &mut Command, task: Task, limit: Duration, input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = command
        .arg(task.as_str())
        .arg(limit.as_secs().max(1).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the compiler cannot be started: {error}"))?;
    let (pipe, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that ends early closes its end; it says why itself.
            pipe.map(|mut pipe| pipe.write_all(input))
        });
        let output = scope.spawn(move || read_all(output));
        let errors = scope.spawn(move || read_all(errors));
        let ended = wait(&mut child, limit * 3);
        let (output, errors) = (output.join().unwrap_or_default(), errors.join().unwrap_or_default());
        match ended {
            Some(true) => Ok(output),
            Some(false) => Err(match one_line(&String::from_utf8_lossy(&errors)) {
                said if said.is_empty() => format!(
                    "compiling it takes more than {} s of processor time, or more memory than the compiler may have",
                    limit.as_secs()
                ),
                said => said,
            }),
            None => Err(format!("it did not compile within {} s", (limit * 3).as_secs())),
        }
    })
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// Whether the child succeeded; `None` if its time was up and it was ended.
fn wait(child: &mut Child, limit: Duration) -> Option<bool> {
    let end = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}
