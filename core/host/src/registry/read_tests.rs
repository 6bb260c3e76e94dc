use super::super::error::Position;
use super::*;
use std::path::{Path, PathBuf};

fn external(text: &str) -> Result<RegistryFile, RegistryError> {
    RegistryFile::parse(text, Source::CommandLine(PathBuf::from("/r/registry.yaml")))
}

/// The design's own example, slightly shortened.
const ACME: &str = r#"schema_version: "1.0"
packages:
  acme-inference:
    version: 2.1.0
    api: ">=1.0, <2"
    library:
      x86_64-unknown-linux-gnu: { path: lib/libacme.so, sha256: "4f0c000000000000000000000000000000000000000000000000000000000001" }
      aarch64-apple-darwin: { path: lib/libacme.dylib }
    capabilities: [http:telemetry.example.com:443]
    config_schema: schema.json
    license: Apache-2.0
    homepage: https://example.com
    description: Everything Acme.
endpoint:
  Acme-Chat:
    package: acme_inference
    description: Chat on the Acme serving API.
    priority: 10
    aliases: [acme]
    on_error: fail
    metadata: { endpoint_path: /v2/chat, supports_streaming: true, limit: 3, share: 0.5, none: null, modes: [a, b] }
accumulator:
  joules:
    package: acme-inference
    on_error: skip
    metadata: { tags: [energy, energy_per_token] }
"#;

#[test]
fn a_full_file() {
    let file = external(ACME).unwrap();
    let package = &file.packages[0];
    assert_eq!(
        (package.name.as_str(), package.version.as_str()),
        ("acme-inference", "2.1.0")
    );
    assert!(package.api.contains(1, 4) && !package.api.contains(2, 0));
    let asks_for: Vec<String> = package.capabilities.iter().map(ToString::to_string).collect();
    assert_eq!(asks_for, ["http:telemetry.example.com:443"]);
    assert_eq!(package.schema_file(), Some(Path::new("schema.json")));
    assert_eq!(package.license.as_deref(), Some("Apache-2.0"));
    assert_eq!(package.at, Position { line: 3, column: 3 });
    let Form::Native(libraries) = &package.form else {
        panic!("{:?}", package.form)
    };
    assert_eq!(libraries[0].target.as_deref(), Some("x86_64-unknown-linux-gnu"));
    assert_eq!(libraries[0].path, Path::new("lib/libacme.so"));
    assert_eq!(libraries[0].sha256.unwrap().0[..2], [0x4f, 0x0c]);
    assert_eq!(libraries[0].sha256.unwrap().0[31], 1);
    assert_eq!(libraries[1].sha256, None);
    let [chat, joules] = file.entries.as_slice() else {
        panic!("{:?}", file.entries)
    };
    assert_eq!(
        (chat.role, chat.name.key(), chat.priority),
        (Role::Endpoint, "acme_chat", 10)
    );
    assert_eq!(chat.aliases, [Name::parse("ACME").unwrap()]);
    let expected = serde_json::json!({
        "endpoint_path": "/v2/chat", "supports_streaming": true, "limit": 3, "share": 0.5, "none": null,
        "modes": ["a", "b"],
    });
    assert_eq!(serde_json::Value::Object(chat.metadata.clone()), expected);
    assert_eq!(
        (joules.role, joules.priority, joules.on_error),
        (Role::Metric, 0, OnError::Skip)
    );
    let tags: Vec<&str> = joules.tags.iter().map(Name::key).collect();
    assert_eq!(tags, ["energy", "energy_per_token"]);
    assert_eq!(file.folder(), Path::new("/r"));
}

/// A file with one package and one endpoint; `package` and `entry` are further lines of each.
fn with(package: &str, entry: &str) -> String {
    let indent = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!(
        "schema_version: \"1.0\"\npackages:\n  acme:\n    version: 1.0.0\n    api: \">=1\"\n{}endpoint:\n  chat:\n    \
         package: acme\n{}",
        indent(package),
        indent(entry)
    )
}

