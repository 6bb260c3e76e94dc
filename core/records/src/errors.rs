//! Failed requests, grouped for the report.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Distinct errors that are told apart. A server that puts a request id into its message makes every error distinct.
const MAX_GROUPS: usize = 1000;
/// Bytes of error text kept over all groups.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Why a request failed. Errors that agree in all three fields are one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ErrorDetails {
    /// HTTP status, or 499 for a configured cancellation, 502 for an error event in a stream; absent for client errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// Reason phrase or name of the error kind.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What the server or the client said.
    pub message: String,
}

/// How often one error occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The error.
    pub error_details: ErrorDetails,
    /// Its number of occurrences.
    pub count: u64,
}

/// All errors of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// The groups, in the order of their first occurrence.
    pub groups: Vec<ErrorCount>,
    /// Errors in no group, because there were too many different ones (1000, or 4 MiB of text).
    #[serde(default)]
    pub ungrouped: u64,
}

impl ErrorSummary {
    /// Number of errors, grouped or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum::<u64>() + self.ungrouped
    }
}

/// Groups errors as they come in, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct ErrorTally {
    summary: ErrorSummary,
    /// Where in `summary.groups` an error stands.
    positions: HashMap<ErrorDetails, usize>,
    text_bytes: usize,
}

impl ErrorTally {
    /// Counts one error.
    pub fn add(&mut self, error: &ErrorDetails) {
        if let Some(&position) = self.positions.get(error) {
            self.summary.groups[position].count += 1;
            return;
        }
        let bytes = error.message.len() + error.kind.as_ref().map_or(0, String::len);
        if self.summary.groups.len() == MAX_GROUPS || self.text_bytes + bytes > MAX_TEXT_BYTES {
            self.summary.ungrouped += 1;
            return;
        }
        self.text_bytes += bytes;
        self.positions.insert(error.clone(), self.summary.groups.len());
        self.summary.groups.push(ErrorCount {
            error_details: error.clone(),
            count: 1,
        });
    }

    /// The groups so far.
    #[must_use]
    pub fn summary(&self) -> &ErrorSummary {
        &self.summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: Option<i64>, kind: &str, message: &str) -> ErrorDetails {
        ErrorDetails {
            code,
            kind: Some(kind.to_owned()),
            message: message.to_owned(),
        }
    }

    #[test]
    fn groups_by_code_type_and_message_in_order_of_appearance() {
        let mut tally = ErrorTally::default();
        let errors = [
            error(Some(503), "Service Unavailable", "busy"),
            error(Some(500), "Internal Server Error", "busy"),
            error(Some(503), "Service Unavailable", "busy"),
            error(Some(503), "Service Unavailable", "down"),
            error(None, "Service Unavailable", "busy"),
            error(Some(503), "Service Unavailable", "busy"),
        ];
        errors.iter().for_each(|e| tally.add(e));
        let counts: Vec<_> = tally
            .summary()
            .groups
            .iter()
            .map(|g| (g.error_details.clone(), g.count))
            .collect();
        assert_eq!(
            counts,
            [
                (errors[0].clone(), 3),
                (errors[1].clone(), 1),
                (errors[3].clone(), 1),
                (errors[4].clone(), 1)
            ]
        );
        assert_eq!((tally.summary().total(), tally.summary().ungrouped), (6, 0));
    }

    #[test]
    fn too_many_kinds_are_counted_but_not_told_apart() {
        let mut tally = ErrorTally::default();
        for i in 0..1500 {
            tally.add(&error(Some(400), "Bad Request", &format!("request {i}")));
        }
        tally.add(&error(Some(400), "Bad Request", "request 7"));
        assert_eq!(tally.summary().groups.len(), 1000);
        assert_eq!(tally.summary().groups[7].count, 2);
        assert_eq!((tally.summary().ungrouped, tally.summary().total()), (500, 1501));
    }

    #[test]
    fn long_messages_spend_the_text_budget() {
        let mut tally = ErrorTally::default();
        for i in 0..5 {
            tally.add(&error(None, "", &format!("{i}{}", "x".repeat((1 << 20) - 1))));
        }
        assert_eq!((tally.summary().groups.len(), tally.summary().ungrouped), (4, 1));
    }

    #[test]
    fn json_has_the_keys_of_the_summary_file() {
        let group = ErrorCount {
            error_details: error(Some(503), "Service Unavailable", "busy"),
            count: 4,
        };
        assert_eq!(
            serde_json::to_string(&group).unwrap(),
            r#"{"error_details":{"code":503,"type":"Service Unavailable","message":"busy"},"count":4}"#
        );
        let bare = ErrorDetails {
            code: None,
            kind: None,
            message: "lost".to_owned(),
        };
        assert_eq!(serde_json::to_string(&bare).unwrap(), r#"{"message":"lost"}"#);
    }
}
