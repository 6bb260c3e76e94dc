//! The local Hugging Face cache: `<cache>/models--<org>--<name>/snapshots/<commit>/tokenizer.json`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads an environment variable.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// What the cache holds of a model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Its `tokenizer.json`.
    Found(PathBuf),
    /// This snapshot, without a `tokenizer.json`.
    NoTokenizer(PathBuf),
    /// Snapshots in this folder, none of them marked as the wanted revision.
    NoRevision(PathBuf),
    /// Nothing. The path is where it would be.
    Absent(PathBuf),
}

/// `HF_HUB_CACHE`, else `HF_HOME/hub`, else `XDG_CACHE_HOME/huggingface/hub`, else `~/.cache/huggingface/hub`.
/// An empty variable counts as unset. `None` without a home.
pub(crate) fn folder(env: Env<'_>) -> Option<PathBuf> {
    let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || path("HOME").or_else(|| path("USERPROFILE"));
    let expand = |value: PathBuf| match (value.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => value,
    };
    if let Some(cache) = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE")) {
        return Some(expand(cache));
    }
    if let Some(hf_home) = path("HF_HOME") {
        return Some(expand(hf_home).join("hub"));
    }
    let cache = path("XDG_CACHE_HOME")
        .map(expand)
        .or_else(|| Some(home()?.join(".cache")))?;
    Some(cache.join("huggingface").join("hub"))
}

/// Looks for a model's tokenizer at `revision`: a branch or tag with an entry in `refs`, or a commit. Where `main` has
/// no entry (the model was fetched by commit), a single snapshot is taken for it.
pub(crate) fn find(cache: &Path, model: &str, revision: &str) -> Lookup {
    let repository = cache.join(format!("models--{}", model.replace('/', "--")));
    let snapshots = repository.join("snapshots");
    if !snapshots.is_dir() {
        return Lookup::Absent(repository);
    }
    let commit = fs::read_to_string(repository.join("refs").join(revision)).unwrap_or_else(|_| revision.to_owned());
    let named = snapshots.join(commit.trim());
    let snapshot = if is_inside(&named, &snapshots) {
        Some(named)
    } else if revision == "main" {
        only_folder(&snapshots)
    } else {
        None
    };
    match snapshot {
        None => Lookup::NoRevision(snapshots),
        Some(snapshot) if snapshot.join("tokenizer.json").is_file() => Lookup::Found(snapshot.join("tokenizer.json")),
        Some(snapshot) => Lookup::NoTokenizer(snapshot),
    }
}

/// A revision is user input: it must not lead out of the cache.
fn is_inside(snapshot: &Path, snapshots: &Path) -> bool {
    snapshot.parent() == Some(snapshots) && snapshot.file_name().is_some() && snapshot.is_dir()
}

