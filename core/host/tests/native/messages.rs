//! Every message about a package that cannot be used, word for word, in `snapshots`. `UPDATE=1` rewrites the files; read what
//! has changed before it is committed.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use crate::components::{demanding, exporting};
use crate::scene::{ENTRIES, NoServices, Scene, fixture, fixture_bytes, hex_digest, request, with_record, with_text};
use aiperf_host::discovery::{Places, discover};
use aiperf_host::load::{LoadCause, LoadError};
use aiperf_host::registry::HOST_TARGET;
use aiperf_host::resolve::{Pin, resolve};
use aiperf_host::{Name, Role};
use aiperf_plugin_api::Endpoint;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts under their names, to be compared all at once.
#[derive(Default)]
struct Snapshots {
    complaints: Vec<String>,
}

impl Snapshots {
    /// Compares `text` with the file of that name, in which `folder` is called FOLDER.
    fn check(&mut self, name: &str, folder: &Path, text: &str) {
        let digest = hex_digest(&fixture_bytes());
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let text = text
            .replace(real.to_str().unwrap(), "FOLDER")
            .replace(folder.to_str().unwrap(), "FOLDER")
            .replace(&digest, "DIGEST")
            .replace(HOST_TARGET, "TARGET")
            + "\n";
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/native/snapshots/{name}.txt"));
        if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if expected != text {
            self.complaints
                .push(format!("--- {name}, expected\n{expected}--- found\n{text}"));
        }
        // One screen of 80 by 24, with room for the prompt.
        let lines: usize = text.lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum();
        assert!(lines <= 20, "{name} needs {lines} lines:\n{text}");
    }

