//! Events of a stream that differ only in their text, read without parsing them again.
//!
//! Of the events of a token stream all is the same but one string. When an event has been parsed and that string was
//! all it said, a later event with the same bytes before and after a string says the same with another text: JSON
//! leaves no other reading, as long as the string has neither quotes nor escapes.

use std::ops::Range;

use aiperf_sdk::endpoint::ChunkKind;

use crate::pull::plain_length;

/// Where in memory a text is, to find out whether it lies in an event as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    address: usize,
    length: usize,
    /// Kind of the text.
    pub(crate) kind: ChunkKind,
}

impl Place {
    /// The place of a text.
    pub(crate) fn of(text: &str, kind: ChunkKind) -> Self {
        Self {
            address: text.as_ptr() as usize,
            length: text.len(),
            kind,
        }
    }

    /// Which bytes of an event it is. `None` unless it lies in the event.
    pub(crate) fn within(&self, event: &[u8]) -> Option<Range<usize>> {
        let start = self.address.checked_sub(event.as_ptr() as usize)?;
        let end = start.checked_add(self.length)?;
        (end <= event.len()).then_some(start..end)
    }
}

/// What surrounds the text of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pattern<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    /// Kind of the text.
    pub(crate) kind: ChunkKind,
}

impl<'a> Pattern<'a> {
    /// The pattern of `event`, whose only content is the text at a place. `None` unless that lies in the event.
    pub(crate) fn of(event: &'a [u8], text: Place) -> Option<Self> {
        let place = text.within(event)?;
        let (head, tail) = (event.get(..place.start)?, event.get(place.end..)?);
        let quoted = head.ends_with(b"\"") && tail.starts_with(b"\"");
        quoted.then_some(Self {
            head,
            tail,
            kind: text.kind,
        })
    }

    /// The text of an event of this pattern. `None` if it is of another, or its text is empty or has escapes.
    pub(crate) fn text<'e>(&self, event: &'e [u8]) -> Option<&'e str> {
        let text = event.strip_prefix(self.head)?.strip_suffix(self.tail)?;
        let plain = !text.is_empty() && plain_length(text) == text.len();
        plain.then(|| str::from_utf8(text).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern<'a>(event: &'a str, text: &str) -> Option<Pattern<'a>> {
        let start = event.find(text).unwrap();
        let text = &event[start..start + text.len()];
        Pattern::of(event.as_bytes(), Place::of(text, ChunkKind::Text))
    }

    #[test]
    fn only_the_text_may_differ() {
        let known = pattern(r#"{"a":"x","t":"one","b":null}"#, "one").unwrap();
        for (event, text) in [
            (r#"{"a":"x","t":"two","b":null}"#, Some("two")),
            (r#"{"a":"x","t":" zwölf ","b":null}"#, Some(" zwölf ")),
            // Another reading, or none.
            (r#"{"a":"x","t":"","b":null}"#, None),
            (r#"{"a":"y","t":"two","b":null}"#, None),
            (r#"{"a":"x","t":"two","b":1}"#, None),
            (r#"{"a":"x","t":"a","c":"b","b":null}"#, None),
            (r#"{"a":"x","t":"a\nb","b":null}"#, None),
            (r#"{"a":"x","t":"a\","b":null}"#, None),
            ("{\"a\":\"x\",\"t\":\"a\nb\",\"b\":null}", None),
            (r#"{"a":"x","t":"#, None),
            ("", None),
        ] {
            assert_eq!(known.text(event.as_bytes()), text, "{event}");
        }
        assert_eq!(known.text(b"{\"a\":\"x\",\"t\":\"\xff\",\"b\":null}"), None);
    }

    #[test]
    fn a_text_from_elsewhere_has_no_pattern() {
        let event = r#"{"t":"one"}"#;
        let elsewhere = String::from("one");
        assert_eq!(
            Pattern::of(event.as_bytes(), Place::of(&elsewhere, ChunkKind::Text)),
            None
        );
        assert_eq!(pattern(r#"{"t": one }"#, "one"), None);
    }

    proptest! {
        /// Whatever is read by a pattern is what a parser reads.
        #[test]
        fn agrees_with_a_parser(first in "[A-Z]{1,6}", next in r#"[a-z"\\,:{}ü\n]{0,12}"#, raw in any::<bool>()) {
            let event = |text: &str| format!(r#"{{"id":1,"t":{text},"b":{{"c":[null]}}}}"#);
            let quoted = |text: &str| if raw { format!("\"{text}\"") } else { serde_json::to_string(text).unwrap() };
            let (known, other) = (event(&quoted(&first)), event(&quoted(&next)));
            let known = pattern(&known, &first).unwrap();
            if let Some(text) = known.text(other.as_bytes()) {
                let parsed: serde_json::Value = serde_json::from_str(&other).unwrap();
                prop_assert_eq!(parsed, serde_json::json!({"id": 1, "t": text, "b": {"c": [null]}}));
            }
        }
    }
}
