//! {{description}}
//!
//! A text file with one line per metric.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package: its entries, and how each is opened.
pub struct {{type}}Package;

impl Package for {{type}}Package {
    const NAME: &'static str = "{{name}}";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Exporter, "{{entry}}")]
    }

    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        match open.entry.as_str() {
            "{{entry}}" => Ok(Box::new({{type}}::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::{{type}}Package, [Exporter]);
use aiperf_sdk::report::Report;

/// Options: `--plugin-opt exporter/{{entry}}.file=summary.txt`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the file, in the artifact folder.
    pub file: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            file: "{{entry}}.txt".into(),
        }
    }
}

/// The exporter.
#[derive(Debug)]
pub struct {{type}} {
    options: Options,
}

impl {{type}} {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options) -> Result<Self> {
        if options.file.is_empty() {
            return Err(PluginError::options("`file` is empty"));
        }
        Ok(Self { options })
    }
}

impl Exporter for {{type}} {
    fn begin(&mut self, _info: &str) -> Result<ExporterNeeds> {
        // Name record columns here, and `write` gets them.
        Ok(ExporterNeeds {
            files: vec![self.options.file.clone()],
            ..ExporterNeeds::default()
        })
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        let report = Report::parse(report)?;
        let mut text = String::new();
        for metric in report.phases.iter().flat_map(|phase| &phase.metrics) {
            // What does not exist is left out, never 0.
            if let Some(mean) = metric.displayed(metric.stats.avg) {
                text += &format!(
                    "{} {mean:.3} {}\n",
                    metric.spec.tag,
                    metric.spec.reported_unit()
                );
            }
        }
        Ok(vec![Output::file(&self.options.file, text)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::{
        report::Stats,
        testing::{self, Batches},
    };

    #[test]
    fn one_line_per_metric() {
        let spec = MetricSpec {
            display_unit: "ms".into(),
            ..MetricSpec::new("latency", "Latency", "ns", MetricKind::Record)
        };
        let stats = Stats {
            avg: Some(2.5e6),
            ..Stats::default()
        };
        let unknown = MetricSpec::new("unknown", "Unknown", "tokens", MetricKind::Record);
        let metrics = vec![
            testing::result(spec, 1e-6, stats),
            testing::result(unknown, 1.0, Stats::default()),
        ];
        let mut exporter =
            {{type}}Package::exporter(testing::open("{{entry}}", r#"{"file": "a.txt"}"#)).unwrap();
        let outputs = testing::export(
            &mut *exporter,
            &testing::report(metrics),
            &Batches::of(0),
            1,
        )
        .unwrap();
        assert_eq!(outputs.file("a.txt"), Some("latency 2.500 ms\n"));
    }

    #[test]
    fn wrong_options_are_refused() {
        for options in [r#"{"file": ""}"#, r#"{"fiel": "a"}"#] {
            assert!(
                {{type}}Package::exporter(testing::open("{{entry}}", options)).is_err(),
                "{options}"
            );
        }
    }
}
