//! Events that have been read before, but for what fills their gaps.
//!
//! The events of all answers of a server are of a few forms: they differ in an id, a time, a text, a count. What is between
//! those gaps is the same, byte for byte, and says the same. Gaps are the insides of strings and numbers that nobody reads,
//! the one text, and the usage. JSON leaves no other reading, as long as what fills a string has neither quotes nor escapes,
//! and what fills a number is one.

use std::{cell::Cell, ops::Range};

use aiperf_sdk::endpoint::{ChunkKind, Usage};

use crate::{
    pull::{Pull, is_number, number_length, plain_length},
    usage::Reported,
};

/// Forms that are kept.
const MOST: usize = 8;
/// Longest event that is learned, in bytes.
const LONGEST: usize = 4096;

/// What an event of a known form says.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Said<'a> {
    /// A content chunk.
    pub(crate) text: Option<(ChunkKind, &'a str)>,
    /// Why the model stopped.
    pub(crate) finish_reason: Option<&'a str>,
    /// Token counts.
    pub(crate) usage: Option<Usage>,
}

/// What is between the bytes that events of a form have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The inside of a string that nobody reads.
    String,
    /// A number that nobody reads.
    Number,
    /// The inside of the string that is the text.
    Text(ChunkKind),
    /// The usage.
    Usage,
}

/// Events that differ in their gaps.
#[derive(Debug)]
struct Form {
    /// What comes before each gap.
    parts: Vec<(Box<[u8]>, Gap)>,
    rest: Box<[u8]>,
    finish_reason: Option<String>,
    /// Events that were of this form.
    met: Cell<u64>,
}

impl Form {
    /// The form of an event with gaps at these places. `None` if they are none that can be told apart.
    fn of(event: &[u8], mut gaps: Vec<(Range<usize>, Gap)>, finish_reason: Option<&str>) -> Option<Self> {
        gaps.sort_unstable_by_key(|(place, _)| place.start);
        let (mut parts, mut from) = (Vec::with_capacity(gaps.len()), 0);
        for (place, gap) in gaps {
            let before = event.get(from..place.start)?;
            let after = event.get(place.end..)?;
            let is_string = matches!(gap, Gap::String | Gap::Text(_));
            if is_string && !(before.ends_with(b"\"") && after.starts_with(b"\"")) {
                return None;
            }
            parts.push((before.into(), gap));
            from = place.end;
        }
        Some(Self {
            parts,
            rest: event.get(from..)?.into(),
            finish_reason: finish_reason.map(str::to_owned),
            met: Cell::default(),
        })
    }

    /// What an event says if it is of this form.
    fn read<'a>(&'a self, event: &'a [u8]) -> Option<Said<'a>> {
        let mut said = Said {
            finish_reason: self.finish_reason.as_deref(),
            ..Said::default()
        };
        let mut rest = event;
        for (before, gap) in &self.parts {
            rest = rest.strip_prefix(&**before)?;
            let length = match gap {
                Gap::String | Gap::Text(_) => plain_length(rest),
                Gap::Number => number_length(rest),
                Gap::Usage => {
                    let mut json = Pull::new(str::from_utf8(rest).ok()?);
                    said.usage = json.value::<Reported>().ok()?.usage.map(|usage| *usage);
                    json.position()
                }
            };
            let filling;
            (filling, rest) = rest.split_at_checked(length)?;
            match gap {
                // That nothing was said is not the same as saying something.
                Gap::Text(kind) if !filling.is_empty() => said.text = Some((*kind, str::from_utf8(filling).ok()?)),
                Gap::Text(_) => return None,
                Gap::Number if !is_number(filling) => return None,
                Gap::Number | Gap::String | Gap::Usage => {}
            }
        }
        (*rest == *self.rest).then_some(said)
    }
}

/// The forms that a server's events have.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    known: Vec<Form>,
    /// The one that is likely to come next: answers are alike.
    next: Cell<usize>,
}

