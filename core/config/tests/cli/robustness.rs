//! No argument makes the parser panic.

use aiperf_config::{help, parse_profile, reference_markdown, wants_help};
use proptest::prelude::*;

/// Flags, fragments of flags, values and noise.
fn token() -> impl Strategy<Value = String> {
    let flags: Vec<String> = include_str!("../data/flags.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split_whitespace().map(str::to_owned))
        .chain(
            [
                "--plugin",
                "--plugin-opt",
                "--plugin-registry",
                "--timing",
                "--metric",
                "--exporter",
            ]
            .map(str::to_owned),
        )
        .collect();
    let values = [
        "1",
        "0",
        "-1",
        "1,2",
        "a:b",
        "{",
        "{}",
        "{\"a\":1}",
        "mock:",
        "a/b.c=d",
        "é",
        "inf",
        "nan",
        "none",
    ];
    let flag = proptest::sample::select(flags);
    let value = proptest::sample::select(values.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        flag.clone(),
        value.clone(),
        (flag.clone(), value).prop_map(|(flag, value)| format!("{flag}={value}")),
        (flag, any::<String>()).prop_map(|(flag, noise)| format!("{flag}{noise}")),
        any::<String>(),
        "-{0,3}[a-zH_é=,:{}./@ -]{0,12}",
    ]
}

proptest! {
    #[test]
    fn arbitrary_tokens_never_panic(tokens in proptest::collection::vec(token(), 0..8)) {
        match parse_profile(&tokens) {
            Ok(plan) => prop_assert!(plan.input_config().is_object()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn a_value_of_any_text_reaches_the_plan(value in "[^\0-\x1f,]{1,20}") {
        prop_assume!(!value.trim().is_empty());
        let plan = parse_profile(&[format!("--model={value}")]).unwrap();
        prop_assert_eq!(&plan.models[0], value.trim());
    }

    #[test]
    fn redacted_urls_hold_no_password(password in "[a-z0-9@:;!$]{12,20}", host in "[a-z]{1,8}") {
        let shown = aiperf_config::redact::url(&format!("http://user:{password}@{host}:1/x?y=z"));
        prop_assert_eq!(shown, format!("http://<redacted>@{host}:1/x?y=z"));
    }
}

#[test]
fn help_is_asked_for_by_flag() {
    assert!(wants_help(&["--model", "m", "--help"]));
    assert!(wants_help(&["-h"]));
    assert!(!wants_help(&["--model", "m"]));
    assert!(help().contains("--request-rate"));
    assert!(reference_markdown().contains("`--request-rate`"));
}
