use super::super::MetricShare;
use super::*;
use crate::registry::Source;
use std::path::PathBuf;

/// One file of one package: `category/name[@priority][ alias=a][ tags=x,y]` entries separated by `;`.
fn file(package: &str, source: Source, entries: &str) -> RegistryFile {
    let form = if source.is_builtin() {
        "bundled: true"
    } else {
        "library: a.so"
    };
    let mut text =
        format!("schema_version: \"1.0\"\npackages:\n  {package}: {{ version: 1.0.0, api: \">=1\", {form} }}\n");
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    for entry in entries.split(';').map(str::trim).filter(|entry| !entry.is_empty()) {
        let mut words = entry.split(' ');
        let (role, name) = words.next().unwrap().split_once('/').unwrap();
        let (name, priority) = name.split_once('@').unwrap_or((name, "0"));
        let mut fields = format!("package: {package}, priority: {priority}");
        for word in words {
            match word.split_once('=').unwrap() {
                ("alias", alias) => fields.push_str(&format!(", aliases: [{alias}]")),
                ("tags", tags) => fields.push_str(&format!(", metadata: {{ tags: [{tags}] }}")),
                other => panic!("{other:?}"),
            }
        }
        sections
            .entry(role)
            .or_default()
            .push_str(&format!("  {name}: {{ {fields} }}\n"));
    }
    for (role, lines) in sections {
        text.push_str(&format!("{role}:\n{lines}"));
    }
    RegistryFile::parse(&text, source).unwrap()
}

fn builtin(entries: &str) -> RegistryFile {
    file("core", Source::BuiltIn, entries)
}

fn named(package: &str, entries: &str) -> RegistryFile {
    file(
        package,
        Source::CommandLine(PathBuf::from(format!("/{package}.yaml"))),
        entries,
    )
}

fn pins(texts: &[&str]) -> Vec<Pin> {
    texts.iter().map(|text| Pin::parse(text).unwrap()).collect()
}

/// `package/entry` of what answers to the name, or the error.
fn found(resolution: &Resolution, role: Role, name: &str) -> Result<String, String> {
    let claim = resolution.find(role, name).map_err(|error| error.to_string())?;
    let entry = resolution.entry(claim);
    Ok(format!("{}/{}", entry.package, entry.name))
}

#[test]
fn precedence() {
    const TIE: &str = "error";
    // built-in entries, entries of package `a`, entries of package `b`, pin, who answers to endpoint `chat`
    let table: &[(&str, &str, &str, &[&str], &str)] = &[
        ("endpoint/chat", "", "", &[], "core/chat"),
        ("endpoint/chat", "endpoint/Chat", "", &[], "a/Chat"),
        ("endpoint/chat@1", "endpoint/chat", "", &[], "core/chat"),
        ("endpoint/chat", "endpoint/chat@-1", "", &[], "core/chat"),
        ("endpoint/chat", "endpoint/chat", "endpoint/chat", &[], TIE),
        ("endpoint/chat", "endpoint/chat@1", "endpoint/chat", &[], "a/chat"),
        (
            "endpoint/chat",
            "endpoint/chat@-1",
            "endpoint/chat@-1",
            &[],
            "core/chat",
        ),
        ("endpoint/chat@5", "endpoint/chat@5", "endpoint/chat@5", &[], TIE),
        (
            "endpoint/chat",
            "endpoint/chat",
            "endpoint/chat",
            &["endpoint/chat=b"],
            "b/chat",
        ),
        (
            "endpoint/chat",
            "endpoint/chat@9",
            "",
            &["endpoint/CHAT=core"],
            "core/chat",
        ),
        (
            "endpoint/chat",
            "endpoint/chat alias=c",
            "endpoint/chat",
            &["endpoint/c=b"],
            "b/chat",
        ),
        ("endpoint/chat", "dataset/chat@9", "", &[], "core/chat"),
    ];
    for (core, a, b, pinned, expected) in table {
        let files = vec![builtin(core), named("a", a), named("b", b)];
        let resolution = resolve(files, pins(pinned)).unwrap();
        let answer = found(&resolution, Role::Endpoint, "chat");
        if *expected == TIE {
            assert_eq!(
                answer.unwrap_err(),
                format!(
                    "endpoint/chat is claimed with equal priority by `chat` of package a (priority {0}, /a.yaml:5) and \
                     by `chat` of package b (priority {0}, /b.yaml:5); give one of them a higher `priority:` in its \
                     registry file, or choose with --plugin endpoint/chat=a",
                    if core.contains("@5") { 5 } else { 0 }
                )
            );
        } else {
            assert_eq!(answer.as_deref(), Ok(*expected), "{core} | {a} | {b} | {pinned:?}");
        }
    }
}

