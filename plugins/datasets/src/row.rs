//! What a row says about one turn.

use std::fmt;

use aiperf_sdk::{Media, Turn};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde_json::value::RawValue;

/// Why a row is refused.
pub(crate) type Refusal = String;

/// The fields of a turn. Unknown ones are ignored.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct TurnRow {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    texts: Option<Vec<Content>>,
    image: Option<String>,
    images: Option<Vec<Content>>,
    image_uuids: Option<Vec<String>>,
    audio: Option<String>,
    audios: Option<Vec<Content>>,
    video: Option<String>,
    videos: Option<Vec<Content>>,
    timestamp: Option<f64>,
    delay: Option<f64>,
    role: Option<String>,
    /// Ignored inside `turns`.
    pub(crate) session_id: Option<String>,
    output_length: Option<u32>,
    extra: Option<Box<RawValue>>,
}

/// An item of `texts`, `images`, …
#[derive(Debug)]
enum Content {
    Plain(String),
    Group(Group),
}

/// A named group of contents.
#[derive(Debug, serde::Deserialize)]
struct Group {
    #[serde(default)]
    name: String,
    contents: Vec<String>,
    #[serde(default)]
    uuids: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an object of `name` and `contents`")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Plain(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                Group::deserialize(MapAccessDeserializer::new(map)).map(Content::Group)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Medium {
    Text,
    Image,
    Audio,
    Video,
}

impl Medium {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
        }
    }
}

impl TurnRow {
    /// The turn.
    ///
    /// # Errors
    /// Names the field that is wrong.
    pub(crate) fn into_turn(self) -> Result<Turn, Refusal> {
        check_kind(self.kind.as_deref(), "single_turn")?;
        if self.timestamp.is_some_and(|ms| ms != 0.0) && self.delay.is_some_and(|ms| ms != 0.0) {
            return Err("`timestamp` and `delay` exclude each other".to_owned());
        }
        if self.delay.is_some_and(|ms| ms < 0.0) {
            return Err("`delay` must not be negative".to_owned());
        }
        if self.output_length == Some(0) {
            return Err("`output_length` must be above 0".to_owned());
        }
        let extra_body = self.extra.map(|json| Box::<str>::from(json).into_string());
        if extra_body.as_ref().is_some_and(|json| !json.starts_with('{')) {
            return Err("`extra` must be an object".to_owned());
        }
        let turn = Turn {
            role: self.role.unwrap_or_default(),
            texts: groups(Medium::Text, self.text, self.texts, None)?,
            images: groups(Medium::Image, self.image, self.images, self.image_uuids)?,
            audios: groups(Medium::Audio, self.audio, self.audios, None)?,
            videos: groups(Medium::Video, self.video, self.videos, None)?,
            timestamp_ms: self.timestamp,
            delay_ms: self.delay,
            max_tokens: self.output_length,
            extra_body,
            ..Turn::default()
        };
        if [&turn.texts, &turn.images, &turn.audios, &turn.videos]
            .iter()
            .all(|groups| groups.is_empty())
        {
            return Err(
                "a text, an image, an audio clip or a video is needed (`text`, `texts`, `image`, …)".to_owned(),
            );
        }
        Ok(turn)
    }
}

/// Refuses a `type` that says the row is something else.
pub(crate) fn check_kind(kind: Option<&str>, expected: &str) -> Result<(), Refusal> {
    match kind {
        Some(kind) if kind != expected => Err(format!("`type` is `{kind}`, not `{expected}`")),
        _ => Ok(()),
    }
}

