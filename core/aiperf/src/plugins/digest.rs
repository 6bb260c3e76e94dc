//! Digests of the files of a package, and writing them into its registry file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use aiperf_host::registry::{Form, HOST_TARGET, Library, Package, RegistryFile, Sha256, Source};
use sha2::{Digest, Sha256 as Hasher};

use crate::failure::Failure;

/// The digest of a file.
///
/// # Errors
/// When it can't be read.
pub(super) fn of(path: &Path) -> Result<Sha256, Failure> {
    let bytes =
        fs::read(path).map_err(|error| Failure::plugin(format!("{} can't be read: {error}", path.display())))?;
    Ok(of_bytes(&bytes))
}

/// The digest of bytes.
pub(super) fn of_bytes(bytes: &[u8]) -> Sha256 {
    Sha256(Hasher::digest(bytes).into())
}

/// What filling in has come to.
#[derive(Debug)]
pub(super) struct Filled {
    /// The registry file's text.
    pub(super) text: String,
    /// Paths whose digest was written.
    pub(super) written: Vec<String>,
    /// Paths whose digest is missing still, and has to be written by hand.
    pub(super) left: Vec<String>,
}

/// Fills in the digests that are missing, of files that are there; checks those that are declared. Files that are handed on
/// with other bytes than they have get the digest of those: `made`, by path.
///
/// # Errors
/// When a declared digest is not that of the file.
pub(super) fn fill(file: &RegistryFile, text: &str, made: &BTreeMap<PathBuf, Vec<u8>>) -> Result<Filled, Failure> {
    let mut filled = Filled {
        text: text.to_owned(),
        written: Vec::new(),
        left: Vec::new(),
    };
    for package in file.packages() {
        for (path, declared, target) in files(package) {
            let full = file.folder().join(path);
            if !full.is_file() {
                continue;
            }
            let found = of(&full)?;
            let handed_on = made.get(path).map_or(found, |bytes| of_bytes(bytes));
            match declared {
                // Built here for this platform; what stands in the same place elsewhere is another file.
                None if shared(package, path, target) => {}
                Some(declared) if *declared == found => {
                    if handed_on != found {
                        filled.text = replaced(&filled.text, found, handed_on);
                        filled.written.push(path.display().to_string());
                    }
                }
                Some(declared) => {
                    return Err(Failure::plugin(format!(
                        "SHA-256 of {} is {found}, and the registry file declares {declared}\n  package: {} {}\n  \
                         declared: {}:{}\n  likely cause: the file was built anew or replaced after its digest was written down",
                        full.display(),
                        package.name,
                        package.version,
                        file.source,
                        package.at
                    ))
                    .with_help("if you built it yourself, remove the `sha256:` and run the command again"));
                }
                None => {
                    let shown = path.display().to_string();
                    match write(&filled.text, package, path, target, handed_on) {
                        Some(text) => {
                            filled.text = text;
                            filled.written.push(shown);
                        }
                        None => filled.left.push(format!("{shown}: {handed_on}")),
                    }
                }
            }
        }
    }
    Ok(filled)
}

/// The files of a package, each with its declared digest and its platform.
pub(super) fn files(package: &Package) -> Vec<(&Path, Option<&Sha256>, Option<&str>)> {
    match &package.form {
        Form::Bundled(_) => Vec::new(),
        Form::Native(libraries) => libraries
            .iter()
            .map(|library| {
                (
                    library.path.as_path(),
                    library.sha256.as_ref(),
                    library.target.as_deref(),
                )
            })
            .collect(),
        Form::Wasm { path, sha256 } => vec![(path, sha256.as_ref(), None)],
    }
}

/// Whether a library of another platform has the path of this platform's.
fn shared(package: &Package, path: &Path, target: Option<&str>) -> bool {
    let ours = |target: Option<&str>| target.is_none_or(|target| target == HOST_TARGET);
    !ours(target)
        && files(package)
            .iter()
            .any(|(other, _, target)| *other == path && ours(*target))
}

/// The text with the digest of a file added; `None` where no place for it is found. Comments and order stay: a line is
/// added or a pair in braces, and the result is read again to see that it says what it should and nothing else.
fn write(text: &str, package: &Package, path: &Path, target: Option<&str>, digest: Sha256) -> Option<String> {
    let path_text = path.to_str()?;
    let before = parse(text)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut wanted: Vec<Form> = before.packages().iter().map(|package| package.form.clone()).collect();
    let position = before.packages().iter().position(|other| other.name == package.name)?;
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(path_text)) {
        let indent: String = line.chars().take_while(|&c| c == ' ').collect();
        let after_path = line.find(path_text)? + path_text.len();
        let in_braces = line[after_path..].find('}').map(|end| {
            let head = line[..after_path + end].trim_end();
            format!("{head}, sha256: \"{digest}\" {}", &line[after_path + end..])
        });
        let end = if line.ends_with('\n') { "" } else { "\n" };
        let below = format!("{line}{end}{indent}sha256: \"{digest}\"\n");
        for changed in [in_braces, Some(below)].into_iter().flatten() {
            let candidate: String = lines
                .iter()
                .enumerate()
                .map(|(at, line)| if at == index { changed.as_str() } else { line })
                .collect();
            let Some(after) = parse(&candidate) else { continue };
            // One more digest for this path in this package, all else as before.
            let form = after.packages().get(position).map(|package| package.form.clone());
            let Some(form) = form.filter(|form| one_more(&wanted[position], form, (path, target), digest)) else {
                continue;
            };
            wanted[position] = form;
            let same_rest = after.packages().iter().map(|package| &package.form).eq(wanted.iter())
                && after.entries().len() == before.entries().len();
            if same_rest {
                return Some(candidate);
            }
        }
    }
    None
}

