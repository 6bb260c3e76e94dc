//! What a collector wants next. Pure: time and answers are told.

use std::time::Duration;

use aiperf_plugin_api::{
    GpuCollector, HttpAnswer, HttpRequest, PluginError,
    gpu::{Poll, Reading},
};

use super::INTERVAL;

/// So many requests and readings without a wait, and a collector is made to rest.
const RESTLESS: u32 = 64;

/// The next thing to do.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Perform this request and tell the answer.
    Ask(HttpRequest),
    /// Poll again after this time.
    Rest(Duration),
    /// Readings, and when (monotonic ns) their answer began to arrive; `None` for those that were read in the poll.
    Read(Vec<Reading>, Option<u64>),
}

/// A collector being polled.
pub struct Drive {
    collector: Box<dyn GpuCollector>,
    answer: Option<HttpAnswer>,
    /// When the answer that readings come from began to arrive.
    answered_ns: Option<u64>,
    since_rest: u32,
}

impl Drive {
    /// A collector that has not been polled yet.
    pub fn new(collector: Box<dyn GpuCollector>) -> Self {
        Self {
            collector,
            answer: None,
            answered_ns: None,
            since_rest: 0,
        }
    }

    /// The answer to the last request, and when it began to arrive.
    pub fn answered(&mut self, answer: HttpAnswer, at_ns: u64) {
        self.answer = Some(answer);
        self.answered_ns = Some(at_ns);
    }

    /// Polls the collector, unless it has not rested for long.
    ///
    /// # Errors
    /// When the collector fails.
    pub fn step(&mut self, now_ns: u64) -> Result<Step, PluginError> {
        // An answer is always handed over first: the request that it belongs to was the collector's own.
        if self.since_rest >= RESTLESS && self.answer.is_none() {
            self.since_rest = 0;
            return Ok(Step::Rest(INTERVAL));
        }
        self.since_rest += 1;
        Ok(match self.collector.poll(now_ns, self.answer.take())? {
            Poll::Request(request) => {
                self.answered_ns = None;
                Step::Ask(request)
            }
            Poll::Wait(ms) => {
                self.since_rest = 0;
                self.answered_ns = None;
                Step::Rest(Duration::from_millis(ms.max(1)))
            }
            Poll::Readings(readings) => Step::Read(readings, self.answered_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a list of polls, and notes what it was told.
    struct Script(std::vec::IntoIter<Result<Poll, PluginError>>, Vec<Option<u16>>);

    impl GpuCollector for Script {
        fn poll(&mut self, _: u64, answer: Option<HttpAnswer>) -> Result<Poll, PluginError> {
            self.1.push(answer.map(|scrape| scrape.status));
            self.0.next().unwrap_or(Ok(Poll::Readings(Vec::new())))
        }
    }

    fn drive(polls: Vec<Result<Poll, PluginError>>) -> Drive {
        Drive::new(Box::new(Script(polls.into_iter(), Vec::new())))
    }

    fn get() -> HttpRequest {
        HttpRequest {
            method: "GET".into(),
            path: Some("/metrics".into()),
            headers: Vec::new(),
            body: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn ok() -> HttpAnswer {
        HttpAnswer {
            status: 200,
            content_type: String::new(),
            body: Vec::new(),
        }
    }

    #[test]
    fn readings_have_the_time_of_the_answer_they_come_from() {
        let mut drive = drive(vec![
            Ok(Poll::Request(get())),
            Ok(Poll::Readings(Vec::new())),
            Ok(Poll::Wait(0)),
            Ok(Poll::Readings(Vec::new())),
            Err(PluginError::failed("no driver")),
        ]);
        assert_eq!(drive.step(1).unwrap(), Step::Ask(get()));
        drive.answered(ok(), 77);
        assert_eq!(drive.step(90).unwrap(), Step::Read(Vec::new(), Some(77)));
        // A wait of nothing would spin.
        assert_eq!(drive.step(91).unwrap(), Step::Rest(Duration::from_millis(1)));
        assert_eq!(drive.step(92).unwrap(), Step::Read(Vec::new(), None));
        assert_eq!(drive.step(93).unwrap_err().message, "no driver");
    }

    #[test]
    fn a_collector_that_never_rests_is_made_to() {
        let mut drive = drive(Vec::new());
        for _ in 0..2 {
            for _ in 0..RESTLESS {
                assert!(matches!(drive.step(1).unwrap(), Step::Read(..)));
            }
            assert_eq!(drive.step(1).unwrap(), Step::Rest(INTERVAL));
        }
    }

    #[test]
    fn an_answer_is_handed_over_even_when_it_is_time_to_rest() {
        let mut drive = drive((0..RESTLESS).map(|_| Ok(Poll::Request(get()))).collect());
        for _ in 0..RESTLESS {
            assert_eq!(drive.step(1).unwrap(), Step::Ask(get()));
            drive.answered(ok(), 1);
        }
        assert_eq!(drive.step(1).unwrap(), Step::Read(Vec::new(), Some(1)));
        assert_eq!(drive.step(1).unwrap(), Step::Rest(INTERVAL));
    }
}
