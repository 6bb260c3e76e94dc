//! A package made of a template builds, passes its tests and loads, untouched.

use std::fs;
use std::path::{Path, PathBuf};

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
pub(crate) fn write(path: &Path, content: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::write(path, content).unwrap();
    }
}

/// Makes a package of a category's template; in the same place each time.
#[track_caller]
pub(crate) fn made(category: &str, name: &str) -> PathBuf {
    fetch();
    let folder = Compiler::Ours.target().join("templates").join(name);
    let crate_name = name.replace('-', "_");
    let sdk = root().join("sdk/rust");
    let values = [
        ("name", name),
        ("crate", &crate_name),
        ("type", "Mine"),
        ("entry", &crate_name),
        ("description", "What I measure."),
        ("sdk", sdk.to_str().unwrap()),
    ];
    instantiate(&root().join("sdk/templates/rust").join(category), &folder, &values);
    // The versions of the examples, so that nothing has to be asked of a registry.
    let lock = example("vendor-inference").join("Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    folder
}

#[track_caller]
fn works(category: &str, role: Role) {
    let name = format!("my-{category}").replace('_', "-");
    let folder = made(category, &name);
    for command in ["test", "build"] {
        cargo(
            &Compiler::Ours,
            &folder,
            &[command, "--quiet", "--offline", "--release"],
        );
    }
    Package::collect(&folder, &name, &Compiler::Ours).loads(role, &format!("my_{category}"));
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
