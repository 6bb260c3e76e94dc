//! The examples in Python, built as their READMEs say: they conform and give the numbers that they should.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::examples::run_acme;
use crate::harness::{Compiler, Package, example, plugins, profile, root};

/// `componentize-py`: the program that `AIPERF_TEST_COMPONENTIZE` names. Without it the test is skipped, and says so.
fn componentize(test: &str) -> Option<PathBuf> {
    let found = env::var_os("AIPERF_TEST_COMPONENTIZE").map(PathBuf::from);
    if found.is_none() {
        let message =
            format!("SKIPPED {test}: AIPERF_TEST_COMPONENTIZE does not name componentize-py (pip install it)");
        let required = env::var_os("AIPERF_TEST_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "{message}");
        // Past the capture of the test runner, which would swallow it.
        let _ = writeln!(std::io::stderr(), "{message}");
    }
    found
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Builds an example in a copy of its folder, and lets it be tested.
#[track_caller]
fn built(componentize: &Path, name: &str, world: &str) -> Package {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(example(name)).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|end| end == "py") {
            fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    let (wit, sdk) = (root().join("plugin-api/wit"), root().join("sdk/python"));
    let call = || {
        let mut call = Command::new(componentize);
        call.current_dir(copy.path())
            .arg("-q")
            .arg("-d")
            .arg(&wit)
            .args(["-w", world]);
        call
    };
    succeeds(
        call()
            .args(["componentize", "--stub-wasi", "-p", ".", "-p"])
            .arg(&sdk)
            .args(["app", "-o", "plugin.wasm"]),
    );
    if copy.path().join("test_app.py").is_file() {
        succeeds(call().args(["bindings", "bindings"]));
        let python = componentize.with_file_name("python");
        let path = env::join_paths([copy.path().join("bindings"), sdk]).unwrap();
        let mut tests = Command::new(python);
        tests.current_dir(copy.path()).env("PYTHONPATH", path);
        succeeds(tests.args(["-m", "unittest"]));
    }
    let registry = fs::read_to_string(example(name).join("registry.yaml")).unwrap();
    let package = Package::with_component(&registry, &copy.path().join("plugin.wasm"));
    let file = PathBuf::from(package.registry());
    plugins(file.parent().unwrap(), "test registry.yaml");
    package
}

#[test]
fn a_metric() {
    let Some(componentize) = componentize("python::a_metric") else {
        return;
    };
    let package = built(&componentize, "burstiness-py", "metric-plugin");
    let plugin = format!("--plugin-registry {} --metric burstiness", package.registry());
    let run = profile(&format!(
        "--url mock:?tokens=8&itl=5 --streaming --request-count 5 --export-level records {plugin}"
    ))
    .succeeded();
    // As the definition has it, from the gaps of the records.
    for record in run.records() {
        let gaps: Vec<f64> = record["metrics"]["inter_chunk_latency"]["value"]
            .as_array()
            .unwrap_or_else(|| panic!("no gaps: {record}"))
            .iter()
            .map(|gap| gap.as_f64().unwrap())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let expected = variance.sqrt() / mean;
        match record["metrics"]["burstiness"]["value"].as_f64() {
            // Records round their gaps to what they are printed with.
            Some(found) => assert!(
                (found - expected).abs() <= 1e-6 * expected.max(1.0),
                "{found} {expected}: {record}"
            ),
            None => assert!(mean == 0.0, "no value: {record}"),
        }
    }
    assert!(run.stdout.contains("Burstiness (ratio)"), "{run}");
    let refused = profile(&format!(
        "--url mock: --request-count 1 {plugin} --plugin-opt metric/burstiness.window=3"
    ));
    assert!(
        refused.code == Some(1) && refused.stderr.contains("there is no option window"),
        "{refused}"
    );
}

#[test]
fn an_endpoint_says_what_the_native_one_says() {
    let Some(componentize) = componentize("python::an_endpoint_says_what_the_native_one_says") else {
        return;
    };
    let python = built(&componentize, "acme-generate-py", "endpoint-plugin");
    let native = Package::of_example("vendor-inference", "acme-inference", &Compiler::Ours);
    let flags = "--api-key acme-key --request-count 6 --streaming --random-seed 3";
    let native = run_acme(&native, flags).succeeded();
    let python = run_acme(&python, flags).succeeded();
    for tag in [
        "request_count",
        "output_sequence_length",
        "usage_completion_tokens",
        "usage_prompt_tokens",
    ] {
        assert_eq!(python.avg(tag), native.avg(tag), "{tag}: {python}");
    }
    assert!(!python.stdout.contains("unsandboxed"), "{python}");
}
