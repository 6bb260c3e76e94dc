use aiperf_sdk::api::report::{
    Report, Stats,
    gpu::{GpuPhase, SECTION},
};

use super::*;
use crate::testing::{finish, phase, report, value as metric};

fn gauge(field: &str, header: &str, unit: &str, avg: f64) -> GpuField {
    GpuField {
        field: field.into(),
        header: header.into(),
        unit: unit.into(),
        counter: false,
        stats: Stats {
            avg: Some(avg),
            p50: Some(avg),
            p90: Some(2.0 * avg),
            p99: Some(2.0 * avg),
            min: Some(0.5),
            max: Some(2.0 * avg),
            std: None,
            count: Some(3),
            sum: Some(3.0 * avg),
            ..Stats::default()
        },
    }
}

fn energy(avg: f64) -> GpuField {
    GpuField {
        counter: true,
        stats: Stats {
            avg: Some(avg),
            ..Stats::default()
        },
        ..gauge("nvidia_energy_consumption", "NVIDIA Energy Consumption", "MJ", 0.0)
    }
}

fn device(source: u32, gpu: u32, uuid: &str, host: Option<&str>, fields: Vec<GpuField>) -> GpuDevice {
    GpuDevice {
        source,
        gpu,
        uuid: uuid.into(),
        model: "NVIDIA H200".into(),
        platform: "nvidia".into(),
        host: host.map(str::to_owned),
        namespace: None,
        pod: None,
        fields,
    }
}

fn source(source: &str, polls: u64, error: Option<&str>) -> GpuSource {
    GpuSource {
        source: source.into(),
        collector: "acme".into(),
        polls,
        error: error.map(str::to_owned),
    }
}

/// Two devices behind one source, nothing behind another; the warmup has a device that is not to be shown.
fn section() -> GpuSection {
    let power = |avg| gauge("nvidia_power_usage", "NVIDIA GPU Power Usage", "W", avg);
    GpuSection {
        sources: vec![
            source("http://node1:9400/metrics", 5, None),
            source("http://node2:9400", 0, Some("status 0: refused")),
        ],
        phases: vec![
            GpuPhase {
                phase: 7,
                devices: vec![device(0, 9, "GPU-warmup", None, vec![power(1.0)])],
            },
            GpuPhase {
                phase: 0,
                devices: vec![
                    device(0, 0, "GPU-a", Some("h1"), vec![power(250.125), energy(0.00003)]),
                    device(0, 0, "GPU-b", None, vec![power(2e6)]),
                ],
            },
        ],
    }
}

fn told(section: &GpuSection) -> Report {
    let mut report = report(vec![phase(
        "profiling",
        vec![metric("request_count", "Request Count", "requests", 24.0)],
    )]);
    report
        .sections
        .insert(SECTION.to_owned(), serde_json::to_value(section).unwrap());
    report
}

fn text(entry: &str, section: &GpuSection) -> String {
    String::from_utf8(finish(entry, &told(section))[0].data.clone()).unwrap()
}

