//! Packages that do not load, each for its reason.

use crate::scene::{ENTRIES, Scene, failure, fixture, fixture_bytes, hex_digest, with_record, with_text};
use aiperf_host::Role;
use aiperf_host::load::{LoadCause, version_info};
use aiperf_host::registry::HOST_TARGET;
use std::fs;

#[test]
fn other_files_are_told_apart() {
    let library = fixture_bytes();
    let patched = |at: usize, value: u8| {
        let mut bytes = library.clone();
        bytes[at] = value;
        bytes
    };
    let not_a_library = |found: &str| LoadCause::NotALibrary {
        found: found.to_owned(),
    };
    let table = [
        (Vec::new(), not_a_library("an empty file")),
        (b"#!/bin/sh\necho hello\n".to_vec(), not_a_library("a text file")),
        (
            b"\0asm\x01\0\0\0".to_vec(),
            not_a_library("a WebAssembly file (name it with `wasm:`)"),
        ),
        (b"!<arch>\n".to_vec(), not_a_library("a static library")),
        (b"\x1f\x8b\x08\0".to_vec(), not_a_library("a compressed archive")),
        (vec![0x80, 0x02, 0x03], not_a_library("a file of an unknown format")),
        // e_type: 1 is an object file.
        (patched(16, 1), not_a_library("an object file")),
    ];
    for (bytes, expected) in table {
        assert_eq!(version_info(&bytes).unwrap_err(), expected);
    }
    for cut in [4, 40, 64, library.len() / 2, library.len() - 1] {
        let cause = version_info(&library[..cut]).unwrap_err();
        assert!(matches!(cause, LoadCause::Damaged { .. }), "cut at {cut}: {cause:?}");
    }
    assert_eq!(
        version_info(&with_record(|record| record[0] = b'X')).unwrap_err(),
        LoadCause::NoRecord
    );
    let info = version_info(&library).unwrap();
    assert_eq!(
        (info.package.as_str(), info.version.as_str(), info.categories),
        ("fixture", "1.2.3", 1)
    );
}

