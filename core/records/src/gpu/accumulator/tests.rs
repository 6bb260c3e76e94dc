use super::*;

/// 1 s in ns.
const S: u64 = 1_000_000_000;

fn reading(gpu: u32, field: &str, unit: &str, counter: bool, value: f64) -> Reading {
    Reading {
        gpu,
        uuid: format!("GPU-{gpu}"),
        model: "H".into(),
        field: field.into(),
        unit: unit.into(),
        counter,
        value,
        host: Some("node-a".into()),
        labels: vec![("pod".into(), "p0".into()), ("namespace".into(), String::new())],
    }
}

fn power(gpu: u32, value: f64) -> Reading {
    reading(gpu, "nvidia_power_usage", "W", false, value)
}

fn energy(gpu: u32, value: f64) -> Reading {
    reading(gpu, "nvidia_energy_consumption", "MJ", true, value)
}

const fn span(start_ns: u64, end_ns: u64) -> Span {
    Span { start_ns, end_ns }
}

#[test]
fn devices_are_told_apart_by_source_and_uuid() {
    let mut all = GpuAccumulator::new(2);
    let other = |field: &str, value| reading(1, field, "%", false, value);
    all.add(
        0,
        S,
        &[
            other("zeta", 1.0),
            other("alpha", 2.0),
            power(1, 300.0),
            power(0, 100.0),
        ],
    );
    all.add(1, S, &[power(0, 7.0)]);
    all.add(0, 2 * S, &[power(1, 500.0)]);
    let (devices, warnings) = all.devices(span(S, 2 * S));
    assert_eq!(warnings, Vec::<String>::new());
    let found: Vec<(u32, &str, Vec<&str>)> = devices
        .iter()
        .map(|device| {
            let fields = device.fields.iter().map(|field| field.field.as_str());
            (device.source, device.uuid.as_str(), fields.collect())
        })
        .collect();
    // Known fields first, others as they came.
    assert_eq!(
        found,
        [
            (0, "GPU-1", vec!["nvidia_power_usage", "zeta", "alpha"]),
            (0, "GPU-0", vec!["nvidia_power_usage"]),
            (1, "GPU-0", vec!["nvidia_power_usage"]),
        ]
    );
    let first = &devices[0];
    assert_eq!(
        (first.gpu, first.model.as_str(), first.platform.as_str()),
        (1, "H", "nvidia")
    );
    assert_eq!(
        (first.host.as_deref(), first.pod.as_deref(), first.namespace.as_deref()),
        (Some("node-a"), Some("p0"), None)
    );
    assert_eq!(first.fields[0].header, "NVIDIA GPU Power Usage");
    assert_eq!(
        (first.fields[0].stats.avg, first.fields[0].stats.count),
        (Some(400.0), Some(2))
    );
    assert_eq!((all.polls(0), all.polls(1)), (2, 1));
    assert_eq!(all.devices(span(3 * S, 4 * S)).0, []);
}

#[test]
fn devices_without_uuid_are_told_apart_by_index() {
    let mut all = GpuAccumulator::new(1);
    let unnamed = |gpu| Reading {
        uuid: String::new(),
        labels: vec![("platform".into(), "acme".into())],
        ..reading(gpu, "power", "W", false, 1.0)
    };
    all.add(0, S, &[unnamed(0), unnamed(1), unnamed(0)]);
    let (devices, _) = all.devices(span(0, S));
    assert_eq!(devices.iter().map(|device| device.gpu).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(devices[0].platform, "acme");
}

#[test]
fn power_and_energy_add_up_over_devices_of_a_vendor() {
    let mut all = GpuAccumulator::new(1);
    // Before the phase, twice in it, and the reading that closes it.
    all.add(
        0,
        S,
        &[energy(0, 1.0), energy(1, 5.0), power(0, 999.0), power(1, 999.0)],
    );
    all.add(
        0,
        3 * S,
        &[energy(0, 1.000_1), energy(1, 5.0), power(0, 100.0), power(1, 300.0)],
    );
    all.add(0, 5 * S, &[power(0, 200.0), power(1, 300.0)]);
    all.add(
        0,
        6 * S,
        &[energy(0, 1.000_6), energy(1, 5.001), power(0, 999.0), power(1, 999.0)],
    );
    all.add(0, 6 * S, &[reading(7, "tpu_power", "W", false, 1.0)]);
    let vendors = all.vendors(span(2 * S, 5 * S), span(2 * S, 6 * S));
    let [("nvidia", nvidia)] = vendors.as_slice() else {
        panic!("{vendors:?}")
    };
    // Means of 150 and 300 W; 600 J and 1,000 J.
    assert_eq!(nvidia.power_w, Some(450.0));
    assert!((nvidia.energy_j.unwrap() - 1_600.0).abs() < 1e-6, "{nvidia:?}");
    assert_eq!(nvidia.span_s, Some(5.0));
    let (devices, _) = all.devices(span(2 * S, 6 * S));
    let growth = devices[1].fields.iter().find(|field| field.counter).unwrap();
    assert!((growth.stats.avg.unwrap() - 0.001).abs() < 1e-12);
    assert_eq!((growth.stats.count, growth.stats.p50), (None, None));
}

#[test]
fn what_no_device_tells_is_missing() {
    let mut all = GpuAccumulator::new(1);
    all.add(0, S, &[reading(0, "amd_gfx_activity", "%", false, 50.0)]);
    assert_eq!(all.vendors(span(0, S), span(0, S)), [("amd", Vendor::default())]);
    all.add(0, 2 * S, &[reading(0, "amd_power", "hp", false, 1.0)]);
    assert_eq!(all.vendors(span(0, 9 * S), span(0, 9 * S))[0].1.power_w, None);
}

#[test]
fn readings_that_do_not_fit_are_left_out_and_counted() {
    let mut all = GpuAccumulator::new(1);
    all.add(0, S, &[power(0, 100.0), power(0, f64::NAN)]);
    all.add(0, 2 * S, &[reading(0, "nvidia_power_usage", "mW", false, 100_000.0)]);
    all.add(9, S, &[power(0, 1.0)]);
    assert_eq!(all.left_out(0), 2);
    let (devices, _) = all.devices(span(0, 9 * S));
    assert_eq!(devices[0].fields[0].stats.count, Some(1));
}

#[test]
fn a_counter_that_went_back_is_left_out_with_a_warning() {
    let mut all = GpuAccumulator::new(1);
    for (at, value) in [(1, 5.0), (2, 6.0), (3, 0.5)] {
        all.add(0, at * S, &[energy(3, value), power(3, 1.0)]);
    }
    let (devices, warnings) = all.devices(span(2 * S, 3 * S));
    assert_eq!(devices[0].fields.len(), 1);
    assert_eq!(warnings.len(), 1);
    for part in ["GPU 3", "GPU-3", "nvidia_energy_consumption", "went back"] {
        assert!(warnings[0].contains(part), "{warnings:?}");
    }
    assert_eq!(all.vendors(span(2 * S, 3 * S), span(2 * S, 3 * S))[0].1.energy_j, None);
}

#[test]
fn readings_are_exported_in_the_units_of_the_original() {
    let exported = exported(reading(0, "nvidia_energy_consumption", "mJ", true, 2.5e9));
    assert_eq!(exported.unit, "MJ");
    assert!((exported.value - 2.5).abs() < 1e-12);
}
