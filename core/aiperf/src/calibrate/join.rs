//! The server's log and the client's records become one list: what was true, and what was seen of it.

use std::collections::HashMap;

use aiperf_mock_server::LogRecord;
use serde::Deserialize;

/// What the client saw of an arrival, in monotonic ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Stamp {
    /// The kernel's receive time.
    pub(super) kernel: Option<u64>,
    /// When the read returned.
    pub(super) user: u64,
    /// Set when more bytes followed in the same read.
    pub(super) lower: Option<u64>,
}

impl Stamp {
    /// What latencies are counted by.
    pub(super) fn reported(&self) -> u64 {
        self.kernel.unwrap_or(self.user)
    }
}

/// One request as server and client know it. All times are monotonic ns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Joined {
    /// Number of the request in its phase.
    pub(super) number: u64,
    /// When the schedule wanted it to be sent.
    pub(super) intended: u64,
    /// Right before it was written.
    pub(super) sent: u64,
    /// What the client saw.
    pub(super) first: Stamp,
    pub(super) last: Stamp,
    /// When the server wrote the first and the last token, and how many there were.
    pub(super) first_written: u64,
    pub(super) last_written: u64,
    /// When the server wrote the segment that gave the last token its stamp: where the client read the token together with
    /// the end of the answer, which the server writes by itself, that is the end's.
    pub(super) last_stamped: u64,
    pub(super) tokens: u64,
}

/// What came of joining.
#[derive(Debug, Default)]
pub(super) struct Join {
    /// Requests that both sides know and that succeeded.
    pub(super) requests: Vec<Joined>,
    /// Records that failed, or that the server's log does not know.
    pub(super) left_out: u64,
}

/// A line of the records, as far as it matters here.
#[derive(Deserialize)]
struct Record {
    metadata: Metadata,
    trace_data: Option<Trace>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Metadata {
    session_num: u64,
    x_request_id: String,
}

#[derive(Deserialize)]
struct Trace {
    monotonic_ns: Monotonic,
}

#[derive(Deserialize)]
struct Monotonic {
    intended: u64,
    send_start: Option<u64>,
    first_content: Option<Stamp>,
    last_content: Option<Stamp>,
}

/// Joins log and records by the id of the request.
///
/// # Errors
/// When a line is not what it should be; the message says which.
pub(super) fn join(log: &str, records: &str) -> Result<Join, String> {
    let mut written: HashMap<String, LogRecord> = HashMap::new();
    for (number, line) in log.lines().enumerate() {
        let line: LogRecord =
            serde_json::from_str(line).map_err(|error| format!("line {} of the server's log: {error}", number + 1))?;
        if let Some(id) = line.request_id.clone() {
            written.insert(id, line);
        }
    }
    let mut join = Join::default();
    for (number, line) in records.lines().enumerate() {
        let record: Record =
            serde_json::from_str(line).map_err(|error| format!("line {} of the records: {error}", number + 1))?;
        match pair(&record, &written) {
            Some(joined) => join.requests.push(joined),
            None => join.left_out += 1,
        }
    }
    join.requests.sort_by_key(|joined| joined.number);
    Ok(join)
}

fn pair(record: &Record, written: &HashMap<String, LogRecord>) -> Option<Joined> {
    if record.error.is_some() {
        return None;
    }
    let seen = &record.trace_data.as_ref()?.monotonic_ns;
    let truth = written
        .get(&record.metadata.x_request_id)
        .filter(|line| line.complete)?;
    let (last, last_written) = (seen.last_content?, *truth.events_ns.last()?);
    let end = truth
        .done_ns
        .filter(|end| last.lower.is_some() && *end <= last.reported());
    Some(Joined {
        number: record.metadata.session_num,
        intended: seen.intended,
        sent: seen.send_start?,
        first: seen.first_content?,
        last,
        first_written: *truth.events_ns.first()?,
        last_written,
        last_stamped: end.unwrap_or(last_written),
        tokens: truth.events_ns.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = concat!(
        r#"{"request_id":"a","path":"/v1/chat/completions","status":200,"wall_ns":1,"received_ns":90,"#,
        r#""events_ns":[100,200,300],"done_ns":301,"complete":true}"#,
        "\n",
        r#"{"request_id":"b","path":"/v1/chat/completions","status":200,"wall_ns":1,"received_ns":95,"#,
        r#""events_ns":[110],"done_ns":null,"complete":false}"#,
        "\n",
        r#"{"request_id":null,"path":"/v1/models","status":200,"wall_ns":1,"received_ns":95,"#,
        r#""events_ns":[],"done_ns":1,"complete":true}"#,
        "\n",
    );

    fn record(number: u64, id: &str, rest: &str) -> String {
        format!(
            r#"{{"metadata":{{"session_num":{number},"x_request_id":"{id}"}},"metrics":{{}},"trace_data":{{"monotonic_ns":{{"intended":80,"send_start":82,"send_end":83,"first_content":{{"kernel":105,"user":109}},"last_content":{{"user":330,"lower":210}},"content_count":3}}}}{rest}}}"#
        ) + "\n"
    }

    #[test]
    fn what_both_sides_know_is_joined() {
        // Known to both; cut short at the server; unknown to it; failed.
        let records = record(5, "a", "")
            + &record(4, "b", "")
            + &record(3, "c", "")
            + &record(2, "a", r#","error":{"message":"e"}"#);
        let join = join(LOG, &records).unwrap();
        assert_eq!(join.left_out, 3);
        let expected = Joined {
            number: 5,
            intended: 80,
            sent: 82,
            first: Stamp {
                kernel: Some(105),
                user: 109,
                lower: None,
            },
            last: Stamp {
                kernel: None,
                user: 330,
                lower: Some(210),
            },
            first_written: 100,
            last_written: 300,
            // The read ended with the end of the answer, written at 301.
            last_stamped: 301,
            tokens: 3,
        };
        assert_eq!(join.requests, [expected]);
    }

    #[test]
    fn a_last_token_that_came_alone_has_its_own_stamp() {
        for (last, stamped) in [
            (r#"{"kernel":305,"user":330}"#, 300),
            // Bounded, but the stamp is older than the end.
            (r#"{"kernel":300,"user":330,"lower":210}"#, 300),
            (r#"{"kernel":301,"user":330,"lower":210}"#, 301),
        ] {
            let records = record(5, "a", "").replace(r#"{"user":330,"lower":210}"#, last);
            let join = join(LOG, &records).unwrap();
            assert_eq!(join.requests[0].last_stamped, stamped, "{last}");
        }
    }

    #[test]
    fn a_broken_line_is_named() {
        assert!(join(LOG, "{}\n").unwrap_err().starts_with("line 1 of the records"));
        let error = join("{}\n", "").unwrap_err();
        assert!(error.starts_with("line 1 of the server's log"), "{error}");
    }
}