#[test]
#[cfg(target_os = "linux")]
fn other_machines_are_told_apart() {
    // e_machine: 183 is AArch64, 62 is x86-64.
    let (machine, name) = if cfg!(target_arch = "aarch64") {
        (62, "x86_64")
    } else {
        (183, "aarch64")
    };
    let mut bytes = fixture_bytes();
    bytes[18] = machine;
    let expected = LoadCause::OtherPlatform {
        found: format!("Linux (ELF) on {name}"),
        host: format!("Linux (ELF) on {}", std::env::consts::ARCH),
    };
    assert_eq!(version_info(&bytes).unwrap_err(), expected);
    let scene = Scene::new(&bytes);
    let (_, message) = scene.cause("library: plugin.so", ENTRIES);
    let plugin = scene.folder.path().canonicalize().unwrap().join("pack/plugin.so");
    assert_eq!(
        message,
        format!(
            "cannot open plugin package fixture 1.2.3 for endpoint/fragile: the library is for another platform: Linux \
             (ELF) on {name}; this aiperf runs on Linux (ELF) on {}\n  file: {}\n  declared: {}:3:3\n  likely cause: the \
             `library:` path names the build for another machine\n  next: get the package for this platform from its \
             vendor",
            std::env::consts::ARCH,
            plugin.display(),
            plugin.with_file_name("registry.yaml").display(),
        )
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_that_is_no_plugin() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut mapped = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let system = mapped.find(|path| path.contains(".so")).unwrap();
    assert_eq!(
        version_info(&fs::read(system).unwrap()).unwrap_err(),
        LoadCause::NoRecord,
        "{system}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_that_cannot_be_linked() {
    let cause = |bytes: &[u8]| Scene::new(bytes).cause("library: plugin.so", ENTRIES).0;
    let missing = cause(&with_text(b"libc.so.6", b"libq.so.6"));
    let LoadCause::Dynamic { message } = &missing else {
        panic!("{missing:?}")
    };
    assert!(message.contains("libq.so.6"), "{message}");
    assert_eq!(
        cause(&with_text(b"root_bmodule_bloader", b"root_bmodule_bloadex")),
        LoadCause::MissingSymbol
    );
    let other_base = cause(&with_text(
        b"abi stable library for Rust",
        b"abi stable library for Rusx",
    ));
    assert!(matches!(other_base, LoadCause::AbiBase { .. }), "{other_base:?}");
}

#[test]
fn versions_that_do_not_meet() {
    let major = |major: u8| with_record(move |record| record[8] = major);
    for (other, likely) in [
        (2, "the plugin is newer than this aiperf"),
        (0, "the plugin is older than this aiperf"),
    ] {
        let (cause, message) = Scene::new(&major(other)).cause("library: plugin.so", ENTRIES);
        assert!(matches!(cause, LoadCause::ApiMajor { .. }), "{cause:?}");
        assert!(
            message.contains(&format!("the library speaks plugin API {other}.0, this aiperf 1.0")),
            "{message}"
        );
        assert!(message.contains(likely), "{message}");
    }
    let newer_minor = Scene::new(&with_record(|record| record[10] = 7));
    let host = newer_minor.host("library: plugin.so", ENTRIES);
    assert!(
        host.load(host.resolution().find(Role::Endpoint, "echo").unwrap())
            .is_ok(),
        "any 1.x loads"
    );
    assert_eq!(host.usage()[0].api.as_deref(), Some("1.7"));

    let (cause, message) = Scene::new(&fixture_bytes()).cause("library: plugin.so, api: \">=1.5\"", ENTRIES);
    assert!(matches!(cause, LoadCause::ApiRange { .. }), "{cause:?}");
    assert!(
        message.contains("the package works with plugin API >=1.5, this aiperf speaks 1.0"),
        "{message}"
    );

    let (cause, message) =
        Scene::new(&fs::read(fixture("fixture_other_layout")).unwrap()).cause("library: plugin.so", ENTRIES);
    let LoadCause::Layout { dump, .. } = &cause else {
        panic!("{cause:?}")
    };
    assert!(dump.contains("entries"), "the dump names the field: {dump}");
    assert!(!message.contains(dump.as_str()), "the dump is for a file");
}

#[test]
fn digests() {
    let bytes = fixture_bytes();
    let good = hex_digest(&bytes);
    let declared = |digest: &str| format!("library: {{ {HOST_TARGET}: {{ path: plugin.so, sha256: \"{digest}\" }} }}");
    let scene = Scene::new(&bytes);
    let host = scene.host(&declared(&good), ENTRIES);
    assert!(
        host.load(host.resolution().find(Role::Endpoint, "echo").unwrap())
            .is_ok()
    );
    #[cfg(target_os = "linux")]
    {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        assert!(
            maps.contains("memfd:aiperf-plugin"),
            "verified bytes are loaded from sealed memory"
        );
    }
    let (cause, message) = scene.cause(&declared(&"00".repeat(32)), ENTRIES);
    assert!(matches!(cause, LoadCause::Digest { .. }), "{cause:?}");
    assert!(
        message.contains(&format!("SHA-256 is {good}, the registry file declares 0000")),
        "{message}"
    );
}

#[test]
fn files_that_are_not_where_they_should_be() {
    let scene = Scene::new(&fixture_bytes());
    let (cause, message) = scene.cause("library: other.so", ENTRIES);
    assert!(matches!(cause, LoadCause::Unreadable { .. }), "{cause:?}");
    assert!(message.contains("other.so"), "{message}");
    let expected = LoadCause::NoTarget {
        host: HOST_TARGET.to_owned(),
        available: vec!["mips-unknown-linux-gnu".into()],
    };
    let (cause, _) = scene.cause("library: { mips-unknown-linux-gnu: { path: plugin.so } }", ENTRIES);
    assert_eq!(cause, expected);
    #[cfg(unix)]
    {
        let outside = scene.folder.path().join("outside.so");
        fs::write(&outside, fixture_bytes()).unwrap();
        std::os::unix::fs::symlink(&outside, scene.folder.path().join("pack/link.so")).unwrap();
        let (cause, _) = scene.cause("library: link.so", ENTRIES);
        assert_eq!(
            cause,
            LoadCause::OutsideFolder {
                found: outside.canonicalize().unwrap()
            }
        );
    }
}

#[test]
fn what_the_file_declares_must_be_what_the_library_registers() {
    let scene = Scene::new(&fixture_bytes());
    let entries = "endpoint:\n  fragile: { package: fixture }\n  loud: { package: fixture }\n\
                   exporter:\n  echo: { package: fixture }\n";
    let (cause, _) = scene.cause("library: plugin.so, version: 2.0.0", entries);
    let differences = vec![
        "version 2.0.0 in the file, 1.2.3 in the library".to_owned(),
        "only the file has endpoint/loud, exporter/echo".to_owned(),
        "only the library has endpoint/echo".to_owned(),
    ];
    assert_eq!(cause, LoadCause::Declaration { differences });
}

#[test]
fn policies_and_forms() {
    let scene = Scene::new(&fixture_bytes());
    let host = scene.host("library: plugin.so", ENTRIES).wasm_only(true);
    assert_eq!(failure(&host).0, LoadCause::NativeRefused);
    let core = host.resolution().find(Role::Endpoint, "plain").unwrap();
    assert!(host.load(core).is_ok(), "--wasm-only is not about bundled packages");
}

#[test]
fn a_failed_package_is_not_tried_again_and_stops_no_other() {
    let scene = Scene::new(b"text");
    let host = scene.host("library: plugin.so", ENTRIES);
    let (first, _) = failure(&host);
    fs::write(scene.folder.path().join("pack/plugin.so"), fixture_bytes()).unwrap();
    assert_eq!(failure(&host).0, first);
    assert!(
        host.load(host.resolution().find(Role::Endpoint, "plain").unwrap())
            .is_ok()
    );
    assert_eq!(
        host.usage().len(),
        1,
        "a package that could not be opened is not in use"
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Bytes of headers and section tables decide what is read where: none may lead out of the file.
    #[test]
    fn damaged_libraries_never_panic(
        cut in 0_usize..=fixture_bytes().len(),
        changes in proptest::collection::vec((0_usize..4096, proptest::bool::ANY, proptest::num::u8::ANY), 0..8),
    ) {
        let mut bytes = fixture_bytes();
        let length = bytes.len();
        for (offset, from_end, value) in changes {
            let at = if from_end { length - 1 - offset } else { offset };
            bytes[at] = value;
        }
        bytes.truncate(cut);
        let _ = version_info(&bytes);
    }
}
