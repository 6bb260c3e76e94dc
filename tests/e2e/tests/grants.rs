//! What a package may do beyond computing: nothing that it does not ask for and the user does not grant. The same holds for
//! services of the core whether a package is a library or a component.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Answer, Folder, Run, Scripted, plugin_library};
use crate::{hostile, hostile_components};

/// Both forms of the package; the component is missing where it cannot be built.
fn forms(test: &str) -> Vec<PathBuf> {
    let component = hostile_components::component(test);
    std::iter::once(plugin_library("hostile")).chain(component).collect()
}

/// A run with an exporter that does something at its end; the package asks for `asks_for`.
fn run(code: &Path, asks_for: &str, fault: &str, flags: &str) -> Run {
    let folder = Folder::new();
    let registry = hostile::package_of(&folder, "fail", code);
    let text = fs::read_to_string(&registry).unwrap();
    let asking = format!("version: 1.0.0\n    capabilities: [{asks_for}]");
    folder.file("plugins/registry.yaml", text.replacen("version: 1.0.0", &asking, 1));
    let line = format!(
        "--url mock:?tokens=3 --request-count 2 --plugin-registry {registry} --exporter hostile \
         --plugin-opt exporter/hostile.do={fault} {flags}"
    );
    Run::profile_in(folder, &line).env("XDG_CACHE_HOME", crate::harness::target().join("tmp/wasm-cache"))
}

fn home() -> Scripted {
    Scripted::new(|_| Answer::json(200, "\"welcome\""))
}

#[test]
fn a_server_is_reached_that_was_granted_and_no_other() {
    for code in forms("grants::a_server_is_reached_that_was_granted_and_no_other") {
        let server = home();
        let origin = format!("--plugin-opt exporter/hostile.origin={}", server.url());
        let granted = format!("http:{}", server.address);
        let (host, port) = granted.rsplit_once(':').unwrap();
        let next = format!("{host}:{}", port.parse::<u16>().unwrap() ^ 1);
        for asks_for in ["http", granted.as_str()] {
            let run = run(
                &code,
                asks_for,
                "phone_home",
                &format!("{origin} --plugin-grant hostile={granted}"),
            )
            .succeed();
            assert!(run.artifact("hostile.txt").ends_with("end\n200 \"welcome\""), "{run}");
            assert!(
                run.stdout.contains(&format!("Granted to hostile 1.0.0: {granted}\n")),
                "{run}"
            );
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].line.split(" HTTP").next(), Some("POST /home"));
        assert!(requests[0].body["phases"].is_array(), "the report: {requests:?}");
        for (asks_for, grants) in [
            (granted.as_str(), String::new()),
            ("http", String::new()),
            ("http", format!("--plugin-grant hostile={next}")),
            ("http, secrets", "--plugin-grant hostile=secrets".to_owned()),
        ] {
            let run = run(&code, asks_for, "phone_home", &format!("{origin} {grants}")).finish();
            assert_eq!(run.code, Some(3), "{run}");
            let problem =
                format!("exporter/hostile (package hostile 1.0.0): {granted} is not granted to package hostile");
            assert!(run.stderr.contains(&problem), "{run}");
            assert!(
                run.stderr.contains(&format!("--plugin-grant hostile={granted}")),
                "{run}"
            );
        }
        assert_eq!(server.requests().len(), 2, "refused before anything was sent");
    }
}

#[test]
fn what_is_no_server_is_refused() {
    for code in forms("grants::what_is_no_server_is_refused") {
        let server = home();
        for origin in [
            format!("http://user:word@{}", server.address),
            format!("http://{}/elsewhere", server.address),
            format!("file://{}", server.address),
            server.address.to_string(),
        ] {
            let flags = format!(
                "--plugin-opt exporter/hostile.origin={origin} --plugin-grant hostile=http:{}",
                server.address
            );
            let run = run(&code, "http", "phone_home", &flags).finish();
            assert_eq!(run.code, Some(3), "{run}");
            assert!(run.stderr.contains("which is not http://HOST[:PORT]"), "{run}");
        }
        assert_eq!(server.requests().len(), 0);
    }
}

