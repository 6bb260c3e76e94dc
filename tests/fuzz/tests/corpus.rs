//! Every input that was worth keeping is fed again; a few mutations of each come with it.

#![allow(clippy::expect_used, reason = "a test may fail by panicking")]

use aiperf_fuzz::corpus::inputs;
use aiperf_fuzz::mutate::{Random, mutate};
use aiperf_fuzz::targets::ALL;

#[test]
fn the_corpus_is_read_without_harm() {
    for fuzz in ALL {
        for (name, bytes) in inputs(fuzz.name) {
            println!("{}: {name}", fuzz.name);
            (fuzz.run)(&bytes);
        }
    }
}

#[test]
fn well_formed_inputs_reach_the_readers() {
    let input = |target: &str, name: &str| {
        let mut all = inputs(target).into_iter();
        all.find_map(|(found, bytes)| (found == name).then_some(bytes))
            .expect("an input of this name")
    };
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let info = aiperf_host::load::version_info(&input("version_record", "elf")).expect("a record");
        assert_eq!((info.package.as_str(), info.version.as_str()), ("acme", "1.0.0"));
    }
    let registry = String::from_utf8(input("registry", "builtin")).expect("text");
    let source = aiperf_host::registry::Source::BuiltIn;
    assert!(aiperf_host::registry::RegistryFile::parse(&registry, source).is_ok());
}

#[test]
fn mutations_are_read_without_harm() {
    for fuzz in ALL {
        let inputs: Vec<_> = inputs(fuzz.name).into_iter().map(|(_, bytes)| bytes).collect();
        let mut random = Random::new(1);
        for _ in 0..200 {
            (fuzz.run)(&mutate(&mut random, &inputs, fuzz.words));
        }
    }
}