    #[track_caller]
    fn agree(self) {
        let count = self.complaints.len();
        assert!(
            count == 0,
            "{count} messages have changed; UPDATE=1 accepts them\n{}",
            self.complaints.join("\n")
        );
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn packages_that_do_not_open() {
    let plain = "library: plugin.so";
    let good = fixture_bytes();
    let machine = |value: u8| {
        let mut bytes = good.clone();
        bytes[18] = value;
        bytes
    };
    let kind = |value: u8| {
        let mut bytes = good.clone();
        bytes[16] = value;
        bytes
    };
    let own = fs::read(std::env::current_exe().unwrap()).unwrap();
    // The least that is read as a library of macOS and of Windows.
    let mut mach = vec![0xcf, 0xfa, 0xed, 0xfe, 0x07, 0, 0, 1, 3, 0, 0, 0, 6, 0, 0, 0];
    mach.resize(32, 0);
    let mut pe = b"MZ".to_vec();
    pe.resize(0x40, 0);
    pe[0x3c] = 0x40;
    pe.extend(*b"PE\0\0\x64\x86\0\0");
    pe.resize(0x40 + 20, 0);
    pe.extend([0xf0, 0, 0x22, 0x20, 0x0b, 2]);
    pe.resize(0x40 + 24 + 240, 0);
    pe[0x40 + 24 + 108] = 16;
    let declared = format!(
        "library: {{ {HOST_TARGET}: {{ path: plugin.so, sha256: \"{}\" }} }}",
        "00".repeat(32)
    );
    let other = "library: { mips-unknown-linux-gnu: { path: plugin.so } }";
    let other_layout = fs::read(fixture("fixture_other_layout")).unwrap();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("unreadable", good.clone(), "library: other.so"),
        ("no_target", good.clone(), other),
        ("text_file", b"#!/bin/sh\n".to_vec(), plain),
        ("empty_file", Vec::new(), plain),
        ("static_library", b"!<arch>\n".to_vec(), plain),
        ("compressed", b"\x1f\x8b\x08\0".to_vec(), plain),
        ("program", own, plain),
        ("object_file", kind(1), plain),
        ("wasm_as_library", b"\0asm\x01\0\0\0".to_vec(), plain),
        ("other_processor", machine(183), plain),
        ("macos_library", mach, plain),
        ("windows_library", pe, plain),
        ("truncated", good[..good.len() / 2].to_vec(), plain),
        ("no_record", with_record(|record| record[0] = b'X'), plain),
        ("api_major_newer", with_record(|record| record[8] = 2), plain),
        ("api_major_older", with_record(|record| record[8] = 0), plain),
        ("api_range", good.clone(), "library: plugin.so, api: \">=1.5\""),
        ("layout", other_layout, plain),
        ("digest", good.clone(), &declared),
        ("missing_library", with_text(b"libc.so.6", b"libq.so.6"), plain),
        (
            "missing_symbol",
            with_text(b"root_bmodule_bloader", b"root_bmodule_bloadex"),
            plain,
        ),
        (
            "abi_base",
            with_text(b"abi stable library for Rust", b"abi stable library for Rusx"),
            plain,
        ),
        ("declaration", good.clone(), "library: plugin.so, version: 2.0.0"),
    ];
    let component = "wasm: plugin.so";
    let cases = cases.into_iter().chain([
        ("wasm_is_native", good.clone(), component),
        ("wasm_is_text", b"(component)".to_vec(), component),
        ("wasm_core_module", b"\0asm\x01\0\0\0".to_vec(), component),
        ("wasm_truncated", exporting("metric", "1.0.0")[..20].to_vec(), component),
        ("wasm_no_interface", b"\0asm\x0d\0\x01\0".to_vec(), component),
        ("wasm_api_major", exporting("metric", "2.1.0"), component),
        ("wasm_demands", demanding("wasi:filesystem/types@0.2.0"), component),
        ("wasm_no_manifest", exporting("metric", "1.0.0"), component),
        ("wasm_empty_manifest", exporting("manifest", "1.0.0"), component),
        (
            "wasm_digest",
            good.clone(),
            "wasm: plugin.so, sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"",
        ),
    ]);
    let mut snapshots = Snapshots::default();
    for (name, library, package) in cases {
        let scene = Scene::new(&library);
        let (_, message) = scene.cause(package, ENTRIES);
        snapshots.check(name, scene.folder.path(), &message);
    }
    let scene = Scene::new(&good);
    let outside = scene.folder.path().join("outside.so");
    fs::write(&outside, &good).unwrap();
    std::os::unix::fs::symlink(&outside, scene.folder.path().join("pack/link.so")).unwrap();
    snapshots.check(
        "outside_folder",
        scene.folder.path(),
        &scene.cause("library: link.so", ENTRIES).1,
    );
    let host = scene.host(plain, ENTRIES).wasm_only(true);
    snapshots.check("native_refused", scene.folder.path(), &crate::scene::failure(&host).1);
    // Causes that no file brings about on this machine.
    for (name, cause) in [
        (
            "seal",
            LoadCause::Seal {
                message: "Operation not permitted (os error 1)".into(),
            },
        ),
        (
            "start",
            LoadCause::Start {
                message: "the plugin panicked: index out of bounds".into(),
            },
        ),
        (
            "not_bundled",
            LoadCause::NotBundled {
                name: "aiperf-metrics".into(),
                available: vec!["aiperf-endpoints".into()],
            },
        ),
    ] {
        let error = LoadError {
            package: Name::parse("fixture").unwrap(),
            version: "1.2.3".into(),
            declared: "/plugins/registry.yaml:3:3".into(),
            library: Some("/plugins/plugin.so".into()),
            entry: Some("endpoint/fragile".into()),
            cause,
        };
        snapshots.check(name, Path::new("/nowhere"), &error.to_string());
    }
    snapshots.agree();
}

#[test]
fn failures_of_calls() {
    let scene = Scene::new(&fixture_bytes());
    let host = scene.host("library: plugin.so", ENTRIES);
    let open = |name: &str, options: &str| {
        let entry = host.resolution().find(Role::Endpoint, name).unwrap();
        host.open_endpoint(entry, options, Arc::new(NoServices))
    };
    let mut snapshots = Snapshots::default();
    let fragile = open("fragile", "").unwrap();
    let told = |error: aiperf_plugin_api::PluginError| {
        let help = error.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        format!("{}{help}", error.message)
    };
    let mut check = |name: &str, text: String| snapshots.check(name, scene.folder.path(), &text);
    check("panic", told(fragile.prepare(request("x")).unwrap_err()));
    check("poisoned", told(fragile.prepare(request("x")).unwrap_err()));
    check("options", open("echo", "{\"a\": 1}").unwrap_err().to_string());
    check("input", told(open("echo", "").unwrap().decode(&[]).unwrap_err()));
    snapshots.agree();
}

const TWO_PACKAGES: &str = "schema_version: \"1.0\"\npackages:\n  acme: { version: 1.0.0, api: \">=1.0\", library: a.so }\n\
                            endpoint:\n  chat: { package: acme, aliases: [talk] }\n";

/// What stands in the files, or what becomes of the names in them.
fn registry(folder: &Path, files: &[&str], pins: &[&str], ask: &str) -> String {
    let mut named = Vec::new();
    for (index, text) in files.iter().enumerate() {
        let place = folder.join(format!("{index}"));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("registry.yaml"), text).unwrap();
        named.push(place.join("registry.yaml"));
    }
    let nothing = |_: &str| None;
    let found = discover(&Places {
        builtin: "schema_version: \"1.0\"\npackages: {}\n",
        environment: &nothing,
        named: &named,
    });
    let found = match found {
        Ok(found) => found,
        Err(error) => return error.to_string(),
    };
    let parsed: Result<Vec<Pin>, _> = pins.iter().map(|pin| Pin::parse(pin)).collect();
    let pins = match parsed {
        Ok(pins) => pins,
        Err(error) => return error.to_string(),
    };
    match resolve(found.files, pins) {
        Err(error) => error.to_string(),
        Ok(resolution) => match resolution.find(Role::Endpoint, ask) {
            Err(error) => error.to_string(),
            Ok(_) => "no error".to_owned(),
        },
    }
}