#[test]
fn forms_of_code() {
    let digest = "ab".repeat(32);
    let bytes = Some(Sha256([0xab; 32]));
    let short = |sha256| {
        Form::Native(vec![Library {
            target: None,
            path: "lib/a.so".into(),
            sha256,
        }])
    };
    let table = [
        ("library: lib/a.so".to_owned(), short(None)),
        (format!("library: ./lib/a.so\nsha256: {digest}"), {
            Form::Native(vec![Library {
                target: None,
                path: "./lib/a.so".into(),
                sha256: bytes,
            }])
        }),
        (
            "wasm: a.wasm".to_owned(),
            Form::Wasm {
                path: "a.wasm".into(),
                sha256: None,
            },
        ),
        (
            format!("wasm: a.wasm\nsha256: {}", digest.to_uppercase()),
            Form::Wasm {
                path: "a.wasm".into(),
                sha256: bytes,
            },
        ),
    ];
    for (lines, form) in table {
        assert_eq!(external(&with(&lines, "")).unwrap().packages[0].form, form, "{lines}");
    }
    let builtin = |lines| {
        RegistryFile::parse(&with(lines, ""), Source::BuiltIn)
            .unwrap()
            .packages
            .remove(0)
            .form
    };
    assert_eq!(builtin("bundled: true"), Form::Bundled("acme".to_owned()));
    assert_eq!(builtin("bundled: endpoints"), Form::Bundled("endpoints".to_owned()));
}

/// Package lines start on line 6; with one of them, entry lines start on line 10.
#[test]
fn each_mistake_has_its_place_and_its_cure() {
    const LIBRARY: &str = "library: a.so";
    let table: &[(&str, &str, &str)] = &[
        (
            LIBRARY,
            "priority: high",
            "10:15: endpoint.chat.priority: expected a whole number, found text; write a number from -2147483648 to 2147483647",
        ),
        (
            LIBRARY,
            "priority: 1.5",
            "10:15: endpoint.chat.priority: expected a whole number, found a number; ",
        ),
        (
            LIBRARY,
            "priority: 3000000000",
            "10:15: endpoint.chat.priority: expected a whole number, found a whole number; ",
        ),
        (
            LIBRARY,
            "prioritty: 1",
            "10:5: endpoint.chat.prioritty: unknown key; did you mean priority?",
        ),
        (
            LIBRARY,
            "zzz: 1",
            "10:5: endpoint.chat.zzz: unknown key; known keys: package, description, ",
        ),
        (
            LIBRARY,
            "package: acme",
            "10:5: the key `package` stands here for the second time; correct the YAML",
        ),
        (
            LIBRARY,
            "on_error: skip",
            "10:15: endpoint.chat.on_error: an entry of category endpoint cannot be skipped: the measurement would change; ",
        ),
        (
            LIBRARY,
            "on_error: maybe",
            "10:15: endpoint.chat.on_error: unknown value `maybe`; write `fail` or `skip`",
        ),
        (
            LIBRARY,
            "aliases: acme",
            "10:14: endpoint.chat.aliases: expected a list, found text; write `[one, two]`",
        ),
        (
            LIBRARY,
            "aliases: [a, b c]",
            "10:18: endpoint.chat.aliases[1]: `b c` is not a name; use letters",
        ),
        (
            LIBRARY,
            "aliases: [CHAT]",
            "8:3: endpoint.chat: the alias `CHAT` repeats a name of this entry; ",
        ),
        (
            LIBRARY,
            "metadata: [a]",
            "10:15: endpoint.chat.metadata: expected a map, found a list; ",
        ),
        (
            LIBRARY,
            "description: 5",
            "10:18: endpoint.chat.description: expected text, found a whole number; put it in quotation marks",
        ),
        (LIBRARY, "description: [", "10:18: unclosed bracket"),
        (
            LIBRARY,
            "metadata: { kind: ramp }",
            "10:23: endpoint.chat.metadata.kind: an entry of kind `ramp` stands under endpoint; move it to `ramp:`",
        ),
        (
            "",
            "",
            "3:3: packages.acme: nothing says where the code is; say exactly one of `library:`, `wasm:` and `bundled:`",
        ),
        (
            "library: a.so\nwasm: a.wasm",
            "",
            "3:3: packages.acme: more than one form of the code; say exactly one",
        ),
        (
            "bundled: true",
            "",
            "6:14: packages.acme.bundled: only packages linked into the binary are bundled; name the file",
        ),
        (
            "library: ../a.so",
            "",
            "6:14: packages.acme.library: `../a.so` leads out of the folder of the registry file; ",
        ),
        (
            "library: lib/../../a.so",
            "",
            "6:14: packages.acme.library: `lib/../../a.so` leads out",
        ),
        (
            "library: /usr/lib/a.so",
            "",
            "6:14: packages.acme.library: `/usr/lib/a.so` leads out",
        ),
        (
            "wasm: ..\\a.wasm",
            "",
            "6:11: packages.acme.wasm: `..\\a.wasm` leads out",
        ),
        (
            "library: 5",
            "",
            "6:14: packages.acme.library: expected a path or a map, found a whole number; ",
        ),
        (
            "library: {}",
            "",
            "6:14: packages.acme.library: no library for any target; name at least one",
        ),
        (
            "library: { linux: { path: a.so } }",
            "",
            "6:16: packages.acme.library.linux: not a target triple; write a triple such as ",
        ),
        (
            "library:\n  x86_64-unknown-linux-gnu: { sha256: aa }",
            "",
            "7:33: packages.acme.library.x86_64-unknown-linux-gnu.path: missing; add `path:`",
        ),
        (
            "library: a.so\nsha256: 12ab",
            "",
            "7:13: packages.acme.sha256: not a SHA-256 digest; ",
        ),
        (
            "library: a.so\nsha256: \"12ab\"",
            "",
            "7:13: packages.acme.sha256: not a SHA-256 digest; write its 64 hexadecimal digits in quotation marks",
        ),
        (
            "library: a.so\ncapabilities: http:a:1",
            "",
            "7:19: packages.acme.capabilities: expected a list, found text; ",
        ),
        (
            "library: a.so\ncapabilities: [secrets, files]",
            "",
            "7:29: packages.acme.capabilities[1]: unknown capability `files`; write `http:HOST:PORT` (one host and port, such as ",
        ),
        (
            "library: a.so\ncapabilities: [http:example.com]",
            "",
            "7:20: packages.acme.capabilities[0]: unknown capability `http:example.com`; ",
        ),
        (
            "library: a.so\ncapabilities: [\"http:*:443\"]",
            "",
            "7:20: packages.acme.capabilities[0]: unknown capability `http:*:443`; ",
        ),
        (
            "library: a.so\ncapabilities: [http:example.com:70000]",
            "",
            "7:20: packages.acme.capabilities[0]: unknown capability `http:example.com:70000`; ",
        ),
        (
            "library: a.so\nconfig_schema: ../s.json",
            "",
            "7:20: packages.acme.config_schema: `../s.json` leads out of the folder of the registry file; ",
        ),
        (
            "library: a.so\nconfig_schema: [a]",
            "",
            "7:20: packages.acme.config_schema: expected text, found a list; ",
        ),
        (
            "library: a.so\nlicence: MIT",
            "",
            "7:5: packages.acme.licence: unknown key; did you mean license?",
        ),
    ];
    for (package, entry, expected) in table {
        let error = external(&with(package, entry)).unwrap_err().to_string();
        let expected = format!("/r/registry.yaml:{expected}");
        assert!(error.starts_with(&expected), "\n  found {error}\nexpected {expected}");
    }
}