fn only_folder(parent: &Path) -> Option<PathBuf> {
    let mut folders = fs::read_dir(parent)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    let first = folders.next()?;
    folders.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{folder as tokenizer_folder, word_level};
    use tempfile::TempDir;

    #[test]
    fn the_cache_folder_follows_the_environment() {
        type Variables = &'static [(&'static str, &'static str)];
        let cases: &[(Variables, Option<&str>)] = &[
            (
                &[
                    ("HF_HUB_CACHE", "/a"),
                    ("HF_HOME", "/b"),
                    ("XDG_CACHE_HOME", "/c"),
                    ("HOME", "/h"),
                ],
                Some("/a"),
            ),
            (&[("HUGGINGFACE_HUB_CACHE", "/old"), ("HF_HOME", "/b")], Some("/old")),
            (
                &[("HF_HOME", "/b"), ("XDG_CACHE_HOME", "/c"), ("HOME", "/h")],
                Some("/b/hub"),
            ),
            (&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")], Some("/c/huggingface/hub")),
            (&[("HOME", "/h")], Some("/h/.cache/huggingface/hub")),
            (&[("HF_HOME", ""), ("HOME", "/h")], Some("/h/.cache/huggingface/hub")),
            (&[("HF_HUB_CACHE", "~/models"), ("HOME", "/h")], Some("/h/models")),
            (&[("USERPROFILE", "/u")], Some("/u/.cache/huggingface/hub")),
            (&[], None),
        ];
        for (variables, expected) in cases {
            let env = |name: &str| {
                variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value.into())
            };
            assert_eq!(folder(&env).as_deref(), expected.map(Path::new), "{variables:?}");
        }
    }

    /// A cache with the given snapshots of `org/name` (true: with a tokenizer) and refs.
    fn cache(snapshots: &[(&str, bool)], refs: &[(&str, &str)]) -> TempDir {
        let cache = tempfile::tempdir().unwrap();
        let repository = cache.path().join("models--org--name");
        for (commit, with_tokenizer) in snapshots {
            let snapshot = repository.join("snapshots").join(commit);
            fs::create_dir_all(&snapshot).unwrap();
            fs::write(snapshot.join("config.json"), "{}").unwrap();
            if *with_tokenizer {
                fs::write(snapshot.join("tokenizer.json"), "{}").unwrap();
            }
        }
        fs::create_dir_all(repository.join("refs")).unwrap();
        for (name, commit) in refs {
            fs::write(repository.join("refs").join(name), commit).unwrap();
        }
        cache
    }

    #[test]
    fn snapshots_are_found_by_revision() {
        enum Expect {
            Found(&'static str),
            NoTokenizer(&'static str),
            NoRevision,
        }
        use Expect::{Found, NoRevision, NoTokenizer};
        type Case = (
            &'static [(&'static str, bool)],
            &'static [(&'static str, &'static str)],
            &'static str,
            Expect,
        );
        let cases: &[Case] = &[
            (&[("aa", true), ("bb", true)], &[("main", "bb")], "main", Found("bb")),
            (
                &[("aa", true), ("bb", true)],
                &[("main", "aa\n"), ("v2", "bb")],
                "v2",
                Found("bb"),
            ),
            (&[("aa", true), ("bb", true)], &[("main", "aa")], "bb", Found("bb")),
            (
                &[("aa", true), ("bb", false)],
                &[("main", "bb")],
                "main",
                NoTokenizer("bb"),
            ),
            // Fetched by commit: no refs.
            (&[("aa", true)], &[], "main", Found("aa")),
            (&[("aa", true), ("bb", true)], &[], "main", NoRevision),
            (&[("aa", true)], &[("main", "aa")], "v9", NoRevision),
            (&[("aa", true)], &[("main", "aa")], "../snapshots/aa", NoRevision),
            (&[("aa", true)], &[("main", "aa")], "..", NoRevision),
        ];
        for (snapshots, refs, revision, expected) in cases {
            let cache = cache(snapshots, refs);
            let at = cache.path().join("models--org--name").join("snapshots");
            let expected = match expected {
                Found(commit) => Lookup::Found(at.join(commit).join("tokenizer.json")),
                NoTokenizer(commit) => Lookup::NoTokenizer(at.join(commit)),
                NoRevision => Lookup::NoRevision(at),
            };
            assert_eq!(
                find(cache.path(), "org/name", revision),
                expected,
                "{snapshots:?} {refs:?} {revision}"
            );
        }
    }

    #[test]
    fn an_unknown_model_is_absent() {
        let cache = cache(&[("aa", true)], &[("main", "aa")]);
        assert_eq!(
            find(cache.path(), "name", "main"),
            Lookup::Absent(cache.path().join("models--name"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn snapshots_hold_links_to_blobs() {
        let real = tokenizer_folder(&word_level(true));
        let cache = cache(&[("aa", false)], &[("main", "aa")]);
        let link = cache.path().join("models--org--name/snapshots/aa/tokenizer.json");
        std::os::unix::fs::symlink(real.path().join("tokenizer.json"), &link).unwrap();
        assert_eq!(find(cache.path(), "org/name", "main"), Lookup::Found(link));
    }
}
