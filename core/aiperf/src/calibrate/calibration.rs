//! The table of a calibration, what it says of a run, and where it is kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use aiperf_host::discovery::plugin_folder;
use serde::{Deserialize, Serialize};

use super::{
    figures::{Fidelity, Schedule},
    load::Load,
};

/// Errors that are accepted, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// 99th percentile of the lag of first tokens.
    pub(crate) first_token_lag_ms: f64,
    /// 99th percentile of the error of a request's inter-token latency.
    pub(crate) itl_error_ms: f64,
    /// 99th percentile of the send lag.
    pub(crate) send_lag_ms: f64,
}

/// One load and how true the measurement was under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) load: Load,
    /// Requests that server and client agree on.
    pub(crate) requests: u64,
    /// Requests that failed or that the server's log does not hold.
    pub(crate) left_out: u64,
    /// Tokens per second that the server wrote, from its first to its last.
    pub(crate) events_per_s: f64,
    #[serde(flatten)]
    pub(crate) fidelity: Fidelity,
    /// Where the load is a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schedule: Option<Schedule>,
    /// What is out of bounds; empty if nothing is.
    pub(crate) out_of_bounds: Vec<String>,
}

/// The machine a calibration holds for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) host: String,
    pub(crate) cpus: usize,
    pub(crate) kernel: String,
}

impl Machine {
    /// This one.
    pub(crate) fn this() -> Self {
        let read = |name: &str| {
            fs::read_to_string(Path::new("/proc/sys/kernel").join(name))
                .map_or_else(|_| "unknown".to_owned(), |text| text.trim_end().to_owned())
        };
        Self {
            host: read("hostname"),
            cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            kernel: read("osrelease"),
        }
    }
}

/// What `aiperf calibrate` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calibration {
    pub(crate) version: String,
    /// RFC 3339.
    pub(crate) date: String,
    pub(crate) machine: Machine,
    pub(crate) bounds: Bounds,
    pub(crate) rows: Vec<Row>,
    /// Loads that were not measured because time was up.
    pub(crate) not_measured: Vec<Load>,
}

impl Bounds {
    /// What of a measurement lies beyond these bounds.
    pub(super) fn violations(&self, fidelity: &Fidelity, schedule: Option<&Schedule>) -> Vec<String> {
        let checks = [
            (
                "first-token lag",
                Some(fidelity.first_token_lag_ms.reported.p99),
                self.first_token_lag_ms,
            ),
            (
                "ITL error",
                fidelity.itl_error_ms.map(|spread| spread.p99),
                self.itl_error_ms,
            ),
            (
                "send lag",
                schedule.map(|schedule| schedule.send_lag_ms.p99),
                self.send_lag_ms,
            ),
        ];
        checks
            .into_iter()
            .filter_map(|(name, found, bound)| {
                let found = found.filter(|found| *found > bound)?;
                Some(format!("{name} p99 {found:.3} ms > {bound} ms"))
            })
            .collect()
    }
}

/// The largest loads that a calibration vouches for; `None` where not even the least was within bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vouched {
    pub(crate) streams: Option<f64>,
    pub(crate) rate: Option<f64>,
    pub(crate) events_per_s: Option<f64>,
}

impl Calibration {
    /// Up to which load everything was within bounds. A load above one that was not does not count.
    pub(crate) fn vouched(&self) -> Vouched {
        let within = |load_of: &dyn Fn(&Row) -> Option<f64>| {
            let mut rows: Vec<(f64, bool)> = self
                .rows
                .iter()
                .filter_map(|row| Some((load_of(row)?, row.out_of_bounds.is_empty())))
                .collect();
            // Of equal loads the worse one first.
            rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let good = rows.iter().take_while(|(_, within)| *within);
            good.last().map(|(load, _)| *load)
        };
        Vouched {
            streams: within(&|row| match row.load {
                Load::Streams(streams) => Some(f64::from(streams)),
                _ => None,
            }),
            rate: within(&|row| row.load.rate()),
            events_per_s: within(&|row| matches!(row.load, Load::Streams(_)).then_some(row.events_per_s)),
        }
    }
}

/// Says by what a run went beyond the loads that a calibration vouches for; `None` if by nothing. `streams`: requests in
/// flight at most; `rate`: requests per second; `events_per_s`: parts of answers per second. What is unknown does not count.
pub(crate) fn beyond(
    calibration: &Calibration,
    streams: Option<f64>,
    rate: Option<f64>,
    events_per_s: Option<f64>,
) -> Option<String> {
    let vouched = calibration.vouched();
    let beyond: Vec<String> = [
        ("concurrent requests", streams, vouched.streams),
        ("requests/s", rate, vouched.rate),
        ("events/s", events_per_s, vouched.events_per_s),
    ]
    .into_iter()
    .filter_map(|(what, had, vouched)| {
        let had = had?;
        match vouched {
            Some(vouched) if had <= vouched => None,
            Some(vouched) => Some(format!("{had:.0} {what} (calibrated up to {vouched:.0})")),
            None => Some(format!("{had:.0} {what} (no load was within bounds)")),
        }
    })
    .collect();
    (!beyond.is_empty()).then(|| format!("the run went beyond what was calibrated: {}", beyond.join(", ")))
}

/// Where the calibration of this user is kept: `calibration.json` beside the folder of the plugins. `None` where there is
/// no data folder.
pub(crate) fn path(environment: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    Some(plugin_folder(environment)?.with_file_name("calibration.json"))
}

