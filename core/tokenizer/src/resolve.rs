//! Which tokenizer a run uses. Decided from the flag, the model name and what lies on this machine; nothing is loaded.

use crate::embedded::Encoding;
use crate::hub_cache::{self, Env, Lookup};
use crate::tokenizer::Source;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the user asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `--tokenizer`, where given.
    pub tokenizer: Option<&'a str>,
    /// The (first) model name, which decides when `tokenizer` is `None`.
    pub model: &'a str,
    /// `--tokenizer-revision`; the default is `main`.
    pub revision: &'a str,
}

/// The tokenizer to load and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What to load.
    pub source: Source,
    /// What decided.
    pub reason: Reason,
}

/// What decided on a tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// `--tokenizer`.
    Flag,
    /// The model name, found on this machine.
    Model,
    /// The model name is an obvious placeholder (`test`, `mock-llama`): the built-in encoding, and a warning is due.
    PlaceholderModel,
}

/// No tokenizer could be decided on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The model or tokenizer name is not in the local Hugging Face cache.
    #[error(
        "no tokenizer for `{name}`: it is not in the local Hugging Face cache ({looked_in}) and is never downloaded; {CHOICES}"
    )]
    NotCached {
        /// Name that was looked up.
        name: String,
        /// Where it would be.
        looked_in: String,
    },
    /// The cache holds the model but not the wanted revision.
    #[error("no tokenizer for `{name}`: {folder} holds no unambiguous revision `{revision}`; set --tokenizer-revision, or {CHOICES}", folder = folder.display())]
    NoRevision {
        /// Name that was looked up.
        name: String,
        /// Revision that was wanted.
        revision: String,
        /// Folder of the snapshots that are there.
        folder: PathBuf,
    },
    /// The folder is there but holds no `tokenizer.json`.
    #[error("no tokenizer for `{name}`: {folder} has no tokenizer.json; {CHOICES}", folder = folder.display())]
    NoTokenizerFile {
        /// Name or path that was asked for.
        name: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The path does not exist.
    #[error("--tokenizer {name}: no such file or folder; {CHOICES}")]
    NoSuchPath {
        /// The path as typed.
        name: String,
    },
    /// A tiktoken encoding that is not part of the binary.
    #[error("--tokenizer {name}: this encoding is not embedded (embedded are o200k_base and cl100k_base); {CHOICES}")]
    NotEmbedded {
        /// Name of the encoding.
        name: String,
    },
}

const CHOICES: &str = "use `--tokenizer builtin` (o200k_base), `--tokenizer DIR` with a folder that holds \
     tokenizer.json, or `--tokenizer none` together with `--use-server-token-count`";

/// Encodings the original accepts by name and this binary does not carry.
const NOT_EMBEDDED: [&str; 4] = ["o200k_harmony", "p50k_base", "p50k_edit", "r50k_base"];

/// Decides on the tokenizer. `None` is the user's explicit `--tokenizer none`.
///
/// `env` reads an environment variable ([`std::env::var_os`] outside tests).
///
/// # Errors
/// Nothing suitable is on this machine; the message says what to do.
pub fn resolve(request: &Request<'_>, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Choice>, ResolveError> {
    let Some(flag) = request.tokenizer else {
        if is_placeholder(request.model) {
            let source = Source::Embedded(Encoding::O200kBase);
            return Ok(Some(Choice {
                source,
                reason: Reason::PlaceholderModel,
            }));
        }
        // A server may call its model `/models/llama`. A relative name is never looked for in the working directory.
        let path = if looks_like_path(request.model) {
            from_path(request.model)
        } else {
            None
        };
        let source = path.unwrap_or_else(|| from_cache(request.model, request.revision, env))?;
        return Ok(Some(Choice {
            source,
            reason: Reason::Model,
        }));
    };
    if flag == "none" {
        return Ok(None);
    }
    let source = if let Some(encoding) = Encoding::from_name(flag) {
        Source::Embedded(encoding)
    } else if NOT_EMBEDDED.contains(&flag) {
        return Err(ResolveError::NotEmbedded { name: flag.to_owned() });
    } else if let Some(found) = from_path(flag) {
        found?
    } else if looks_like_path(flag) {
        return Err(ResolveError::NoSuchPath { name: flag.to_owned() });
    } else {
        from_cache(flag, request.revision, env)?
    };
    Ok(Some(Choice {
        source,
        reason: Reason::Flag,
    }))
}

