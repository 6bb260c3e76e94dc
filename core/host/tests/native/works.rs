//! Plugins that load.

use crate::scene::{ENTRIES, NoServices, Scene, fixture_bytes, hex_digest, request, with_record};
use aiperf_host::load::inspect;
use aiperf_host::{HostError, Role};
use aiperf_plugin_api::{Endpoint, ErrorKind};
use std::sync::Arc;

#[test]
fn a_plugin_works() {
    let scene = Scene::new(&fixture_bytes());
    let host = scene.host("library: plugin.so", ENTRIES);
    assert!(host.usage().is_empty(), "nothing is opened before it is used");
    let entry = host.resolution().find(Role::Endpoint, "Parrot").unwrap();
    let endpoint = host.open_endpoint(entry, "{}", Arc::new(NoServices)).unwrap();
    assert_eq!(endpoint.prepare(request("hello")).unwrap().body, b"hello");
    let error = endpoint.decode(&[]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidInput);
    assert_eq!(
        error.message,
        "endpoint/echo (package fixture 1.2.3): nothing to decode"
    );
    assert_eq!(
        (endpoint.plugin().calls(), endpoint.plugin().errors()),
        (3, 1),
        "opening counts too"
    );

    let refused = host
        .open_endpoint(entry, "{\"a\": 1}", Arc::new(NoServices))
        .unwrap_err();
    let HostError::Plugin(error) = &refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::Failed,
            "endpoint/echo (package fixture 1.2.3): open: what the core passes: `a`: invalid type: integer `1`, expected a string"
        )
    );
    let usage = host.usage();
    let [package] = usage.as_slice() else {
        panic!("{usage:?}")
    };
    assert_eq!(
        (package.package.as_str(), package.version.as_str(), package.form),
        ("fixture", "1.2.3", "native")
    );
    assert!(package.unsandboxed && package.warnings.is_empty());
    assert_eq!(package.api.as_deref(), Some("1.0"));
    assert!(package.rustc.as_deref().unwrap().starts_with("rustc "));
    assert_eq!(package.sha256.as_deref().unwrap(), hex_digest(&fixture_bytes()));
    let [echo] = package.entries.as_slice() else {
        panic!("{:?}", package.entries)
    };
    assert_eq!(
        (echo.role, echo.name.as_str(), echo.calls, echo.errors),
        ("endpoint", "echo", 4, 2)
    );
    assert_eq!(
        echo.shadowed,
        ["package core (built-in registry) shadowed: at equal priority an external entry beats a built-in one"]
    );
    assert!(echo.max_ns <= echo.total_ns);
}

