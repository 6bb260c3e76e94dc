//! Each example does what its README says.

use std::fs;

use aiperf_host::Role;
use aiperf_plugin_api::{GpuCollector, gpu::Poll};

use crate::harness::{AcmeServer, Compiler, Finished, Package, cargo, example, profile};

/// Builds an example and passes its own tests.
#[track_caller]
fn built(name: &str, crate_name: &str) -> Package {
    cargo(
        &Compiler::Ours,
        &example(name),
        &["test", "--quiet", "--locked", "--release"],
    );
    Package::of_example(name, crate_name, &Compiler::Ours)
}

/// A run against the vendor's server.
pub(crate) fn run_acme(package: &Package, flags: &str) -> Finished {
    let server = AcmeServer::start();
    profile(&format!(
        "--url {} --model acme-1 --tokenizer builtin --endpoint-type acme --plugin-registry {} --osl 7 {flags}",
        server.url,
        package.registry()
    ))
}

#[test]
fn vendor_inference() {
    let package = built("vendor-inference", "acme-inference");
    for streaming in [true, false] {
        let flag = if streaming { "--streaming" } else { "" };
        let run = run_acme(&package, &format!("--api-key acme-key --request-count 4 {flag}")).succeeded();
        run.used("acme-inference", "endpoint/acme_generate");
        assert_eq!(run.avg("request_count"), 4.0);
        assert_eq!(
            run.avg("output_sequence_length"),
            7.0,
            "as many tokens as were asked for"
        );
        assert_eq!(run.avg("usage_completion_tokens"), 7.0, "as the server counts them");
        assert_eq!(run.summary()["time_to_first_token"].is_object(), streaming, "{run}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("acme-inference 1.0.0 (native, unsandboxed)"), "{run}");
        assert!(!said.contains("acme-key"), "{run}");
    }
    // The server refuses any other key, so the core sends it in the vendor's own header.
    let run = run_acme(&package, "--api-key another --request-count 2");
    assert_ne!(run.code, Some(0), "{run}");
    assert_eq!(run.summary()["error_summary"][0]["error_details"]["code"], 401, "{run}");
}

#[test]
fn options_are_checked_by_the_schema_of_the_package() {
    let package = built("vendor-inference", "acme-inference");
    for (option, said) in [
        ("tier=gold", "--plugin-opt endpoint/acme.tier: \"gold\" is not one of "),
        (
            "teir=priority",
            "--plugin-opt endpoint/acme.teir: there is no such option; there are: tier",
        ),
    ] {
        let run = run_acme(
            &package,
            &format!("--request-count 1 --plugin-opt endpoint/acme.{option}"),
        );
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains(said) && run.stderr.contains("schema.json"), "{run}");
    }
}

