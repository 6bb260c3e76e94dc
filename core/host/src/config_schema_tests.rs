use super::*;
use crate::registry::Source;
use serde_json::json;

/// A folder with a registry file whose package has the schema, as a file or (where `inline` is not empty) in place.
fn package(schema: &str, inline: &str) -> (tempfile::TempDir, RegistryFile) {
    let folder = tempfile::tempdir().unwrap();
    let declared = if inline.is_empty() { "schema.json" } else { inline };
    fs::write(folder.path().join("schema.json"), schema).unwrap();
    let text = format!(
        "schema_version: \"1.0\"\npackages:\n  acme:\n    version: 1.0.0\n    api: \">=1\"\n    library: a.so\n    config_schema: \
         {declared}\nendpoint:\n  acme-chat: {{ package: acme, aliases: [ac] }}\ntiming:\n  even: {{ package: acme, metadata: {{ kind: \
         arrival }} }}\n"
    );
    let file = RegistryFile::parse(&text, Source::CommandLine(folder.path().join("registry.yaml"))).unwrap();
    (folder, file)
}

const SCHEMA: &str = r##"{
  "properties": {
    "endpoint/acme_chat": {
      "required": ["region"],
      "additionalProperties": false,
      "properties": {
        "max_retries": { "type": "integer", "minimum": 0, "maximum": 10, "default": 3, "description": "Attempts." },
        "region": { "enum": ["eu", "us"], "examples": ["eu"] },
        "limits": { "type": "object", "properties": { "tokens": { "type": "integer" } } },
        "share": { "$ref": "#/$defs/share", "default": 0.5 }
      }
    }
  },
  "$defs": { "share": { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "Between 0 and 1." } }
}"##;

fn judged(options: Value) -> Result<(), (String, String)> {
    let (_folder, file) = package(SCHEMA, "");
    let schema = ConfigSchema::of(&file, &file.packages()[0]).unwrap().unwrap();
    schema
        .check(&file.entries()[0], options.as_object().unwrap())
        .map_err(|complaint| {
            assert!(complaint.schema.ends_with("schema.json"), "{}", complaint.schema);
            (complaint.option, complaint.problem)
        })
}

#[test]
fn options_are_judged_and_the_wrong_one_is_named() {
    assert_eq!(judged(json!({"region": "eu", "max_retries": 10, "share": 1})), Ok(()));
    for (options, option, problem) in [
        (
            json!({"region": "eu", "max_retries": 12}),
            "max_retries",
            "12 is greater than the maximum of 10",
        ),
        (
            json!({"region": "eu", "max_retries": "12"}),
            "max_retries",
            "\"12\" is not of type \"integer\"",
        ),
        (
            json!({"region": "eu", "share": 0}),
            "share",
            "0 is less than or equal to the minimum of 0",
        ),
        (
            json!({"region": "eu", "limits": {"tokens": 1.5}}),
            "limits.tokens",
            "1.5 is not of type \"integer\"",
        ),
        (
            json!({"max_retries": 1}),
            "region",
            "the package needs it, and it is not given",
        ),
        (
            json!({"region": "eu", "max_retry": 1}),
            "max_retry",
            "there is no such option; there are: max_retries, region, limits, share",
        ),
    ] {
        let expected = Err((option.to_owned(), problem.to_owned()));
        assert_eq!(judged(options.clone()), expected, "{options}");
    }
}

#[test]
fn an_entry_that_is_not_listed_checks_itself() {
    let (_folder, file) = package(SCHEMA, "");
    let schema = ConfigSchema::of(&file, &file.packages()[0]).unwrap().unwrap();
    let any = json!({"whatever": [1]});
    assert_eq!(schema.check(&file.entries()[1], any.as_object().unwrap()), Ok(()));
    assert!(schema.options(&file.entries()[1]).is_empty());
}