#[test]
fn the_key_is_seen_where_that_was_granted_and_written_nowhere() {
    const KEY: &str = "key-of-the-run-4711";
    for code in forms("grants::the_key_is_seen_where_that_was_granted_and_written_nowhere") {
        let flags = format!("--api-key {KEY}");
        let with = run(
            &code,
            "secrets",
            "take_key",
            &format!("{flags} --plugin-grant hostile=secrets"),
        )
        .secret(KEY)
        .succeed();
        let written = format!("{} bytes of key", KEY.len());
        assert!(with.artifact("hostile.txt").ends_with(&written), "{with}");
        for asks_for in ["", "secrets"] {
            let without = run(&code, asks_for, "take_key", &flags).secret(KEY).finish();
            assert_eq!(without.code, Some(3), "{without}");
            assert!(
                without.stderr.contains("secrets is not granted to package hostile"),
                "{without}"
            );
        }
    }
}

#[test]
fn a_grant_that_leads_nowhere_is_an_error() {
    let code = plugin_library("hostile");
    for (asks_for, grant, said) in [
        (
            "",
            "hostile=secrets",
            "package hostile does not ask for secrets; it asks for nothing",
        ),
        (
            "secrets",
            "hostile=http:a.example:80",
            "package hostile does not ask for http:a.example:80; it asks for secrets",
        ),
        (
            "http:a.example:80",
            "hostile=http:a.example:81",
            "does not ask for http:a.example:81; it asks for http:a.example:80",
        ),
        ("secrets", "friendly=secrets", "no package friendly is registered"),
        ("http", "hostile=http", "unknown capability `http`"),
        ("http", "hostile=http:*:80", "unknown capability `http:*:80`"),
        ("secrets", "secrets", "expected package=capability"),
    ] {
        let run = run(&code, asks_for, "nothing", &format!("--plugin-grant {grant}")).finish();
        assert_eq!(run.code, Some(1), "{grant}: {run}");
        assert!(
            run.stderr.starts_with("error: --plugin-grant") && run.stderr.contains(said),
            "{grant}: no {said}: {run}"
        );
    }
}

#[test]
fn what_is_granted_at_installation_holds_until_the_package_is_replaced() {
    let server = home();
    let granted = format!("http:{}", server.address);
    let folder = Folder::new();
    let registry = hostile::package_of(&folder, "fail", &plugin_library("hostile"));
    let text = fs::read_to_string(&registry).unwrap();
    let asking = "version: 1.0.0\n    capabilities: [http]";
    folder.file("plugins/registry.yaml", text.replacen("version: 1.0.0", asking, 1));
    let home = folder.path("home");
    let installs = |flags: &str| {
        Run::new(Folder::new(), &format!("plugins install {registry} {flags}"))
            .env("XDG_DATA_HOME", &home)
            .finish()
    };
    let profiles = || {
        let line = format!(
            "--url mock:?tokens=3 --request-count 2 --exporter hostile --plugin-opt exporter/hostile.do=phone_home \
             --plugin-opt exporter/hostile.origin={}",
            server.url()
        );
        Run::profile(&line).env("XDG_DATA_HOME", &home).finish()
    };
    let refused = installs("--grant secrets");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(
        refused.stderr.contains("does not ask for secrets; it asks for http"),
        "{refused}"
    );
    let installed = installs(&format!("--grant {granted}"));
    assert_eq!(installed.code, Some(0), "{installed}");
    assert!(
        installed.stdout.contains(&format!("Granted: {granted}\n")),
        "{installed}"
    );
    let run = profiles();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(server.requests().len(), 1);
    let replaced = installs("--force");
    assert_eq!(replaced.code, Some(0), "{replaced}");
    assert!(
        replaced.stdout.contains("It asks for http, which is not granted"),
        "{replaced}"
    );
    let run = profiles();
    assert_eq!(run.code, Some(3), "{run}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_package_brings_no_grant_of_its_own() {
    // The schema of one package lies where the grants of another would be looked for.
    for file in [".granted", "deeper/.granted", "deeper/.GRANTED", "deeper/registry.yaml"] {
        let folder = Folder::new();
        let registry = hostile::package_of(&folder, "fail", &plugin_library("hostile"));
        folder.file(&format!("plugins/{file}"), "{\"type\": \"object\"}\n");
        let text = fs::read_to_string(&registry).unwrap();
        let with = format!("version: 1.0.0\n    config_schema: {file}");
        folder.file("plugins/registry.yaml", text.replacen("version: 1.0.0", &with, 1));
        let home = folder.path("home");
        let run = Run::new(Folder::new(), &format!("plugins install {registry}"))
            .env("XDG_DATA_HOME", &home)
            .finish();
        assert_eq!(run.code, Some(3), "{file}: {run}");
        assert!(run.stderr.contains("a package can't bring a file"), "{file}: {run}");
        assert!(!home.join("aiperf/plugins/hostile").exists(), "{file}");
    }
}
