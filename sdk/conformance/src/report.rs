//! What the suite found.

use std::fmt;

use aiperf_sdk::Category;
use serde::Serialize;

use crate::{
    case::{Level, Requirement},
    speed::Speed,
    subject::Kind,
};

/// Lines of a failure's detail that are printed; all of them are in the JSON.
const DETAIL_LINES: usize = 16;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The requirement is met.
    Passed,
    /// It is not.
    Failed,
    /// It could not be checked.
    Skipped,
}

/// A case that was run.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// Identity of the case (`endpoint.decode.garbage`).
    pub id: &'static str,
    /// Category of the subject.
    pub category: Category,
    /// What it executes.
    pub requirement: Requirement,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed or was skipped; empty when it passed.
    pub detail: String,
    /// The last lines that the plugin logged, if the case failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// The seed that replays it.
    pub seed: u64,
    /// How long it took, ns.
    pub duration_ns: u64,
}

/// The result of the suite for one entry.
#[derive(Debug, Clone, Serialize)]
pub struct Conformance {
    /// Package and version, as the library states them.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// `category/name`.
    pub entry: String,
    /// What the entry provides.
    pub kind: Kind,
    /// The seed of the run.
    pub seed: u64,
    /// The cases, in the order of the specification.
    pub cases: Vec<Case>,
    /// Speed of the calls that a run makes most.
    pub speed: Vec<Speed>,
}

impl Conformance {
    /// No requirement at MUST is broken.
    pub fn passed(&self) -> bool {
        self.failures(Level::Must).next().is_none()
    }

    /// The failed cases of a level.
    pub fn failures(&self, level: Level) -> impl Iterator<Item = &Case> {
        self.cases
            .iter()
            .filter(move |case| case.outcome == Outcome::Failed && case.requirement.level == level)
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }
}

impl fmt::Display for Conformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} of {} {} (seed {})",
            self.entry, self.package, self.version, self.seed
        )?;
        let width = self.cases.iter().map(|case| case.id.len()).max().unwrap_or(0);
        for case in &self.cases {
            let outcome = match (case.outcome, case.requirement.level) {
                (Outcome::Passed, _) => "ok",
                (Outcome::Failed, Level::Must) => "FAILED",
                (Outcome::Failed, Level::Should) => "warning",
                (Outcome::Skipped, _) => "skipped",
            };
            write!(
                f,
                "  {outcome:<7}  {:<width$}  {:<6}  {:<6}",
                case.id, case.requirement.id, case.requirement.level,
            )?;
            match case.outcome {
                Outcome::Skipped => writeln!(f, "  {}", first_line(&case.detail))?,
                _ => writeln!(f, "  {}", milliseconds(case.duration_ns))?,
            }
        }
        if !self.speed.is_empty() {
            writeln!(f, "\nspeed")?;
            for speed in &self.speed {
                writeln!(f, "  {speed}")?;
            }
        }
        for case in self.cases.iter().filter(|case| case.outcome == Outcome::Failed) {
            failure(f, self, case)?;
        }
        writeln!(
            f,
            "\n{}: {} passed, {} failed, {} skipped",
            if self.passed() { "conforms" } else { "DOES NOT CONFORM" },
            self.count(Outcome::Passed),
            self.count(Outcome::Failed),
            self.count(Outcome::Skipped),
        )
    }
}

/// A failure on one screen.
fn failure(f: &mut fmt::Formatter<'_>, run: &Conformance, case: &Case) -> fmt::Result {
    let Requirement { id, level, text, .. } = case.requirement;
    writeln!(f, "\n{}: {}", case.id, run.entry)?;
    writeln!(f, "  required: {id} {level}: {text}")?;
    let lines: Vec<&str> = case.detail.lines().collect();
    for (index, line) in lines.iter().take(DETAIL_LINES).enumerate() {
        let head = if index == 0 { "found:    " } else { "          " };
        writeln!(f, "  {head}{line}")?;
    }
    if lines.len() > DETAIL_LINES {
        writeln!(f, "            ({} more lines)", lines.len() - DETAIL_LINES)?;
    }
    for (index, line) in case.log.iter().rev().take(3).rev().enumerate() {
        let head = if index == 0 { "log:      " } else { "          " };
        writeln!(f, "  {head}{line}")?;
    }
    writeln!(f, "  replay:   case {} with seed {}", case.id, case.seed)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn milliseconds(ns: u64) -> String {
    format!("{:.1} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &'static str, level: Level, outcome: Outcome, detail: &str) -> Case {
        Case {
            id,
            category: Category::Endpoint,
            requirement: Requirement {
                id: "EP-1",
                level,
                text: "must be good",
                case: id,
            },
            outcome,
            detail: detail.to_owned(),
            log: vec!["Info: hello".to_owned()],
            seed: 7,
            duration_ns: 1_250_000,
        }
    }

    fn conformance(cases: Vec<Case>) -> Conformance {
        Conformance {
            package: "acme".to_owned(),
            version: "1.2.3".to_owned(),
            entry: "endpoint/acme".to_owned(),
            kind: Kind::Endpoint,
            seed: 7,
            cases,
            speed: vec![Speed::new("prepare", "call", 412.4, 1_000)],
        }
    }

    #[test]
    fn the_text_is_a_table_and_a_screen_per_failure() {
        let all = conformance(vec![
            case("endpoint.a", Level::Must, Outcome::Passed, ""),
            case("endpoint.bb", Level::Must, Outcome::Failed, "one\ntwo"),
            case("endpoint.c", Level::Should, Outcome::Skipped, "no sample"),
        ]);
        let expected = "\
endpoint/acme of acme 1.2.3 (seed 7)
  ok       endpoint.a   EP-1    MUST    1.2 ms
  FAILED   endpoint.bb  EP-1    MUST    1.2 ms
  skipped  endpoint.c   EP-1    SHOULD  no sample

speed
  prepare  412.4 ns per call

endpoint.bb: endpoint/acme
  required: EP-1 MUST: must be good
  found:    one
            two
  log:      Info: hello
  replay:   case endpoint.bb with seed 7

DOES NOT CONFORM: 1 passed, 1 failed, 1 skipped
";
        assert_eq!(all.to_string(), expected);
    }

    #[test]
    fn a_long_detail_is_cut_to_a_screen() {
        let detail = "line\n".repeat(500);
        let all = conformance(vec![case("endpoint.a", Level::Must, Outcome::Failed, &detail)]);
        let text = all.to_string();
        assert!(text.lines().count() < 40, "{text}");
        assert!(text.contains("(484 more lines)"), "{text}");
    }

    #[test]
    fn a_broken_should_is_a_warning() {
        let all = conformance(vec![case("endpoint.a", Level::Should, Outcome::Failed, "x")]);
        assert!(all.passed());
        assert!(all.to_string().contains("warning  endpoint.a"));
        assert_eq!(all.failures(Level::Should).count(), 1);
    }

    #[test]
    fn the_json_has_ids_levels_and_outcomes() {
        let all = conformance(vec![case("endpoint.a", Level::Must, Outcome::Failed, "x")]);
        let json = serde_json::to_value(&all).unwrap();
        assert_eq!(json["kind"], "endpoint");
        assert_eq!(json["cases"][0]["outcome"], "failed");
        assert_eq!(json["cases"][0]["requirement"]["level"], "MUST");
        assert_eq!(json["cases"][0]["category"], "endpoint");
        assert_eq!(json["speed"][0]["ns"], 412.4);
    }
}
