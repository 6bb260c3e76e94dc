//! Built-ins as shared libraries; names and priorities; packages that cannot be used.

use serde_json::Value;
use std::fs;
use std::path::Path;

use crate::harness::{Finished, Folder, LIBRARIES, Run, avg, plugin_library, text};

const BUILT_IN: &str = include_str!("../../../registry.yaml");

/// The names of a section of the built-in registry, as a list for a flag.
fn entries(section: &str) -> String {
    let (_, rest) = BUILT_IN.split_once(&format!("\n{section}:\n")).unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with(' '));
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    names
        .filter(|name| !name.starts_with(' '))
        .collect::<Vec<_>>()
        .join(",")
}

/// The built-in registry with each package as a library beside it, under the library's own name.
fn native_registry(folder: &Folder) -> String {
    let mut registry = BUILT_IN.to_owned();
    for category in LIBRARIES {
        let library = plugin_library(category);
        let file = library.file_name().unwrap().to_str().unwrap();
        let linked = format!("bundled: aiperf-{category}\n");
        assert!(registry.contains(&linked), "{registry}");
        registry = registry.replace(&linked, &format!("library: {file}\n"));
        registry = registry.replace(&format!("aiperf-{category}"), &format!("native-{category}"));
        folder.file(&format!("plugins/{file}"), fs::read(&library).unwrap());
    }
    folder.file("plugins/registry.yaml", registry)
}

/// Names and forms of the packages of a run, each with its entries.
fn packages(run: &Finished) -> Vec<(String, String, Vec<String>)> {
    let summary = run.summary();
    let packages = summary["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let entries = package["entries"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry.as_str().unwrap().to_owned());
            (
                text(package, "/name").to_owned(),
                text(package, "/form").to_owned(),
                entries.collect(),
            )
        })
        .collect()
}

#[test]
fn built_ins_are_bundled() {
    let run = Run::profile("--url mock: --request-count 2").succeed();
    let packages = packages(&run);
    assert_eq!(packages.len(), 5, "{packages:?}");
    for (name, form, entries) in packages {
        assert!(name.starts_with("aiperf-"), "{name}");
        assert_eq!(form, "bundled", "{name}");
        assert!(!entries.is_empty(), "{name} is reported without use");
    }
}

#[test]
fn every_built_in_also_loads_as_a_shared_library() {
    for flags in [
        "--endpoint-type chat --arrival-pattern poisson --request-rate 400",
        "--endpoint-type completions --arrival-pattern constant --request-rate 400 --dataset-sampling-strategy random",
        "--arrival-pattern gamma --arrival-smoothness 3 --request-rate 400 --dataset-sampling-strategy shuffle",
        "--concurrency 2",
    ] {
        let folder = Folder::new();
        let registry = native_registry(&folder);
        let run = Run::profile_in(
            folder,
            &format!(
                "--url mock:?tokens=4 --streaming --request-count 8 --goodput request_latency:60000 {flags} \
                 --plugin-registry {registry} --metric {} --exporter {}",
                entries("metric"),
                entries("exporter")
            ),
        )
        .succeed();
        let packages = packages(&run);
        assert_eq!(packages.len(), 5, "{packages:?}");
        for (name, form, entries) in &packages {
            assert!(
                name.starts_with("native-") && form == "native",
                "{name} is {form}: {entries:?}"
            );
        }
        for package in run.summary()["packages"].as_array().unwrap() {
            assert_eq!(text(package, "/sha256").len(), 64, "{package}");
            assert!(package["calls"].as_u64().unwrap() > 0, "{package}");
        }
        assert_eq!(avg(&run.summary(), "good_request_count"), 8.0);
        assert_eq!(run.records().len(), 8);
        assert!(run.stdout.contains("Time to First Token"), "{run}");
        assert!(
            format!("{}{}", run.stdout, run.stderr).contains("native, unsandboxed"),
            "{run}"
        );
    }
}

#[test]
fn files_are_read_by_libraries_too() {
    for (kind, row) in [
        ("single_turn", "{\"text\": \"a b c\"}"),
        ("multi_turn", "{\"turns\": [{\"text\": \"a b c\"}]}"),
    ] {
        let folder = Folder::new();
        let registry = native_registry(&folder);
        let file = folder.file("rows.jsonl", format!("{row}\n"));
        let flags = format!("--input-file {file} --custom-dataset-type {kind} --plugin-registry {registry}");
        let run = Run::profile_in(folder, &format!("--url mock: --request-count 3 {flags}")).succeed();
        let datasets = packages(&run)
            .into_iter()
            .find(|(name, ..)| name == "native-datasets")
            .unwrap();
        assert!(datasets.2.contains(&format!("dataset/{kind}")), "{datasets:?}");
    }
}