/// Reads a calibration. `None` if there is none, or if it is of another machine, to which it says nothing.
///
/// # Errors
/// When the file can't be read or is of another shape.
pub(crate) fn load(path: &Path, machine: &Machine) -> io::Result<Option<Calibration>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let calibration: Calibration = serde_json::from_str(&text)?;
    let same = calibration.machine.host == machine.host && calibration.machine.cpus == machine.cpus;
    Ok(Some(calibration).filter(|_| same))
}

/// Writes a calibration; a reader sees the old one or the new one, never a part.
///
/// # Errors
/// When the folder can't be made or the file can't be written.
pub(crate) fn store(path: &Path, calibration: &Calibration) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(calibration)? + "\n";
    let fresh = path.with_extension(format!("json.{}", std::process::id()));
    let written = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // Nothing is left behind; the first error is the one to tell.
        let _ = fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::figures::{Lag, Spread};
    use super::*;

    const BOUNDS: Bounds = Bounds {
        first_token_lag_ms: 1.0,
        itl_error_ms: 0.1,
        send_lag_ms: 0.5,
    };

    pub(in super::super) fn fidelity(lag: f64, itl: Option<f64>) -> Fidelity {
        let spread = |value| Spread {
            p50: value / 2.0,
            p99: value,
            max: value * 2.0,
        };
        let lag = Lag {
            reported: spread(lag),
            user: spread(lag * 3.0),
        };
        Fidelity {
            first_token_lag_ms: lag,
            last_token_lag_ms: lag,
            itl_error_ms: itl.map(spread),
            kernel_share: 1.0,
            bounded_share: 0.25,
        }
    }

    pub(in super::super) fn row(load: Load, events_per_s: f64, violations: &[&str]) -> Row {
        let schedule = Schedule {
            send_lag_ms: Spread {
                p50: 0.01,
                p99: 0.02,
                max: 0.03,
            },
            drift_ms: -0.001,
            achieved_rate: 999.9,
            gap_cv: 0.02,
        };
        Row {
            load,
            requests: 10,
            left_out: 0,
            events_per_s,
            fidelity: fidelity(0.1, Some(0.001)),
            schedule: load.rate().map(|_| schedule),
            out_of_bounds: violations.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    pub(in super::super) fn calibration(rows: Vec<Row>) -> Calibration {
        Calibration {
            version: "1.2.3".into(),
            date: "2026-01-01T00:00:00Z".into(),
            machine: Machine {
                host: "h".into(),
                cpus: 2,
                kernel: "k".into(),
            },
            bounds: BOUNDS,
            rows,
            not_measured: Vec::new(),
        }
    }

    #[test]
    fn violations_are_named() {
        assert!(BOUNDS.violations(&fidelity(1.0, Some(0.1)), None).is_empty());
        assert!(BOUNDS.violations(&fidelity(0.5, None), None).is_empty());
        assert_eq!(
            BOUNDS.violations(&fidelity(1.5, Some(0.25)), None),
            ["first-token lag p99 1.500 ms > 1 ms", "ITL error p99 0.250 ms > 0.1 ms"]
        );
        let mut late = row(Load::Constant(5.0), 0.0, &[]).schedule.unwrap();
        late.send_lag_ms.p99 = 0.75;
        assert_eq!(
            BOUNDS.violations(&fidelity(0.5, None), Some(&late)),
            ["send lag p99 0.750 ms > 0.5 ms"]
        );
    }

    #[test]
    fn a_good_load_above_a_bad_one_does_not_count() {
        let table = calibration(vec![
            row(Load::Streams(100), 10_000.0, &[]),
            row(Load::Streams(500), 40_000.0, &["x"]),
            row(Load::Streams(1000), 50_000.0, &[]),
            row(Load::Constant(1000.0), 1000.0, &[]),
            row(Load::Poisson(1000.0), 1000.0, &["x"]),
            row(Load::Constant(200.0), 200.0, &[]),
        ]);
        let expected = Vouched {
            streams: Some(100.0),
            rate: Some(200.0),
            events_per_s: Some(10_000.0),
        };
        assert_eq!(table.vouched(), expected);
    }

    #[test]
    fn what_a_run_went_beyond_is_said() {
        let table = calibration(vec![
            row(Load::Streams(100), 10_000.0, &[]),
            row(Load::Constant(200.0), 200.0, &["x"]),
        ]);
        assert_eq!(beyond(&table, Some(100.0), None, Some(9_999.0)), None);
        assert_eq!(beyond(&table, None, None, None), None);
        assert_eq!(
            beyond(&table, Some(101.0), Some(1.0), Some(20_000.0)).unwrap(),
            "the run went beyond what was calibrated: 101 concurrent requests (calibrated up to 100), 1 requests/s (no load \
             was within bounds), 20000 events/s (calibrated up to 10000)"
        );
    }

    #[test]
    fn a_calibration_is_kept_for_its_machine() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/calibration.json");
        let table = calibration(vec![row(Load::Poisson(200.0), 200.0, &["x"])]);
        assert_eq!(load(&path, &table.machine).unwrap(), None);
        store(&path, &table).unwrap();
        assert_eq!(load(&path, &table.machine).unwrap(), Some(table.clone()));
        let other = Machine {
            cpus: 64,
            ..table.machine.clone()
        };
        assert_eq!(load(&path, &other).unwrap(), None);
        let left: Vec<_> = fs::read_dir(folder.path().join("a")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        fs::write(&path, "{}").unwrap();
        assert!(load(&path, &table.machine).is_err());
    }

    #[test]
    fn it_lies_beside_the_plugins() {
        let environment = |name: &str| (name == "XDG_DATA_HOME").then(|| "/d".into());
        assert_eq!(path(&environment), Some(PathBuf::from("/d/aiperf/calibration.json")));
        assert_eq!(path(&|_| None), None);
    }
}
