//! The report of a run as a Markdown file, for wikis and pull requests.
//!
//! * [`markdown`]: from a report to text. The exporter around it is in this file.
#![forbid(unsafe_code)]

pub mod markdown;

use aiperf_sdk::{prelude::*, report::Report};

/// The package.
pub struct MarkdownReport;

impl Package for MarkdownReport {
    const NAME: &'static str = "markdown-report";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Exporter, "markdown")]
    }

    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        match open.entry.as_str() {
            "markdown" => Ok(Box::new(Markdown::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::MarkdownReport, [Exporter]);

/// Options of the entry (`--plugin-opt exporter/markdown.title="Nightly run"`).
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Heading of the report.
    pub title: String,
    /// Name of the file, in the artifact folder.
    pub file: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            title: "Benchmark report".into(),
            file: "report.md".into(),
        }
    }
}

/// The exporter.
#[derive(Debug)]
pub struct Markdown {
    options: Options,
}

impl Markdown {
    /// Checks the options. That the file stays in the artifact folder is checked by the core.
    ///
    /// # Errors
    /// When there is no file name.
    pub fn new(options: Options) -> Result<Self> {
        if options.file.is_empty() {
            return Err(PluginError::options("`file` is empty"));
        }
        Ok(Self { options })
    }
}

impl Exporter for Markdown {
    fn begin(&mut self, _info: &str) -> Result<ExporterNeeds> {
        Ok(ExporterNeeds {
            files: vec![self.options.file.clone()],
            ..ExporterNeeds::default()
        })
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        let text = markdown::render(&self.options.title, &Report::parse(report)?);
        Ok(vec![Output::file(&self.options.file, text)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing::{self, Batches};

    #[test]
    fn the_report_goes_into_its_file() {
        let options = r#"{"title": "Night", "file": "out/night.md"}"#;
        let mut exporter = MarkdownReport::exporter(testing::open("markdown", options)).unwrap();
        let report = testing::report(Vec::new());
        let outputs = testing::export(&mut *exporter, &report, &Batches::of(0), 1).unwrap();
        assert_eq!(outputs.names(), ["out/night.md"]);
        assert!(outputs.file("out/night.md").unwrap().starts_with("# Night\n"));
        assert_eq!(outputs.console(), "");
    }

    #[test]
    fn wrong_options_and_reports_are_refused() {
        for options in [r#"{"file": ""}"#, r#"{"name": "x"}"#] {
            assert!(
                MarkdownReport::exporter(testing::open("markdown", options)).is_err(),
                "{options}"
            );
        }
        let mut exporter = MarkdownReport::exporter(testing::open("markdown", "")).unwrap();
        assert!(exporter.finish("{}").is_err());
    }
}