#[test]
fn a_pin_chooses_the_package() {
    let folder = Folder::new();
    let registry = native_registry(&folder);
    let flags = format!("--plugin-registry {registry} --plugin endpoint/chat=aiperf-endpoints");
    let run = Run::profile_in(folder, &format!("--url mock: --request-count 3 {flags}")).succeed();
    let packages = packages(&run);
    let endpoint = packages
        .iter()
        .find(|(.., entries)| entries.contains(&"endpoint/chat".to_owned()))
        .unwrap();
    assert_eq!(
        (&*endpoint.0, &*endpoint.1),
        ("aiperf-endpoints", "bundled"),
        "{packages:?}"
    );
}

#[test]
fn swapping_a_built_in_for_an_external_one_changes_one_line_of_yaml() {
    let run = |priority: i32| {
        let folder = Folder::new();
        let registry = native_registry(&folder);
        let text = fs::read_to_string(&registry).unwrap();
        let chat = "\n  chat:\n    package: native-endpoints\n";
        assert_eq!(text.matches(chat).count(), 1, "{text}");
        let text = text.replace(chat, &format!("{chat}    priority: {priority}\n"));
        fs::write(&registry, &text).unwrap();
        let flags = format!("--url mock:?tokens=4 --streaming --request-count 4 --plugin-registry {registry}");
        let run = Run::profile_in(folder, &flags).succeed();
        let used = packages(&run);
        let with_chat = used
            .iter()
            .find(|package| package.2.contains(&"endpoint/chat".to_owned()));
        (text, with_chat.unwrap().0.clone(), run)
    };
    let (before, built_in, first) = run(-1);
    let (after, external, second) = run(1);
    let changed = before
        .lines()
        .zip(after.lines())
        .filter(|(before, after)| before != after);
    assert_eq!((before.lines().count(), changed.count()), (after.lines().count(), 1));
    assert_eq!(
        (built_in.as_str(), external.as_str()),
        ("aiperf-endpoints", "native-endpoints")
    );
    for tag in ["request_count", "input_sequence_length", "output_sequence_length"] {
        assert_eq!(avg(&first.summary(), tag), avg(&second.summary(), tag), "{tag}");
    }
}

#[test]
fn the_environment_names_registries() {
    let folder = Folder::new();
    let registry = native_registry(&folder);
    let run = Run::profile_in(folder, "--url mock: --request-count 3")
        .env("AIPERF_PLUGIN_REGISTRY", registry)
        .succeed();
    assert!(
        packages(&run).iter().any(|(name, ..)| name == "native-endpoints"),
        "{run}"
    );
    let run = Run::profile("--url mock: --request-count 1")
        .env("AIPERF_PLUGIN_REGISTRY", "relative.yaml")
        .finish();
    assert_eq!(run.code, Some(3), "{run}");
    assert!(
        run.stderr.contains("AIPERF_PLUGIN_REGISTRY") && run.stderr.contains("absolute"),
        "{run}"
    );
}

#[test]
fn nothing_is_loaded_from_the_working_directory() {
    let folder = Folder::new();
    let registry = native_registry(&folder);
    fs::copy(&registry, folder.path("work/registry.yaml")).unwrap();
    let run = Run::new(
        folder,
        "profile --url mock: --request-count 2 --ui none --artifact-dir out",
    )
    .succeed();
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(run.path("work/out/profile_export_aiperf.json")).unwrap()).unwrap();
    for package in summary["packages"].as_array().unwrap() {
        assert_eq!(text(package, "/form"), "bundled", "{package}");
    }
}

#[test]
fn listing_shows_what_is_registered_and_who_won() {
    let run = Run::new(Folder::new(), "plugins").succeed();
    for name in [
        "chat",
        "completions",
        "synthetic",
        "single_turn",
        "multi_turn",
        "request_rate",
        "record_export",
    ] {
        assert!(run.stdout.contains(name), "no {name}: {run}");
    }
    let folder = Folder::new();
    let registry = native_registry(&folder);
    let run = Run::new(folder, &format!("plugins --plugin-registry {registry}")).succeed();
    assert!(
        run.stdout.contains("native-endpoints") && run.stdout.contains("aiperf-endpoints"),
        "{run}"
    );
}

/// Runs with a registry file whose one package is broken; nothing else is. Exit code 3 and one message.
#[track_caller]
fn refused(folder: Folder, registry: &str, flags: &str, parts: &[&str]) {
    let registry = folder.file("plugins/registry.yaml", registry);
    let run = Run::profile_in(
        folder,
        &format!("--url mock: --request-count 1 --plugin-registry {registry} {flags}"),
    )
    .finish();
    assert_eq!(run.code, Some(3), "{run}");
    for part in parts {
        assert!(run.stderr.contains(part), "no {part:?}: {run}");
    }
    assert_eq!(run.stderr.matches("error:").count(), 1, "one message: {run}");
    assert!(!run.stderr.contains("panicked"), "{run}");
}

fn registry(package: &str) -> String {
    format!(
        "schema_version: \"1.0\"\npackages:\n  acme:\n    version: 1.0.0\n    api: \">=1.0, <2\"\n    {package}\n\
         endpoint:\n  acme_chat: {{ package: acme }}\n"
    )
}

