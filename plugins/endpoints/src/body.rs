//! A request body: the endpoint's fields, the run's extra inputs over them, the turn's over those.

use aiperf_sdk::{HttpRequest, RequestInfo, Result};

use crate::json::{Object, write_string};

/// `stream_options` that ask for usage: at the end, or on each chunk too.
const USAGE: [&str; 2] = [
    r#"{"include_usage":true}"#,
    r#"{"include_usage":true,"continuous_usage_stats":true}"#,
];

/// A value of a field.
pub(crate) enum Value<'a> {
    /// A string.
    Text(&'a str),
    /// A flag.
    Bool(bool),
    /// A count.
    Count(u32),
    /// JSON as it is.
    Raw(&'a str),
    /// JSON that was put together for this body.
    Made(String),
    /// Large values write themselves, so that they are not copied.
    Written(&'a dyn Fn(&mut Vec<u8>) -> Result<()>),
}

/// Fields in the order in which they were first set.
pub(crate) struct Body<'a> {
    fields: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Body<'a> {
    /// A body without fields.
    pub(crate) fn new() -> Self {
        Self {
            fields: Vec::with_capacity(12),
        }
    }

    /// Sets a field: in place if it exists, else at the end.
    pub(crate) fn set(&mut self, name: &'a str, value: Value<'a>) {
        match self.fields.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.fields.push((name, value)),
        }
    }

    /// Merges an object over the top level.
    pub(crate) fn merge(&mut self, object: &'a Object) {
        for (name, value) in &object.0 {
            self.set(name, Value::Raw(value));
        }
    }

    /// Asks for usage where the merged body streams: servers refuse `stream_options` where it doesn't, and the last word on
    /// `stream` is the user's. What the user says in `stream_options` stays.
    pub(crate) fn ask_for_usage(&mut self, on_each_chunk: bool) -> Result<()> {
        let Some((_, stream)) = self.fields.iter().find(|(name, _)| *name == "stream") else {
            return Ok(());
        };
        let streams = match stream {
            Value::Bool(streams) => *streams,
            Value::Raw(json) => !matches!(*json, "false" | "null" | "0" | "0.0" | "\"\"" | "[]" | "{}"),
            _ => true,
        };
        if !streams {
            return Ok(());
        }
        let given = self.fields.iter().find(|(name, _)| *name == "stream_options");
        let mut options = match given {
            Some((_, Value::Raw(json))) if json.starts_with('{') => Object::parse(json, "stream_options")?,
            // As nearly always: nothing is to be put together.
            None | Some((_, Value::Raw("null"))) => {
                self.set("stream_options", Value::Raw(USAGE[usize::from(on_each_chunk)]));
                return Ok(());
            }
            Some(_) => return Ok(()),
        };
        for (name, wanted) in [("include_usage", true), ("continuous_usage_stats", on_each_chunk)] {
            if wanted && options.get(name).is_none() {
                options.set(name, "true".to_owned());
            }
        }
        let mut json = Vec::new();
        options.write(&mut json);
        self.set(
            "stream_options",
            Value::Made(String::from_utf8_lossy(&json).into_owned()),
        );
        Ok(())
    }

    /// Writes the body as compact JSON.
    pub(crate) fn write(&self, capacity: usize) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(capacity);
        out.push(b'{');
        for (i, (name, value)) in self.fields.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write_string(&mut out, name);
            out.push(b':');
            match value {
                Value::Text(text) => write_string(&mut out, text),
                Value::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
                Value::Count(count) => out.extend_from_slice(count.to_string().as_bytes()),
                Value::Raw(json) => out.extend_from_slice(json.as_bytes()),
                Value::Made(json) => out.extend_from_slice(json.as_bytes()),
                Value::Written(write) => write(&mut out)?,
            }
        }
        out.push(b'}');
        Ok(out)
    }
}

/// The request of a turn whose author gave the whole body: nothing is added to it.
pub(crate) fn verbatim(request: &mut RequestInfo) -> Option<HttpRequest> {
    let last = request.turns.last_mut()?;
    let payload = last.raw_payload.take()?;
    Some(HttpRequest {
        headers: std::mem::take(&mut last.extra_headers),
        ..HttpRequest::post(payload.into_bytes())
    })
}

/// Bytes that the texts of a request will need, roughly.
pub(crate) fn estimated_length(request: &RequestInfo) -> usize {
    let texts = request.turns.iter().map(|turn| {
        let media = [&turn.texts, &turn.images, &turn.audios, &turn.videos];
        let contents = media.into_iter().flatten().flat_map(|media| &media.contents);
        contents.map(|content| content.len() + 64).sum::<usize>() + turn.raw_messages.as_ref().map_or(0, String::len)
    });
    let system = request.system_message.as_ref().map_or(0, String::len);
    let context = request.user_context.as_ref().map_or(0, String::len);
    // Quotes and line breaks of prose grow by an escape; a sixteenth covers them.
    let total = texts.sum::<usize>() + system + context;
    total + total / 16 + 256
}