#[test]
fn the_summary_has_the_layout_of_the_original() {
    let text = text("json", &section());
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (before, after) = (text.find("\"request_count\""), text.find("\"input_config\""));
    let at = text.find("\"telemetry_data\"");
    assert!(before < at && at < after, "{text}");
    let data = &summary["telemetry_data"];
    let power = |avg: f64| {
        serde_json::json!({"unit": "W", "avg": avg, "p50": avg, "p90": 2.0 * avg, "p99": 2.0 * avg, "min": 0.5,
            "max": 2.0 * avg, "count": 3, "sum": 3.0 * avg})
    };
    assert_eq!(
        data["endpoints"],
        serde_json::json!({"node1:9400": {"gpus": {
            "gpu_0": {"gpu_index": 0, "gpu_name": "NVIDIA H200", "gpu_uuid": "GPU-a", "platform": "nvidia",
                "hostname": "h1", "metrics": {
                    "nvidia_power_usage": power(250.125),
                    "nvidia_energy_consumption": {"unit": "MJ", "avg": 0.00003}}},
            "gpu_0_GPU-b": {"gpu_index": 0, "gpu_name": "NVIDIA H200", "gpu_uuid": "GPU-b", "platform": "nvidia",
                "metrics": {"nvidia_power_usage": power(2e6)}}}}})
    );
    assert_eq!(
        data["summary"]["endpoints_configured"],
        serde_json::json!(["http://node1:9400/metrics", "http://node2:9400"])
    );
    assert_eq!(
        data["summary"]["endpoints_successful"],
        serde_json::json!(["http://node1:9400/metrics"])
    );
    assert!(data["summary"]["start_time"].is_string() && data["summary"]["end_time"].is_string());
    let error = &data["error_summary"][0];
    assert_eq!(error["count"], 1);
    assert_eq!(
        error["error_details"]["message"],
        "acme (http://node2:9400): status 0: refused"
    );
    let keys: Vec<&str> = ["summary", "endpoints", "error_summary"].into_iter().collect();
    let places: Vec<_> = keys.iter().map(|key| text.find(&format!("    \"{key}\""))).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn the_csv_has_a_section_behind_two_empty_rows() {
    let expected = "Metric,Value\r\nRequest Count,24.00\r\n\r\n\r\n\
        Endpoint,GPU_Index,GPU_Name,GPU_UUID,Platform,Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std,Hostname\r\n\
        node1:9400,0,NVIDIA H200,GPU-a,nvidia,NVIDIA GPU Power Usage (W),250.12,0.50,500.25,750.38,,,,,250.12,,500.25,,500.25,,h1\r\n\
        node1:9400,0,NVIDIA H200,GPU-a,nvidia,NVIDIA Energy Consumption (MJ),0.00,,,,,,,,,,,,,,h1\r\n\
        node1:9400,0,NVIDIA H200,GPU-b,nvidia,NVIDIA GPU Power Usage (W),2000000.00,0.50,4000000.00,6000000.00,,,,,2000000.00,,4000000.00,,4000000.00,,\r\n";
    assert_eq!(text("csv", &section()), expected);
}

#[test]
fn each_gpu_has_a_table() {
    let text = text("console", &section());
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = |line: &str| {
        let found = lines.iter().position(|one| *one == line);
        found.unwrap_or_else(|| panic!("no line {line:?} in\n{text}"))
    };
    let places = [
        at(
            "GPU platform: nvidia. What a GPU metric means depends on its platform; compare across platforms with care.",
        ),
        at("AIPerf | GPU Telemetry Summary"),
        at("1/2 telemetry sources reachable"),
        at("\u{2022} node1:9400 \u{2714}"),
        at("\u{2022} node2:9400 \u{2718} (unreachable)"),
        at("node1:9400 | GPU 0 | NVIDIA H200"),
        at("│     NVIDIA GPU Power Usage (W) │ 250.12 │ 0.50 │ 500.25 │ 500.25 │ 500.25 │ 250.12 │ N/A │"),
        at("│ NVIDIA Energy Consumption (MJ) │   0.00 │  N/A │    N/A │    N/A │    N/A │    N/A │ N/A │"),
        at("│ NVIDIA GPU Power Usage (W) │ 2.00e+06 │ 0.50 │ 4.00e+06 │ 4.00e+06 │ 4.00e+06 │ 2.00e+06 │ N/A │"),
        at("Credits of phase `profiling`: 24 issued, 24 completed, 0 failed, 0 cancelled"),
    ];
    assert!(places.is_sorted(), "{places:?} in\n{text}");
    assert!(!text.contains("GPU 9"), "the warmup is not shown: {text}");
}

#[test]
fn efficiency_has_a_table_of_values_per_vendor() {
    let mut report = told(&section());
    let mut efficiency = metric("nvidia_total_gpu_power", "Total GPU Power", "W", 500.25);
    efficiency.spec.group = "gpu_power_efficiency_nvidia".into();
    report.phases[0].metrics.push(efficiency);
    let text = String::from_utf8(finish("console", &report)[0].data.clone()).unwrap();
    for part in [
        "GPU Power Efficiency (NVIDIA)",
        "┃              Metric ┃    avg ┃\n",
        "│ Total GPU Power (W) │ 500.25 │\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Gpu_Power"), "no table among the others: {text}");
}

#[test]
fn nothing_collected_is_said() {
    let mut none = section();
    none.phases.clear();
    let console = text("console", &none);
    assert!(console.contains("1/2 telemetry sources reachable"), "{console}");
    assert!(console.contains("No GPU telemetry was collected"), "{console}");
    let summary: serde_json::Value = serde_json::from_str(&text("json", &none)).unwrap();
    assert_eq!(summary["telemetry_data"]["endpoints"], serde_json::json!({}));
    assert!(text("csv", &none).ends_with("p99,std\r\n"));
    for entry in ["json", "csv", "console"] {
        let without = finish(entry, &report(vec![phase("profiling", Vec::new())]));
        let without = String::from_utf8_lossy(&without[0].data).into_owned();
        assert!(!without.to_lowercase().contains("gpu"), "{entry}: {without}");
    }
}

#[test]
fn sources_alike_are_told_apart() {
    let mut section = section();
    section.sources = vec![source("a://localhost", 1, None), source("b://localhost", 1, None)];
    assert_eq!(
        Shown::new(&section, None)
            .sources()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
        ["a://localhost", "b://localhost"]
    );
    for (source, expected) in [
        ("pynvml://localhost", "localhost"),
        ("https://h:9400/api/metrics?x=1", "h:9400/api"),
        ("http://h", "h"),
    ] {
        assert_eq!(without_scheme(source), expected);
    }
}
