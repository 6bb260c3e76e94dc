//! Inputs worth keeping, one file each.

use std::fs;
use std::path::PathBuf;

/// The folder of a target's inputs.
#[must_use]
pub fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// All inputs of a target with their names, in the order of the names.
///
/// # Panics
/// When the folder can't be read, or is empty.
#[must_use]
pub fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = folder(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("a listed file").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (name, bytes)
        })
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} holds no input", folder.display());
    inputs
}