/// A `tokenizer.json` (under any name) or a folder that holds one. `None`: nothing exists under that path.
fn from_path(name: &str) -> Option<Result<Source, ResolveError>> {
    let path = Path::new(name);
    let file = if name.is_empty() {
        return None;
    } else if path.is_file() {
        path.to_owned()
    } else if path.join("tokenizer.json").is_file() {
        path.join("tokenizer.json")
    } else if path.is_dir() {
        return Some(Err(ResolveError::NoTokenizerFile {
            name: name.to_owned(),
            folder: path.to_owned(),
        }));
    } else {
        return None;
    };
    Some(Ok(Source::HuggingFace {
        file,
        name: name.to_owned(),
    }))
}

fn from_cache(name: &str, revision: &str, env: Env<'_>) -> Result<Source, ResolveError> {
    let owned = name.to_owned();
    let Some(cache) = hub_cache::folder(env) else {
        return Err(ResolveError::NotCached {
            name: owned,
            looked_in: "HOME is not set".to_owned(),
        });
    };
    match hub_cache::find(&cache, name, revision) {
        Lookup::Found(file) => Ok(Source::HuggingFace { file, name: owned }),
        Lookup::NoTokenizer(folder) => Err(ResolveError::NoTokenizerFile { name: owned, folder }),
        Lookup::NoRevision(folder) => Err(ResolveError::NoRevision {
            name: owned,
            revision: revision.to_owned(),
            folder,
        }),
        Lookup::Absent(at) => Err(ResolveError::NotCached {
            name: owned,
            looked_in: at.display().to_string(),
        }),
    }
}

/// Names that can only be paths: no Hugging Face name starts like this.
fn looks_like_path(name: &str) -> bool {
    name.starts_with(['.', '~', '/']) || name.contains('\\') || Path::new(name).is_absolute()
}