/// The groups of one medium from its field in the singular, its field in the plural, and the identities of its contents.
fn groups(
    medium: Medium,
    one: Option<String>,
    several: Option<Vec<Content>>,
    uuids: Option<Vec<String>>,
) -> Result<Vec<Media>, Refusal> {
    let name = medium.name();
    let one_given = one.is_some();
    let one = one.filter(|content| !content.is_empty());
    let several = several.filter(|contents| !contents.is_empty());
    if one.is_some() && several.is_some() {
        return Err(format!("`{name}` and `{name}s` exclude each other"));
    }
    if uuids.is_some() && one_given {
        return Err("`image_uuids` goes with `images`, not with `image`".to_owned());
    }
    if let Some(content) = one {
        check_content(medium, &content, false)?;
        return Ok(vec![Media::one(content)]);
    }
    let several = match (several, &uuids) {
        (Some(several), _) => several,
        // Images that the server knows by their ids alone.
        (None, Some(uuids)) => uuids.iter().map(|_| Content::Plain(String::new())).collect(),
        (None, None) => return Ok(Vec::new()),
    };
    let (mut plain, mut named) = (Vec::new(), Vec::new());
    for content in several {
        match content {
            Content::Plain(content) => plain.push(content),
            Content::Group(group) => named.push(group),
        }
    }
    if !plain.is_empty() && !named.is_empty() {
        return Err(format!("`{name}s` mixes strings and objects"));
    }
    if !plain.is_empty() {
        named.push(Group {
            name: String::new(),
            contents: plain,
            uuids,
        });
    } else if uuids.is_some() {
        return Err("`image_uuids` goes with strings in `images`; objects have `uuids` of their own".to_owned());
    }
    named.into_iter().map(|group| media(medium, group)).collect()
}

fn media(medium: Medium, group: Group) -> Result<Media, Refusal> {
    // Only images have identities; the field is unknown, hence ignored, elsewhere.
    let uuids = group.uuids.filter(|_| medium == Medium::Image).unwrap_or_default();
    if !uuids.is_empty() && uuids.len() != group.contents.len() {
        let (ids, contents) = (uuids.len(), group.contents.len());
        return Err(format!("there are {ids} image uuids for {contents} images"));
    }
    if uuids.iter().any(String::is_empty) {
        return Err("an image uuid is empty".to_owned());
    }
    for content in &group.contents {
        check_content(medium, content, !uuids.is_empty())?;
    }
    Ok(Media {
        name: group.name,
        contents: group.contents,
        uuids,
    })
}

/// Accepts texts, URLs, data URLs, `wav,BASE64` and `mp3,BASE64`. What is left would be a local file.
fn check_content(medium: Medium, content: &str, may_be_empty: bool) -> Result<(), Refusal> {
    let name = medium.name();
    if medium == Medium::Text || (content.is_empty() && may_be_empty) {
        return Ok(());
    }
    if content.is_empty() {
        return Err(format!("`{name}` is empty"));
    }
    if let Some((scheme, rest)) = content.split_once("://") {
        return if scheme.is_empty() || rest.is_empty() || rest.starts_with('/') {
            Err(format!("`{}` is a URL without scheme or host", excerpt(content)))
        } else {
            Ok(())
        };
    }
    let encoded = match content.split_once(',') {
        Some((format, _)) if medium == Medium::Audio => {
            format.eq_ignore_ascii_case("wav") || format.eq_ignore_ascii_case("mp3")
        }
        _ => false,
    };
    if encoded || content.starts_with("data:") {
        return Ok(());
    }
    let path = excerpt(content);
    Err(format!(
        "{name} `{path}` is neither a URL nor a data URL, and local media files are not supported yet"
    ))
}

fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(json: &str) -> Result<Turn, Refusal> {
        serde_json::from_str::<TurnRow>(json)
            .map_err(|error| error.to_string())?
            .into_turn()
    }

    fn media(name: &str, contents: &[&str], uuids: &[&str]) -> Vec<Media> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        vec![Media {
            name: name.to_owned(),
            contents: owned(contents),
            uuids: owned(uuids),
        }]
    }

    #[test]
    fn contents_become_groups() {
        for (json, texts, images) in [
            (r#"{"text":"hi"}"#, media("", &["hi"], &[]), vec![]),
            (r#"{"text":"","texts":["a","b"]}"#, media("", &["a", "b"], &[]), vec![]),
            (
                r#"{"texts":[{"name":"query","contents":["q"]},{"contents":["p1","p2"]}]}"#,
                [media("query", &["q"], &[]), media("", &["p1", "p2"], &[])].concat(),
                vec![],
            ),
            (
                r#"{"image":"http://h/a.png"}"#,
                vec![],
                media("", &["http://h/a.png"], &[]),
            ),
            (
                r#"{"images":["data:image/png;base64,AA",""],"image_uuids":["u","v"]}"#,
                vec![],
                media("", &["data:image/png;base64,AA", ""], &["u", "v"]),
            ),
            (
                r#"{"image_uuids":["u","v"]}"#,
                vec![],
                media("", &["", ""], &["u", "v"]),
            ),
            (
                r#"{"images":[{"name":"n","contents":["https://h/b"],"uuids":["u"]}]}"#,
                vec![],
                media("n", &["https://h/b"], &["u"]),
            ),
        ] {
            let turn = turn(json).unwrap();
            assert_eq!((turn.texts, turn.images), (texts, images), "{json}");
        }
    }

    #[test]
    fn the_other_fields_go_along() {
        let turn = turn(
            r#"{"type":"single_turn","text":"t","audio":"wav,QUJD","videos":["https://h/v.mp4"],"timestamp":12.5,"delay":0,
               "role":"tool","output_length":40,"extra":{"temperature": 0},"unknown":[1]}"#,
        )
        .unwrap();
        let expected = Turn {
            role: "tool".to_owned(),
            audios: media("", &["wav,QUJD"], &[]),
            videos: media("", &["https://h/v.mp4"], &[]),
            timestamp_ms: Some(12.5),
            delay_ms: Some(0.0),
            max_tokens: Some(40),
            extra_body: Some(r#"{"temperature": 0}"#.to_owned()),
            ..Turn::text("t")
        };
        assert_eq!(turn, expected);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (json, part) in [
            ("{}", "is needed"),
            (r#"{"text":""}"#, "is needed"),
            (r#"{"texts":[]}"#, "is needed"),
            (r#"{"text":"a","texts":["b"]}"#, "`text` and `texts` exclude each other"),
            (
                r#"{"image":"http://h/a","images":["http://h/b"]}"#,
                "`image` and `images` exclude",
            ),
            (
                r#"{"text":"a","timestamp":1,"delay":2}"#,
                "`timestamp` and `delay` exclude",
            ),
            (r#"{"text":"a","delay":-1}"#, "`delay` must not be negative"),
            (r#"{"text":"a","output_length":0}"#, "`output_length` must be above 0"),
            (r#"{"text":"a","output_length":-3}"#, "invalid value"),
            (r#"{"text":"a","extra":[1]}"#, "`extra` must be an object"),
            (r#"{"text":5}"#, "expected a string"),
            (r#"{"texts":["a",{"contents":["b"]}]}"#, "mixes strings and objects"),
            (r#"{"texts":[7]}"#, "a string or an object of `name` and `contents`"),
            (r#"{"type":"text","text":"a"}"#, "`type` is `text`, not `single_turn`"),
            (
                r#"{"image":"pics/a.png"}"#,
                "image `pics/a.png` is neither a URL nor a data URL, and local",
            ),
            (r#"{"audio":"clip.wav"}"#, "local media files are not supported yet"),
            (r#"{"video":"http:///v"}"#, "without scheme or host"),
            (r#"{"images":[""]}"#, "`image` is empty"),
            (r#"{"image":"http://h/a","image_uuids":["u"]}"#, "goes with `images`"),
            (
                r#"{"images":["http://h/a"],"image_uuids":["u","v"]}"#,
                "2 image uuids for 1 images",
            ),
            (
                r#"{"images":["http://h/a"],"image_uuids":[""]}"#,
                "an image uuid is empty",
            ),
            (
                r#"{"images":[{"contents":["http://h/a"]}],"image_uuids":["u"]}"#,
                "objects have `uuids` of their own",
            ),
        ] {
            let refusal = turn(json).unwrap_err();
            assert!(refusal.contains(part), "{json}: {refusal}");
        }
    }
}
