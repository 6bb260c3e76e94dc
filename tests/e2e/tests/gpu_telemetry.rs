//! GPU collectors beside a run: what they leave in each file, and what a failing one does.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, thread};

use serde_json::{Value, json};

use crate::harness::{Finished, Folder, Run, avg, number, test_plugins, text};

/// Everything that the library of the contract's tests registers.
const REGISTRY: &str = "\
schema_version: \"1.0\"
packages:
  contract-tests: { version: 0.1.0, api: \">=1.0, <2\", library: LIBRARY }
endpoint:
  multipart: { package: contract-tests }
  polling: { package: contract-tests }
  fault: { package: contract-tests }
  idle: { package: contract-tests }
dataset:
  lines: { package: contract-tests }
  reversed: { package: contract-tests }
  fault: { package: contract-tests }
  idle: { package: contract-tests }
timing:
  user_centric: { package: contract-tests }
  fixed_schedule: { package: contract-tests }
  adaptive: { package: contract-tests }
  fault: { package: contract-tests }
  idle: { package: contract-tests }
metric:
  chunk_gaps: { package: contract-tests, metadata: { tags: [test_chunk_gap] } }
  busy: { package: contract-tests, metadata: { tags: [test_busy] } }
  fault: { package: contract-tests, metadata: { tags: [test_fault] } }
  idle: { package: contract-tests, metadata: { tags: [idle] } }
exporter:
  texts: { package: contract-tests }
  fault: { package: contract-tests }
  idle: { package: contract-tests }
gpu_collector:
  scraper: { package: contract-tests }
  fault: { package: contract-tests }
  idle: { package: contract-tests }
";

/// A page of counters: with each request, 100 W more power and 0.001 MJ more energy.
struct Pages {
    url: String,
    served: Arc<AtomicU64>,
}

impl Pages {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let served = Arc::new(AtomicU64::new(0));
        let count = served.clone();
        // It ends with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = count.clone();
                thread::spawn(move || serve(stream, &count));
            }
        });
        Self { url, served }
    }

    fn served(&self) -> u64 {
        self.served.load(Ordering::SeqCst)
    }
}

fn serve(stream: TcpStream, served: &AtomicU64) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut stream = stream;
    while let Some(Ok(line)) = lines.next() {
        assert!(line.starts_with("GET /metrics HTTP/1.1"), "{line}");
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let nth = served.fetch_add(1, Ordering::SeqCst) + 1;
        let page = format!(
            "nvidia_power_usage {} W\nnvidia_energy_consumption {} J\nown_load 0.5 %\n",
            100 * nth,
            1_000 * nth
        );
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
        if stream.write_all((head + &page).as_bytes()).is_err() {
            return;
        }
    }
}

/// A run against the mock server with the test plugins at hand.
fn run(flags: &str) -> Finished {
    let folder = Folder::new();
    let library = test_plugins();
    let file = library.file_name().unwrap().to_str().unwrap();
    folder.file(&format!("plugins/{file}"), fs::read(&library).unwrap());
    let registry = folder.file("plugins/registry.yaml", REGISTRY.replace("LIBRARY", file));
    let flags = format!("--url mock: --concurrency 2 --plugin-registry {registry} {flags}");
    Run::profile_in(folder, &flags).finish()
}