#[test]
fn mistakes_outside_one_entry() {
    let package = "packages:\n  a: { version: \"1\", api: \">=1\", library: a.so }\n";
    let table: &[(&str, &str)] = &[
        ("", "1:1: expected a map, found nothing; "),
        ("packages: {}\n", "1:1: schema_version: missing; add `schema_version:`"),
        (
            "schema_version: \"2.0\"\n",
            "1:17: schema_version: unknown schema version \"2.0\"; this aiperf reads \"1.0\"",
        ),
        (
            "schema_version: 1.0\n",
            "1:17: schema_version: expected text, found a number; put it in quotation marks",
        ),
        (
            "schema_version: \"1.0\"\nendpiont: {}\n",
            "2:1: endpiont: unknown category; write one of: endpoint",
        ),
        (
            "schema_version: \"1.0\"\ntransport: {}\n",
            "2:1: transport: unknown category; write one of: endpoint, dataset, dataset_sampler, timing, ",
        ),
        (
            "schema_version: \"1.0\"\nendpoint: { a: { package: acne } }\n",
            "2:27: endpoint.a.package: unknown package `acne`; declare it under `packages:` in this file",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEendpoint: { x: { package: b } }\n",
            "4:27: endpoint.x.package: unknown package `b`; did you mean a?",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEendpoint:\n  x: { package: a }\n  X: { package: a }\n",
            "6:3: endpoint.X: `x` already names the entry on line 5; ",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEdataset:\n  x: { package: a }\npublic_dataset_loader:\n  y: { package: a, aliases: [x] }\n",
            "7:3: public_dataset_loader.y: `x` already names the entry on line 5; ",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEendpoint:\n  x: { package: a, aliases: [z] }\n  y: { package: a, aliases: [Z] }\n",
            "6:3: endpoint.y: `z` already names the entry on line 5; a name or alias means one entry of its category: rename one",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEendpoint:\n  x: { priority: 1 }\n",
            "5:6: endpoint.x.package: missing; add `package:`",
        ),
        (
            "schema_version: \"1.0\"\npackages:\n  a: { api: \">=1\", library: a.so }\n",
            "3:6: packages.a.version: missing; add `version:`",
        ),
        (
            "schema_version: \"1.0\"\npackages:\n  a: { version: \"1\", api: \">=1, <<2\", library: a.so }\n",
            "3:27: packages.a.api: not a range of API versions; ",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEmetric:\n  x: { package: a }\n",
            "5:3: metric.x.metadata.tags: a metric entry names no metric; ",
        ),
        (
            "schema_version: \"1.0\"\npackages:\n  a-b: { version: \"1\", api: \">=1\", library: a.so }\n  A_B: { version: \"1\", api: \">=1\", library: a.so }\n",
            "4:3: packages.A_B: the same package as `a-b` on line 3; ",
        ),
        (
            "schema_version: \"1.0\"\npackages:\n  a: { version: \"1\", api: \"1\", library: a.so }\n",
            "3:27: packages.a.api: not a range of API versions; write bounds such as \">=1.0, <2\"",
        ),
        (
            "schema_version: \"1.0\"\npackages:\n  a: { version: 1.0, api: \">=1\", library: a.so }\n",
            "3:17: packages.a.version: expected text, found a number; put it in quotation marks",
        ),
        (
            "schema_version: \"1.0\"\nschema_version: \"1.0\"\n",
            "2:1: the key `schema_version` stands here for the second time; ",
        ),
        (
            "schema_version: \"1.0\"\nPACKAGEmetric:\n  x: { package: a, metadata: { tags: [t, u] } }\n  y: { package: a, metadata: { tags: [v, U] } }\n",
            "6:3: metric.y: the metric `u` is already defined by `x`; let one entry of the file define it",
        ),
        ("- a\n", "1:1: expected a map, found a list; "),
        ("a: b: c\n", ""),
    ];
    for (text, expected) in table {
        let error = external(&text.replace("PACKAGE", package)).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("/r/registry.yaml:"), "{message}");
        assert!(message.contains(expected), "\n  found {message}\nexpected {expected}");
        assert!(!message.contains('\n'), "one line: {message}");
    }
}

