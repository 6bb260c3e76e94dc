//! The limit on open files: every connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside connections: libraries, artifacts, pipes, timers.
const OTHERS: u64 = 64;

/// Raises the soft limit to the hard one, as the system expects of programs that do not use `select`. A refusal leaves it as
/// it is.
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Nofile, raised);
}

/// What to tell a user who wants so many connections at once; `None` if they will do.
pub(crate) fn shortage(connections: u32) -> Option<String> {
    shortage_of(getrlimit(Resource::Nofile).current, connections)
}

/// `limit`: `None` is none.
fn shortage_of(limit: Option<u64>, connections: u32) -> Option<String> {
    let needed = u64::from(connections) + OTHERS;
    let limit = limit.filter(|limit| *limit < needed)?;
    Some(format!(
        "{connections} concurrent requests need about {needed} open files, and this process may have {limit}: requests will \
         fail for want of them; raise the hard limit (`ulimit -Hn`) or lower the concurrency"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_told_with_both_numbers() {
        assert_eq!(shortage_of(None, u32::MAX), None);
        assert_eq!(shortage_of(Some(1024), 960), None);
        let told = shortage_of(Some(1024), 961).unwrap();
        assert!(
            told.contains("961") && told.contains("1025") && told.contains("1024"),
            "{told}"
        );
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        raise_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