#[test]
fn the_order_of_files_does_not_matter() {
    let (a, b) = ("endpoint/chat@1; endpoint/x", "endpoint/chat; endpoint/x");
    for swapped in [false, true] {
        let mut files = vec![builtin("endpoint/chat"), named("a", a), named("b", b)];
        if swapped {
            files.swap(1, 2);
        }
        let resolution = resolve(files, Vec::new()).unwrap();
        assert_eq!(found(&resolution, Role::Endpoint, "chat").unwrap(), "a/chat");
        assert!(
            found(&resolution, Role::Endpoint, "x")
                .unwrap_err()
                .contains("equal priority")
        );
    }
}

#[test]
fn verdicts_say_why() {
    let files = vec![
        builtin("endpoint/chat"),
        named("a", "endpoint/chat"),
        named("b", "endpoint/chat@-3"),
        file("a", Source::Installed(PathBuf::from("/old.yaml")), "endpoint/chat@7"),
    ];
    let verdicts = |pinned: &[&str]| {
        let resolution = resolve(files.clone(), pins(pinned)).unwrap();
        let contest = resolution
            .contest(Role::Endpoint, &Name::parse("chat").unwrap())
            .unwrap();
        let line = |(claim, verdict): &(EntryRef, _)| format!("{} {verdict}", resolution.file(*claim).source);
        contest.claims().iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        verdicts(&[]),
        [
            "/a.yaml won",
            "built-in registry shadowed: at equal priority an external entry beats a built-in one",
            "/b.yaml shadowed: priority -3 is below 0",
            "/old.yaml shadowed: /a.yaml declares the same package",
        ]
    );
    assert_eq!(
        verdicts(&["endpoint/chat=b"]),
        [
            "/b.yaml won",
            "built-in registry shadowed: --plugin gives the name to package b",
            "/a.yaml shadowed: --plugin gives the name to package b",
            "/old.yaml shadowed: /a.yaml declares the same package",
        ]
    );
}

#[test]
fn aliases() {
    let files = vec![
        builtin("endpoint/chat alias=openai; endpoint/responses; dataset/mooncake_trace"),
        named(
            "a",
            "endpoint/chat; endpoint/acme-chat alias=ACME; endpoint/other alias=responses",
        ),
        named("b", "endpoint/beta alias=acme"),
    ];
    let resolution = resolve(files, Vec::new()).unwrap();
    let find = |name| found(&resolution, Role::Endpoint, name);
    assert_eq!(
        find("openai").unwrap(),
        "a/chat",
        "an alias leads to the name, the name to the winner"
    );
    assert_eq!(find("Acme_Chat").unwrap(), "a/acme-chat");
    assert_eq!(
        found(&resolution, Role::Dataset, "MOONCAKE-trace").unwrap(),
        "core/mooncake_trace"
    );
    assert_eq!(
        find("acme").unwrap_err(),
        "endpoint/acme may mean `acme-chat` of package a (priority 0, /a.yaml:6) or `beta` of package b (priority 0, \
         /b.yaml:5); use the entry's own name"
    );
    assert!(
        find("responses")
            .unwrap_err()
            .starts_with("endpoint/responses may mean `other` of package a")
    );
}