fn lines(run: &Finished) -> Vec<Value> {
    let lines = run.artifact("gpu_telemetry_export.jsonl");
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn readings_are_in_every_file() {
    let pages = Pages::start();
    let run = run(&format!("--request-count 6 --gpu-telemetry scraper {}", pages.url));
    assert_eq!(run.code, Some(0), "{run}");
    let lines = lines(&run);
    // Once before the run, and at least once when it is over.
    let n = pages.served();
    assert!(n >= 2, "{run}");
    assert_eq!(lines.len() as u64, n, "each page is a line");
    let url = pages.url.as_str();
    for (line, nth) in lines.iter().zip(1..) {
        let (power, energy) = (
            f64::from(100 * nth),
            number(line, "/telemetry_data/nvidia_energy_consumption"),
        );
        assert!(
            (energy - f64::from(nth) * 0.001).abs() < 1e-12,
            "J are written as MJ: {line}"
        );
        let mut line = line.clone();
        let at = line["timestamp_ns"].take().as_u64().unwrap();
        assert!(at > 1_600_000_000_000_000_000, "{at}");
        line["telemetry_data"]["nvidia_energy_consumption"].take();
        assert_eq!(
            line,
            json!({"gpu_index": 1, "gpu_uuid": "GPU-1", "gpu_model_name": "H", "hostname": "node-a", "pod_name": "p0",
                "platform": "nvidia", "timestamp_ns": null, "telemetry_source_url": url,
                "telemetry_data": {"nvidia_power_usage": power, "nvidia_energy_consumption": null, "own_load": 0.5}})
        );
    }

    let summary = run.summary();
    let data = &summary["telemetry_data"];
    assert_eq!(data["summary"]["endpoints_configured"], json!([url]));
    assert_eq!(data["summary"]["endpoints_successful"], json!([url]));
    let source = url.strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
    let gpu = &data["endpoints"][source]["gpus"]["gpu_1"];
    assert_eq!(text(gpu, "/gpu_uuid"), "GPU-1", "{data}");
    let metrics = &gpu["metrics"];
    // How many pages fall into the phase is a matter of time; each brought 100 W and 0.001 MJ more than the one before.
    let power = &metrics["nvidia_power_usage"];
    let within = number(power, "/count");
    assert!((1.0..n as f64).contains(&within), "{metrics}");
    assert_eq!(
        number(power, "/max") - number(power, "/min"),
        100.0 * (within - 1.0),
        "{metrics}"
    );
    // The counter grew since the last page before it.
    let grown = within * 0.001;
    assert!(
        (number(metrics, "/nvidia_energy_consumption/avg") - grown).abs() < 1e-12,
        "{metrics}"
    );
    assert!(metrics["nvidia_energy_consumption"]["count"].is_null());
    assert_eq!(metrics["own_load"]["unit"], "%");

    let energy = avg(&summary, "nvidia_total_gpu_energy");
    assert!((energy - grown * 1e6).abs() < 1e-6, "{energy}");
    assert!((avg(&summary, "nvidia_energy_per_request") - energy / 6.0).abs() < 1e-6);
    assert!((avg(&summary, "nvidia_energy_per_user") - energy / 2.0).abs() < 1e-6);

    let csv = run.artifact("profile_export_aiperf.csv");
    let (_, section) = csv
        .split_once("\r\n\r\n\r\nEndpoint,GPU_Index,")
        .unwrap_or_else(|| panic!("{csv}"));
    assert!(
        section.contains(&format!("{source},1,H,GPU-1,nvidia,Own Load (%),0.50,")),
        "{section}"
    );
    assert!(
        section.lines().next().unwrap().ends_with(",std,Hostname,Pod Name"),
        "{section}"
    );
    let console = run.artifact("profile_export_console.txt");
    for part in [
        "AIPerf | GPU Telemetry Summary",
        "1/1 telemetry sources reachable",
        &format!("{source} | GPU 1 | H"),
        "NVIDIA GPU Power Usage (W)",
        "GPU Power Efficiency (NVIDIA)",
    ] {
        assert!(console.contains(part) && run.stdout.contains(part), "{part}: {console}");
    }
    let packages = summary["packages"].as_array().unwrap();
    assert!(
        packages.iter().any(|one| one["name"] == "contract-tests"),
        "{packages:?}"
    );
}

#[test]
fn other_exporters_get_the_readings_too() {
    let pages = Pages::start();
    let flags = format!(
        "--request-count 2 --gpu-telemetry scraper {} --exporter texts",
        pages.url
    );
    let run = run(&flags);
    // Its begin wants columns that are words of the run's facts; what counts here is its table.
    assert_eq!(run.code, Some(0), "{run}");
    let table = run.artifact("texts/gpu.txt");
    assert!(
        table.starts_with("nvidia_power_usage;100.0\nnvidia_energy_consumption;"),
        "{table}"
    );
}

#[test]
fn a_collector_that_fails_does_not_end_the_run() {
    let quiet = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let closed = quiet.local_addr().unwrap();
    drop(quiet);
    for (flags, parts) in [
        (
            "fault --plugin-opt gpu_collector/fault.way=error".to_owned(),
            &["gpu_collector/fault", "line 7 of a.jsonl", "switched off"][..],
        ),
        (
            "fault --plugin-opt gpu_collector/fault.way=panic".to_owned(),
            &["gpu_collector/fault", "poll of the fault", "switched off"],
        ),
        (
            format!("scraper http://{closed}"),
            &["gpu_collector/scraper", "status 0", "switched off"],
        ),
        (
            "scraper".to_owned(),
            &["scraper://localhost", "granted no source", "switched off"],
        ),
    ] {
        let run = run(&format!("--request-count 3 --gpu-telemetry {flags}"));
        assert_eq!(run.code, Some(0), "{run}");
        let summary = run.summary();
        assert_eq!(avg(&summary, "request_count"), 3.0);
        let warnings = summary["warnings"].to_string();
        for part in parts {
            assert!(warnings.contains(part) && run.stderr.contains(part), "{part}: {run}");
        }
        let data = &summary["telemetry_data"];
        assert_eq!(data["summary"]["endpoints_successful"], json!([]), "{data}");
        assert_eq!(data["error_summary"].as_array().map(Vec::len), Some(1), "{data}");
        assert_eq!(data["endpoints"], json!({}));
        assert_eq!(run.artifact("gpu_telemetry_export.jsonl"), "");
        assert!(run.stdout.contains("No GPU telemetry was collected"), "{run}");
        assert!(summary["nvidia_total_gpu_power"].is_null());
    }
}

#[test]
fn names_that_lead_nowhere_are_refused() {
    let unknown = run("--request-count 1 --gpu-telemetry nothing");
    assert!(unknown.code.is_some_and(|code| code > 0), "{unknown}");
    assert!(unknown.stderr.contains("nothing"), "{unknown}");
    let password = run("--request-count 1 --gpu-telemetry scraper http://user:hunter2@127.0.0.1:9");
    assert_eq!(password.code, Some(1), "{password}");
    assert!(
        password.stderr.contains("--gpu-telemetry") && !password.stderr.contains("hunter2"),
        "{password}"
    );
    let opened = run("--request-count 1 --gpu-telemetry fault --plugin-opt gpu_collector/fault.way=panic_on_open");
    assert_eq!(opened.code, Some(3), "{opened}");
}

#[test]
fn without_collectors_there_is_nothing_about_gpus() {
    let run = Run::profile("--url mock: --request-count 2").succeed();
    assert!(run.summary()["telemetry_data"].is_null());
    assert!(!run.artifact_names().contains(&"gpu_telemetry_export.jsonl".to_owned()));
    assert!(!run.artifact("profile_export_aiperf.csv").contains("GPU"));
    assert!(!run.stdout.contains("GPU"), "{run}");
}
