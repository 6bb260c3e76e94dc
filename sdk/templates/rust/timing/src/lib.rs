//! {{description}}
//!
//! A conversation at equal intervals; further turns follow at once.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package: its entries, and how each is opened.
pub struct {{type}}Package;

impl Package for {{type}}Package {
    const NAME: &'static str = "{{name}}";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Timing, "{{entry}}")]
    }

    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        match open.entry.as_str() {
            "{{entry}}" => Ok(Box::new({{type}}::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::{{type}}Package, [Timing]);

/// Options: `--plugin-opt timing/{{entry}}.interval_ms=50`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Time between two conversations in ms; positive.
    pub interval_ms: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { interval_ms: 100.0 }
    }
}

/// The timing mode.
#[derive(Debug)]
pub struct {{type}} {
    interval_ns: u64,
    /// When the next conversation starts; `None` before the phase does.
    next_ns: Option<u64>,
    session: u64,
}

impl {{type}} {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options) -> Result<Self> {
        let interval_ns = (options.interval_ms * 1e6).round();
        if !(1.0..1e18).contains(&interval_ns) {
            return Err(
                PluginError::options(format!("`interval_ms` is {}", options.interval_ms))
                    .with_help("give a positive number of milliseconds"),
            );
        }
        Ok(Self {
            interval_ns: interval_ns as u64,
            next_ns: None,
            session: 0,
        })
    }
}

impl Timing for {{type}} {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.next_ns = Some(plan.start_ns);
        Ok(())
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let mut next_ns = self
            .next_ns
            .ok_or_else(|| PluginError::failed("a step before the start"))?;
        let mut actions = Vec::new();
        for event in events {
            if let Event::Ready {
                session,
                turn,
                at_ns,
                ..
            } = *event
            {
                actions.push(Action::Continue {
                    session,
                    turn,
                    at_ns,
                });
            }
        }
        while next_ns <= now_ns {
            actions.push(Action::start(self.session, next_ns));
            self.session += 1;
            next_ns = next_ns.saturating_add(self.interval_ns);
        }
        self.next_ns = Some(next_ns);
        Ok(Step {
            actions,
            next_wake_ns: Some(next_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing::{self, Reply, VirtualEngine, VirtualTurn};

    fn timing(options: &str) -> Result<Box<dyn Timing>> {
        {{type}}Package::timing(testing::open("{{entry}}", options))
    }

    #[test]
    fn conversations_start_at_equal_intervals() {
        let mut engine = VirtualEngine::new(vec![vec![VirtualTurn::default(); 2]]);
        engine.plan.sessions = Some(3);
        engine.server = Box::new(|_| Reply::after_ms(30.0));
        let run = engine
            .run(&mut *timing(r#"{"interval_ms": 50}"#).unwrap())
            .unwrap();
        let ms = |at_ns| (at_ns - engine.plan.start_ns) / 1_000_000;
        let sent: Vec<(u64, u32)> = run
            .sent
            .iter()
            .map(|sent| (ms(sent.at_ns), sent.turn))
            .collect();
        assert_eq!(
            sent,
            [(0, 0), (30, 1), (50, 0), (80, 1), (100, 0), (130, 1)]
        );
    }

    #[test]
    fn wrong_options_are_refused() {
        for options in [
            r#"{"interval_ms": 0}"#,
            r#"{"interval_ms": 1, "intervall": 2}"#,
        ] {
            assert!(timing(options).is_err(), "{options}");
        }
    }
}
