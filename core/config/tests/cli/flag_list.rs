//! Every flag of AIPerf 0.13.0 is either supported or refused by name.

use aiperf_config::{ConfigErrorKind, parse_profile, reference_markdown};

const FLAGS: &str = include_str!("../data/flags.txt");

fn settings() -> Vec<Vec<&'static str>> {
    let lines = FLAGS.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_whitespace().filter(|word| *word != "!").collect())
        .collect()
}

#[test]
fn the_list_is_the_reference() {
    assert_eq!(settings().len(), 264);
}

#[test]
fn every_spelling_is_known_and_refused_only_by_name() {
    let mut refused = 0;
    for spelling in settings().iter().flatten() {
        // Alone, a supported flag lacks its value or the model; none is unknown.
        let error = parse_profile(&[spelling]).expect_err("there is no model");
        assert_ne!(error.kind, ConfigErrorKind::Unknown, "{spelling}: {error}");
        if error.kind == ConfigErrorKind::NotSupportedYet {
            refused += 1;
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("{spelling} is not supported yet")),
                "{error}"
            );
            let error = parse_profile(&[format!("{spelling}=1")]).expect_err("refused with a value too");
            assert_eq!(error.kind, ConfigErrorKind::NotSupportedYet, "{spelling}");
        }
    }
    assert!(refused > 0);
}

#[test]
fn every_spelling_stands_in_the_reference() {
    let reference = reference_markdown();
    for spelling in settings().iter().flatten() {
        assert!(reference.contains(&format!("`{spelling}`")), "{spelling}");
    }
}
