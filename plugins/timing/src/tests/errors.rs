use aiperf_sdk::{
    ErrorKind, PluginError,
    testing::{FakeHost, VirtualEngine},
};

use super::{open, open_with, request_rate};

#[test]
fn wrong_options_are_named() {
    let cases = [
        ("constant", r#"{"smothness": 1.0}"#, "", "`smothness`"),
        ("request_rate", r#"{"speed": 1}"#, "", "`speed`"),
        // The core passes it, so it is no option of the user's.
        ("gamma", r#"{"smoothness": 1.0}"#, "", "`smoothness`"),
        ("gamma", "", r#"{"smoothness": 0.0}"#, "`smoothness` is 0"),
        ("gamma", "", r#"{"smoothness": -1.0}"#, "`smoothness` is -1"),
    ];
    for (entry, options, core, named) in cases {
        let error = open_with(entry, options, core, FakeHost::new())
            .err()
            .expect("an error");
        assert_eq!(error.kind, ErrorKind::InvalidOptions, "{options}");
        assert!(error.message.contains(named), "{}", error.message);
    }
    assert!(open("nonesuch", "", FakeHost::new()).is_err());
}

#[test]
fn a_phase_needs_a_rate_or_a_concurrency() {
    let error = VirtualEngine::single_turn(1)
        .run(&mut *request_rate("constant"))
        .expect_err("neither");
    assert_eq!(error.kind, ErrorKind::InvalidInput);
    assert!(error.message.contains("`profiling`") && error.help.is_some(), "{error}");
}

#[test]
fn rates_that_cannot_be_kept_are_refused() {
    let run = |pattern: &str, rate: f64| -> PluginError {
        let mut engine = VirtualEngine::single_turn(1);
        engine.plan.rate = Some(rate);
        engine.run(&mut *request_rate(pattern)).expect_err("an error")
    };
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for pattern in ["constant", "poisson", "gamma"] {
            assert!(run(pattern, rate).message.contains("rate of"), "{pattern} {rate}");
        }
    }
    assert!(run("concurrency_burst", 5.0).message.contains("leaves no time"));
}

#[test]
fn a_step_before_the_start_is_an_error() {
    assert!(request_rate("constant").step(0, &[]).is_err());
}
