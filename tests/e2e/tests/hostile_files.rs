//! Components made by hand that are refused before any of them runs: those that ask for something of the system, and those that
//! take for ever to compile.

use wasm_encoder::{
    CodeSection, Component, ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentTypeRef,
    ComponentTypeSection, Function, FunctionSection, InstanceType, Instruction, Module, ModuleSection, TypeSection,
    ValType,
};

use crate::harness::{Finished, Folder, Run};

/// A metric's component with these imports, and a core module in it if there is one.
fn component(imports: &[&str], module: Option<&Module>) -> Vec<u8> {
    let mut types = ComponentTypeSection::new();
    types.instance(&InstanceType::new());
    let mut imported = ComponentImportSection::new();
    for name in imports {
        imported.import(*name, ComponentTypeRef::Instance(0));
    }
    let mut exports = ComponentExportSection::new();
    for name in ["aiperf:plugin/manifest@1.0.0", "aiperf:plugin/metric@1.0.0"] {
        exports.export(name, ComponentExportKind::Instance, 0, None);
    }
    let mut component = Component::new();
    component.section(&types).section(&imported);
    if let Some(module) = module {
        component.section(&ModuleSection(module));
    }
    component.section(&exports);
    component.finish()
}

/// A run that uses the component.
fn run(code: Vec<u8>, flags: &str) -> Finished {
    let folder = Folder::new();
    folder.file("plugins/acme.wasm", code);
    let registry = folder.file(
        "plugins/registry.yaml",
        "schema_version: \"1.0\"\npackages:\n  acme: { version: 1.0.0, api: \">=1.0, <2\", wasm: acme.wasm }\n\
         metric:\n  acme: { package: acme, metadata: { tags: [acme] } }\n",
    );
    let line = format!("--url mock: --request-count 1 --plugin-registry {registry} --metric acme {flags}");
    Run::profile_in(folder, &line).finish()
}

#[test]
fn nothing_of_the_system_can_be_asked_for() {
    for wanted in [
        "wasi:sockets/tcp@0.2.0",
        "wasi:filesystem/types@0.2.0",
        "wasi:clocks/monotonic-clock@0.2.0",
        "wasi:cli/environment@0.2.0",
        "wasi:http/outgoing-handler@0.2.0",
        "aiperf:plugin/everything@1.0.0",
        "other:plugin/host@1.0.0",
    ] {
        let run = run(component(&["aiperf:plugin/types@1.0.0", wanted], None), "");
        assert_eq!(run.code, Some(3), "{wanted}: {run}");
        assert!(
            run.stderr
                .contains("cannot open plugin package acme 1.0.0 for metric/acme")
                && run.stderr.contains(wanted),
            "{wanted}: {run}"
        );
        assert_eq!(run.stderr.matches("error:").count(), 1, "{run}");
    }
}

#[test]
fn what_takes_for_ever_to_compile_is_given_up() {
    // Some millions of additions: far more than a second's work for any compiler.
    let mut types = TypeSection::new();
    types.ty().function([ValType::I64], [ValType::I64]);
    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    for number in 0..8_i64 {
        functions.function(0);
        let mut function = Function::new([]);
        function.instruction(&Instruction::LocalGet(0));
        for step in 0..300_000 {
            function.instruction(&Instruction::I64Const(number ^ step));
            function.instruction(&Instruction::I64Add);
            function.instruction(&Instruction::LocalTee(0));
        }
        function.instruction(&Instruction::End);
        code.function(&function);
    }
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    let bytes = component(&["aiperf:plugin/types@1.0.0"], Some(&module));
    let run = run(bytes, "--wasm-compile-timeout 1");
    assert_eq!(run.code, Some(3), "{run}");
    for part in [
        "cannot open plugin package acme 1.0.0 for metric/acme",
        "takes more than 1 s of processor time",
        "--wasm-compile-timeout",
    ] {
        assert!(run.stderr.contains(part), "no {part}: {run}");
    }
}
