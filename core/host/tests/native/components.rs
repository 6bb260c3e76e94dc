//! Components made by hand: what shows of them from outside, and nothing inside.

use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentTypeRef,
    ComponentTypeSection, InstanceType,
};

fn with_import(name: &str) -> Component {
    let mut types = ComponentTypeSection::new();
    types.instance(&InstanceType::new());
    let mut imports = ComponentImportSection::new();
    imports.import(name, ComponentTypeRef::Instance(0));
    let mut component = Component::new();
    component.section(&types).section(&imports);
    component
}

/// Exports an interface of the contract that has nothing in it.
pub(crate) fn exporting(interface: &str, version: &str) -> Vec<u8> {
    let mut component = with_import(&format!("aiperf:plugin/types@{version}"));
    let mut exports = ComponentExportSection::new();
    let name = format!("aiperf:plugin/{interface}@{version}");
    exports.export(name.as_str(), ComponentExportKind::Instance, 0, None);
    component.section(&exports);
    component.finish()
}

/// Imports another interface as well.
pub(crate) fn demanding(interface: &str) -> Vec<u8> {
    let mut component = with_import(interface);
    let mut exports = ComponentExportSection::new();
    exports.export("aiperf:plugin/manifest@1.0.0", ComponentExportKind::Instance, 0, None);
    component.section(&exports);
    component.finish()
}
