//! The mock server: as a command, and as a child of a run with `--url mock:`.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader},
    net::SocketAddr,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use aiperf_config::{ExitCode, UrlSpec};
use aiperf_mock_server::{Settings, help, listening_line, parse_listening_line, run};

use crate::{failure::Failure, stdout};

/// `aiperf mock-server`.
///
/// # Errors
/// When a setting is wrong or the port is taken.
pub(crate) fn serve(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        stdout::print(&format!("{}\n", help().trim_end()))?;
        return Ok(ExitCode::Ok);
    }
    let settings = Settings::from_args(arguments.into_iter()).map_err(|error| Failure::usage(error.to_string()))?;
    // Whoever does not listen for the address may still want the server.
    run(settings, |address| {
        drop(stdout::print(&format!("{}\n", listening_line(address))))
    })
    .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(ExitCode::Ok)
}

/// Mock servers of a run. They end with it: each holds the other end of a pipe that closes with this process.
#[derive(Default)]
pub(crate) struct MockServers(Vec<Child>);

impl MockServers {
    /// Starts a server for each `mock:` URL and puts its address in place.
    ///
    /// # Errors
    /// When a setting is wrong or no process can be started.
    pub(crate) fn start(&mut self, urls: &[UrlSpec]) -> Result<Vec<UrlSpec>, Failure> {
        urls.iter()
            .map(|url| match url {
                UrlSpec::Server(_) => Ok(url.clone()),
                UrlSpec::Mock(text) => self.start_url(text),
            })
            .collect()
    }

    fn start_url(&mut self, text: &str) -> Result<UrlSpec, Failure> {
        Settings::from_query(text)
            .map_err(|error| error.to_string())
            .and_then(|settings| self.start_one(settings))
            .map(|address| UrlSpec::Server(format!("http://{address}")))
            .map_err(|error| Failure::usage(format!("--url {text}: {error}")))
    }

    /// Starts a server with these settings; its address.
    ///
    /// # Errors
    /// When no process can be started, or it refuses its settings; the message says so.
    pub(crate) fn start_one(&mut self, mut settings: Settings) -> Result<SocketAddr, String> {
        let failed = |error: std::io::Error| format!("no mock server can be started: {error}");
        settings.exit_with_stdin = true;
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .arg("mock-server")
            .args(settings.to_args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C reaches the whole process group: the server must go on answering while the run winds down.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        let read = child
            .stdout
            .take()
            .map(|stdout| BufReader::new(stdout).read_line(&mut line));
        self.0.push(child);
        match (read, parse_listening_line(line.trim_end())) {
            (Some(Ok(_)), Some(address)) => Ok(address),
            _ => Err("the mock server did not start; its message stands above".into()),
        }
    }
}

impl Drop for MockServers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Its input at an end is the sign to stop.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
