//! Dependencies run one way. Each room lists what it may see; an edge that isn't listed fails.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Room → rooms it may depend on (dev-dependencies apart).
const ALLOWED: &[(&str, &[&str])] = &[
    ("aiperf-plugin-api", &[]),
    ("aiperf-sdk", &["aiperf-plugin-api"]),
    ("aiperf-conformance", &["aiperf-plugin-api", "aiperf-sdk"]),
    ("aiperf-bench-metrics", &["aiperf-sdk"]),
    ("aiperf-config", &[]),
    ("aiperf-http", &[]),
    ("aiperf-tokenizer", &[]),
    ("aiperf-mock-server", &[]),
    ("aiperf-records", &["aiperf-plugin-api"]),
    ("aiperf-host", &["aiperf-plugin-api"]),
    (
        "aiperf-engine",
        &[
            "aiperf-config",
            "aiperf-host",
            "aiperf-http",
            "aiperf-plugin-api",
            "aiperf-records",
            "aiperf-tokenizer",
        ],
    ),
    ("aiperf-endpoints", &["aiperf-sdk"]),
    ("aiperf-datasets", &["aiperf-sdk"]),
    ("aiperf-timing", &["aiperf-sdk"]),
    ("aiperf-metrics", &["aiperf-sdk"]),
    ("aiperf-exporters", &["aiperf-sdk"]),
    ("aiperf-endpoints-plugin", &["aiperf-endpoints", "aiperf-sdk"]),
    ("aiperf-datasets-plugin", &["aiperf-datasets", "aiperf-sdk"]),
    ("aiperf-timing-plugin", &["aiperf-timing", "aiperf-sdk"]),
    ("aiperf-metrics-plugin", &["aiperf-metrics", "aiperf-sdk"]),
    ("aiperf-exporters-plugin", &["aiperf-exporters", "aiperf-sdk"]),
    (
        "aiperf",
        &[
            "aiperf-config",
            "aiperf-conformance",
            "aiperf-datasets",
            "aiperf-endpoints",
            "aiperf-engine",
            "aiperf-exporters",
            "aiperf-host",
            "aiperf-metrics",
            "aiperf-mock-server",
            "aiperf-plugin-api",
            "aiperf-timing",
            "aiperf-tokenizer",
        ],
    ),
];

/// Crates that only one room may use, with the reason.
const CONFINED: &[(&str, &[&str], &str)] = &[
    (
        "abi_stable",
        &["aiperf-plugin-api"],
        "it is frozen upstream and may have to be replaced",
    ),
    ("rustls", &["aiperf-http"], "the measuring path has one HTTP client"),
    ("libloading", &["aiperf-host"], "only the host loads libraries"),
    (
        "wasmtime",
        &["aiperf-host"],
        "only the host runs components, and it takes minutes to compile",
    ),
    ("clap", &["aiperf", "aiperf-config"], "flags are the edge's business"),
];

#[test]
fn every_edge_is_allowed() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let rooms: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        // Test packages see what they test.
        let tests_only = package.manifest_path.as_str().contains("/tests/") && name != "aiperf-mock-server";
        let normal = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal);
        for dependency in normal {
            let other = dependency.name.as_str();
            if rooms.contains(other) && !tests_only {
                match allowed.get(name) {
                    None => faults.push(format!("{name} is not in the list of rooms: say what it may see")),
                    Some(seen) if !seen.contains(&other) => faults.push(format!("{name} must not depend on {other}")),
                    Some(_) => {}
                }
            }
            for (confined, users, reason) in CONFINED {
                if other == *confined && !users.contains(&name) {
                    faults.push(format!("{name} must not depend on {confined}: {reason}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for (room, _) in ALLOWED {
        assert!(rooms.contains(room), "{room} is listed and does not exist");
    }
}

/// Rooms that may contain unsafe code, each in named modules.
const UNSAFE: &[&str] = &[
    "plugin-api/src",
    "core/host/src/load/native.rs",
    "core/host/src/wasm/cache.rs",
    "core/http/src",
    "core/engine/src/dataset/store.rs",
    "core/aiperf/src/allocator.rs",
    "sdk/rust/src/export.rs",
    // Strings that are none, for the host to find.
    "tests/hostile/src/behaviour.rs",
];

#[test]
fn unsafe_code_stays_in_its_rooms() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let root = metadata.workspace_root.as_std_path();
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let Some(folder) = package.manifest_path.parent() else {
            continue;
        };
        visit(&folder.as_std_path().join("src"), &mut |path, text| {
            let relative = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
            let uses = text.lines().any(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
            });
            if uses && !UNSAFE.iter().any(|allowed| relative.starts_with(allowed)) {
                faults.push(relative);
            }
        });
    }
    assert!(faults.is_empty(), "unsafe code in {}", faults.join(", "));
}

fn visit(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            visit(&path, see);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            see(&path, &std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
