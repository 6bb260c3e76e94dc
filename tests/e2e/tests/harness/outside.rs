//! What the machine may lack.

use std::env;
use std::io::Write;
use std::path::PathBuf;

/// The program that an environment variable names. Without it the test is skipped, and says so; where nothing may be
/// skipped (`AIPERF_TEST_REQUIRE_ALL=1`) it fails.
pub(crate) fn outside(suite: &str, variable: &str) -> Option<PathBuf> {
    if let Some(path) = env::var_os(variable) {
        let path = PathBuf::from(path);
        assert!(path.is_file(), "{variable}: there is no {}", path.display());
        return Some(path);
    }
    let message = format!("SKIPPED {suite}: set {variable}, see tests/{suite}/README.md");
    assert!(
        env::var_os("AIPERF_TEST_REQUIRE_ALL").is_none_or(|value| value != "1"),
        "{message}"
    );
    say(&message);
    None
}

/// Writes past the test runner, which keeps what a test prints to itself unless it fails.
fn say(message: &str) {
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
}
