//! The server as a child process: this test program runs itself with a variable set.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use aiperf_mock_server::{Settings, listening_line, parse_listening_line, run};
use rustix::process::{Pid, Signal, kill_process};

use crate::client::Client;

/// Holds the child's arguments, one a line.
const ARGUMENTS: &str = "MOCK_SERVER_TEST_ARGUMENTS";

/// In the child: serves. In the parent: nothing, the tests below start it.
#[test]
fn serve() {
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        let settings = Settings::from_args(arguments.lines().map(str::to_owned)).unwrap();
        // The test harness prints on standard output, too.
        run(settings, |addr| eprintln!("{}", listening_line(addr))).unwrap();
    }
}

fn start(exit_with_stdin: bool) -> (Child, Client) {
    let settings = Settings {
        exit_with_stdin,
        ..Settings::default()
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child::serve", "--nocapture"])
        .env(ARGUMENTS, settings.to_args().join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let addr = lines
        .map(Result::unwrap)
        .find_map(|line| parse_listening_line(&line))
        .unwrap();
    (child, Client::new(addr))
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn stops_on_signals() {
    for number in [Signal::TERM, Signal::INT] {
        let (mut child, mut client) = start(false);
        drop(child.stdin.take());
        assert_eq!(
            client.get("/health").status,
            200,
            "the end of standard input does not matter"
        );
        signal(&child, number);
        assert!(child.wait().unwrap().success(), "{number:?}");
    }
}

#[test]
fn stops_with_its_parent_and_not_on_the_terminal_s_interrupt() {
    let (mut child, mut client) = start(true);
    signal(&child, Signal::INT);
    assert_eq!(client.get("/health").status, 200);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(client.closed());
}
