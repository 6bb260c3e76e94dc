//! A native package: a shared library.

use std::{env, fs, path::Path};

use serde_json::Value;

use crate::desk::{Desk, build, cargo, json, root, summary};

const CATEGORIES: [&str; 6] = ["endpoint", "dataset", "timing", "metric", "exporter", "gpu_collector"];

/// The built package is handed on as one file, installed from it and removed, and each command says in JSON what it did.
fn as_one_file(desk: &Desk, package: &Path) {
    let packed = json(&desk.good("plugins pack acme-latency --output json"));
    let archive = desk.path("work/acme-latency-0.1.0.tar.gz");
    assert_eq!(packed["archive"], "acme-latency-0.1.0.tar.gz");
    let library = format!(
        "target/release/{}acme_latency{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    );
    let files = serde_json::json!(["README.md", "registry.yaml", library]);
    assert_eq!(packed["files"], files);
    assert_eq!(packed["digests"], serde_json::json!([library]));
    // The same files give the same bytes.
    desk.good("plugins pack acme-latency --to again.tar.gz");
    assert_eq!(
        fs::read(&archive).unwrap(),
        fs::read(desk.path("work/again.tar.gz")).unwrap()
    );
    // Nothing but the archive is needed.
    let away = desk.path("away");
    fs::rename(package, &away).unwrap();

    let mut cut = fs::read(&archive).unwrap();
    cut.truncate(cut.len() / 2);
    fs::write(desk.path("work/cut.tar.gz"), cut).unwrap();
    let refused = desk.bad("plugins install cut.tar.gz", 3);
    assert!(refused.contains("cut.tar.gz can't be unpacked"), "{refused}");

    let installed = json(&desk.good("plugins install acme-latency-0.1.0.tar.gz --output json"));
    assert_eq!(installed["entries"], serde_json::json!(["metric/acme_latency"]));
    assert_eq!(
        installed["packages"],
        serde_json::json!([{ "name": "acme-latency", "version": "0.1.0" }])
    );
    let folder = Path::new(installed["folder"].as_str().unwrap());
    assert!(folder.join(&library).is_file() && folder.join("README.md").is_file());
    let registry = fs::read_to_string(folder.join("registry.yaml")).unwrap();
    assert_eq!(registry.matches("sha256").count(), 1, "{registry}");
    desk.good("profile --url mock: --streaming --request-count 4 --metric acme_latency --ui none --artifact-dir out");
    assert!(summary(desk)["acme_latency_time_per_token"]["avg"].as_f64().is_some());
    let removed = json(&desk.good("plugins remove acme-latency --output json"));
    assert_eq!(removed["folder"], installed["folder"]);
    assert_eq!(removed["packages"], installed["packages"]);
    assert!(!folder.exists());
    fs::rename(&away, package).unwrap();
}

#[test]
fn from_nothing_to_a_metric_in_a_run_and_back() {
    let desk = Desk::new("journey");
    let told = desk.good("plugins new metric acme-latency");
    assert!(told.contains("aiperf plugins test registry.yaml"), "{told}");
    let package = desk.path("work/acme-latency");
    // The versions of the examples, so that nothing has to be asked of a registry.
    let example = root().join("examples/vendor-inference");
    cargo(&example, &["fetch", "--quiet", "--locked"]);
    fs::copy(example.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();

    let unbuilt = desk.bad("plugins test acme-latency", 3);
    for part in [
        "metric/acme_latency",
        "package acme-latency",
        "libacme_latency",
        "next: ",
    ] {
        assert!(unbuilt.contains(part), "no {part}: {unbuilt}");
    }
    build(&package, "acme_latency");
    let tested = desk.good("plugins test acme-latency/registry.yaml");
    assert!(
        tested.contains("metric.shape") && tested.ends_with("The entry conforms.\n"),
        "{tested}"
    );
    let tested: Value = serde_json::from_str(&desk.good("plugins test acme-latency --output json")).unwrap();
    assert_eq!(tested[0]["passed"], true);
    assert_eq!(tested[0]["report"]["package"], "acme-latency");
    assert!(desk.good("plugins bench acme-latency").contains(" ns  "));

    let installed = desk.good("plugins install acme-latency");
    assert!(installed.contains("unsandboxed"), "{installed}");
    let folder = desk.path("home/.local/share/aiperf/plugins/acme-latency");
    let registry = fs::read_to_string(folder.join("registry.yaml")).unwrap();
    assert_eq!(registry.matches("sha256").count(), 1, "for this platform: {registry}");
    assert!(desk.bad("plugins install acme-latency", 1).contains("--force"));
    desk.good("plugins install acme-latency --force");
    assert!(
        desk.good("plugins which metric acme_latency")
            .contains("is that of package acme-latency")
    );
    assert!(desk.good("plugins info acme-latency").contains("metric/acme_latency"));
    assert!(desk.good("plugins validate").contains("(OK)   acme-latency"));

    desk.good("profile --url mock: --streaming --request-count 4 --metric acme_latency --ui none --artifact-dir out");
    let value = summary(&desk)["acme_latency_time_per_token"]["avg"].as_f64();
    assert!(value.is_some_and(|value| value > 0.0), "{value:?}");

    assert!(
        desk.good("plugins remove acme-latency")
            .contains("Removed acme-latency 0.1.0")
    );
    assert!(!folder.exists());
    assert!(
        desk.bad("plugins remove acme-latency", 1)
            .contains("nothing is installed")
    );
    desk.bad("plugins which metric acme_latency", 1);
    as_one_file(&desk, &package);

    // A library that takes its process with it is named, with the case.
    let source = package.join("src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    let head = "fn describe(&self) -> Result<MetricFamily> {\n";
    assert!(text.contains(head));
    fs::write(
        &source,
        text.replace(head, &format!("{head}        std::process::abort();\n")),
    )
    .unwrap();
    build(&package, "acme_latency");
    let crashed = desk.bad("plugins test acme-latency", 3);
    for part in [
        "signal: 6",
        "in case: every.instances",
        "next: aiperf plugins test ",
        "1 of 1 entries do not conform",
    ] {
        assert!(crashed.contains(part), "no {part}: {crashed}");
    }
}

#[test]
fn there_is_a_template_for_each_category() {
    let desk = Desk::new("templates");
    for category in CATEGORIES {
        let name = format!("acme-{}", category.replace('_', "-"));
        let entry = name.replace('-', "_");
        let told = json(&desk.good(&format!("plugins new {category} {name} --dir made --output json")));
        assert_eq!(told["entry"], format!("{category}/{entry}"));
        assert_eq!(told["package"], format!("made/{name}"));
        let folder = desk.path("work/made").join(&name);
        let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert!(
            source.contains(&format!("const NAME: &'static str = \"{name}\"")),
            "{source}"
        );
        // The registry file is one that the binary can read.
        let listed = desk.good(&format!(
            "plugins {category} {entry} --plugin-registry made/{name}/registry.yaml"
        ));
        assert!(listed.contains(&name), "{listed}");
        // Its schema has the option that the source has, and refuses others before anything is loaded.
        let option = source
            .split_once(&format!("--plugin-opt {category}/{entry}."))
            .and_then(|(_, rest)| rest.split_once('='))
            .map(|(option, _)| option)
            .unwrap();
        let info = desk.good(&format!(
            "plugins info {entry} --plugin-registry made/{name}/registry.yaml"
        ));
        assert!(info.contains(option), "no {option}: {info}");
        let mistyped = desk.bad(
            &format!(
                "profile --url mock: --ui none --plugin-registry made/{name}/registry.yaml --plugin-opt {category}/{entry}.x{option}=1"
            ),
            1,
        );
        assert!(mistyped.contains(&format!("x{option}")), "{mistyped}");
    }
    let again = desk.bad("plugins new metric acme-metric --dir made", 1);
    assert!(again.contains("is there already"), "{again}");
    let python = desk.bad("plugins new timing other --lang python", 1);
    assert!(
        python.contains("no template for timing in python") && python.contains("endpoint and metric"),
        "{python}"
    );
}

#[test]
fn built_in_packages_conform() {
    let desk = Desk::new("built_in");
    let told = desk.good("plugins test aiperf-endpoints --entry endpoint/chat --seed 7");
    assert!(
        told.contains("(seed 7)") && told.contains("The entry conforms."),
        "{told}"
    );
    let told = desk.bad("plugins test aiperf-endpoints --entry endpoint/nobody", 1);
    assert!(told.contains("endpoint/chat"), "{told}");
    assert!(
        desk.bad("plugins test aiperf-endpoint", 1)
            .contains("did you mean aiperf-endpoints?")
    );
    assert!(
        desk.bad("plugins test aiperf-endpoints --case nonsense", 1)
            .contains("no case")
    );
}

#[test]
fn pack_writes_digests_and_a_wrong_one_is_refused() {
    let desk = Desk::new("pack");
    desk.good("plugins new exporter acme-report");
    let package = desk.path("work/acme-report");
    fs::create_dir_all(package.join("target/release")).unwrap();
    let file = format!("{}acme_report{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let library = package.join("target/release").join(file);
    fs::write(&library, "not a library").unwrap();
    let registry = fs::read_to_string(package.join("registry.yaml")).unwrap();
    let packed: Value = serde_json::from_str(&desk.good("plugins pack acme-report --output json")).unwrap();
    assert_eq!(packed["archive"], "acme-report-0.1.0.tar.gz");
    assert_eq!(
        fs::read_to_string(package.join("registry.yaml")).unwrap(),
        registry,
        "the digests are in the archive alone"
    );
    desk.good("plugins pack acme-report --in-place");
    assert!(
        desk.good("plugins pack acme-report --in-place")
            .contains("has its digest")
    );
    let refused = desk.bad("plugins install acme-report", 3);
    assert!(
        refused.contains("was not installed") && refused.contains("not a shared library"),
        "{refused}"
    );
    fs::write(&library, "another").unwrap();
    let refused = desk.bad("plugins install acme-report", 3);
    assert!(
        refused.contains("SHA-256") && refused.contains("likely cause"),
        "{refused}"
    );
    assert!(!desk.path("home/.local/share/aiperf/plugins/acme-report").exists());
}

#[test]
fn a_name_that_several_claim_is_explained() {
    let desk = Desk::new("names");
    for package in ["acme", "apex"] {
        let text = format!(
            "schema_version: \"1.0\"\npackages:\n  {package}: {{ version: 1.0.0, api: \">=1.0\", library: a.so }}\n\
             endpoint:\n  chat: {{ package: {package} }}\n  own_{package}: {{ package: {package} }}\n"
        );
        fs::write(desk.path("work").join(format!("{package}.yaml")), text).unwrap();
    }
    let both = "--plugin-registry acme.yaml --plugin-registry apex.yaml";
    let tied = desk.bad(&format!("plugins which endpoint chat {both}"), 1);
    assert!(
        tied.contains("endpoint/chat is nobody's") && tied.contains("TIED"),
        "{tied}"
    );
    let one = desk.good("plugins which endpoint chat --plugin-registry acme.yaml --output json");
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["winner"], "acme");
    assert_eq!(one["claims"].as_array().unwrap().len(), 2);
    assert!(one["why"].as_str().unwrap().contains("beats a built-in one"), "{one}");
    assert!(
        desk.good("plugins which metric goodput")
            .contains("nobody else claims the name")
    );

    let package = desk.good(&format!("plugins info apex {both}"));
    assert!(
        package.starts_with("apex 1.0.0\n") && package.contains("endpoint/own_apex"),
        "{package}"
    );
    let entry = desk.good(&format!("plugins info own_acme {both}"));
    assert!(entry.starts_with("endpoint/own_acme\n"), "{entry}");
    assert!(
        desk.bad("plugins info nothing_of_the_kind", 1)
            .contains("no package or entry")
    );

    // Only the packages of the file that is named, and a library that is not there.
    let failed = desk.bad("plugins validate acme.yaml", 3);
    assert!(
        failed.contains("(FAIL) acme 1.0.0") && !failed.contains("aiperf-metrics"),
        "{failed}"
    );
    assert_eq!(desk.good("plugins list"), desk.good("plugins"));
    assert_eq!(desk.good("plugins list endpoint"), desk.good("plugins endpoint"));
    let schema = json(&desk.good("plugins schema --output json"));
    assert_eq!(schema, json(&desk.good("plugins schema")));
    assert_eq!(schema["title"], "aiperf plugin registry");
    assert!(desk.bad("plugins instal x", 1).contains("did you mean install?"));
}