#[test]
fn what_is_shown_of_options() {
    let (_folder, file) = package(SCHEMA, "");
    let schema = ConfigSchema::of(&file, &file.packages()[0]).unwrap().unwrap();
    let shown: Vec<_> = schema
        .options(&file.entries()[0])
        .iter()
        .map(|one| {
            (
                one.name.as_str(),
                one.kind.as_str(),
                one.default.clone(),
                one.description.as_str(),
                one.required,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("max_retries", "integer >= 0 <= 10", Some(json!(3)), "Attempts.", false),
            ("region", "eu | us", None, "", true),
            ("limits", "object", None, "", false),
            ("share", "number > 0 <= 1", Some(json!(0.5)), "Between 0 and 1.", false),
        ]
    );
}

#[test]
fn a_schema_may_stand_in_the_registry_file() {
    let inline = "{ properties: { arrival_pattern/even: { properties: { gap: { type: number } } } } }";
    let (_folder, file) = package("", inline);
    let schema = ConfigSchema::of(&file, &file.packages()[0]).unwrap().unwrap();
    let complaint = schema
        .check(&file.entries()[1], json!({"gap": "wide"}).as_object().unwrap())
        .unwrap_err();
    assert_eq!(complaint.option, "gap");
    assert!(complaint.schema.ends_with("registry.yaml:7:20"), "{}", complaint.schema);
}

/// Each with the file and place of the word that is wrong.
#[test]
fn a_broken_schema_is_named_with_its_place() {
    let table = [
        ("{", "", "schema.json:1:"),
        (
            "{\"a\": 1,\n \"a\": 2}",
            "",
            "schema.json:2:2: the key `a` stands here for the second time; correct the JSON",
        ),
        (
            "{\"type\": \"object\"}",
            "",
            "schema.json:1:1: the schema lists no entry; list entries under `properties:`",
        ),
        (
            "{\"properties\": {\n  \"endpoint/other\": {}}}",
            "",
            "schema.json:2:21: properties.endpoint/other: the package has no such entry; its entries are: endpoint/acme-chat, \
             arrival_pattern/even",
        ),
        (
            "{\"properties\": {\"endpoint/acme_chat\": {\n  \"type\": \"objekt\"}}}",
            "",
            "schema.json:2:11: properties.endpoint/acme_chat.type: not a valid JSON Schema: ",
        ),
        (
            "{\"properties\": {\"endpoint/acme_chat\": {\n \"properties\": {\"a\": {\"$ref\": \"other.json#/a\"}}}}}",
            "",
            "schema.json:2:31: $ref: `other.json#/a` leads out of the schema, and nothing else is read; copy it under `$defs`",
        ),
        (
            "{\"properties\": {\"endpoint/acme_chat\": {\n \"properties\": {\"a\": {\"$ref\": \"#/$defs/none\"}}}}}",
            "",
            "schema.json:1:1: not a valid JSON Schema: ",
        ),
        (
            "{\"properties\": {\"endpoint/acme_chat\": {\"properties\": {\n \"a\": {\"type\": \"integer\", \"default\": \"x\"}}}}}",
            "",
            "schema.json:2:38: properties.endpoint/acme_chat.properties.a.default: the schema refuses its own value: \"x\" is not of \
             type \"integer\"; correct one of them",
        ),
        (
            "{\"properties\": {\"endpoint/acme_chat\": {\"properties\": {\n \"a\": {\"maximum\": 3, \"examples\": [1, 4]}}}}}",
            "",
            "schema.json:2:38: properties.endpoint/acme_chat.properties.a.examples.1: the schema refuses its own value: 4 is",
        ),
        (
            "",
            "{ properties: { endpoint/acme_chat: { type: 5 } } }",
            "registry.yaml:7:64: packages.acme.config_schema.properties.endpoint/acme_chat.type: not a valid JSON Schema: ",
        ),
        ("", "none.json", "registry.yaml:7:20: packages.acme.config_schema: "),
    ];
    for (schema, inline, expected) in table {
        let (folder, file) = package(schema, inline);
        let error = ConfigSchema::of(&file, &file.packages()[0]).unwrap_err().to_string();
        let expected = format!("{}/{expected}", folder.path().display());
        assert!(error.starts_with(&expected), "\n  found {error}\nexpected {expected}");
    }
}

#[cfg(unix)]
#[test]
fn a_schema_outside_of_the_folder_is_not_read() {
    let (folder, file) = package(SCHEMA, "");
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("s.json"), SCHEMA).unwrap();
    fs::remove_file(folder.path().join("schema.json")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("s.json"), folder.path().join("schema.json")).unwrap();
    let error = ConfigSchema::of(&file, &file.packages()[0]).unwrap_err();
    assert!(error.problem.contains("lies outside the folder"), "{error}");
}
