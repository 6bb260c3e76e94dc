//! What a component says about itself, read from its bytes. Nothing is compiled and nothing runs.

use super::compiler::{Compiler, Task};
use crate::load::LoadCause;
use aiperf_plugin_api::Category;
use aiperf_plugin_api::record::{API, ApiVersion, SECTION, VersionInfo, VersionRecord};
use wasmparser::{Parser, Payload};

/// Interfaces of the core that a component may import.
const SERVICES: [&str; 5] = ["types", "host", "http", "secrets", "source"];

/// Whether a `.wasm` file is a component as it is.
pub(super) fn is_component(bytes: &[u8]) -> bool {
    Parser::is_component(bytes)
}

/// The component in a `.wasm` file: as it is, or made from a core module that carries the WIT metadata of the SDK, which is
/// what a compiler without knowledge of components gives. The same module gives the same component.
///
/// # Errors
/// The bytes are neither.
pub fn component(bytes: Vec<u8>, compiler: &Compiler) -> Result<Vec<u8>, LoadCause> {
    if is_component(&bytes) {
        return Ok(bytes);
    }
    if !Parser::is_core_wasm(&bytes) {
        return Err(LoadCause::NotAComponent {
            found: crate::load::kind(&bytes).to_owned(),
        });
    }
    compiler
        .perform(Task::Compose, &bytes)
        .map_err(|problem| LoadCause::NotAComponent {
            found: format!("a core module that cannot be made a component: {problem}"),
        })
}

/// The versions, the categories and the demands of a component.
///
/// # Errors
/// The bytes are no component of this contract, or one that wants something that no component gets.
pub fn component_info(component: &[u8]) -> Result<VersionInfo, LoadCause> {
    let Surface {
        imports,
        exports,
        record,
    } = surface(component).map_err(|error| LoadCause::Damaged {
        detail: error.to_string(),
    })?;
    let provided: Vec<(&str, ApiVersion)> = exports.iter().filter_map(|name| ours(name)).collect();
    let Some(api) = provided.iter().map(|(_, version)| *version).max() else {
        return Err(LoadCause::NoInterface);
    };
    if api.major != API.major {
        return Err(LoadCause::ApiMajor { plugin: api, host: API });
    }
    if !provided.iter().any(|(interface, _)| *interface == "manifest") {
        return Err(LoadCause::Link {
            message: "it exports no interface `manifest`".to_owned(),
        });
    }
    let foreign: Vec<String> = imports
        .iter()
        .filter(|name| !ours(name).is_some_and(|(interface, _)| SERVICES.contains(&interface)))
        .cloned()
        .collect();
    if !foreign.is_empty() {
        return Err(LoadCause::Demands { imports: foreign });
    }
    let categories = Category::ALL
        .iter()
        .filter(|category| {
            let name = category.name().replace('_', "-");
            provided.iter().any(|(interface, _)| *interface == name)
        })
        .fold(0, |bits, category| bits | 1 << category.code());
    // What the interfaces say holds; the record adds who built it.
    let built = record.unwrap_or_else(|| VersionInfo {
        api,
        unwinds: true,
        categories,
        rustc: String::new(),
        package: String::new(),
        version: String::new(),
    });
    Ok(VersionInfo {
        api,
        categories,
        // A panic ends the instance and nothing else.
        unwinds: true,
        ..built
    })
}

/// Interface and version of a name of the contract's WIT package.
fn ours(name: &str) -> Option<(&str, ApiVersion)> {
    let (interface, version) = name.strip_prefix("aiperf:plugin/")?.split_once('@')?;
    let version = semver::Version::parse(version).ok()?;
    let api = ApiVersion {
        major: u16::try_from(version.major).ok()?,
        minor: u16::try_from(version.minor).ok()?,
    };
    Some((interface, api))
}

/// What shows of a component from outside.
struct Surface {
    imports: Vec<String>,
    exports: Vec<String>,
    record: Option<VersionInfo>,
}

fn surface(component: &[u8]) -> wasmparser::Result<Surface> {
    let mut surface = Surface {
        imports: Vec::new(),
        exports: Vec::new(),
        record: None,
    };
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    surface.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    surface.exports.push(export?.name.name.to_owned());
                }
            }
            // The compiler put it into the core module, which now lies inside.
            Payload::CustomSection(section) if section.name() == SECTION => {
                surface.record = surface.record.or_else(|| VersionRecord::parse(section.data()));
            }
            _ => {}
        }
    }
    Ok(surface)
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
