//! The verdict: pure, from figures to reasons. Each limit says why it is where it is.

use aiperf_plugin_api::validity::{Fidelity, MachineUse, Reason, Validity, Verdict};

/// What a phase was meant to do, and for how long it did it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expected {
    /// Name of the phase.
    pub phase: String,
    /// Requests per second.
    pub rate: Option<f64>,
    /// The gaps between requests are drawn at random.
    pub random: bool,
    /// Conversations in flight at most.
    pub concurrency: Option<u32>,
    /// Most requests that were in flight at once.
    pub peak: Option<f64>,
    /// Its length, in ns.
    pub duration_ns: u64,
    /// Latencies are computed from the times of reads, not from the kernel's stamps.
    pub user_timestamps: bool,
}

/// What was found, from where on it is suspect, and from where on invalid.
#[derive(Clone, Copy)]
struct Found {
    value: f64,
    suspect: f64,
    /// `None`: it never makes a run invalid.
    invalid: Option<f64>,
    unit: &'static str,
}

/// Judges a run by its profiling phases and the machine. `beyond` says how the run exceeded what this machine was
/// calibrated for, if it did.
pub fn judge(phases: Vec<(Expected, Fidelity)>, machine: MachineUse, beyond: Option<String>) -> Validity {
    let mut reasons = Vec::new();
    let length_ns = phases.iter().map(|(expected, _)| expected.duration_ns).sum::<u64>();
    for (expected, fidelity) in &phases {
        of_phase(expected, fidelity, &mut reasons);
    }
    of_machine(&machine, length_ns, &mut reasons);
    if let Some(message) = beyond {
        reasons.push(Reason {
            code: "uncalibrated".into(),
            severity: Verdict::Suspect,
            phase: None,
            message,
            value: 1.0,
            limit: 0.0,
            unit: String::new(),
        });
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    Validity {
        verdict: reasons.first().map_or(Verdict::Valid, |reason| reason.severity),
        reasons,
        phases: phases
            .into_iter()
            .map(|(expected, fidelity)| (expected.phase, fidelity))
            .collect(),
        machine,
    }
}

fn of_phase(expected: &Expected, fidelity: &Fidelity, reasons: &mut Vec<Reason>) {
    let mut find = |code: &str, found: Found, message: String| {
        reasons.extend(reason(code, Some(&expected.phase), found, message));
    };
    // 5 ms is what a user notices beside a TTFT of 50 ms; from 100 ms on the load was another one.
    if let (Some(_), Some(lag)) = (expected.rate, fidelity.schedule_lag_ns) {
        let found = milliseconds(lag.p99, 5.0, Some(100.0));
        find(
            "schedule_lag",
            found,
            format!(
                "requests left late: p99 {:.1} ms behind the schedule, at most {:.1} ms; lower the rate, or raise the concurrency limit if there is one",
                found.value,
                lag.max as f64 / 1e6
            ),
        );
    }
    if let (Some(rate), Some(achieved)) = (expected.rate, fidelity.achieved_rate) {
        // Of n random gaps the mean strays by 1/sqrt(n): three times that is chance.
        let chance = if expected.random {
            3.0 / (fidelity.requests.max(1) as f64).sqrt()
        } else {
            0.0
        };
        let missing = 100.0 * (1.0 - achieved / rate);
        let found = Found {
            value: missing,
            suspect: 100.0 * (0.01 + chance),
            invalid: Some(100.0 * (0.1 + chance)),
            unit: "%",
        };
        find(
            "rate",
            found,
            format!("{achieved:.2} requests/s were sent instead of {rate:.2} ({missing:.1} % too few)"),
        );
    }
    if let (None, Some(limit), Some(peak)) = (expected.rate, expected.concurrency, expected.peak) {
        let wanted = f64::from(limit).min(fidelity.requests as f64);
        let missing = 100.0 * (1.0 - peak / wanted.max(1.0));
        let found = Found {
            value: missing,
            suspect: 5.0,
            invalid: Some(50.0),
            unit: "%",
        };
        find(
            "concurrency",
            found,
            format!(
                "at most {peak:.0} of {wanted:.0} requests were in flight at once; are there enough conversations?"
            ),
        );
    }
    if let Some(lag) = fidelity.client_lag_ns {
        let late = format!(
            "the client read late: p99 {:.1} ms after the kernel had received;",
            lag.p99 as f64 / 1e6
        );
        if expected.user_timestamps {
            // The lag is in every latency. 1 ms is what `aiperf calibrate` accepts; 20 ms is another TTFT.
            let found = milliseconds(lag.p99, 1.0, Some(20.0));
            find(
                "client_lag",
                found,
                format!(
                    "{late} the latencies are too long by that; leave out `--timestamp-source user`, or lower the load"
                ),
            );
        } else {
            // The kernel's stamps do not depend on the client's lag; beyond 20 ms it may have joined what came apart.
            let found = milliseconds(lag.p99, 20.0, None);
            find(
                "client_lag",
                found,
                format!("{late} kernel timestamps are not moved by it, but what came in between may be merged"),
            );
        }
    }
    let bounded = share(fidelity.bounded_messages, fidelity.messages);
    let bursty = share(fidelity.bursty_streams, fidelity.streams);
    if bursty > 10.0 {
        let found = Found {
            value: bursty,
            suspect: 10.0,
            invalid: None,
            unit: "%",
        };
        find(
            "buffering",
            found,
            format!(
                "{bursty:.0} % of the streams came in bursts of several messages though the client was prompt: the server, or a proxy before it, buffers; gaps between tokens are not the model's"
            ),
        );
    } else {
        let found = Found {
            value: bounded,
            suspect: 5.0,
            invalid: None,
            unit: "%",
        };
        find(
            "bounded_timestamps",
            found,
            format!(
                "of {bounded:.1} % of the messages the arrival is only known within bounds, since more came in the same read"
            ),
        );
    }
    let exhausted = share(fidelity.exhausted, fidelity.requests);
    if fidelity.exhausted > 0 {
        let found = Found {
            value: exhausted,
            suspect: 0.0,
            invalid: Some(1.0),
            unit: "%",
        };
        find(
            "exhaustion",
            found,
            format!(
                "{} requests failed for want of file descriptors or local ports; raise `ulimit -n` or lower the concurrency",
                fidelity.exhausted
            ),
        );
    }
}

fn of_machine(machine: &MachineUse, length_ns: u64, reasons: &mut Vec<Reason>) {
    let mut find = |code: &str, found: Found, message: String| reasons.extend(reason(code, None, found, message));
    // A single stall of 100 ms moves a p99 of a thousand requests; a tenth of the run without running is another run.
    let longest = milliseconds(machine.longest_stall_ns, 100.0, None);
    find(
        "stall",
        longest,
        format!("this process did not run for {:.0} ms at a time", longest.value),
    );
    let stalled = share(machine.stalled_ns, length_ns.max(1));
    let found = Found {
        value: stalled,
        suspect: 2.0,
        invalid: Some(10.0),
        unit: "%",
    };
    find(
        "starved",
        found,
        format!("this process was kept from running for {stalled:.1} % of the run"),
    );
    if let Some(busy) = machine.busy {
        let found = Found {
            value: 100.0 * busy,
            suspect: 95.0,
            invalid: None,
            unit: "%",
        };
        find(
            "cpu",
            found,
            format!(
                "the machine's {} cores were busy for {:.0} % of the run{}: client, server and whatever else runs here may have waited for one another",
                machine.cores,
                found.value,
                machine
                    .own_cores
                    .map_or_else(String::new, |own| format!(" (this process: {own:.1} cores)"))
            ),
        );
    }
    let step = machine.clock_step_ns.unsigned_abs() as f64 / 1e6;
    let found = Found {
        value: step,
        suspect: 1.0,
        invalid: None,
        unit: "ms",
    };
    find(
        "clock_step",
        found,
        format!("the wall clock was set by {step:.0} ms during the run; latencies are not touched, wall times are"),
    );
}

/// A reason, if what was found exceeds a limit.
fn reason(code: &str, phase: Option<&str>, found: Found, message: String) -> Option<Reason> {
    let severity = match found.invalid {
        Some(invalid) if found.value > invalid => Verdict::Invalid,
        _ if found.value > found.suspect => Verdict::Suspect,
        _ => return None,
    };
    let limit = match severity {
        Verdict::Invalid => found.invalid.unwrap_or(found.suspect),
        _ => found.suspect,
    };
    Some(Reason {
        code: code.to_owned(),
        severity,
        phase: phase.map(str::to_owned),
        message,
        value: found.value,
        limit,
        unit: found.unit.to_owned(),
    })
}

fn milliseconds(ns: u64, suspect: f64, invalid: Option<f64>) -> Found {
    Found {
        value: ns as f64 / 1e6,
        suspect,
        invalid,
        unit: "ms",
    }
}

/// In percent; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::validity::Quantiles;

    use super::*;

    fn phase() -> Expected {
        Expected {
            phase: "profiling".into(),
            duration_ns: 10_000_000_000,
            ..Expected::default()
        }
    }

    fn good() -> Fidelity {
        Fidelity {
            requests: 1000,
            schedule_lag_ns: Some(ms(0.05)),
            client_lag_ns: Some(ms(0.2)),
            achieved_rate: Some(100.0),
            messages: 10_000,
            bounded_messages: 100,
            streams: 1000,
            ..Fidelity::default()
        }
    }

    fn ms(p99: f64) -> Quantiles {
        let ns = (p99 * 1e6) as u64;
        Quantiles {
            p50: ns,
            p99: ns,
            max: ns,
        }
    }

    /// Codes with severities.
    fn codes(expected: Expected, fidelity: Fidelity, machine: MachineUse) -> Vec<(String, Verdict)> {
        let validity = judge(vec![(expected, fidelity)], machine, None);
        let worst = validity.reasons.iter().map(|reason| reason.severity).max();
        assert_eq!(validity.verdict, worst.unwrap_or(Verdict::Valid));
        validity
            .reasons
            .into_iter()
            .map(|reason| (reason.code, reason.severity))
            .collect()
    }

    #[test]
    fn each_reason_has_its_limits() {
        use Verdict::{Invalid, Suspect};
        let rate = |achieved| {
            (
                Expected {
                    rate: Some(100.0),
                    ..phase()
                },
                Fidelity {
                    achieved_rate: Some(achieved),
                    ..good()
                },
            )
        };
        let lag = |p99| {
            (
                Expected {
                    rate: Some(100.0),
                    ..phase()
                },
                Fidelity {
                    schedule_lag_ns: Some(ms(p99)),
                    ..good()
                },
            )
        };
        let random = |achieved| {
            (
                Expected {
                    random: true,
                    ..rate(achieved).0
                },
                rate(achieved).1,
            )
        };
        let peak = |peak| {
            (
                Expected {
                    concurrency: Some(64),
                    peak: Some(peak),
                    ..phase()
                },
                good(),
            )
        };
        let with = |fidelity| (phase(), fidelity);
        let lagging = |p99| Fidelity {
            client_lag_ns: Some(ms(p99)),
            ..good()
        };
        let by_reads = |p99| {
            (
                Expected {
                    user_timestamps: true,
                    ..phase()
                },
                lagging(p99),
            )
        };
        for ((expected, fidelity), found) in [
            (with(good()), vec![]),
            (rate(99.5), vec![]),
            (rate(98.0), vec![("rate", Suspect)]),
            (rate(80.0), vec![("rate", Invalid)]),
            // 1000 random gaps stray by up to 9.5 %.
            (random(91.0), vec![]),
            (random(85.0), vec![("rate", Suspect)]),
            (random(80.0), vec![("rate", Invalid)]),
            (lag(4.0), vec![]),
            (lag(6.0), vec![("schedule_lag", Suspect)]),
            (lag(150.0), vec![("schedule_lag", Invalid)]),
            // Without a rate there is no schedule.
            (
                with(Fidelity {
                    schedule_lag_ns: Some(ms(150.0)),
                    ..good()
                }),
                vec![],
            ),
            (peak(62.0), vec![]),
            (peak(50.0), vec![("concurrency", Suspect)]),
            (peak(20.0), vec![("concurrency", Invalid)]),
            (
                with(Fidelity {
                    client_lag_ns: Some(ms(25.0)),
                    ..good()
                }),
                vec![("client_lag", Suspect)],
            ),
            (with(lagging(0.9)), vec![]),
            (by_reads(0.9), vec![]),
            (with(lagging(1.1)), vec![]),
            (by_reads(1.1), vec![("client_lag", Suspect)]),
            (by_reads(25.0), vec![("client_lag", Invalid)]),
            (
                with(Fidelity {
                    bounded_messages: 501,
                    ..good()
                }),
                vec![("bounded_timestamps", Suspect)],
            ),
            (
                with(Fidelity {
                    bursty_streams: 101,
                    bounded_messages: 600,
                    ..good()
                }),
                vec![("buffering", Suspect)],
            ),
            (with(Fidelity { exhausted: 1, ..good() }), vec![("exhaustion", Suspect)]),
            (
                with(Fidelity {
                    exhausted: 11,
                    ..good()
                }),
                vec![("exhaustion", Invalid)],
            ),
        ] {
            let found: Vec<_> = found
                .into_iter()
                .map(|(code, severity)| (code.to_owned(), severity))
                .collect();
            assert_eq!(
                codes(expected.clone(), fidelity.clone(), MachineUse::default()),
                found,
                "{expected:?} {fidelity:?}"
            );
        }
    }

    #[test]
    fn the_machine_speaks_too() {
        use Verdict::{Invalid, Suspect};
        for (machine, found) in [
            (
                MachineUse {
                    longest_stall_ns: 90_000_000,
                    ..MachineUse::default()
                },
                vec![],
            ),
            (
                MachineUse {
                    longest_stall_ns: 500_000_000,
                    ..MachineUse::default()
                },
                vec![("stall", Suspect)],
            ),
            (
                MachineUse {
                    stalled_ns: 300_000_000,
                    ..MachineUse::default()
                },
                vec![("starved", Suspect)],
            ),
            (
                MachineUse {
                    stalled_ns: 1_500_000_000,
                    ..MachineUse::default()
                },
                vec![("starved", Invalid)],
            ),
            (
                MachineUse {
                    busy: Some(0.94),
                    ..MachineUse::default()
                },
                vec![],
            ),
            (
                MachineUse {
                    busy: Some(0.99),
                    own_cores: Some(1.2),
                    ..MachineUse::default()
                },
                vec![("cpu", Suspect)],
            ),
            (
                MachineUse {
                    clock_step_ns: -2_000_000,
                    ..MachineUse::default()
                },
                vec![("clock_step", Suspect)],
            ),
        ] {
            let found: Vec<_> = found
                .into_iter()
                .map(|(code, severity)| (code.to_owned(), severity))
                .collect();
            assert_eq!(codes(phase(), good(), machine.clone()), found, "{machine:?}");
        }
    }

    #[test]
    fn the_worst_comes_first_and_the_line_tells_all() {
        let machine = MachineUse {
            longest_stall_ns: 500_000_000,
            ..MachineUse::default()
        };
        let fidelity = Fidelity {
            exhausted: 500,
            ..good()
        };
        let validity = judge(vec![(phase(), fidelity)], machine, Some("beyond calibration".into()));
        let codes: Vec<_> = validity.reasons.iter().map(|reason| reason.code.as_str()).collect();
        assert_eq!(codes, ["exhaustion", "stall", "uncalibrated"]);
        assert_eq!(validity.verdict, Verdict::Invalid);
        assert!(
            validity.line().starts_with("invalid: 500 requests failed"),
            "{}",
            validity.line()
        );
        assert_eq!(judge(Vec::new(), MachineUse::default(), None).line(), "valid");
    }
}
