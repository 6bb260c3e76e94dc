//! Packages as WebAssembly components, from Rust and from Python.

use std::{
    env, fs,
    io::Write,
    os::unix::fs::DirEntryExt,
    path::{Path, PathBuf},
    process::Command,
};

use aiperf_guests::Toolchain;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::desk::{Desk, build, cargo, json, root, summary};

/// The program that makes components from Python; without it the test is skipped, and says so.
fn componentize(test: &str) -> Option<PathBuf> {
    let named = env::var_os("AIPERF_TEST_COMPONENTIZE").map(PathBuf::from);
    if named.is_none() {
        let message = format!(
            "SKIPPED {test}: AIPERF_TEST_COMPONENTIZE does not name the program `componentize-py`; \
             pip install -r tests/python-plugins/requirements.txt gives it"
        );
        let required = env::var_os("AIPERF_TEST_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "{message}");
        // Past the capture of the test runner, which would swallow it.
        let _ = writeln!(std::io::stderr(), "{message}");
    }
    named
}

/// Runs a command of an author in a folder, with the programs beside `componentize-py` in reach.
#[track_caller]
fn shell(componentize: &Path, folder: &Path, line: &str) {
    let mut path = componentize.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{line}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The shell commands of a README's first block.
fn readme_commands(package: &Path) -> String {
    let text = fs::read_to_string(package.join("README.md")).unwrap();
    let block = text.split("```sh\n").nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

/// Compiled code that is kept: each file with its number on the disk, which is another one once it is written anew. (Its time
/// says when it was last of use.)
fn compiled(desk: &Desk) -> Vec<(PathBuf, u64)> {
    let folder = desk.path("home/.cache/aiperf/wasm");
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.map(|file| (file.path(), file.ino())).collect();
    files.sort();
    files
}

fn sha256(path: &Path) -> String {
    let digest = Sha256::digest(fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Installs a package and says what that has to do with trust; returns its folder.
#[track_caller]
fn install(desk: &Desk, source: &str, name: &str) -> PathBuf {
    let told = desk.good(&format!("plugins install {source}"));
    assert!(
        told.contains("Sandboxed: it reaches no file") && told.contains("It asks for nothing beyond that."),
        "{told}"
    );
    assert!(!told.contains("unsandboxed"), "{told}");
    desk.path("home/.local/share/aiperf/plugins").join(name)
}

/// A package of the author is tested, handed on, installed, used and removed.
#[track_caller]
fn there_and_back(desk: &Desk, name: &str, file: &str, used: impl FnOnce(&Desk)) {
    let tested: Value = json(&desk.good(&format!("plugins test {name} --output json")));
    assert_eq!(tested[0]["passed"], true, "{tested}");
    assert_eq!(tested[0]["report"]["package"], name);

    let packed = json(&desk.good(&format!("plugins pack {name} --to {name}.tar.gz --output json")));
    let mut expected = ["README.md", file, "registry.yaml"];
    expected.sort_unstable();
    assert_eq!(packed["files"], serde_json::json!(expected));
    assert_eq!(packed["digests"], serde_json::json!([file]));
    let before = compiled(desk);
    assert_eq!(before.len(), 1, "one file, compiled once: {before:?}");
    let folder = install(desk, &format!("{name}.tar.gz"), name);
    let installed = folder.join(file);
    let text = fs::read_to_string(folder.join("registry.yaml")).unwrap();
    assert!(text.contains(&format!("sha256: \"{}\"", sha256(&installed))), "{text}");
    assert_eq!(fs::read(&installed).unwrap()[4..8], [0x0d, 0, 1, 0], "a component");

    let listed = desk.good("plugins list");
    let line = listed
        .lines()
        .find(|line| line.trim_start().starts_with(name))
        .unwrap()
        .to_owned();
    assert!(line.contains("wasm, sandboxed"), "{line}");
    let entry = tested[0]["entry"].as_str().unwrap().replace('/', " ");
    let info = desk.good(&format!("plugins {entry}"));
    for part in [
        "form:         wasm, sandboxed",
        "plugin API 1.0",
        "a panic ends its instance alone",
    ] {
        assert!(info.contains(part), "no {part}: {info}");
    }
    assert!(!info.contains("library") && !info.contains("problem:"), "{info}");
    let valid = desk.good("plugins validate");
    assert!(
        valid.contains(&format!("(OK)   {name} 0.1.0 (wasm, sandboxed)")),
        "{valid}"
    );
    used(desk);
    assert_eq!(compiled(desk), before, "what is installed was not compiled once more");

    let removed = desk.good(&format!("plugins remove {name}"));
    assert!(removed.contains(&format!("Removed {name} 0.1.0")), "{removed}");
    assert!(!folder.exists());
}

#[test]
fn a_metric_in_python() {
    let Some(componentize) = componentize("a_metric_in_python") else {
        return;
    };
    let desk = Desk::new("python_metric");
    let told = desk.good("plugins new metric acme-pace --lang python");
    assert!(told.contains("  sh build.sh\n") && told.contains("app.py"), "{told}");
    let package = desk.path("work/acme-pace");
    shell(&componentize, &package, &readme_commands(&package));
    shell(&componentize, &package, "sh build.sh");
    there_and_back(&desk, "acme-pace", "acme_pace.wasm", |desk| {
        desk.good("profile --url mock: --streaming --request-count 4 --metric acme_pace --wasm-only --ui none --artifact-dir out");
        let value = summary(desk)["acme_pace_time_per_token"]["avg"].as_f64();
        assert!(value.is_some_and(|value| value > 0.0), "{value:?}");
    });
}

#[test]
fn an_endpoint_in_python() {
    let Some(componentize) = componentize("an_endpoint_in_python") else {
        return;
    };
    let desk = Desk::new("python_endpoint");
    desk.good("plugins new endpoint acme-api --lang python");
    let package = desk.path("work/acme-api");
    shell(&componentize, &package, &readme_commands(&package));
    shell(&componentize, &package, "sh build.sh");
    there_and_back(&desk, "acme-api", "acme_api.wasm", |desk| {
        // No server speaks its API here: opening it is what can be seen.
        let told = desk.good("plugins which endpoint acme_api");
        assert!(told.contains("is that of package acme-api"), "{told}");
    });
}

#[test]
fn one_source_in_rust_is_a_library_and_a_component() {
    let Some(toolchain) = Toolchain::or_skip("one_source_in_rust_is_a_library_and_a_component") else {
        return;
    };
    let desk = Desk::new("rust_component");
    desk.good("plugins new metric acme-both");
    let package = desk.path("work/acme-both");
    // The versions of the examples, so that nothing has to be asked of a registry.
    let example = root().join("examples/vendor-inference");
    cargo(&example, &["fetch", "--quiet", "--locked"]);
    fs::copy(example.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    build(&package, "acme_both");
    assert!(desk.good("plugins test acme-both").ends_with("The entry conforms.\n"));

    // As its README says: the `wasm:` line in place of `library:` and what is below it.
    let readme = fs::read_to_string(package.join("README.md")).unwrap();
    let file = "target/wasm32-unknown-unknown/release/acme_both.wasm";
    assert!(readme.contains(&format!("`wasm: {file}`")), "{readme}");
    let registry = fs::read_to_string(package.join("registry.yaml")).unwrap();
    let lines: Vec<&str> = registry
        .lines()
        .filter(|line| !line.contains("path: target/release"))
        .collect();
    let registry = lines.join("\n").replace("library:", &format!("wasm: {file}")) + "\n";
    fs::write(package.join("registry.yaml"), registry).unwrap();
    let unbuilt = desk.bad("plugins test acme-both", 3);
    for part in [
        "the component of package acme-both is not there",
        "--target wasm32-unknown-unknown",
    ] {
        assert!(unbuilt.contains(part), "no {part}: {unbuilt}");
    }

    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../guests");
    let module = toolchain.build(&package, &target, "acme-both", &[]);
    fs::create_dir_all(package.join(file).parent().unwrap()).unwrap();
    fs::copy(&module, package.join(file)).unwrap();
    assert_eq!(fs::read(&module).unwrap()[4..8], [1, 0, 0, 0], "a core module");
    // The digest that is declared is that of what stands there; what is packed has its own.
    desk.good("plugins pack acme-both --in-place");
    let text = fs::read_to_string(package.join("registry.yaml")).unwrap();
    assert!(text.contains(&sha256(&module)), "{text}");
    there_and_back(&desk, "acme-both", file, |desk| {
        desk.good("profile --url mock: --streaming --request-count 4 --metric acme_both --wasm-only --ui none --artifact-dir out");
        let value = summary(desk)["acme_both_time_per_token"]["avg"].as_f64();
        assert!(value.is_some_and(|value| value > 0.0), "{value:?}");
    });
    // From its folder too.
    let folder = install(&desk, "acme-both", "acme-both");
    assert_eq!(fs::read(folder.join(file)).unwrap()[4..8], [0x0d, 0, 1, 0]);
}

#[test]
fn what_is_no_component_is_neither_packed_nor_installed() {
    let desk = Desk::new("no_component");
    desk.good("plugins new metric acme-none --lang python");
    let unbuilt = desk.bad("plugins pack acme-none", 3);
    for part in ["the component of package acme-none is not there", "&& sh build.sh"] {
        assert!(unbuilt.contains(part), "no {part}: {unbuilt}");
    }
    // An empty core module, without the metadata of the SDK.
    let file = desk.path("work/acme-none/acme_none.wasm");
    fs::write(&file, b"\0asm\x01\0\0\0").unwrap();
    for command in ["pack", "install"] {
        let refused = desk.bad(&format!("plugins {command} acme-none"), 3);
        for part in ["acme_none.wasm", "exports no interface", "likely cause"] {
            assert!(refused.contains(part), "{command}: no {part}: {refused}");
        }
    }
    assert!(!desk.path("work/acme-none-0.1.0.tar.gz").exists());
    assert!(!desk.path("home/.local/share/aiperf/plugins").exists());
    let again = json(&desk.good("plugins new endpoint acme-other --lang python --output json"));
    assert_eq!(again["sdk_was_there"], true);
    assert_eq!(again["next"][1], "sh build.sh");
}
