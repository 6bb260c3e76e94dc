//! Lists what `aiperf plugins new` writes: the templates, and the sources of SDK and contract, which are in no registry.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    // Paths stay relative to this folder: a build folder may serve several clones, one after the other.
    let root = PathBuf::from("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut text = String::new();
    list(&mut text, "TEMPLATES", &root.join("sdk/templates"), &["python", "rust"])?;
    let sdk = ["LICENSE", "plugin-api", "sdk/python", "sdk/rust"];
    list(&mut text, "SDK", &root, &sdk)?;
    fs::write(out.join("embedded.rs"), text)?;

    let manifest = root.join("Cargo.toml");
    println!("cargo:rerun-if-changed={}", manifest.display());
    fs::write(
        out.join("sdk_workspace.toml"),
        workspace(&fs::read_to_string(manifest)?),
    )?;
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}

/// A table of the files below some places of a folder: path in it, text.
fn list(text: &mut String, name: &str, folder: &Path, places: &[&str]) -> io::Result<()> {
    let mut files = Vec::new();
    for place in places {
        let place = folder.join(place);
        println!("cargo:rerun-if-changed={}", place.display());
        collect(&place, &mut files)?;
    }
    files.sort();
    let _ = writeln!(text, "pub(super) const {name}: &[(&str, &str)] = &[");
    for file in files {
        let relative = file.strip_prefix(folder).unwrap_or(&file);
        let file = Path::new("/").join(&file);
        let _ = writeln!(
            text,
            "    ({relative:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),"
        );
    }
    text.push_str("];\n");
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // What a build leaves behind is no source.
        let left = ["target", "Cargo.lock", "__pycache__"];
        if !left.iter().any(|name| entry.file_name() == *name) {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// The workspace of contract and SDK alone: the root manifest without what they do not use.
fn workspace(manifest: &str) -> String {
    const USED: [&str; 8] = [
        "abi_stable",
        "aiperf-plugin-api",
        "aiperf-sdk",
        "serde",
        "serde_json",
        "serde_path_to_error",
        "thiserror",
        "wit-bindgen",
    ];
    let mut text = String::from(
        "# The sources of the plugin contract and the SDK, as this aiperf has them.\n\
         [workspace]\nresolver = \"3\"\nmembers = [\"plugin-api\", \"sdk/rust\"]\n",
    );
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let key = line.split('=').next().unwrap_or_default().trim();
        let keep = match section {
            "[workspace.package]" => true,
            "[workspace.dependencies]" => line == section || USED.contains(&key),
            _ => section.starts_with("[workspace.lints"),
        };
        if keep && !line.is_empty() && !line.starts_with('#') {
            if line == section {
                text.push('\n');
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
