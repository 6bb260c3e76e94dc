//! The verdict of a run on itself: each reason is provoked. A step of the wall clock is not: it takes privileges.

use aiperf_mock_server::{Server, Settings};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Finished, Folder, Run, binary, number, text};

/// The reason of a code.
#[track_caller]
fn reason(run: &Finished, code: &str) -> Value {
    let summary = run.summary();
    let reasons = summary["validity"]["reasons"].as_array().unwrap();
    let found = reasons.iter().find(|reason| reason["code"] == code);
    found.unwrap_or_else(|| panic!("no {code} in {reasons:#?}")).clone()
}

/// A run with a verdict that its exit code, its JSON and its last lines agree on.
#[track_caller]
fn judged(run: Run) -> Finished {
    let run = run.arg("--require-valid").finish();
    let validity = &run.summary()["validity"];
    let verdict = text(validity, "/verdict");
    let expected = if verdict == "valid" { 0 } else { 4 };
    assert_eq!(run.code, Some(expected), "{run}");
    assert!(run.stdout.contains(&format!("Validity: {verdict}")), "{run}");
    let reasons = validity["reasons"].as_array().unwrap();
    assert_eq!(reasons.is_empty(), verdict == "valid", "{validity}");
    for reason in reasons {
        assert!(number(reason, "/value") > number(reason, "/limit"), "{reason}");
        assert!(run.stdout.contains(text(reason, "/message")), "{reason} {run}");
    }
    run
}

#[test]
fn a_rate_that_cannot_be_met() {
    let run = judged(Run::profile(
        "--url mock:?ttft=50 --tokenizer builtin --num-prompts 1 --isl 5 --streaming \
         --request-rate 200 --arrival-pattern constant --concurrency 1 --request-count 20",
    ));
    let rate = reason(&run, "rate");
    // One at a time takes 50 ms each: at most 20 of 200 per second.
    assert_eq!(text(&rate, "/severity"), "invalid");
    assert!((85.0..100.0).contains(&number(&rate, "/value")), "{rate}");
    assert_eq!(text(&rate, "/phase"), "profiling");
}

#[test]
fn a_process_that_does_not_run() {
    // A process of its own: it goes on answering.
    let server = Server::spawn(Settings {
        ttft: Duration::from_millis(100),
        ..Settings::default()
    })
    .unwrap();
    let run = Run::profile(&format!(
        "--url http://{} --model m --tokenizer builtin --isl 10 --num-prompts 1 --request-rate 20 --arrival-pattern constant \
         --request-count 40",
        server.addr
    ))
    .start();
    let folder = run.path("artifacts");
    let deadline = Instant::now() + Duration::from_secs(60);
    let under_way =
        || std::fs::read_to_string(folder.join("profile_export.jsonl")).is_ok_and(|text| text.contains('\n'));
    while !under_way() {
        assert!(Instant::now() < deadline, "the run does not begin");
        thread::sleep(Duration::from_millis(5));
    }
    run.stop_for(Duration::from_millis(500));
    let run = run.finish();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(number(&reason(&run, "stall"), "/value") > 300.0);
    // The kernel received what the process did not read.
    assert!(number(&reason(&run, "client_lag"), "/value") > 100.0);
    let fidelity = &run.summary()["validity"]["phases"][0];
    assert_eq!(
        number(fidelity, "/kernel_stamped"),
        number(fidelity, "/requests"),
        "{fidelity}"
    );
}

#[test]
fn cores_that_others_use() {
    let over = Arc::new(AtomicBool::new(false));
    let cores = thread::available_parallelism().unwrap().get();
    let busy: Vec<_> = (0..2 * cores)
        .map(|_| {
            let over = Arc::clone(&over);
            thread::spawn(move || while !over.load(Ordering::Relaxed) {})
        })
        .collect();
    let run = judged(
        Run::profile(
            "--url mock:?ttft=5 --tokenizer builtin --num-prompts 1 --isl 5 --streaming \
             --concurrency 2 --benchmark-duration 2",
        )
        .alone(),
    );
    over.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(number(&reason(&run, "cpu"), "/value") > 95.0);
}

#[test]
fn too_few_file_descriptors() {
    let folder = Folder::new();
    let program = folder.file(
        "few",
        format!("#!/bin/sh\nulimit -n 60\nexec {} \"$@\"\n", binary().display()),
    );
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = Run::profile_in(
        folder,
        "--url mock:?ttft=300 --tokenizer builtin --num-prompts 1 --isl 5 --streaming \
         --concurrency 100 --request-count 100",
    );
    let run = judged(run.program(program.as_ref()));
    let exhaustion = reason(&run, "exhaustion");
    assert!(text(&exhaustion, "/message").contains("ulimit -n"), "{exhaustion}");
    assert!(number(&run.summary(), "/validity/phases/0/exhausted") >= 1.0);
}

#[test]
fn messages_that_come_in_bursts() {
    // Without time between tokens the server writes a whole answer at once, as a buffering proxy would pass it on.
    let run = judged(Run::profile(
        "--url mock:?ttft=5&tokens=20 --tokenizer builtin --num-prompts 1 --isl 5 --streaming \
         --request-count 20",
    ));
    let fidelity = &run.summary()["validity"]["phases"][0];
    assert_eq!(number(fidelity, "/streams"), 20.0);
    assert!(number(fidelity, "/bounded_messages") > 300.0, "{fidelity}");
    assert!(number(&reason(&run, "buffering"), "/value") > 10.0);
}

#[test]
fn a_concurrency_that_is_not_reached() {
    let run = judged(Run::profile(
        "--url mock:?ttft=10 --tokenizer builtin --isl 5 --streaming --num-conversations 2 --session-turns-mean 10 \
         --concurrency 10 --request-count 20",
    ));
    let concurrency = reason(&run, "concurrency");
    assert!(number(&concurrency, "/value") > 50.0, "{concurrency}");
}
