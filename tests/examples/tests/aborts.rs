//! A library that aborts on a panic instead of unwinding.

use std::fs;

use aiperf_host::Role;

use crate::harness::{Compiler, Package, cargo, plugins, profile};
use crate::templates::made;

#[test]
fn a_library_that_aborts_on_panic_works_and_is_told_of_beforehand() {
    let folder = made("metric", "acme-aborts");
    let source = folder.join("src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    let head = "fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {\n";
    assert_eq!(text.matches(head).count(), 1, "{text}");
    let panics = "        assert!(self.options.min_tokens != 77, \"hostile\");\n";
    fs::write(&source, text.replace(head, &format!("{head}{panics}"))).unwrap();
    let abort = ["--config", "profile.release.panic=\"abort\""];
    let build = ["build", "--quiet", "--offline", "--release", "--lib"];
    cargo(&Compiler::Ours, &folder, &[&build[..], &abort[..]].concat());
    let package = Package::collect(&folder, "acme-aborts", &Compiler::Ours);
    assert!(!package.version_info(Role::Metric, "acme_aborts").unwinds);
    plugins(&folder, &format!("test {}", package.registry()));

    let line = "--url mock: --streaming --request-count 4 --metric acme_aborts --plugin-registry";
    let line = format!("{line} {}", package.registry());
    let run = profile(&line).succeeded();
    run.used("acme-aborts", "metric/acme_aborts");
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(told.contains("built with panic=abort"), "{run}");

    // It takes the run with it, and what was measured until then is on disk.
    let run = profile(&format!("{line} --plugin-opt metric/acme_aborts.min_tokens=77"));
    assert_eq!(run.code, None, "ended by a signal: {run}");
    assert!(run.stderr.contains("built with panic=abort"), "said before: {run}");
}