#[test]
fn the_options_of_the_user_reach_the_entry_and_a_wrong_one_is_named_as_it_was_typed() {
    let scene = Scene::new(&fixture_bytes());
    let open = |section: &str, options: &str| {
        let options = serde_json::from_str(options).unwrap();
        let host = scene
            .host("library: plugin.so", ENTRIES)
            .with_options([(section, &options)])
            .unwrap();
        let entry = host.resolution().find(Role::Endpoint, "echo").unwrap();
        assert!(host.unused_option().is_some(), "not opened yet");
        let opened = host.open_endpoint(entry, "{}", Arc::new(NoServices)).map(drop);
        assert_eq!(host.unused_option(), None);
        opened
    };
    assert!(open("endpoint/echo", r#"{"repeat": 3}"#).is_ok());
    for (section, options, said) in [
        (
            "endpoint/echo",
            r#"{"repaet": 3}"#,
            "--plugin-opt endpoint/echo.repaet: unknown field `repaet`, expected `repeat`",
        ),
        (
            "endpoint/Parrot",
            r#"{"x": 3}"#,
            "--plugin-opt endpoint/Parrot.x: unknown field `x`, expected `repeat`",
        ),
        (
            "endpoint/echo",
            r#"{"repeat": 256}"#,
            "--plugin-opt endpoint/echo.repeat: `repeat`: invalid value: integer `256`, expected u8",
        ),
    ] {
        let HostError::Plugin(error) = open(section, options).unwrap_err() else {
            panic!("{options}")
        };
        assert_eq!(error.kind, ErrorKind::InvalidOptions);
        assert_eq!(error.message, format!("endpoint/echo (package fixture 1.2.3): {said}"));
    }
}

#[test]
fn options_that_lead_nowhere_are_named() {
    let scene = Scene::new(&fixture_bytes());
    for (section, said) in [
        (
            "endpiont/echo",
            "--plugin-opt endpiont/echo.a: `endpiont` is no category; write one of: endpoint, dataset",
        ),
        (
            "endpoint/ecko",
            "--plugin-opt endpoint/ecko.a: no endpoint plugin is named `ecko`; did you mean echo?",
        ),
        (
            "timing/echo",
            "--plugin-opt timing/echo.a: no timing plugin is named `echo`",
        ),
    ] {
        let options = serde_json::from_str(r#"{"a": 1}"#).unwrap();
        let host = scene.host("library: plugin.so", ENTRIES);
        let error = host.with_options([(section, &options)]).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
    }
}

#[test]
fn a_panic_is_an_error_and_the_instance_is_not_entered_again() {
    let scene = Scene::new(&fixture_bytes());
    let host = scene.host("library: plugin.so", ENTRIES);
    let entry = host.resolution().find(Role::Endpoint, "fragile").unwrap();
    let endpoint = host.open_endpoint(entry, "", Arc::new(NoServices)).unwrap();
    let first = endpoint.prepare(request("x")).unwrap_err();
    assert_eq!(first.kind, ErrorKind::Panicked);
    assert_eq!(
        first.message,
        "endpoint/fragile (package fixture 1.2.3): prepare: the plugin panicked: fragile things break"
    );
    let second = endpoint.decode(&[]).unwrap_err();
    assert_eq!(
        second.message,
        "endpoint/fragile (package fixture 1.2.3): decode: not called again after a panic"
    );
    let fresh = host.open_endpoint(entry, "", Arc::new(NoServices)).unwrap();
    assert_eq!(
        fresh.decode(&[]).unwrap_err().kind,
        ErrorKind::InvalidInput,
        "a new instance is sound"
    );
}

#[test]
fn two_plugins_of_one_contract_stay_apart() {
    let scenes = [Scene::new(&fixture_bytes()), Scene::new(&fixture_bytes())];
    let digest = hex_digest(&fixture_bytes());
    let forms = [
        "library: plugin.so".to_owned(),
        format!("library: plugin.so, sha256: \"{digest}\""),
    ];
    // The same file by path and from sealed memory, twice each: none answers for another.
    for scene in &scenes {
        for form in &forms {
            let host = scene.host(form, ENTRIES);
            let entry = host.resolution().find(Role::Endpoint, "echo").unwrap();
            let endpoint = host.open_endpoint(entry, "", Arc::new(NoServices)).unwrap();
            assert_eq!(endpoint.prepare(request(form)).unwrap().body, form.as_bytes());
        }
    }
}

#[test]
fn a_bundled_package_takes_the_same_way() {
    let scene = Scene::new(&fixture_bytes());
    let host = scene.host("library: plugin.so", ENTRIES);
    let entry = host.resolution().find(Role::Endpoint, "plain").unwrap();
    let error = host
        .open_endpoint(entry, "", Arc::new(NoServices))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("endpoint/plain (package core 0.1.0): open: the package has no entry `plain`"),
        "{error}"
    );
    let usage = host.usage();
    assert_eq!(
        (usage.len(), usage[0].form, usage[0].unsandboxed),
        (1, "bundled", false)
    );
    assert_eq!((&usage[0].library, &usage[0].sha256), (&None, &None));
}

#[test]
fn a_plugin_that_aborts_is_marked() {
    let scene = Scene::new(&with_record(|record| record[12] = 0));
    let host = scene.host("library: plugin.so", ENTRIES);
    host.load(host.resolution().find(Role::Endpoint, "echo").unwrap())
        .unwrap();
    assert_eq!(
        host.usage()[0].warnings,
        ["built with panic=abort: a panic in it ends the whole run"]
    );
}

#[test]
fn inspecting_runs_nothing() {
    let scene = Scene::new(&fixture_bytes());
    let host = scene.host("library: plugin.so", ENTRIES);
    let entry = host.resolution().find(Role::Endpoint, "echo").unwrap();
    let (file, package) = (host.resolution().file(entry), host.resolution().package(entry));
    let info = inspect(file, package, &aiperf_host::Compiler::Here).unwrap().unwrap();
    assert_eq!(
        (info.package.as_str(), info.version.as_str(), info.unwinds),
        ("fixture", "1.2.3", true)
    );
    let core = host.resolution().find(Role::Endpoint, "plain").unwrap();
    let (file, package) = (host.resolution().file(core), host.resolution().package(core));
    assert_eq!(
        inspect(file, package, &aiperf_host::Compiler::Here).unwrap(),
        None,
        "a bundled package has no file"
    );
    assert!(host.usage().is_empty());
}
