//! `aiperf plugins new`: a package to begin with, and the SDK beside it.

mod embedded;
mod language;
mod names;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use aiperf_config::ExitCode;
use aiperf_host::Role;
use aiperf_plugin_api::Category;
use clap::{Arg, Command, value_parser};
use serde::Serialize;

use super::{
    arguments::{Words, output_argument},
    role,
};
use crate::{failure::Failure, stdout};
use embedded::{SDK, WORKSPACE};
use language::Language;
use names::Names;

/// The folder of the SDK's sources, beside the packages that use them.
const SDK_FOLDER: &str = "aiperf-sdk";

fn command() -> Command {
    Command::new("aiperf plugins new")
        .about("Write a plugin package to begin with, and beside it the SDK it is built with.")
        .arg(
            Arg::new("category")
                .value_name("CATEGORY")
                .required(true)
                .help("endpoint, dataset, timing, metric, exporter or gpu_collector"),
        )
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .required(true)
                .help("Name of the package, such as acme-latency"),
        )
        .arg(
            Arg::new("lang")
                .long("lang")
                .value_name("LANGUAGE")
                .default_value("rust")
                .help("Language of the sources: rust, or python (metric and endpoint, as a WebAssembly component)"),
        )
        .arg(
            Arg::new("dir")
                .long("dir")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .default_value(".")
                .help("Folder in which the folders of the package and of the SDK are made"),
        )
        .arg(output_argument())
}

/// What was written, as JSON.
#[derive(Debug, Serialize)]
struct Written {
    /// `category/name`.
    entry: String,
    /// Folder of the package.
    package: PathBuf,
    /// Folder of the SDK.
    sdk: PathBuf,
    /// The SDK was there already, just so.
    sdk_was_there: bool,
    /// What to do next.
    next: Vec<String>,
    /// The file to begin with.
    #[serde(skip)]
    begin: &'static str,
}

impl Written {
    /// What the user is told.
    fn told(&self) -> String {
        let (shown, entry, sdk) = (self.package.display(), &self.entry, self.sdk.display());
        let category = entry.split('/').next().unwrap_or_default();
        let sdk = if self.sdk_was_there {
            format!("Uses {sdk}, which is there.")
        } else {
            format!("Wrote {sdk}: the SDK.")
        };
        let next: String = self.next.iter().map(|line| format!("  {line}\n")).collect();
        let begin = self.begin;
        format!(
            "Wrote {shown}: a {category} plugin with the entry {entry}.\n{sdk}\nNext:\n{next}\
             README.md says how it is used; the place to begin is {begin}.\n"
        )
    }
}

/// Writes a package.
///
/// # Errors
/// When there is something already, or the files can't be written.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    // `./x` reads worse than `x`.
    let folder = words.path("dir").unwrap_or_default();
    let folder = folder.strip_prefix(".").map_or(folder.clone(), Path::to_owned);
    let category = category(&words.text("category"))?;
    let language = Language::of(&words.text("lang"))?;
    let written = write(language, category, &words.text("name"), &folder)?;
    let text = if words.json() {
        super::json(&written)?
    } else {
        written.told()
    };
    stdout::print(&text).map(|()| ExitCode::Ok)
}

fn category(text: &str) -> Result<Category, Failure> {
    let role = role(text)?;
    let category = role.category();
    if Role::parse(category.name()) != Some(role) {
        return Err(
            Failure::usage(format!("there is no template for {role}")).with_help(format!(
                "begin with one for {category} and set the `kind` in its metadata"
            )),
        );
    }
    Ok(category)
}

/// Writes a package and the SDK below `folder`.
fn write(language: Language, category: Category, name: &str, folder: &Path) -> Result<Written, Failure> {
    let template = language.template(category)?;
    let begin = language.begin();
    let source = template
        .iter()
        .find(|(path, _)| *path == begin)
        .map_or("", |file| file.1);
    let names = Names::of(name, source)?;
    let package = folder.join(&names.package);
    if package.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{} is there already", package.display()))
            .with_help("nothing was written; choose another name or another --dir"));
    }
    let sdk = folder.join(SDK_FOLDER);
    let sdk_was_there = write_sdk(&sdk)?;
    let description = format!("The {category} {}.", names.package);
    let sdk_path = format!("../{SDK_FOLDER}/sdk/{}", language.name());
    let wit = format!("../{SDK_FOLDER}/plugin-api/wit");
    let values = [
        ("{{name}}", names.package.as_str()),
        ("{{crate}}", &names.snake),
        ("{{type}}", &names.prefix),
        ("{{entry}}", &names.snake),
        ("{{description}}", &description),
        ("{{sdk}}", &sdk_path),
        ("{{wit}}", &wit),
    ];
    for (path, text) in template {
        let path = if path == "gitignore" { ".gitignore" } else { path };
        let text = values
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        write_file(&package.join(path), &text)?;
    }
    let next = vec![
        format!("cd {}", package.display()),
        language.build().to_owned(),
        "aiperf plugins test registry.yaml".to_owned(),
    ];
    Ok(Written {
        entry: format!("{category}/{}", names.snake),
        package,
        sdk,
        sdk_was_there,
        next,
        begin,
    })
}

