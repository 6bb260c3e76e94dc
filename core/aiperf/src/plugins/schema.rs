//! `aiperf plugins schema`: JSON Schema of registry files.

use std::ffi::OsString;

use aiperf_config::ExitCode;
use clap::Command;

use super::arguments::{Words, output_argument};
use crate::{failure::Failure, stdout};

/// The schema.
const SCHEMA: &str = include_str!("registry.schema.json");

/// Prints it.
///
/// # Errors
/// When standard output can't be written.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let command = Command::new("aiperf plugins schema").about(
        "JSON Schema of registry files. An editor with a YAML language server uses it from a first line:\n\
         # yaml-language-server: $schema=registry.schema.json",
    );
    // It is JSON in any case; the flag is taken so that it can stand in every command.
    let command = command.arg(output_argument());
    match Words::read(command, arguments)? {
        Words::Help(text) => stdout::print(&text)?,
        Words::For(_) => stdout::print(SCHEMA)?,
    }
    Ok(ExitCode::Ok)
}

#[cfg(test)]
mod tests {
    use aiperf_host::{
        Role,
        registry::{RegistryFile, Source},
    };
    use serde_json::{Value, json};

    use super::*;
    use crate::bundled;

    fn schema() -> Value {
        serde_json::from_str(SCHEMA).unwrap()
    }

    /// What of `value` the schema does not allow: keys, required keys, and types.
    fn faults(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let target = schema["$ref"]
            .as_str()
            .map(|name| &root["$defs"][name.rsplit('/').next().unwrap()]);
        let schema = target.unwrap_or(schema);
        let ways = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].as_array());
        if let Some(ways) = ways.filter(|ways| ways.iter().any(|way| way["type"].is_string())) {
            let fits = ways.iter().any(|way| {
                let mut inner = Vec::new();
                faults(root, way, value, path, &mut inner);
                inner.is_empty()
            });
            if !fits {
                found.push(format!("{path}: fits no form"));
            }
            return;
        }
        let kind = schema["type"].as_str();
        let typed = match kind {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64(),
            Some("boolean") => value.is_boolean(),
            _ => true,
        };
        if !typed {
            found.push(format!("{path}: is no {}", kind.unwrap()));
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            if value.get(key.as_str().unwrap()).is_none() {
                found.push(format!("{path}: lacks {key}"));
            }
        }
        for (key, inner) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            match (&schema["properties"][key.as_str()], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => found.push(format!("{path}: unknown")),
                (Value::Null, Value::Null) => {}
                (Value::Null, additional) => faults(root, additional, inner, &path, found),
                (known, _) => faults(root, known, inner, &path, found),
            }
        }
        for inner in value.as_array().into_iter().flatten() {
            faults(root, &schema["items"], inner, path, found);
        }
    }

    fn check(value: &Value) -> Vec<String> {
        let (schema, mut found) = (schema(), Vec::new());
        faults(&schema, &schema, value, "", &mut found);
        found
    }

    #[test]
    fn the_built_in_registry_fits() {
        let value: Value = serde_yaml::from_str(bundled::REGISTRY).unwrap();
        assert_eq!(check(&value), Vec::<String>::new());
    }

    #[test]
    fn every_category_is_in_it_and_a_stranger_is_not() {
        let schema = schema();
        for role in Role::ALL {
            assert!(schema["properties"][role.as_str()].is_object(), "{role}");
        }
        let wrong =
            json!({"schema_version": "1.0", "packages": {"a": {"api": ">=1.0", "versions": "1"}}, "gadget": {}});
        let faults = check(&wrong);
        for part in ["gadget", "versions", "lacks \"version\""] {
            assert!(faults.iter().any(|fault| fault.contains(part)), "no {part}: {faults:?}");
        }
    }

    /// Each key of the schema is one that the reader knows.
    #[test]
    fn the_reader_knows_every_key() {
        let schema = schema();
        let keys = |name: &str| -> Vec<String> {
            schema["$defs"][name]["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        let problem = |text: String| {
            RegistryFile::parse(&text, Source::CommandLine("r.yaml".into()))
                .err()
                .map_or(String::new(), |error| error.problem)
        };
        for key in keys("package") {
            let text = format!("schema_version: \"1.0\"\npackages: {{ a: {{ {key}: ~ }} }}\n");
            assert_ne!(problem(text), "unknown key", "{key}");
        }
        for key in keys("entry") {
            let text = format!("schema_version: \"1.0\"\nendpoint: {{ a: {{ {key}: ~ }} }}\n");
            assert_ne!(problem(text), "unknown key", "{key}");
        }
    }
}
