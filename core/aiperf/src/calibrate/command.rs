//! The ladder of loads.

use std::{
    env,
    ffi::OsString,
    sync::Arc,
    time::{Duration, Instant},
};

use aiperf_config::ExitCode;
use crossbeam_channel::Receiver;

use super::{
    arguments::{self, Arguments, Asked},
    calibration::{self, Calibration, Machine},
    measure::Measured,
    show,
};
use crate::{
    failure::Failure,
    signals, stdout,
    terminal::{self, Terminal},
};

/// `aiperf calibrate`.
///
/// # Errors
/// When server or client can't be run, or the table can't be kept.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let arguments = match arguments::parse(arguments)? {
        Asked::Help(text) => {
            stdout::print(&text)?;
            return Ok(ExitCode::Ok);
        }
        Asked::For(arguments) => arguments,
    };
    let interrupts = signals::interrupts(Arc::new(Terminal::default()))
        .map_err(|error| Failure::usage(format!("the calibration can't be started: {error}")))?;
    let (calibration, interrupted) = climb(&arguments, &interrupts)?;
    // Half a table must not take the place of a whole one.
    let kept = if arguments.store && !interrupted {
        keep(&calibration)?
    } else {
        String::new()
    };
    stdout::print(&if arguments.json {
        serde_json::to_string_pretty(&calibration).map_err(|error| Failure::usage(error.to_string()))? + "\n"
    } else {
        show::text(&calibration) + &kept
    })?;
    Ok(ExitCode::Ok)
}

/// Measures the loads, each kind until one is out of bounds. The second value says that the user interrupted it.
fn climb(arguments: &Arguments, interrupts: &Receiver<()>) -> Result<(Calibration, bool), Failure> {
    let begin = Instant::now();
    let mut calibration = Calibration {
        version: env!("CARGO_PKG_VERSION").into(),
        date: jiff::Timestamp::now().to_string(),
        machine: Machine::this(),
        bounds: arguments.protocol.bounds,
        rows: Vec::new(),
        not_measured: Vec::new(),
    };
    for ladder in [&arguments.streams, &arguments.rates] {
        for (rung, load) in ladder.iter().enumerate() {
            if begin.elapsed() + arguments.protocol.expected(*load) + OVERHEAD > arguments.limit {
                calibration.not_measured.extend(&ladder[rung..]);
                break;
            }
            terminal::write(&format!("measuring {load} ...\n"));
            let row = match arguments.protocol.measure(*load, interrupts)? {
                Measured::Row(row) => *row,
                Measured::Interrupted => return Ok((calibration, true)),
                Measured::TimeIsUp => {
                    calibration.not_measured.extend(&ladder[rung..]);
                    break;
                }
            };
            let within = row.out_of_bounds.is_empty();
            calibration.rows.push(row);
            if !within && !arguments.all {
                break;
            }
        }
    }
    Ok((calibration, false))
}

/// What starting and reporting take besides the load.
const OVERHEAD: Duration = Duration::from_millis(500);

/// Stores the table; a line that says where.
fn keep(calibration: &Calibration) -> Result<String, Failure> {
    let path = calibration::path(&|name| env::var_os(name)).ok_or_else(|| {
        Failure::usage("the table can't be kept: neither XDG_DATA_HOME nor HOME is an absolute path")
            .with_help("set one of them, or give --no-store")
    })?;
    calibration::store(&path, calibration)
        .map_err(|error| Failure::usage(format!("the table can't be kept in {}: {error}", path.display())))?;
    Ok(format!("Kept for later runs in {}\n", path.display()))
}