/// Writes the SDK, unless it is there already just so. Returns whether it was.
fn write_sdk(folder: &Path) -> Result<bool, Failure> {
    let files = || SDK.iter().copied().chain([("Cargo.toml", WORKSPACE)]);
    if folder.symlink_metadata().is_ok() {
        let other = files().find(|(path, text)| fs::read_to_string(folder.join(path)).ok().as_deref() != Some(text));
        return match other {
            None => Ok(true),
            Some((path, _)) => Err(Failure::usage(format!(
                "{} is there and is not the SDK of this aiperf: {path} differs",
                folder.display()
            ))
            .with_help("nothing was written; remove that folder if it is an older SDK, or choose another --dir")),
        };
    }
    for (path, text) in files() {
        write_file(&folder.join(path), text)?;
    }
    Ok(false)
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| Failure::usage(format!("{} can't be written: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use aiperf_host::registry::{RegistryFile, Source};

    use super::*;

    #[test]
    fn a_package_of_each_template_has_no_placeholder_left_and_a_valid_registry_file() {
        for (language, files, sdk) in [
            (
                Language::Rust,
                ["Cargo.toml", "src/lib.rs"],
                "\"../aiperf-sdk/sdk/rust\"",
            ),
            (
                Language::Python,
                ["app.py", "build.sh"],
                "-p ../aiperf-sdk/sdk/python app",
            ),
        ] {
            for category in language.categories() {
                let folder = tempfile::tempdir().unwrap();
                let told = write(language, category, "acme-thing", folder.path()).unwrap().told();
                assert!(told.contains(&format!("{category}/acme_thing")), "{told}");
                assert!(
                    told.contains(language.build()) && told.contains(language.begin()),
                    "{told}"
                );
                let package = folder.path().join("acme-thing");
                let read = |file: &str| fs::read_to_string(package.join(file)).unwrap();
                for file in [".gitignore", "README.md", "registry.yaml"].iter().chain(&files) {
                    assert!(!read(file).contains("{{"), "{category}: {file}");
                }
                assert!(!package.join("gitignore").exists());
                let text = read("registry.yaml");
                let registry = RegistryFile::parse(&text, Source::CommandLine("registry.yaml".into())).unwrap();
                assert_eq!(registry.entries()[0].role.category(), category);
                assert!(files.iter().any(|file| read(file).contains(sdk)), "no {sdk}");
            }
        }
    }

    #[test]
    fn python_is_tested_beside_its_source() {
        let folder = tempfile::tempdir().unwrap();
        write(Language::Python, Category::Endpoint, "acme-thing", folder.path()).unwrap();
        let package = folder.path().join("acme-thing");
        let [source, test] = ["app.py", "test_app.py"].map(|file| fs::read_to_string(package.join(file)).unwrap());
        assert!(source.contains("class AcmeThing(sdk.Endpoint)"), "{source}");
        assert!(test.contains("from app import AcmeThing"), "{test}");
    }

    #[test]
    fn the_sdk_is_complete_and_shared() {
        let folder = tempfile::tempdir().unwrap();
        write(Language::Rust, Category::Metric, "one", folder.path()).unwrap();
        let told = write(Language::Rust, Category::Metric, "two", folder.path())
            .unwrap()
            .told();
        assert!(told.contains("which is there"), "{told}");
        let sdk = folder.path().join(SDK_FOLDER);
        let workspace = fs::read_to_string(sdk.join("Cargo.toml")).unwrap();
        for part in [
            "members = [\"plugin-api\", \"sdk/rust\"]",
            "\nabi_stable = ",
            "\naiperf-plugin-api = ",
            "\nserde = ",
            "\nwit-bindgen = ",
            "[workspace.lints.rust]",
            "rust-version",
        ] {
            assert!(workspace.contains(part), "no {part}: {workspace}");
        }
        assert!(!workspace.contains("hyper"), "{workspace}");
        for file in [
            "plugin-api/build.rs",
            "plugin-api/wit/worlds.wit",
            "sdk/rust/src/lib.rs",
            "sdk/python/aiperf_sdk/__init__.py",
        ] {
            assert!(sdk.join(file).is_file(), "no {file}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("mine")).unwrap();
        let failure = write(Language::Rust, Category::Metric, "mine", folder.path()).unwrap_err();
        assert!(failure.message.ends_with("is there already"), "{failure}");
        assert!(!folder.path().join(SDK_FOLDER).exists());

        fs::create_dir(folder.path().join(SDK_FOLDER)).unwrap();
        let failure = write(Language::Rust, Category::Metric, "other", folder.path()).unwrap_err();
        assert!(failure.message.contains("is not the SDK of this aiperf"), "{failure}");
        assert!(!folder.path().join("other").exists());
    }

    #[test]
    fn what_has_no_template_is_refused_by_name() {
        let refused = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            run(&words).unwrap_err().to_string()
        };
        let python = refused(&["timing", "a", "--lang", "python"]);
        assert!(
            python.contains("timing") && python.contains("there are those for endpoint and metric"),
            "{python}"
        );
        assert!(refused(&["metric", "a", "--lang", "cobol"]).contains("cobol"));
        assert!(refused(&["ramp", "a"]).contains("begin with one for timing"));
        assert!(refused(&["metrics", "a"]).contains("did you mean metric?"));
        assert!(refused(&["metric"]).contains("NAME"));
    }
}