#[test]
fn smaller_parts_have_a_role_of_their_own() {
    let text = "schema_version: \"1.0\"\npackages:\n  a: { version: 1.0.0, api: \">=1\", library: a.so }\n\
                arrival_pattern:\n  poisson: { package: a }\nramp:\n  poisson: { package: a }\ntiming:\n  \
                constant: { package: a, metadata: { kind: arrival } }\n  linear: { package: a, metadata: { kind: ramp } }\n  \
                request_rate: { package: a, metadata: { kind: mode } }\ndataset:\n  \
                shuffle: { package: a, metadata: { kind: sampler } }\n  trace: { package: a, metadata: { kind: loader } }\n";
    let roles: Vec<(Role, String)> = external(text)
        .unwrap()
        .entries
        .iter()
        .map(|entry| (entry.role, entry.name.to_string()))
        .collect();
    let expected = [
        (Role::ArrivalPattern, "poisson"),
        (Role::Ramp, "poisson"),
        (Role::ArrivalPattern, "constant"),
        (Role::Ramp, "linear"),
        (Role::Timing, "request_rate"),
        (Role::Sampler, "shuffle"),
        (Role::Dataset, "trace"),
    ];
    assert_eq!(roles, expected.map(|(role, name)| (role, name.to_owned())));
}

proptest::proptest! {
    /// Whatever is written, the answer is a file or one line about one place.
    #[test]
    fn any_text_is_read_or_refused(at in 0..ACME.len(), gone in 0..40_usize, new in "[a-z:{}\\[\\]&*!|>'\"%@,#? \n-]{0,12}") {
        let end = (at + gone).min(ACME.len());
        let text = format!("{}{new}{}", &ACME[..at], &ACME[end..]);
        if let Err(error) = external(&text) {
            let message = error.to_string();
            proptest::prop_assert!(message.starts_with("/r/registry.yaml:"), "{message}");
            proptest::prop_assert!(!message.contains('\n'), "{message}");
        }
    }
}