#[test]
fn broken_registry_files() {
    for (content, parts) in [
        ("schema_version: \"1.0\"\npackages: [\n", &["registry.yaml:"][..]),
        ("schema_version: \"9.0\"\npackages: {}\n", &["registry.yaml:1", "9.0"]),
        (
            "schema_version: \"1.0\"\npackage: {}\n",
            &["registry.yaml:2", "package"],
        ),
        (&registry("librari: x.so"), &["registry.yaml:6", "librari"]),
        (&registry("library: ../x.so"), &["registry.yaml:6", "../x.so"]),
        (
            &registry("library: a.so").replace("acme }", "other }"),
            &["registry.yaml:8", "other"],
        ),
        ("\u{0}\u{1}not yaml", &["registry.yaml"]),
    ] {
        refused(Folder::new(), content, "", parts);
    }
    let run = Run::profile("--url mock: --plugin-registry /no/such/registry.yaml").finish();
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("/no/such/registry.yaml"), "{run}");
}

#[test]
fn libraries_that_are_none_of_ours() {
    let other = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
    let good = fs::read(plugin_library("endpoints")).unwrap();
    type Case<'a> = (&'a str, Option<Vec<u8>>, &'a [&'a str]);
    let mut cases: Vec<Case<'_>> = vec![
        ("missing", None, &["acme", "acme.so", "install"]),
        ("text", Some(b"hello".to_vec()), &["acme", "not a shared library"]),
        ("empty", Some(Vec::new()), &["acme", "acme.so"]),
        ("cut short", Some(good[..good.len() / 3].to_vec()), &["acme", "acme.so"]),
        ("other entries", Some(good), &["acme", "acme_chat"]),
    ];
    if let Ok(bytes) = fs::read(other) {
        cases.push((
            "not a plugin",
            Some(bytes),
            &["acme", "no aiperf version record", "SDK"],
        ));
    }
    for (name, bytes, parts) in cases {
        let folder = Folder::new();
        if let Some(bytes) = bytes {
            folder.file("plugins/acme.so", bytes);
        }
        println!("{name}");
        refused(
            folder,
            &registry("library: acme.so"),
            "--endpoint-type acme_chat",
            parts,
        );
    }
}

#[test]
fn versions_and_digests_must_agree() {
    let good = fs::read(plugin_library("endpoints")).unwrap();
    let with = |bytes: &[u8]| {
        let folder = Folder::new();
        folder.file("plugins/acme.so", bytes);
        folder
    };
    let digest = "ab".repeat(32);
    let target = format!("library: {{ {}: {{ path: acme.so, sha256: {digest} }} }}", target());
    refused(
        with(&good),
        &registry(&target),
        "--endpoint-type acme_chat",
        &["acme", &digest, "digest"],
    );
    let newer = registry("library: acme.so").replace(">=1.0, <2", ">=7.0, <8");
    refused(with(&good), &newer, "--endpoint-type acme_chat", &["acme", ">=7.0, <8"]);
    // The version record stands in the file as it is: magic, then the major version of the contract.
    let mut other = good;
    let record = record(&other, b"native-endpoints\0").unwrap();
    other[record + 8] = 9;
    refused(
        with(&other),
        &registry("library: acme.so"),
        "--endpoint-type acme_chat",
        &["acme", "9."],
    );
    let elsewhere = registry("library: { riscv64-unknown-none: { path: acme.so } }");
    refused(
        Folder::new(),
        &elsewhere,
        "--endpoint-type acme_chat",
        &["acme", "riscv64-unknown-none"],
    );
}

fn target() -> &'static str {
    if cfg!(target_arch = "x86_64") {
        "x86_64-unknown-linux-gnu"
    } else {
        "aarch64-unknown-linux-gnu"
    }
}

/// Where the version record of a library is: other copies of its magic are constants of the program text. `name` is that of
/// the package, with a 0 behind it.
pub(crate) fn record(library: &[u8], name: &[u8]) -> Option<usize> {
    (0..library.len() - 192)
        .find(|&at| library[at..].starts_with(b"AIPERF\0\x01") && library[at + 96..].starts_with(name))
}

#[test]
fn a_broken_package_that_is_not_used_stops_nothing() {
    let folder = Folder::new();
    let file = folder.file("plugins/registry.yaml", registry("library: acme.so"));
    Run::profile_in(
        folder,
        &format!("--url mock: --request-count 2 --plugin-registry {file}"),
    )
    .succeed();
}

#[test]
fn native_code_can_be_refused() {
    let folder = Folder::new();
    let registry = native_registry(&folder);
    let flags = format!("--plugin-registry {registry} --wasm-only");
    let run = Run::profile_in(folder, &format!("--url mock: --request-count 1 {flags}")).finish();
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("--wasm-only"), "{run}");
}
