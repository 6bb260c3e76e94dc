//! What there are templates in.

use aiperf_plugin_api::Category;

use super::embedded::TEMPLATES;
use crate::failure::Failure;

/// A language of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// A native library, or a component.
    Rust,
    /// A component.
    Python,
}

impl Language {
    const ALL: [Self; 2] = [Self::Rust, Self::Python];

    /// The language of this name.
    ///
    /// # Errors
    /// When there are no templates in it.
    pub(super) fn of(name: &str) -> Result<Self, Failure> {
        Self::ALL
            .into_iter()
            .find(|language| language.name() == name)
            .ok_or_else(|| {
                Failure::usage(format!("there is no template in the language `{name}`"))
                    .with_help("there are those in rust and python")
            })
    }

    /// Its name on the command line and in folders.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
        }
    }

    /// The file that the author begins with.
    pub(super) fn begin(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::Python => "app.py",
        }
    }

    /// The command that builds a package.
    pub(super) fn build(self) -> &'static str {
        match self {
            Self::Rust => "cargo build --release",
            Self::Python => "sh build.sh",
        }
    }

    /// The files of a template: path and text.
    ///
    /// # Errors
    /// When there is none for the category; the error names those that there are.
    pub(super) fn template(self, category: Category) -> Result<Vec<(&'static str, &'static str)>, Failure> {
        let files: Vec<_> = self.files(category).collect();
        if files.is_empty() {
            let there: Vec<&str> = self.categories().map(Category::name).collect();
            return Err(
                Failure::usage(format!("there is no template for {category} in {}", self.name())).with_help(format!(
                    "there are those for {}; `--lang rust` has all categories",
                    there.join(" and ")
                )),
            );
        }
        Ok(files)
    }

    /// The categories that there are templates for.
    pub(super) fn categories(self) -> impl Iterator<Item = Category> {
        Category::ALL
            .into_iter()
            .filter(move |&category| self.files(category).next().is_some())
    }

    fn files(self, category: Category) -> impl Iterator<Item = (&'static str, &'static str)> {
        let prefix = format!("{}/{category}/", self.name());
        TEMPLATES
            .iter()
            .filter_map(move |(path, text)| path.strip_prefix(&prefix).map(|path| (path, *text)))
    }
}
