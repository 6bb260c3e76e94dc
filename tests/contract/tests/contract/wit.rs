//! The two written forms of the contract, the Rust traits and the WIT files, have the same calls. (Fields and cases are
//! compared by the compiler: `carry_types!` names each of them for both.)

use std::collections::BTreeSet;

/// Calls of a trait that have another name in WIT, or none.
type Renamed = &'static [(&'static str, &'static str)];

/// File and name of a trait in Rust, and the interfaces in WIT.
const PAIRS: [(&str, &str, &str, Renamed); 8] = [
    // `preview` is made of `prepare` by the host.
    ("endpoint.rs", "Endpoint", "endpoint", &[("preview", "")]),
    // A component gets its source as an interface, so `open` has no argument there, and opening an entry has that name.
    ("dataset.rs", "Dataset", "dataset", &[("open", "start")]),
    ("timing.rs", "Timing", "timing", &[]),
    ("metric.rs", "Metric", "metric", &[]),
    ("exporter.rs", "Exporter", "exporter", &[]),
    ("gpu.rs", "GpuCollector", "gpu-collector", &[]),
    // What only some may do are interfaces of their own, so that the import tells.
    ("host.rs", "Host", "host http secrets", &[]),
    ("dataset.rs", "Source", "source", &[]),
];

fn read(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin-api/").to_owned() + name;
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text between the braces that open after `head`.
fn block<'a>(text: &'a str, head: &str) -> &'a str {
    let start = text.find(head).unwrap_or_else(|| panic!("no {head}"));
    let from = start + text[start..].find('{').expect("a block") + 1;
    let mut depth = 1;
    for (index, byte) in text[from..].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[from..from + index];
        }
    }
    panic!("{head} does not end")
}

fn rust_calls(file: &str, name: &str, other: &[(&str, &str)]) -> BTreeSet<String> {
    let text = read(&format!("src/{file}"));
    let body = block(&text, &format!("pub trait {name}"));
    let calls = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    let names = calls.map(|call| call[..call.find('(').expect("arguments")].to_owned());
    names
        .map(|name| match other.iter().find(|(rust, _)| *rust == name) {
            Some((_, wit)) => (*wit).to_owned(),
            None => name,
        })
        .filter(|name| !name.is_empty())
        .collect()
}

fn wit_calls(text: &str, name: &str) -> BTreeSet<String> {
    let body = block(text, &format!("interface {name} "));
    let calls = body.lines().map(str::trim).filter(|line| line.contains(": func("));
    let names = calls.map(|call| {
        call[..call.find(':').expect("a name")]
            .trim_start_matches('%')
            .replace('-', "_")
    });
    names.collect()
}

#[test]
fn both_forms_have_the_same_calls() {
    let wit = read("wit/categories.wit") + &read("wit/services.wit");
    for (file, name, interface, other) in PAIRS {
        // Opening an entry is a call of the package in Rust, and a static one in WIT.
        let component: BTreeSet<String> = interface.split(' ').flat_map(|name| wit_calls(&wit, name)).collect();
        assert!(!component.is_empty());
        assert_eq!(component, rust_calls(file, name, other), "{interface}");
    }
}

#[test]
fn every_category_has_a_world() {
    let worlds = read("wit/worlds.wit");
    let all = block(&worlds, "world every-category ");
    for category in aiperf_sdk::Category::ALL {
        let name = category.name().replace('_', "-");
        let world = block(&worlds, &format!("world {name}-plugin "));
        for export in ["manifest", &name] {
            let line = format!("export {export};");
            assert!(world.contains(&line) && all.contains(&line), "{name}: {line}");
        }
    }
}

#[test]
fn both_forms_have_the_same_version() {
    let version = format!("package aiperf:plugin@{}.0;", aiperf_sdk::api::record::API);
    assert!(read("wit/types.wit").contains(&version), "{version}");
}
