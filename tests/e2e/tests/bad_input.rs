//! Wrong input: one message with culprit and remedy, and the exit code.

use crate::harness::{Folder, Run};

/// What is amiss, unless the run ends with code 1 before it sends anything and one message holds all parts.
fn amiss(run: Run, parts: &[&str]) -> Option<String> {
    let run = run.finish();
    let missing = parts.iter().find(|part| !run.stderr.contains(**part));
    let what = if run.code != Some(1) {
        format!("the exit code is {:?}", run.code)
    } else if let Some(missing) = missing {
        format!("the message does not say {missing:?}")
    } else if run.stderr.matches("error:").count() != 1 || run.stderr.trim_end().lines().count() > 4 {
        "that is not one message".to_owned()
    } else if run.artifacts.join("profile_export_aiperf.json").exists() {
        "there is a report".to_owned()
    } else {
        return None;
    };
    Some(format!("{what}: {run}"))
}

/// All cases at once: each is a command line and what its message says.
#[track_caller]
fn all_refused<'a>(cases: impl IntoIterator<Item = (Folder, String, &'a [&'a str])>) {
    let complaints: Vec<String> = cases
        .into_iter()
        .filter_map(|(folder, line, parts)| {
            amiss(Run::profile_in(folder, &line), parts).map(|what| format!("{line}\n  {what}"))
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "{} complaints\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[track_caller]
fn refused(cases: &[(&str, &[&str])]) {
    all_refused(
        cases
            .iter()
            .map(|(line, parts)| (Folder::new(), (*line).to_owned(), *parts)),
    );
}

#[test]
fn flags() {
    refused(&[
        ("--url mock: --concurrency 0", &["--concurrency", "at least 1"]),
        ("--url mock: --concurrency 1,2", &["--concurrency", "not supported yet"]),
        ("--url mock: --concurency 3", &["--concurency", "--concurrency"]),
        ("--url mock: --request-rate -1", &["--request-rate"]),
        ("--url mock: --benchmark-duration 10s", &["--benchmark-duration", "10s"]),
        ("--url mock: --isl many", &["--isl", "many"]),
        (
            "--url mock: --fixed-schedule",
            &["--fixed-schedule", "not supported yet"],
        ),
        ("--url mock: --config a.yaml", &["--config", "not supported yet"]),
        (
            "--url mock: --arrival-smoothness 2",
            &["--arrival-smoothness", "--request-rate"],
        ),
        ("--url mock: --goodput latency=5", &["--goodput"]),
        ("--url mock: --goodput no_such_metric:5", &["no_such_metric"]),
        (
            "--url mock: --goodput time_to_first_token:5",
            &["time_to_first_token", "streaming"],
        ),
        ("--url mock: --custom-endpoint relative", &["--custom-endpoint", "/"]),
        ("--url mock:?no_such=1", &["no_such"]),
        ("--url mock:?ttft=fast", &["ttft", "fast"]),
        ("--url ftp://127.0.0.1 --model m --tokenizer builtin", &["--url", "ftp"]),
        (
            "--url http://127.0.0.1:99999 --model m --tokenizer builtin",
            &["--url", "99999"],
        ),
        (
            "--url mock: --per-chunk-usage",
            &["--per-chunk-usage", "--use-server-token-count"],
        ),
        ("--url http://127.0.0.1:1 --tokenizer builtin", &["--model"]),
    ]);
    let split = Run::profile("--url mock:")
        .arg("--header")
        .arg("{\"A\": \"b\\r\\nC: d\"}");
    assert_eq!(amiss(split, &["--header"]), None);
}

#[test]
fn unknown_plugins() {
    refused(&[
        ("--url mock: --endpoint-type chta", &["chta", "did you mean", "chat"]),
        ("--url mock: --endpoint-type nothing", &["nothing", "aiperf plugins"]),
        (
            "--url mock: --arrival-pattern posson --request-rate 5",
            &["posson", "poisson"],
        ),
        ("--url mock: --timing nothing", &["nothing"]),
        ("--url mock: --metric nothing", &["nothing"]),
        ("--url mock: --exporter jsn", &["jsn", "json"]),
        (
            "--url mock: --plugin endpoint/chat=nobody",
            &["nobody", "endpoint/chat"],
        ),
        ("--url mock: --plugin chat", &["--plugin", "category/name=package"]),
        (
            "--url mock: --plugin-opt endpoint/chat.nothing=1",
            &["--plugin-opt endpoint/chat.nothing", "unknown field"],
        ),
        // What the core passes is not for the user to set.
        (
            "--url mock: --plugin-opt endpoint/chat.custom_path=/a",
            &["--plugin-opt endpoint/chat.custom_path", "unknown field"],
        ),
        (
            "--url mock: --plugin-opt endpoint/chta.a=1",
            &["--plugin-opt endpoint/chta.a", "did you mean", "chat"],
        ),
        (
            "--url mock: --plugin-opt endpoint/completions.a=1",
            &["--plugin-opt endpoint/completions.a", "has no effect"],
        ),
    ]);
    file("single_trun", "{\"text\": \"a\"}\n", &["single_trun", "single_turn"]);
}

#[test]
fn tokenizers() {
    let choices = ["--tokenizer builtin", "tokenizer.json", "--tokenizer none"];
    let [builtin, folder, none] = choices;
    refused(&[
        // Nothing is downloaded; the message names the three choices.
        (
            "--url http://127.0.0.1:1 --model org/absent",
            &["org/absent", builtin, folder, none],
        ),
        (
            "--url http://127.0.0.1:1 --model m --tokenizer /no/such/folder",
            &["--tokenizer", "/no/such/folder"],
        ),
        (
            "--url http://127.0.0.1:1 --model m --tokenizer org/absent",
            &["org/absent", builtin, folder, none],
        ),
        (
            "--url http://127.0.0.1:1 --model m --tokenizer none",
            &["--tokenizer", "none", builtin, "--input-file"],
        ),
        // Text of a given length needs a tokenizer.
        (
            "--url http://127.0.0.1:1 --model m --tokenizer none --use-server-token-count --isl 20",
            &["tokenizer", builtin],
        ),
    ]);
    let folder = Folder::new();
    let broken = folder.file("tokenizer/tokenizer.json", "{\"model\": {}}");
    let line = format!("--url http://127.0.0.1:1 --model m --tokenizer {broken}");
    all_refused([(folder, line, &["tokenizer.json"][..])]);
}

/// A file of this content is refused.
#[track_caller]
fn file(kind: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::new();
    let file = folder.file("rows.jsonl", content);
    let kind = if kind.is_empty() {
        String::new()
    } else {
        format!("--custom-dataset-type {kind}")
    };
    all_refused([(folder, format!("--url mock: --input-file {file} {kind}"), parts)]);
}

#[test]
fn input_files() {
    file("single_turn", "{\"text\": \"a\"}\n{\"text\": \n", &["rows.jsonl:2"]);
    file(
        "single_turn",
        "{\"text\": \"a\"}\n\n{\"txt\": \"b\"}\n",
        &["rows.jsonl:3", "text"],
    );
    file(
        "single_turn",
        "{\"text\": 5}\n",
        &["rows.jsonl:1", "string", "column 10"],
    );
    file(
        "single_turn",
        "{\"text\": \"a\", \"output_length\": 0}\n",
        &["rows.jsonl:1", "output_length"],
    );
    file("single_turn", "", &["rows.jsonl"]);
    file("single_turn", "[1, 2]\n", &["rows.jsonl:1"]);
    file("single_turn", "\u{feff}\n", &["rows.jsonl"]);
    file(
        "single_turn",
        b"{\"text\": \"\xff\xfe\"}\n",
        &["rows.jsonl:1", "unicode", "column 11"],
    );
    file("multi_turn", "{\"turns\": []}\n", &["rows.jsonl:1", "turns"]);
    file(
        "multi_turn",
        "{\"turns\": [{\"text\": \"a\"}, {\"text\": 7}]}\n",
        &["rows.jsonl:1"],
    );
    file("", "{\"neither\": 1}\n", &["rows.jsonl", "--custom-dataset-type"]);
    refused(&[
        (
            "--url mock: --input-file /no/such/file.jsonl",
            &["--input-file", "/no/such/file.jsonl"],
        ),
        (
            "--url mock: --custom-dataset-type single_turn",
            &["--custom-dataset-type", "--input-file"],
        ),
    ]);
}

#[test]
fn places_that_cannot_be_written() {
    let folder = Folder::new();
    let file = folder.file("taken", "");
    let line = format!("profile --url mock: --request-count 1 --artifact-dir {file}/below --ui none");
    let run = Run::new(folder, &line).finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains(&file), "{run}");
}

/// An artifact that cannot be written ends the run, soon, with code 1; what could be written is there.
#[test]
fn artifacts_that_cannot_be_written() {
    for taken in ["profile_export.jsonl", "profile_export_aiperf.json"] {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path("artifacts").join(taken)).unwrap();
        let since = std::time::Instant::now();
        let run = Run::profile_in(folder, "--url mock: --request-count 3").finish();
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains(taken), "{run}");
        assert!(since.elapsed().as_secs() < 60, "it took {:?}", since.elapsed());
    }
}

#[test]
fn nobody_reads_the_output() {
    let folder = Folder::new();
    let mut run = std::process::Command::new(crate::harness::binary());
    run.args([
        "profile",
        "--url",
        "mock:",
        "--request-count",
        "3",
        "--ui",
        "none",
        "--artifact-dir",
    ]);
    run.arg(folder.path("artifacts"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = run.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    assert!(folder.path("artifacts/profile_export_aiperf.json").is_file(), "{said}");
}

#[test]
fn commands() {
    let run = Run::new(Folder::new(), "no-such-command").finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stderr.contains("no-such-command") && run.stderr.contains("profile"),
        "{run}"
    );
    for line in ["--help", "profile --help", "mock-server --help", "--version"] {
        let run = Run::new(Folder::new(), line).finish();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(!run.stdout.is_empty(), "{run}");
    }
    let run = Run::new(Folder::new(), "mock-server --no-such 1").finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("no-such"), "{run}");
}