/// The text with one digest in place of another, which may stand there in capitals.
fn replaced(text: &str, old: Sha256, new: Sha256) -> String {
    let (old, new) = (old.to_string(), new.to_string());
    text.replace(&old, &new).replace(&old.to_uppercase(), &new)
}

fn parse(text: &str) -> Option<RegistryFile> {
    RegistryFile::parse(text, Source::CommandLine("registry.yaml".into())).ok()
}

/// Whether `after` is `before` with this digest for one library of this path.
fn one_more(before: &Form, after: &Form, (path, target): (&Path, Option<&str>), digest: Sha256) -> bool {
    match (before, after) {
        (Form::Native(before), Form::Native(after)) if before.len() == after.len() => {
            let changed: Vec<(&Library, &Library)> = before.iter().zip(after).filter(|(a, b)| a != b).collect();
            matches!(changed.as_slice(), [(old, new)]
                if old.sha256.is_none() && new.sha256 == Some(digest) && new.path == path
                    && old.path == path && old.target == new.target && new.target.as_deref() == target)
        }
        (
            Form::Wasm {
                path: old,
                sha256: None,
            },
            Form::Wasm {
                path: new,
                sha256: Some(found),
            },
        ) => old == new && new == path && *found == digest,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of no bytes.
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn filled(library: &str) -> Filled {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("registry.yaml");
        fs::write(folder.path().join("liba.so"), b"").unwrap();
        fs::write(folder.path().join("b.so"), b"").unwrap();
        let text = format!(
            "# mine\nschema_version: \"1.0\"\npackages:\n  acme: # here\n    version: 1.0.0\n    api: \">=1.0\"\n{library}\nendpoint:\n  acme:\n    package: acme\n"
        );
        let file = RegistryFile::parse(&text, Source::CommandLine(path)).unwrap();
        fill(&file, &text, &BTreeMap::new()).unwrap()
    }

    #[test]
    fn digests_go_where_the_files_are_named() {
        let (host, other) = (HOST_TARGET, "riscv64gc-unknown-netbsd");
        for (library, expected) in [
            (
                "    library: liba.so".to_owned(),
                format!("    library: liba.so\n    sha256: \"{EMPTY}\"\n"),
            ),
            (
                format!("    library:\n      {host}: {{ path: liba.so }} # x\n      {other}: {{ path: none.so }}"),
                format!("{host}: {{ path: liba.so, sha256: \"{EMPTY}\" }} # x\n      {other}: {{ path: none.so }}"),
            ),
            (
                format!("    library:\n      {host}:\n        path: liba.so"),
                format!("        path: liba.so\n        sha256: \"{EMPTY}\"\n"),
            ),
            (
                "    wasm: liba.so".to_owned(),
                format!("    wasm: liba.so\n    sha256: \"{EMPTY}\"\n"),
            ),
            // The same path, and a file that was built for one platform.
            (
                format!("    library:\n      {other}: {{ path: liba.so }}\n      {host}: {{ path: liba.so }}"),
                format!("{other}: {{ path: liba.so }}\n      {host}: {{ path: liba.so, sha256: \"{EMPTY}\" }}"),
            ),
            (
                format!("    library:\n      {other}: {{ path: b.so }}\n      {host}: {{ path: none.so }}"),
                format!("{other}: {{ path: b.so, sha256: \"{EMPTY}\" }}"),
            ),
        ] {
            let filled = filled(&library);
            assert!(filled.text.contains(&expected), "{}", filled.text);
            assert!(filled.text.starts_with("# mine\n") && filled.text.contains("acme: # here"));
            assert!(filled.left.is_empty() && !filled.written.is_empty());
        }
    }

    #[test]
    fn a_declared_digest_is_checked_and_stays() {
        let good = filled(&format!("    library: liba.so\n    sha256: \"{EMPTY}\""));
        assert!(good.written.is_empty() && good.left.is_empty());
        let wrong = EMPTY.replace('e', "f");
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("liba.so"), b"").unwrap();
        let text = format!(
            "schema_version: \"1.0\"\npackages:\n  acme: {{ version: 1.0.0, api: \">=1.0\", library: liba.so, sha256: \"{wrong}\" }}\n"
        );
        let file = RegistryFile::parse(&text, Source::CommandLine(folder.path().join("registry.yaml"))).unwrap();
        let failure = fill(&file, &text, &BTreeMap::new()).unwrap_err();
        assert!(
            failure.message.contains(&wrong) && failure.message.contains(EMPTY),
            "{failure}"
        );
    }

    #[test]
    fn what_is_handed_on_with_other_bytes_gets_their_digest() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.wasm"), b"").unwrap();
        let made = BTreeMap::from([(PathBuf::from("a.wasm"), b"abc".to_vec())]);
        // SHA-256 of these three bytes, as FIPS 180 has it.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for declared in [String::new(), EMPTY.to_owned(), EMPTY.to_uppercase()] {
            let mut library = "wasm: a.wasm".to_owned();
            if !declared.is_empty() {
                library = format!("{library}\n    sha256: \"{declared}\"");
            }
            let text = format!(
                "schema_version: \"1.0\"\npackages:\n  acme:\n    version: 1.0.0\n    api: \">=1.0\"\n    {library}\n"
            );
            let file = RegistryFile::parse(&text, Source::CommandLine(folder.path().join("registry.yaml"))).unwrap();
            let filled = fill(&file, &text, &made).unwrap();
            assert!(
                filled.text.contains(&format!("wasm: a.wasm\n    sha256: \"{abc}\"\n")),
                "{}",
                filled.text
            );
            assert_eq!((filled.written, filled.left), (vec!["a.wasm".to_owned()], vec![]));
        }
    }
}
