//! Faults of any kind of entry, shown on endpoints.

use std::collections::BTreeSet;

use aiperf_conformance::{Kind, Options, Outcome, Subject, run};
use aiperf_sdk::{
    Category, Endpoint, Entry, Package, PluginError, Result,
    api::{Root, abi},
    package::{NoOptions, Open},
};
use serde_json::{Map, Value};

use super::{checked, endpoint, failed, judge, unknown};

/// What goes wrong when an endpoint is opened.
pub(super) fn opening(open: &Open) -> Result<()> {
    match open.entry.as_str() {
        "accepts_any_option" => {
            let _: Map<String, Value> = open.options()?;
            Ok(())
        }
        "panics_on_bad_options" => {
            let NoOptions {} = open.options().unwrap();
            Ok(())
        }
        "refuses_custom_paths" => {
            checked(open)?;
            let core: Map<String, Value> = open.core()?;
            match core.get("custom_path") {
                None | Some(Value::Null) => Ok(()),
                Some(_) => Err(PluginError::options("no custom paths here")),
            }
        }
        "refuses_later_options" => {
            checked(open)?;
            #[derive(serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            #[expect(dead_code, reason = "read to refuse anything else")]
            struct All {
                extra: Value,
                use_legacy_max_tokens: bool,
                use_server_token_count: bool,
                per_chunk_usage: bool,
                custom_path: Value,
            }
            open.core::<All>().map(drop)
        }
        "leaks" => {
            std::mem::forget(std::hint::black_box(vec![1_u8; 32 << 10]));
            checked(open).map(drop)
        }
        _ => checked(open).map(drop),
    }
}

/// Opens whatever it is asked for.
struct Careless;

impl Package for Careless {
    const NAME: &'static str = "careless";
    const VERSION: &'static str = "1.0.0";

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Endpoint, "good")]
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        let NoOptions {} = open.options()?;
        Ok(Box::new(endpoint::Broken::new("good".to_owned())))
    }

    fn dataset(_: Open) -> Result<Box<dyn aiperf_sdk::Dataset>> {
        Err(unknown(Category::Dataset))
    }
}

#[test]
fn a_package_that_opens_any_name_is_found() {
    let conformance = judge::<Careless>(Kind::Endpoint, "good");
    assert_eq!(
        failed(&conformance),
        BTreeSet::from(["every.unknown_entry"]),
        "{conformance}"
    );
}

#[test]
fn one_case_can_be_run_again() {
    let again = || {
        let subject = Subject::new(Root::new(abi::root::<Careless>()), Kind::Endpoint, "good");
        let options = Options {
            only: vec!["every.unknown_entry".to_owned()],
            speed: false,
            ..Options::default()
        };
        run(&subject, &options)
    };
    let (one, two) = (again(), again());
    assert_eq!(one.cases.len(), 1);
    assert_eq!((one.cases[0].outcome, one.cases[0].seed), (Outcome::Failed, 42));
    assert_eq!(one.cases[0].detail, two.cases[0].detail);
}

#[test]
fn what_can_not_be_opened_fails_everywhere_but_does_not_end_the_suite() {
    let conformance = judge::<Careless>(Kind::Dataset, "good");
    assert!(!conformance.passed());
    assert!(conformance.cases.len() > 15);
    let text = conformance.to_string();
    assert!(text.contains("no such dataset"), "{text}");
}
