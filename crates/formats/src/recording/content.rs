//! Message contents: plain text, lists of parts, images.

use std::sync::Arc;

use epitome_session::{Block, Content, Dialect, Media, MediaSource, OpaqueBlock, Thinking};
use serde_json::Value;

use crate::blocks::{media_of_url, text_and_media};
use crate::json::Object;
use crate::json::value::{non_empty_str, text_of};
use crate::media::openai_part;

/// The blocks of a message's content: a text, a list of parts, or anything else as its JSON text. Empty texts are left
/// out; parts of an unknown type are kept as they are, in `dialect`.
pub(crate) fn content(value: &Value, dialect: Dialect) -> Vec<Block> {
    match value {
        Value::Array(parts) => parts.iter().filter_map(|part| block(part, dialect)).collect(),
        Value::Object(_) => block(value, dialect).into_iter().collect(),
        other => text(&text_of(other)).into_iter().collect(),
    }
}

/// A text block, unless the text is empty.
pub(crate) fn text(text: &str) -> Option<Block> {
    (!text.is_empty()).then(|| Block::text(text))
}

/// Reasoning, unless there is neither text nor signature.
pub(crate) fn thinking(text: &str, signature: Option<&str>) -> Option<Block> {
    let signature = signature.filter(|signature| !signature.is_empty());
    (!text.is_empty() || signature.is_some()).then(|| {
        Block::new(Content::Thinking(Thinking {
            text: Arc::from(text),
            signature: signature.map(Arc::from),
            redacted: false,
        }))
    })
}

/// One part of a message's content.
pub(crate) fn block(part: &Value, dialect: Dialect) -> Option<Block> {
    if !part.is_object() {
        return text(&text_of(part));
    }
    match part["type"].as_str() {
        Some("thinking") => thinking(part["thinking"].as_str().unwrap_or(""), part["signature"].as_str()),
        Some("reasoning") if part["text"].is_string() => {
            thinking(part["text"].as_str().unwrap_or(""), part["signature"].as_str())
        }
        Some("redacted_thinking") => {
            let data = Arc::from(non_empty_str(&part["data"])?);
            let thinking = Thinking { text: Arc::from(""), signature: Some(data), redacted: true };
            Some(Block::new(Content::Thinking(thinking)))
        }
        None | Some("text" | "input_text" | "output_text") if part["text"].is_string() => {
            text(part["text"].as_str().unwrap_or(""))
        }
        Some("refusal") if part["refusal"].is_string() => text(part["refusal"].as_str().unwrap_or("")),
        _ => Some(match media(part) {
            Some(media) => Block::new(Content::Media(media)),
            None => opaque(part, dialect),
        }),
    }
}

/// A part of a type that this version does not know.
pub(crate) fn opaque(part: &Value, dialect: Dialect) -> Block {
    let kind = Arc::from(part["type"].as_str().unwrap_or("unknown"));
    Block::new(Content::Opaque(OpaqueBlock { kind, json: Arc::from(part.to_string()), dialect }))
}

/// A tool's answer: the text parts, joined by line feeds, and the images.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub text: String,
    pub attachments: Vec<Media>,
}

/// A tool's answer: a text, a list of parts, or anything else as its JSON text.
pub(crate) fn payload(value: &Value) -> Payload {
    let mut payload = Payload::default();
    match value {
        Value::Array(parts) => {
            let mut texts = Vec::with_capacity(parts.len());
            for part in parts {
                match (&part["text"], media(part)) {
                    (Value::String(text), _) => texts.push(text.clone()),
                    (_, Some(media)) => payload.attachments.push(media),
                    _ => {
                        let (text, media) = text_and_media(&text_of(part));
                        texts.push(text.to_string());
                        payload.attachments.extend(media);
                    }
                }
            }
            payload.text = texts.join("\n");
        }
        Value::Object(_) => match media(value) {
            Some(media) => payload.attachments.push(media),
            None => match value["text"].as_str() {
                Some(text) => payload.text = text.to_owned(),
                None => {
                    let (text, media) = text_and_media(&text_of(value));
                    (payload.text, payload.attachments) = (text.to_string(), media);
                }
            },
        },
        other => payload.text = text_of(other),
    }
    payload
}

/// An image or a document, in any of the shapes that providers and agents record.
pub(crate) fn media(part: &Value) -> Option<Media> {
    let inline = |mime: Option<&str>, data: &Value| Media {
        mime: Arc::from(mime.unwrap_or("")),
        source: non_empty_str(data).map_or(MediaSource::Missing, |data| MediaSource::Base64(Arc::from(data))),
        ..Media::default()
    };
    if part["inlineData"].is_object() {
        return Some(inline(part["inlineData"]["mimeType"].as_str(), &part["inlineData"]["data"]));
    }
    if part["fileData"].is_object() {
        return Some(from_url(part["fileData"]["fileUri"].as_str(), part["fileData"]["mimeType"].as_str()));
    }
    match part["type"].as_str()? {
        "image_url" => Some(from_url(part["image_url"]["url"].as_str().or_else(|| part["image_url"].as_str()), None)),
        "input_image" => Some(from_url(part["image_url"].as_str(), None)),
        kind @ ("image" | "document" | "audio") if kind != "document" || part["source"].is_object() => {
            let at = if part["source"].is_object() { &part["source"] } else { part };
            let mime = ["media_type", "mime_type", "mimeType"].into_iter().find_map(|name| at[name].as_str());
            match non_empty_str(&at["url"]).or_else(|| non_empty_str(&at["image"])) {
                Some(url) => Some(from_url(Some(url), mime)),
                None => Some(inline(mime, &at["data"])),
            }
        }
        "file" | "input_file" | "input_audio" | "audio_url" | "video_url" => {
            openai_part(&Object::parse(&part.to_string())?)
        }
        _ => None,
    }
}

/// Media by its address; the bytes themselves where the address holds them.
pub(crate) fn from_url(url: Option<&str>, mime: Option<&str>) -> Media {
    let mime = mime.unwrap_or("");
    match url.filter(|url| !url.is_empty()) {
        Some(url) => media_of_url(url, mime),
        None => Media { mime: Arc::from(mime), ..Media::default() },
    }
}