impl Forms {
    /// What an event says, if its form is known.
    pub(crate) fn read<'a>(&'a self, event: &'a [u8]) -> Option<Said<'a>> {
        let (before, after) = self.known.split_at_checked(self.next.get())?;
        let mut likely = (self.next.get()..).zip(after).chain(before.iter().enumerate());
        let (i, form, said) = likely.find_map(|(i, form)| Some((i, form, form.read(event)?)))?;
        form.met.set(form.met.get().saturating_add(1));
        self.next.set(i + 1);
        Some(said)
    }

    /// Learns the form of an event. Of too many forms those stay that were met most often.
    pub(crate) fn learn(&mut self, event: &[u8], gaps: Vec<(Range<usize>, Gap)>, finish_reason: Option<&str>) {
        if event.len() > LONGEST {
            return;
        }
        let Some(form) = Form::of(event, gaps, finish_reason) else {
            return;
        };
        if self.known.len() == MOST {
            let rarest = (0..MOST).rev().min_by_key(|&i| self.known[i].met.get()).unwrap_or(0);
            self.known.remove(rarest);
        }
        self.known.push(form);
        self.next.set(self.known.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an event says to one who knows `known`, whose gaps are at these parts of it.
    fn read(known: &str, gaps: &[(&str, Gap)], event: &str) -> Option<String> {
        let place = |part: &str| {
            let start = known.find(part).unwrap();
            start..start + part.len()
        };
        let gaps = gaps.iter().map(|&(part, gap)| (place(part), gap)).collect();
        let mut forms = Forms::default();
        forms.learn(known.as_bytes(), gaps, None);
        let said = forms.read(event.as_bytes())?;
        let text = said.text.map_or("-", |(_, text)| text);
        Some(format!("{text} {:?}", said.usage.and_then(|usage| usage.total)))
    }

    #[test]
    fn only_gaps_may_differ() {
        let known = r#"{"id":"x1","at":7,"t":"one","usage":{"total_tokens":3},"b":null}"#;
        let gaps = [
            ("x1", Gap::String),
            ("7", Gap::Number),
            ("one", Gap::Text(ChunkKind::Text)),
            (r#"{"total_tokens":3}"#, Gap::Usage),
        ];
        let with = |from: &str, to: &str| known.replace(from, to);
        for (event, expected) in [
            (with("one", "zwölf"), Some("zwölf Some(3)")),
            (with("x1", ""), Some("one Some(3)")),
            (with("7", "-1.5e3"), Some("one Some(3)")),
            (with("3", "44 , \"x\": [\"}\"]"), Some("one Some(44)")),
            (with(r#"{"total_tokens":3}"#, "null"), Some("one None")),
            // Another reading, or none.
            (with("one", ""), None),
            (with("one", "a\\n"), None),
            (with("one", "a\",\"t\":\"b"), None),
            (with("x1", "a\",\"t\":\"b"), None),
            (with("x1", "a\\"), None),
            (with("x1", "a\n"), None),
            (with("7", "07"), None),
            (with("7", ""), None),
            (with("7", "1,\"t\":\"\""), None),
            (with("7", "\"7\""), None),
            (with("7", "-"), None),
            (with(r#"{"total_tokens":3}"#, "{"), None),
            (with(r#"{"total_tokens":3}"#, ""), None),
            (with("null", "1"), None),
            (with("null}", "null"), None),
            (with("null}", "null}}"), None),
            (String::new(), None),
        ] {
            assert_eq!(read(known, &gaps, &event).as_deref(), expected, "{event}");
        }
    }

    #[test]
    fn forms_that_are_met_stay() {
        let mut forms = Forms::default();
        let event = |i: usize| format!(r#"{{"{i}":1}}"#).into_bytes();
        forms.learn(&event(0), Vec::new(), Some("stop"));
        assert_eq!(forms.read(&event(0)).and_then(|said| said.finish_reason), Some("stop"));
        for i in 1..3 * MOST {
            forms.learn(&event(i), Vec::new(), None);
        }
        assert_eq!(forms.known.len(), MOST);
        assert!(forms.read(&event(0)).is_some());
        assert!(forms.read(&event(3 * MOST - 1)).is_some());
        forms.learn(&vec![b' '; LONGEST + 1], Vec::new(), None);
        assert!(
            forms.read(&event(3 * MOST - 1)).is_some(),
            "a long one takes nobody's place"
        );
    }
}
