//! {{description}}
//!
//! Lines of `device field value` from an HTTP exporter.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package: its entries, and how each is opened.
pub struct {{type}}Package;

impl Package for {{type}}Package {
    const NAME: &'static str = "{{name}}";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::GpuCollector, "{{entry}}")]
    }

    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        match open.entry.as_str() {
            "{{entry}}" => Ok(Box::new({{type}}::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::{{type}}Package, [GpuCollector]);

/// Options: `--plugin-opt gpu_collector/{{entry}}.interval_ms=500`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Time between two requests in ms; at least 1.
    pub interval_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { interval_ms: 1_000 }
    }
}

/// The collector.
#[derive(Debug)]
pub struct {{type}} {
    options: Options,
    due_ns: u64,
}

impl {{type}} {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options) -> Result<Self> {
        if options.interval_ms == 0 {
            return Err(PluginError::options(
                "`interval_ms` is 0, and must be at least 1",
            ));
        }
        Ok(Self { options, due_ns: 0 })
    }
}

impl GpuCollector for {{type}} {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        if let Some(scrape) = answer {
            return readings(&scrape).map(Poll::Readings);
        }
        if now_ns < self.due_ns {
            return Ok(Poll::Wait((self.due_ns - now_ns).div_ceil(1_000_000)));
        }
        self.due_ns = now_ns.saturating_add(self.options.interval_ms.saturating_mul(1_000_000));
        Ok(Poll::Request(HttpRequest::get("/metrics")))
    }
}

fn readings(scrape: &HttpAnswer) -> Result<Vec<Reading>> {
    let body = String::from_utf8_lossy(&scrape.body);
    if scrape.status != 200 {
        return Err(PluginError::failed(format!(
            "status {}: {body}",
            scrape.status
        )));
    }
    let reading = |line: &str| {
        let mut words = line.split(' ');
        let gpu = words.next()?.parse().ok()?;
        let (field, value) = (words.next()?, words.next()?.parse().ok()?);
        Some(Reading {
            gpu,
            uuid: format!("{{entry}}-{gpu}"),
            model: "unknown".into(),
            field: field.into(),
            unit: if field == "power_usage" { "W" } else { "" }.into(),
            counter: false,
            value,
            host: None,
            labels: Vec::new(),
        })
    };
    let all = body.lines().map(|line| {
        reading(line)
            .ok_or_else(|| PluginError::input(format!("`{line}` is not `device field value`")))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing;

    fn collect(options: &str, status: u16, body: &str) -> Result<Vec<(u64, Vec<Reading>)>> {
        let mut collector = {{type}}Package::gpu_collector(testing::open("{{entry}}", options))?;
        testing::readings(&mut *collector, 1_000, |request| {
            assert_eq!(request.path.as_deref(), Some("/metrics"));
            HttpAnswer {
                status,
                content_type: "text/plain".into(),
                body: body.into(),
            }
        })
    }

    #[test]
    fn readings_come_at_their_interval() {
        let all = collect(
            r#"{"interval_ms": 400}"#,
            200,
            "0 power_usage 75.5\n1 power_usage 80",
        )
        .unwrap();
        let times: Vec<u64> = all.iter().map(|(ms, _)| *ms).collect();
        assert_eq!(times, [0, 400, 800]);
        let values: Vec<(u32, f64)> = all[0]
            .1
            .iter()
            .map(|reading| (reading.gpu, reading.value))
            .collect();
        assert_eq!(values, [(0, 75.5), (1, 80.0)]);
    }

    #[test]
    fn faults_are_errors() {
        assert!(
            collect("", 503, "busy")
                .unwrap_err()
                .message
                .contains("503: busy")
        );
        assert!(collect("", 200, "0 power_usage").is_err());
        assert!(
            collect(r#"{"interval": 5}"#, 200, "").is_err(),
            "a mistyped option"
        );
    }
}