#[test]
fn the_simulated_accelerator() {
    let package = Package::of_example("vendor-inference", "acme-inference", &Compiler::Ours);
    package.loads(Role::GpuCollector, "acme_simulated");
    let mut collector = package.gpu_collector("acme_simulated", r#"{"devices": 3}"#);
    let Poll::Readings(readings) = collector.poll(0, None).unwrap() else {
        panic!("the first poll reads");
    };
    let power = readings.iter().filter(|reading| reading.field == "power_usage");
    assert_eq!(power.map(|reading| reading.value).collect::<Vec<_>>(), [300.0; 3]);
    assert!(readings.iter().all(|reading| reading.model == "Acme A1 (simulated)"));
    assert_eq!(collector.poll(0, None).unwrap(), Poll::Wait(500));

    let registry = package.registry();
    let plugin = format!("--plugin-registry {registry} --gpu-telemetry acme_simulated");
    let run = profile(&format!("--url mock: --request-count 4 {plugin}")).succeeded();
    run.used("acme-inference", "gpu_collector/acme_simulated");
    let summary = run.summary();
    let gpus = &summary["telemetry_data"]["endpoints"]["localhost"]["gpus"];
    for gpu in ["gpu_0", "gpu_1"] {
        let device = &gpus[gpu];
        assert_eq!(
            (&device["platform"], &device["gpu_name"]),
            (&"acme".into(), &"Acme A1 (simulated)".into())
        );
        let power = device["metrics"]["power_usage"]["avg"].as_f64().unwrap();
        assert!((100.0..=300.0).contains(&power), "{device}");
        let energy = &device["metrics"]["energy_consumption"];
        assert_eq!(energy["unit"], "J");
        // Half a second and more at 100 W and more.
        assert!(energy["avg"].as_f64().unwrap() > 10.0, "{device}");
    }
    let lines = run.artifact("gpu_telemetry_export.jsonl");
    assert!(
        lines.lines().count() >= 4 && lines.contains("acme_simulated://localhost"),
        "{lines}"
    );
    assert!(run.stdout.contains("localhost | GPU 1 | Acme A1 (simulated)"), "{run}");
}

#[test]
fn fluidity_index() {
    let package = built("fluidity-index", "fluidity-index");
    let run = |deadlines: &str| {
        let registry = package.registry();
        let plugin = format!("--plugin-registry {registry} --metric fluidity {deadlines}");
        let run = profile(&format!("--url mock:?tokens=8 --streaming --request-count 5 {plugin}")).succeeded();
        run.used("fluidity-index", "metric/fluidity");
        run
    };
    let patient =
        "--plugin-opt metric/fluidity.ttft_deadline_ms=60000 --plugin-opt metric/fluidity.tbt_deadline_ms=60000";
    let patient = run(patient);
    assert_eq!(
        (patient.avg("fluidity_index"), patient.avg("fluid_request_fraction")),
        (1.0, 1.0)
    );
    for record in patient.records() {
        assert_eq!(record["metrics"]["fluidity_index"]["value"], 1.0, "{record}");
    }
    assert!(patient.stdout.contains("Fluidity Index"), "{patient}");
    // No server answers within a nanosecond.
    let strict =
        "--plugin-opt metric/fluidity.ttft_deadline_ms=0.000001 --plugin-opt metric/fluidity.tbt_deadline_ms=0.000001";
    let strict = run(strict);
    assert!(strict.avg("fluidity_index") < 0.1, "{strict}");
    assert_eq!(strict.avg("fluid_request_count"), 0.0);
}

#[test]
fn acme_log() {
    let package = built("acme-log", "acme-log");
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, rows: &str| {
        let log = folder.path().join(name);
        fs::write(&log, format!("ACME-LOG 1\n{rows}")).unwrap();
        let (log, registry) = (log.display(), package.registry());
        profile(&format!(
            "--url mock: --request-count 3 --input-file {log} --plugin-registry {registry}"
        ))
    };
    // Found by its header; no flag names it.
    let good = run(
        "good.log",
        "0 alice system - You are terse.\n20 alice ask 6 How do magnets work?\n25 bob ask - Tell me.\n30 alice ask 9 And?\n",
    )
    .succeeded();
    good.used("acme-log", "dataset/acme_log");
    let mut turns: Vec<(String, u64)> = good
        .records()
        .iter()
        .map(|record| {
            let metadata = &record["metadata"];
            let id = metadata["conversation_id"].as_str().unwrap();
            (id.to_owned(), metadata["turn_index"].as_u64().unwrap())
        })
        .collect();
    turns.sort();
    let turn = |id: &str, turn| (id.to_owned(), turn);
    assert_eq!(turns, [turn("alice", 0), turn("alice", 1), turn("bob", 0)]);

    let bad = run("bad.log", "20 alice ask 6 How?\n10 bob ask - Why?\n");
    assert_ne!(bad.code, Some(0), "{bad}");
    assert!(
        bad.stderr.contains("bad.log:3: time goes back from 20 to 10 ms"),
        "{bad}"
    );
}

#[test]
fn sawtooth() {
    let package = built("sawtooth", "sawtooth");
    let plugin = format!("--url mock: --plugin-registry {} --timing sawtooth", package.registry());
    let options = "--plugin-opt timing/sawtooth.high_rate=10 --plugin-opt timing/sawtooth.period_s=4";
    let run = profile(&format!("{plugin} {options} --request-count 20")).succeeded();
    run.used("sawtooth", "timing/sawtooth");
    let starts: Vec<u64> = run
        .records()
        .iter()
        .map(|record| record["metadata"]["request_start_ns"].as_u64().unwrap())
        .collect();
    // One tooth: by the schedule its first ten requests take 2.7 s and its last ten 1.1 s.
    assert_eq!(starts.len(), 20);
    let (rising, peak) = (starts[9] - starts[0], starts[19] - starts[10]);
    assert!(rising > peak, "{rising} and {peak} ns");

    let refused = profile(&format!("{plugin} {options} --request-rate 5 --request-count 1"));
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(
        refused.stderr.contains("request rate of 5") && refused.stderr.contains("sawtooth"),
        "{refused}"
    );
}

#[test]
fn markdown_report() {
    let package = built("markdown-report", "markdown-report");
    let plugin = format!("--plugin-registry {} --exporter markdown", package.registry());
    let options = "--plugin-opt exporter/markdown.title=Nightly";
    let run = profile(&format!("--url mock: --request-count 3 {plugin} {options}")).succeeded();
    run.used("markdown-report", "exporter/markdown");
    let report = run.artifact("report.md");
    for part in [
        "# Nightly\n",
        "## Phase profiling\n",
        ": 3 completed, 0 failed, 0 cancelled.\n",
        "\n| Request Count (requests) | 3.00 |",
        "\n| markdown-report | 1.0.0 | native | exporter/markdown |\n",
    ] {
        assert!(report.contains(part), "no {part:?}: {report}");
    }
}
