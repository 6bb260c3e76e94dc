//! A calibration as text.

use std::fmt::Write as _;

use super::{
    calibration::{Calibration, Row},
    figures::{Lag, Schedule, Spread},
    load::Load,
};

const STREAMS: [&str; 8] = [
    "streams",
    "events/s",
    "first token p50/p99",
    "in user space",
    "last token p50/p99",
    "ITL error p99",
    "bounded",
    "",
];
const RATES: [&str; 8] = [
    "requests/s",
    "achieved",
    "send lag p50/p99/max",
    "drift",
    "gap CV",
    "first token p50/p99",
    "in user space",
    "",
];

/// The tables and what they come to.
pub(super) fn text(calibration: &Calibration) -> String {
    let Calibration {
        version,
        date,
        machine,
        rows,
        not_measured,
        ..
    } = calibration;
    // Writing to a string does not fail.
    let mut text = format!("aiperf {version} on {} ({} CPUs), {date}\n", machine.host, machine.cpus);
    let (streams, rates): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.load.rate().is_none());
    if !streams.is_empty() {
        text.push_str("\nTimestamps: the client's time minus the server's write, in ms\n");
        table(&mut text, &STREAMS, streams.into_iter().map(stream_cells));
    }
    if !rates.is_empty() {
        text.push_str("\nSchedule: the actual send minus the intended one, in ms\n");
        table(&mut text, &RATES, rates.into_iter().filter_map(rate_cells));
    }
    if rows.iter().any(|row| row.fidelity.kernel_share < 1.0) {
        text.push_str("\nNot every arrival was stamped by the kernel; the others count by their read.\n");
    }
    if !not_measured.is_empty() {
        let loads: Vec<String> = not_measured.iter().map(Load::to_string).collect();
        let _ = writeln!(text, "\nNot measured, time was up: {}", loads.join("; "));
    }
    text.push_str(&verdict(calibration));
    text
}

fn verdict(calibration: &Calibration) -> String {
    let vouched = calibration.vouched();
    let part = |of: &str, vouched: Option<f64>| match vouched {
        Some(vouched) => format!("{vouched:.0} {of}"),
        None => format!("no {of}"),
    };
    format!(
        "\nWithin bounds up to: {}, {}, {}\n",
        part("concurrent streams", vouched.streams),
        part("events/s", vouched.events_per_s),
        part("requests/s", vouched.rate)
    )
}

fn stream_cells(row: &Row) -> [String; 8] {
    let fidelity = &row.fidelity;
    let streams = match row.load {
        Load::Streams(streams) => streams.to_string(),
        load => load.to_string(),
    };
    [
        streams,
        format!("{:.0}", row.events_per_s),
        pair(&fidelity.first_token_lag_ms.reported),
        pair(&fidelity.first_token_lag_ms.user),
        pair(&fidelity.last_token_lag_ms.reported),
        fidelity
            .itl_error_ms
            .map_or_else(|| "-".to_owned(), |spread| format!("{:.4}", spread.p99)),
        format!("{:.0} %", fidelity.bounded_share * 100.0),
        remark(row),
    ]
}

fn rate_cells(row: &Row) -> Option<[String; 8]> {
    let Schedule {
        send_lag_ms,
        drift_ms,
        achieved_rate,
        gap_cv,
    } = row.schedule?;
    let Lag { reported, user } = row.fidelity.first_token_lag_ms;
    Some([
        match row.load {
            Load::Poisson(rate) => format!("{rate} poisson"),
            load => load.rate().map(|rate| rate.to_string()).unwrap_or_default(),
        },
        format!("{achieved_rate:.1}"),
        format!("{} / {:.3}", pair(&send_lag_ms), send_lag_ms.max),
        format!("{drift_ms:+.4}"),
        format!("{gap_cv:.3}"),
        pair(&reported),
        pair(&user),
        remark(row),
    ])
}

fn pair(spread: &Spread) -> String {
    format!("{:.3} / {:.3}", spread.p50, spread.p99)
}

fn remark(row: &Row) -> String {
    let mut remarks = row.out_of_bounds.clone();
    if row.left_out > 0 {
        remarks.push(format!("{} requests left out", row.left_out));
    }
    remarks.join("; ")
}

/// Columns as wide as they must be; the last one, of remarks, flush left.
fn table(text: &mut String, head: &[&str; 8], rows: impl Iterator<Item = [String; 8]>) {
    let rows: Vec<[String; 8]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths).take(head.len() - 1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = write!(line, "  {}", row[head.len() - 1]);
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::tests::{calibration, row};
    use super::*;

    #[test]
    fn a_table() {
        let mut table = calibration(vec![
            row(Load::Streams(100), 9_900.4, &[]),
            row(Load::Streams(1000), 80_000.0, &["first-token lag p99 1.500 ms > 1 ms"]),
            row(Load::Poisson(200.0), 200.0, &[]),
        ]);
        table.rows[2].left_out = 3;
        table.not_measured = vec![Load::Constant(5000.0)];
        let expected = "\
aiperf 1.2.3 on h (2 CPUs), 2026-01-01T00:00:00Z

Timestamps: the client's time minus the server's write, in ms
  streams  events/s  first token p50/p99  in user space  last token p50/p99  ITL error p99  bounded
      100      9900        0.050 / 0.100  0.150 / 0.300       0.050 / 0.100         0.0010     25 %
     1000     80000        0.050 / 0.100  0.150 / 0.300       0.050 / 0.100         0.0010     25 %  first-token lag p99 1.500 ms > 1 ms

Schedule: the actual send minus the intended one, in ms
   requests/s  achieved   send lag p50/p99/max    drift  gap CV  first token p50/p99  in user space
  200 poisson     999.9  0.010 / 0.020 / 0.030  -0.0010   0.020        0.050 / 0.100  0.150 / 0.300  3 requests left out

Not measured, time was up: 5000 requests/s

Within bounds up to: 100 concurrent streams, 9900 events/s, 200 requests/s
";
        assert_eq!(text(&table), expected);
    }
}
