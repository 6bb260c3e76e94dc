//! Turns as chat messages.

use aiperf_sdk::{Media, PluginError, RequestInfo, Result, Turn};
use serde_json::value::RawValue;

use crate::json::{Object, array_items, write_string};

/// Writes the message list of a request: system message, user context, turns since the last reset of the context.
///
/// A system message that the turns begin with is joined to the conversation's: many servers mishandle two.
pub(crate) fn write_messages(out: &mut Vec<u8>, request: &RequestInfo, force_parts: bool) -> Result<()> {
    let start = request.turns.iter().rposition(|turn| turn.reset_context).unwrap_or(0);
    let turns: Vec<&Turn> = request.turns[start..].iter().filter(|turn| !turn.no_request).collect();
    let mut turns = turns.as_slice();
    let mut list = List::open(out);
    let mut rest = None;
    if let Some(system) = request.system_message.as_deref().filter(|text| !text.is_empty()) {
        let begin = leading(&mut turns)?;
        match begin {
            Leading::Rendered(turn) => {
                write_turn(list.item(), turn, Some(system), force_parts)?;
            }
            Leading::Raw(message, others) => {
                write_joined(list.item(), message, system)?;
                rest = Some(others);
            }
            Leading::None => {
                list.item().extend_from_slice(br#"{"role":"system","content":"#);
                write_string(list.out, system);
                list.out.push(b'}');
            }
        }
    }
    if let Some(context) = request.user_context.as_deref().filter(|text| !text.is_empty()) {
        list.item().extend_from_slice(br#"{"role":"user","content":"#);
        write_string(list.out, context);
        list.out.push(b'}');
    }
    for message in rest.into_iter().flatten() {
        list.item().extend_from_slice(message.get().as_bytes());
    }
    for turn in turns {
        match &turn.raw_messages {
            Some(messages) => {
                let items = array_items(messages, "raw_messages")?;
                if !items.is_empty() {
                    list.item().extend_from_slice(items.as_bytes());
                }
            }
            None => write_turn(list.item(), turn, None, force_parts)?,
        }
    }
    list.close();
    Ok(())
}

/// What the turns begin with.
enum Leading<'a> {
    /// No system message.
    None,
    /// A turn of the role `system`.
    Rendered(&'a Turn),
    /// A system message of the author's, and the messages behind it.
    Raw(Object, Vec<&'a RawValue>),
}

/// Takes a leading system message off the turns.
fn leading<'a>(turns: &mut &[&'a Turn]) -> Result<Leading<'a>> {
    while let Some((first, others)) = turns.split_first() {
        let Some(raw) = &first.raw_messages else {
            if first.role() != "system" {
                break;
            }
            *turns = others;
            return Ok(Leading::Rendered(first));
        };
        let mut messages: Vec<&RawValue> = serde_json::from_str(raw).map_err(|error| {
            PluginError::input(format!(
                "`raw_messages` of the turn is not a JSON array of messages: {error}"
            ))
        })?;
        if messages.is_empty() {
            *turns = others;
            continue;
        }
        // An entry that is no object is the server's to refuse, like any other oddity of raw messages.
        let Ok(message) = Object::parse(messages[0].get(), "raw_messages") else {
            break;
        };
        if message.get("role") != Some("\"system\"") {
            break;
        }
        *turns = others;
        return Ok(Leading::Raw(message, messages.split_off(1)));
    }
    Ok(Leading::None)
}

/// Writes a raw system message with `system` in front of its content.
fn write_joined(out: &mut Vec<u8>, mut message: Object, system: &str) -> Result<()> {
    let mut content = Vec::new();
    match message.get("content") {
        Some(parts) if parts.starts_with('[') => {
            let items = array_items(parts, "content")?;
            content.push(b'[');
            write_part(&mut content, "text", "text", system);
            if !items.is_empty() {
                content.push(b',');
                content.extend_from_slice(items.as_bytes());
            }
            content.push(b']');
        }
        Some(text) if text.starts_with('"') => {
            let text: String = serde_json::from_str(text)
                .map_err(|error| PluginError::input(format!("`content` of the system message: {error}")))?;
            write_string(&mut content, &join(Some(system), &text));
        }
        _ => write_string(&mut content, system),
    }
    message.set("content", String::from_utf8_lossy(&content).into_owned());
    message.write(out);
    Ok(())
}