#[test]
fn registry_files_and_names() {
    let with = |from: &str, to: &str| TWO_PACKAGES.replace(from, to);
    let beta = with("acme", "beta");
    let double_entry = format!("{TWO_PACKAGES}  chat: {{ package: acme }}\n");
    let double_package = with(
        "endpoint:",
        "  acme: { version: 2.0.0, api: \">=1.0\", library: b.so }\nendpoint:",
    );
    let alias = format!("{TWO_PACKAGES}  say: {{ package: acme, aliases: [talk] }}\n");
    let (unknown_field, outside) = (with("library:", "librari:"), with("a.so", "../a.so"));
    let (no_package, schema) = (
        with("package: acme", "package: other"),
        with("\"1.0\"\npackages", "\"9.0\"\npackages"),
    );
    let skipped = with("aliases: [talk]", "on_error: skip");
    let cases: Vec<(&str, Vec<&str>, Vec<&str>, &str)> = vec![
        ("registry_not_yaml", vec!["packages: [\n"], vec![], "chat"),
        ("registry_schema", vec![&schema], vec![], "chat"),
        ("registry_unknown_field", vec![&unknown_field], vec![], "chat"),
        ("registry_outside", vec![&outside], vec![], "chat"),
        ("registry_no_package", vec![&no_package], vec![], "chat"),
        ("registry_double_entry", vec![&double_entry], vec![], "chat"),
        ("registry_double_package", vec![&double_package], vec![], "chat"),
        ("registry_skip_endpoint", vec![&skipped], vec![], "chat"),
        ("same_package_twice", vec![TWO_PACKAGES, TWO_PACKAGES], vec![], "chat"),
        ("equal_priority", vec![TWO_PACKAGES, &beta], vec![], "chat"),
        ("ambiguous_alias", vec![&alias], vec![], "talk"),
        ("unknown_name", vec![TWO_PACKAGES], vec![], "chatt"),
        ("pin_syntax", vec![TWO_PACKAGES], vec!["chat=acme"], "chat"),
        ("pin_unknown", vec![TWO_PACKAGES], vec!["endpoint/chat=gamma"], "chat"),
        (
            "pin_twice",
            vec![TWO_PACKAGES, &beta],
            vec!["endpoint/chat=acme", "endpoint/chat=beta"],
            "chat",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut snapshots = Snapshots::default();
    for (name, files, pins, ask) in cases {
        let text = registry(folder.path(), &files, &pins, ask);
        assert_ne!(text, "no error", "{name}");
        snapshots.check(name, folder.path(), &text);
    }
    snapshots.agree();
}