/// Whether a model name is one that people type when the name does not matter. Never true of a path or `org/name`.
fn is_placeholder(model: &str) -> bool {
    const NAMES: [&str; 7] = ["test", "mock", "fake", "dummy", "example", "sample", "placeholder"];
    const PARTS: [&str; 9] = [
        "mock-",
        "-mock",
        "fake-",
        "-fake",
        "test-model",
        "your-model",
        "my-model",
        "model-name",
        "model-id",
    ];
    if looks_like_path(model) || model.contains('/') {
        return false;
    }
    let model = model.to_lowercase().replace('_', "-");
    NAMES.contains(&model.as_str()) || PARTS.iter().any(|part| model.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    const O200K: Source = Source::Embedded(Encoding::O200kBase);

    /// A cache in which only `org/name` has a tokenizer, and `org/weights` has none.
    fn cache() -> TempDir {
        let cache = tempfile::tempdir().unwrap();
        for (model, file) in [("name", "tokenizer.json"), ("weights", "model.safetensors")] {
            let snapshot = cache.path().join(format!("models--org--{model}/snapshots/abc"));
            fs::create_dir_all(&snapshot).unwrap();
            fs::write(snapshot.join(file), "{}").unwrap();
        }
        cache
    }

    fn decide(cache: &TempDir, tokenizer: Option<&str>, model: &str) -> Result<Option<Choice>, ResolveError> {
        let env = |name: &str| (name == "HF_HUB_CACHE").then(|| cache.path().into());
        resolve(
            &Request {
                tokenizer,
                model,
                revision: "main",
            },
            &env,
        )
    }

    fn hugging_face(file: PathBuf, name: &str) -> Source {
        Source::HuggingFace {
            file,
            name: name.to_owned(),
        }
    }

    #[test]
    fn flag_then_placeholder_then_cache() {
        let cache = cache();
        let cached = cache.path().join("models--org--name/snapshots/abc/tokenizer.json");
        let org_name = || hugging_face(cached.clone(), "org/name");
        let cl100k = Source::Embedded(Encoding::Cl100kBase);
        let cases = [
            (Some("builtin"), "org/name", Some((O200K, Reason::Flag))),
            (Some("o200k_base"), "org/name", Some((O200K, Reason::Flag))),
            (Some("cl100k_base"), "org/name", Some((cl100k, Reason::Flag))),
            (Some("none"), "org/name", None),
            (Some("org/name"), "anything", Some((org_name(), Reason::Flag))),
            (None, "org/name", Some((org_name(), Reason::Model))),
            (None, "mock-llama", Some((O200K, Reason::PlaceholderModel))),
        ];
        for (tokenizer, model, expected) in cases {
            let expected = expected.map(|(source, reason)| Choice { source, reason });
            assert_eq!(decide(&cache, tokenizer, model), Ok(expected), "{tokenizer:?} {model}");
        }
    }

    #[test]
    fn a_path_is_a_folder_or_the_file_itself() {
        let cache = cache();
        let folder = cache.path().join("models--org--name/snapshots/abc");
        let file = folder.join("tokenizer.json");
        for path in [&folder, &file] {
            let path = path.to_str().unwrap();
            let source = hugging_face(file.clone(), path);
            let by_flag = Choice {
                source: source.clone(),
                reason: Reason::Flag,
            };
            assert_eq!(decide(&cache, Some(path), "model"), Ok(Some(by_flag)));
            // Servers may use a path as their model's name.
            assert_eq!(
                decide(&cache, None, path),
                Ok(Some(Choice {
                    source,
                    reason: Reason::Model
                }))
            );
        }
    }

    #[test]
    fn errors_say_what_is_missing_and_name_the_choices() {
        let cache = cache();
        let weights = cache.path().join("models--org--weights/snapshots/abc");
        let at = cache.path().display();
        let cases = [
            (
                None,
                "org/other",
                format!(
                    "no tokenizer for `org/other`: it is not in the local Hugging Face cache ({at}/models--org--other)"
                ),
            ),
            (
                None,
                "",
                format!("no tokenizer for ``: it is not in the local Hugging Face cache ({at}/models--)"),
            ),
            (
                Some("gpt2"),
                "org/name",
                "no tokenizer for `gpt2`: it is not".to_owned(),
            ),
            (
                None,
                "org/weights",
                format!("{} has no tokenizer.json", weights.display()),
            ),
            (
                Some(weights.to_str().unwrap()),
                "x",
                format!("{} has no tokenizer.json", weights.display()),
            ),
            (
                Some("./nowhere"),
                "x",
                "--tokenizer ./nowhere: no such file or folder".to_owned(),
            ),
            (
                None,
                "/models/nowhere",
                "no tokenizer for `/models/nowhere`: it is not".to_owned(),
            ),
            (
                Some("p50k_base"),
                "x",
                "--tokenizer p50k_base: this encoding is not embedded".to_owned(),
            ),
        ];
        for (tokenizer, model, says) in cases {
            let error = decide(&cache, tokenizer, model).unwrap_err().to_string();
            assert!(error.contains(&says), "{error}");
            for choice in [
                "--tokenizer builtin",
                "--tokenizer DIR",
                "--tokenizer none",
                "--use-server-token-count",
            ] {
                assert!(error.contains(choice), "{error}");
            }
        }
    }

    #[test]
    fn several_snapshots_without_a_ref_are_not_guessed_between() {
        let cache = cache();
        fs::create_dir_all(cache.path().join("models--org--name/snapshots/def")).unwrap();
        let error = decide(&cache, None, "org/name").unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no unambiguous revision `main`; set --tokenizer-revision"),
            "{error}"
        );
    }

    #[test]
    fn without_a_home_there_is_no_cache() {
        let request = Request {
            tokenizer: None,
            model: "org/name",
            revision: "main",
        };
        let error = resolve(&request, &|_| None).unwrap_err().to_string();
        assert!(error.contains("HOME is not set"), "{error}");
    }

    #[test]
    fn placeholders() {
        for model in [
            "test",
            "MOCK",
            "mock-llama",
            "llama_mock",
            "Test_Model_v2",
            "your-model-here",
            "my_model",
            "model-id",
        ] {
            assert!(is_placeholder(model), "{model}");
        }
        for model in [
            "",
            "contest",
            "tests",
            "org/test-model",
            "./mock-llama",
            "~test",
            "a\\fake-b",
            "Qwen3-0.6B",
        ] {
            assert!(!is_placeholder(model), "{model}");
        }
    }
}