#[test]
fn unknown_names_come_with_hints() {
    let files = vec![
        builtin("endpoint/chat; ramp/linear"),
        named("acme-inference", "endpoint/acme_chat alias=acme"),
    ];
    let resolution = resolve(files, Vec::new()).unwrap();
    let table = [
        (
            Role::Endpoint,
            "chatt",
            "no endpoint plugin is named `chatt`; did you mean chat?",
        ),
        (
            Role::Timing,
            "linear",
            "no timing plugin is named `linear`; package core brings ramp/linear",
        ),
        (
            Role::Endpoint,
            "Acme-Inference",
            "no endpoint plugin is named `Acme-Inference`; did you mean acme?; package Acme-Inference brings acme_chat",
        ),
        (
            Role::Exporter,
            "zzz",
            "no exporter plugin is named `zzz`; `aiperf plugins --all` lists the names, --plugin-registry FILE adds more",
        ),
        (
            Role::Dataset,
            "a b",
            "no dataset plugin is named `a b`; `aiperf plugins",
        ),
    ];
    for (role, name, expected) in table {
        let error = found(&resolution, role, name).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn pins_must_take_effect() {
    let files = vec![
        builtin("endpoint/chat; metric/latency tags=ttft"),
        named("a", "endpoint/chat; endpoint/other"),
    ];
    let table: &[(&[&str], &str)] = &[
        (
            &["endpoint/chat=nobody"],
            "--plugin endpoint/chat=nobody: package nobody brings no such entry; it is brought by: a, core",
        ),
        (
            &["endpoint/other=core"],
            "--plugin endpoint/other=core: package core brings no such entry; it is brought by: a",
        ),
        (
            &["endpoint/none=a"],
            "--plugin endpoint/none=a: package a brings no such entry; no package does: ",
        ),
        (
            &["metric/ttft=a"],
            "--plugin metric/ttft=a: package a brings no such entry; it is brought by: core",
        ),
        (
            &["endpoint/chat=a", "endpoint/Chat=core"],
            "--plugin endpoint/chat=a and --plugin endpoint/Chat=core contradict each other; keep one",
        ),
    ];
    for (pinned, expected) in table {
        let error = resolve(files.clone(), pins(pinned)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert!(resolve(files, pins(&["endpoint/chat=a", "endpoint/chat=A"])).is_ok());
    for text in [
        "",
        "chat=a",
        "endpoint/chat",
        "endpoint/=a",
        "endpoint/chat=",
        "transport/http=a",
        "endpoint/a b=c",
    ] {
        let error = Pin::parse(text).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("--plugin {text}: not of the form category/name=package")),
            "{error}"
        );
    }
    assert_eq!(
        Pin::parse("gpu-telemetry-collector/dcgm=x").unwrap().to_string(),
        "gpu_collector/dcgm=x"
    );
}

#[test]
fn metrics_are_decided_by_tag() {
    let files = || {
        vec![
            builtin("metric/latency tags=ttft,itl,e2e; metric/tokens tags=isl,osl"),
            named("a", "metric/latency tags=itl; metric/fast@1 tags=TTFT,own"),
            named("b", "metric/slow@-1 tags=osl,ttft; metric/rival tags=itl"),
        ]
    };
    let shares = |named: &[&str], pinned: &[&str]| -> Result<Vec<String>, String> {
        let resolution = resolve(files(), pins(pinned)).unwrap();
        let shares = resolution.metrics(named).map_err(|error| error.to_string())?;
        let line = |share: &MetricShare| {
            let tags: Vec<&str> = share.tags.iter().map(Name::as_str).collect();
            let entry = resolution.entry(share.entry);
            format!("{}/{}: {}", entry.package, entry.name, tags.join(" "))
        };
        Ok(shares.iter().map(line).collect())
    };
    let core = ["core/latency: ttft itl e2e", "core/tokens: isl osl"];
    assert_eq!(shares(&[], &[]).unwrap(), core, "external metrics run only when named");
    assert_eq!(
        shares(&["fast"], &[]).unwrap(),
        ["core/latency: itl e2e", core[1], "a/fast: TTFT own"]
    );
    assert_eq!(
        shares(&["own"], &[]).unwrap(),
        ["core/latency: itl e2e", core[1], "a/fast: TTFT own"],
        "by tag"
    );
    assert_eq!(
        shares(&["latency"], &[]).unwrap(),
        ["core/latency: ttft e2e", core[1], "a/latency: itl"]
    );
    assert_eq!(
        shares(&["slow"], &[]).unwrap(),
        [core[0], core[1], "b/slow: "],
        "lower priority loses each tag"
    );
    assert!(shares(&["latency", "rival"], &[]).unwrap_err().starts_with(
        "metric/itl is claimed with equal priority by `latency` of package a (priority 0, /a.yaml:5) and by \
             `rival` of package b"
    ));
    let expected = ["core/latency: ttft e2e", core[1], "a/latency: ", "b/rival: itl"];
    assert_eq!(shares(&["latency", "rival"], &["metric/itl=b"]).unwrap(), expected);
    assert_eq!(
        shares(&[], &["metric/itl=b"]).unwrap(),
        [expected[0], core[1], "b/rival: itl"],
        "a pin names it"
    );
    let expected = ["core/latency: itl e2e", "core/tokens: isl", "b/slow: osl ttft"];
    assert_eq!(
        shares(&[], &["metric/slow=b"]).unwrap(),
        expected,
        "a pinned family wins its tags"
    );
    assert!(
        shares(&["nothing"], &[])
            .unwrap_err()
            .starts_with("no metric plugin is named `nothing`")
    );
}
