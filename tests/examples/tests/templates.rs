//! A package made of a template builds, passes its tests and loads, untouched.

use std::fs;
use std::path::Path;

use aiperf_host::Role;

use crate::harness::{Compiler, Package, cargo, example, fetch, root};

/// Copies a template with its placeholders replaced.
fn instantiate(template: &Path, folder: &Path, values: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(template).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let to = folder.join(if name == "gitignore" { ".gitignore" } else { name });
        if path.is_dir() {
            instantiate(&path, &to, values);
            continue;
        }
        let mut text = fs::read_to_string(&path).unwrap();
        for (name, value) in values {
            text = text.replace(&format!("{{{{{name}}}}}"), value);
        }
        assert!(
            !text.contains("{{"),
            "{}: a placeholder is left:\n{text}",
            path.display()
        );
        write(&to, text.as_bytes());
    }
}

/// Writes a file, unless it is there already: cargo would build it anew.
fn write(path: &Path, content: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::write(path, content).unwrap();
    }
}

#[track_caller]
fn works(category: &str, role: Role) {
    fetch();
    let folder = Compiler::Ours.target().join("templates").join(category);
    let (name, entry) = (format!("my-{category}").replace('_', "-"), format!("my_{category}"));
    let sdk = root().join("sdk/rust");
    let values = [
        ("name", name.as_str()),
        ("crate", &name.replace('-', "_")),
        ("type", "Mine"),
        ("entry", &entry),
        ("description", "What I measure."),
        ("sdk", sdk.to_str().unwrap()),
    ];
    instantiate(&root().join("sdk/templates/rust").join(category), &folder, &values);
    // The versions of the examples, so that nothing has to be asked of a registry.
    let lock = example("vendor-inference").join("Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    for command in ["test", "build"] {
        cargo(
            &Compiler::Ours,
            &folder,
            &[command, "--quiet", "--offline", "--release"],
        );
    }
    Package::collect(&folder, &name, &Compiler::Ours).loads(role, &entry);
}

#[test]
fn endpoint() {
    works("endpoint", Role::Endpoint);
}

#[test]
fn dataset() {
    works("dataset", Role::Dataset);
}

#[test]
fn timing() {
    works("timing", Role::Timing);
}

#[test]
fn metric() {
    works("metric", Role::Metric);
}

#[test]
fn exporter() {
    works("exporter", Role::Exporter);
}

#[test]
fn gpu_collector() {
    works("gpu_collector", Role::GpuCollector);
}
