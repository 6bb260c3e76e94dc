//! Where two descriptions of the contract's types part, in one line.

use aiperf_plugin_api::abi::abi_stable::abi_stability::abi_checking::{AbiInstability, AbiInstabilityErrors};
use aiperf_plugin_api::abi::abi_stable::type_layout::TLFieldOrFunction;
use std::fmt::Display;

/// The most telling difference: in which type, and what each side has. `ours_expected`: the comparison's "expected" is this
/// program.
pub(super) fn first(errors: &AbiInstabilityErrors, ours_expected: bool) -> String {
    let all = || {
        let pairs = errors
            .errors
            .iter()
            .flat_map(|error| error.errs.iter().map(move |what| (error, what)));
        pairs.map(|(error, what)| {
            let fields = error.stack_trace.iter().rev().filter_map(|step| match &step.expected {
                TLFieldOrFunction::Field(field) => Some(field.layout().name()),
                TLFieldOrFunction::Function(_) => None,
            });
            (fields.into_iter().next().unwrap_or(errors.interface.name()), what)
        })
    };
    // A type that has moved to another crate is the least of it.
    let telling = all().find(|(_, what)| !matches!(what, AbiInstability::Package(_)));
    match telling.or_else(|| all().next()) {
        Some((holder, what)) => format!("`{holder}` {}", described(what, ours_expected)),
        None => "the descriptions of the types differ".to_owned(),
    }
}

fn described(what: &AbiInstability, ours_expected: bool) -> String {
    use AbiInstability as Is;
    let sides = |name: &str, expected: &dyn Display, found: &dyn Display| {
        let (ours, theirs) = if ours_expected {
            (expected, found)
        } else {
            (found, expected)
        };
        format!("has {name} {theirs} in the library and {ours} here")
    };
    match what {
        Is::Name(pair) => sides("the type", &pair.expected, &pair.found),
        Is::Size(pair) => sides("the size", &pair.expected, &pair.found),
        Is::Alignment(pair) => sides("the alignment", &pair.expected, &pair.found),
        Is::FieldCountMismatch(pair) => sides("the number of fields", &pair.expected, &pair.found),
        Is::MismatchedPrefixSize(pair) => sides("the number of fixed fields", &pair.expected, &pair.found),
        Is::TooManyVariants(pair) => sides("the number of variants", &pair.expected, &pair.found),
        Is::UnexpectedVariant(pair) => sides("the variant", &pair.expected, &pair.found),
        Is::Package(pair) => sides("the home crate", &pair.expected, &pair.found),
        Is::UnexpectedField(pair) => sides("the field", &pair.expected.name(), &pair.found.name()),
        Is::FieldLifetimeMismatch(pair) => sides("the field", &pair.expected.name(), &pair.found.name()),
        _ => "is laid out differently in the library".to_owned(),
    }
}
