//! The files that make up a package.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use aiperf_host::{
    load,
    registry::{Form, RegistryFile},
};

use super::digest;
use crate::{components, failure::Failure};

/// Files beside the registry file that go where the package goes, by the beginning of their names.
const PAPERS: [&str; 5] = ["COPYING", "LICENCE", "LICENSE", "NOTICE", "README"];

/// The files of a package that are there, without the registry file itself: those that it names, and licence and README
/// beside it. Relative to its folder, in order. Libraries of other platforms need not be there.
///
/// # Errors
/// When one leads out of the folder.
pub(super) fn files(file: &RegistryFile) -> Result<BTreeSet<PathBuf>, Failure> {
    let folder = file.folder();
    let named = file.packages().iter().flat_map(|package| {
        let code = digest::files(package).into_iter().map(|file| file.0.to_owned());
        code.chain(package.schema_file().map(Path::to_owned))
    });
    let mut found = BTreeSet::new();
    for path in named {
        let from = folder.join(&path);
        let Ok(real) = from.canonicalize() else { continue };
        if !real.starts_with(folder) {
            return Err(Failure::plugin(format!(
                "{} leads out of the folder of its registry file, to {}",
                from.display(),
                real.display()
            ))
            .with_help("copy the file into the folder"));
        }
        found.insert(path);
    }
    found.extend(papers(folder));
    Ok(found)
}

/// The `.wasm` files of a package that are handed on as other bytes than they have: core modules, as a compiler gives them,
/// become components. Each by its path. Files that are not there are left out.
///
/// # Errors
/// In a screen, when one of the files is nothing that this program could run.
pub(super) fn made_components(file: &RegistryFile) -> Result<BTreeMap<PathBuf, Vec<u8>>, Failure> {
    let mut made = BTreeMap::new();
    let compiler = components::compiler(None);
    for package in file.packages() {
        let Form::Wasm { path, .. } = &package.form else {
            continue;
        };
        let full = file.folder().join(path);
        if !full.is_file() {
            continue;
        }
        load::inspect(file, package, &compiler).map_err(|error| Failure::from(&*error))?;
        let unusable = |problem: String| Failure::plugin(format!("{}: {problem}", full.display()));
        let bytes = fs::read(&full).map_err(|error| unusable(format!("it can't be read: {error}")))?;
        let component =
            aiperf_host::component(bytes.clone(), &compiler).map_err(|cause| unusable(cause.to_string()))?;
        if component != bytes {
            made.insert(path.clone(), component);
        }
    }
    Ok(made)
}

/// Licence and README, if they are plain files.
fn papers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    plain
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| PAPERS.iter().any(|paper| name.to_ascii_uppercase().starts_with(paper)))
        .map(PathBuf::from)
        .collect()
}