/// Writes the message of a structured turn; `prefix` goes in front of its content.
fn write_turn(out: &mut Vec<u8>, turn: &Turn, prefix: Option<&str>, force_parts: bool) -> Result<()> {
    out.extend_from_slice(br#"{"role":"#);
    write_string(out, turn.role());
    out.extend_from_slice(br#","content":"#);
    match lone_text(turn) {
        Some(text) if !force_parts => match prefix {
            None => write_string(out, text),
            prefix => write_string(out, &join(prefix, text)),
        },
        _ => write_parts(out, turn, prefix)?,
    }
    out.push(b'}');
    Ok(())
}

/// The text of a turn that has nothing else. Some servers take lists of parts only where they must.
fn lone_text(turn: &Turn) -> Option<&str> {
    match turn.texts.as_slice() {
        [Media { contents, .. }]
            if contents.len() == 1 && turn.images.is_empty() && turn.audios.is_empty() && turn.videos.is_empty() =>
        {
            contents.first().map(String::as_str)
        }
        _ => None,
    }
}

/// Writes the content as a list of parts: texts, images, audio, video. Nothing to write gives a plain string, because
/// servers refuse an empty list.
fn write_parts(out: &mut Vec<u8>, turn: &Turn, prefix: Option<&str>) -> Result<()> {
    let start = out.len();
    let mut list = List::open(out);
    if let Some(prefix) = prefix {
        write_part(list.item(), "text", "text", prefix);
    }
    let mut empty = true;
    for text in contents(&turn.texts) {
        write_part(list.item(), "text", "text", text);
        empty = false;
    }
    for image in &turn.images {
        empty &= !write_image(&mut list, image)?;
    }
    for audio in contents(&turn.audios) {
        write_audio(list.item(), audio)?;
        empty = false;
    }
    for video in contents(&turn.videos) {
        list.item()
            .extend_from_slice(br#"{"type":"video_url","video_url":{"url":"#);
        write_string(list.out, video);
        list.out.extend_from_slice(b"}}");
        empty = false;
    }
    list.close();
    if empty {
        out.truncate(start);
        write_string(out, prefix.unwrap_or_default());
    }
    Ok(())
}

/// Writes the parts of an image group; whether there were any. An image known to the server by its uuid may be empty.
fn write_image(list: &mut List<'_>, image: &Media) -> Result<bool> {
    if !image.uuids.is_empty() && image.uuids.len() != image.contents.len() {
        return Err(PluginError::input(format!(
            "an image group has {} contents but {} uuids",
            image.contents.len(),
            image.uuids.len()
        )));
    }
    let mut any = false;
    for (i, url) in image.contents.iter().enumerate() {
        let uuid = image.uuids.get(i);
        if url.is_empty() && uuid.is_none() {
            continue;
        }
        list.item()
            .extend_from_slice(br#"{"type":"image_url","image_url":{"url":"#);
        write_string(list.out, url);
        list.out.push(b'}');
        if let Some(uuid) = uuid {
            list.out.extend_from_slice(br#","uuid":"#);
            write_string(list.out, uuid);
        }
        list.out.push(b'}');
        any = true;
    }
    Ok(any)
}

/// Writes an audio part from `wav,BASE64` or `data:audio/wav;base64,BASE64`.
fn write_audio(out: &mut Vec<u8>, audio: &str) -> Result<()> {
    let Some((head, data)) = audio.split_once(',') else {
        let start: String = audio.chars().take(40).collect();
        return Err(PluginError::input(format!("audio `{start}` is not `FORMAT,BASE64`"))
            .with_help("give audio as `wav,BASE64` or `data:audio/wav;base64,BASE64`"));
    };
    let format = match head.strip_prefix("data:audio/") {
        Some(kind) => kind.split(';').next().filter(|kind| !kind.is_empty()).unwrap_or("wav"),
        None => head,
    };
    out.extend_from_slice(br#"{"type":"input_audio","input_audio":{"data":"#);
    write_string(out, data);
    out.extend_from_slice(br#","format":"#);
    write_string(out, format);
    out.extend_from_slice(b"}}");
    Ok(())
}

fn write_part(out: &mut Vec<u8>, kind: &str, field: &str, text: &str) {
    out.extend_from_slice(br#"{"type":"#);
    write_string(out, kind);
    out.push(b',');
    write_string(out, field);
    out.push(b':');
    write_string(out, text);
    out.push(b'}');
}

fn contents(groups: &[Media]) -> impl Iterator<Item = &str> {
    let all = groups.iter().flat_map(|group| &group.contents);
    all.map(String::as_str).filter(|content| !content.is_empty())
}

fn join(prefix: Option<&str>, text: &str) -> String {
    match prefix {
        Some(prefix) if text.is_empty() => prefix.to_owned(),
        Some(prefix) => format!("{prefix}\n\n{text}"),
        None => text.to_owned(),
    }
}

/// A JSON array being written.
struct List<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> List<'a> {
    fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, empty: true }
    }

    /// Where the next item goes.
    fn item(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out
    }

    fn close(self) {
        self.out.push(b']');
    }
}
