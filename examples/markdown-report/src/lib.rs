//! The report of a run as a Markdown file, for wikis and pull requests.
//!
//! * [`markdown`]: from a report to text. The exporter around it is in this file.
#![forbid(unsafe_code)]

pub mod markdown;

use std::sync::Arc;

use aiperf_sdk::{HttpRequest, prelude::*, report::Report};

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
            "markdown" => Ok(Box::new(Markdown::new(open.options()?, open.host)?)),
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
    /// Where the report is posted as well (`https://HOST[:PORT]/PATH`). The user must let the package reach that server:
    /// `--plugin-grant markdown-report=http:HOST:PORT`.
    pub post_to: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            title: "Benchmark report".into(),
            file: "report.md".into(),
            post_to: None,
        }
    }
}

/// The exporter.
pub struct Markdown {
    options: Options,
    host: Arc<dyn Host>,
}

impl Markdown {
    /// Checks the options. That the file stays in the artifact folder is checked by the core.
    ///
    /// # Errors
    /// When there is no file name.
    pub fn new(options: Options, host: Arc<dyn Host>) -> Result<Self> {
        if options.file.is_empty() {
            return Err(PluginError::options("`file` is empty"));
        }
        Ok(Self { options, host })
    }

    fn post(&self, url: &str, text: &str) -> Result<()> {
        let authority = url.find("://").map_or(0, |at| at + 3);
        let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
        let request = HttpRequest {
            method: "POST".into(),
            path: Some(url[path..].into()).filter(|path: &String| !path.is_empty()),
            headers: vec![("Content-Type".into(), "text/markdown; charset=utf-8".into())],
            body: text.into(),
            parts: Vec::new(),
        };
        let answer = self.host.http(&url[..path], request, 0)?;
        match answer.status {
            200..300 => Ok(()),
            status => Err(PluginError::failed(format!("the server at post_to answered {status}"))),
        }
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
        if let Some(url) = &self.options.post_to {
            // A server that is away takes nothing from the file.
            if let Err(error) = self.post(url, &text) {
                self.host
                    .log(LogLevel::Warning, &format!("the report was not posted: {error}"));
            }
        }
        Ok(vec![Output::file(&self.options.file, text)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::HttpAnswer;
    use aiperf_sdk::testing::{self, Batches, FakeHost};

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
    fn the_report_is_posted_where_the_user_allows_it() {
        let accepted = HttpAnswer {
            status: 204,
            content_type: String::new(),
            body: Vec::new(),
        };
        let host = Arc::new(FakeHost::new().with_server("http://127.0.0.1:9000", accepted));
        for (post_to, posted) in [
            ("http://127.0.0.1:9000/hooks/a", true),
            ("http://127.0.0.1:9001", false),
        ] {
            let options = format!(r#"{{"post_to": "{post_to}"}}"#);
            let open = testing::open_with("markdown", &options, host.clone());
            let mut exporter = MarkdownReport::exporter(open).unwrap();
            let report = testing::report(Vec::new());
            let outputs = testing::export(&mut *exporter, &report, &Batches::of(0), 1).unwrap();
            let text = outputs.file("report.md").unwrap();
            let (origin, request) = host.requests().pop().unwrap();
            if posted {
                assert_eq!(
                    (origin.as_str(), request.path.as_deref()),
                    ("http://127.0.0.1:9000", Some("/hooks/a"))
                );
                assert_eq!(
                    (request.method.as_str(), request.body.as_slice()),
                    ("POST", text.as_bytes())
                );
                assert_eq!(host.logged(), []);
            } else {
                assert_eq!((origin.as_str(), request.path), ("http://127.0.0.1:9001", None));
                assert!(host.logged()[0].1.contains("not granted"), "{:?}", host.logged());
            }
        }
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
