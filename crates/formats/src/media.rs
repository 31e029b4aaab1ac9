//! Images, documents, sounds and films: how OpenAI's two forms hold them, and which form has a place for which.

use std::sync::Arc;

use epitome_session::{Dialect, Media, MediaSource, Role};

use crate::Format;
use crate::blocks::{in_base64, media_of_url, with_detail};
use crate::json::{Object, ObjectWriter};
use crate::render::{Wire, dialect_of};

/// The type of a document of which nothing else is known.
const UNKNOWN: &str = "application/octet-stream";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Image,
    Document,
    Sound,
    Film,
}

/// Media without a type are images, as they are in the forms that leave it out.
fn kind(media: &Media) -> Kind {
    match media.mime.split('/').next().unwrap_or_default() {
        "" | "image" => Kind::Image,
        "audio" => Kind::Sound,
        "video" => Kind::Film,
        _ => Kind::Document,
    }
}

/// The media of a part of OpenAI's forms that is neither text nor an image by its address. The part says more than they do,
/// such as a file's name. `None` for any other part.
pub(crate) fn openai_part(part: &Object<'_>) -> Option<Media> {
    match &*part.text("type")? {
        "file" => file(&part.object("file")?),
        "input_file" => file(part),
        "input_image" => Some(with_detail(stored("", &part.text("file_id")?), part, "detail")),
        "input_audio" => {
            let sound = part.object("input_audio").unwrap_or_else(|| part.clone());
            let mime = match &*sound.text("format").unwrap_or_default() {
                "" | "mp3" => "audio/mpeg".to_owned(),
                format => format!("audio/{format}"),
            };
            Some(in_base64(&mime, &sound.text("data")?))
        }
        // Services that take OpenAI's form have these for sounds and films.
        kind @ ("audio_url" | "video_url") => {
            let url = part.object(kind).map_or_else(|| part.text(kind), |place| place.text("url"))?;
            let usual = if kind == "audio_url" { "audio/mpeg" } else { "video/mp4" };
            let known = mime_of_name(&url).filter(|mime| mime.split('/').next() == usual.split('/').next());
            Some(media_of_url(&url, known.unwrap_or(usual)))
        }
        _ => None,
    }
}

/// A sound that the model made: its id, and its bytes where they were kept.
pub(crate) fn said_sound(audio: &Object<'_>) -> Option<Media> {
    match audio.text("data").filter(|data| !data.is_empty()) {
        // The first bytes of a WAV file are "RIFF".
        Some(data) if data.starts_with("UklGR") => Some(in_base64("audio/wav", &data)),
        Some(data) => Some(in_base64("audio/mpeg", &data)),
        None => Some(stored("audio/mpeg", &audio.text("id")?)),
    }
}

/// A file: its bytes, its address, or its id.
fn file(fields: &Object<'_>) -> Option<Media> {
    let name = fields.text("filename").unwrap_or_default();
    let media = file_bytes(fields, &name)?;
    Some(Media { name: (!name.is_empty()).then(|| Arc::from(&*name)), ..media })
}

fn file_bytes(fields: &Object<'_>, name: &str) -> Option<Media> {
    let mime = mime_of_name(name);
    if let Some(data) = fields.text("file_data") {
        let mime = mime.unwrap_or(UNKNOWN);
        let media = if data.starts_with("data:") { media_of_url(&data, mime) } else { in_base64(mime, &data) };
        return Some(if media.mime.is_empty() { Media { mime: Arc::from(mime), ..media } } else { media });
    }
    if let Some(url) = fields.text("file_url") {
        return Some(media_of_url(&url, mime.or_else(|| mime_of_name(&url)).unwrap_or(UNKNOWN)));
    }
    Some(stored(mime.unwrap_or(UNKNOWN), &fields.text("file_id")?))
}

/// Media in the store of a provider, which knows them by an id.
pub(crate) fn stored(mime: &str, id: &str) -> Media {
    Media { mime: Arc::from(mime), source: MediaSource::Url(Arc::from(id)), ..Media::default() }
}

/// Whether the place of media is an id in a provider's store and no address.
pub(crate) fn is_id(place: &str) -> bool {
    !place.contains(':')
}

/// The type that the end of a name, or of an address, stands for.
fn mime_of_name(name: &str) -> Option<&'static str> {
    const TYPES: [(&str, &str); 14] = [
        ("pdf", "application/pdf"),
        ("txt", "text/plain"),
        ("md", "text/markdown"),
        ("csv", "text/csv"),
        ("html", "text/html"),
        ("json", "application/json"),
        ("png", "image/png"),
        ("jpg", "image/jpeg"),
        ("mp3", "audio/mpeg"),
        ("wav", "audio/wav"),
        ("ogg", "audio/ogg"),
        ("mp4", "video/mp4"),
        ("mov", "video/quicktime"),
        ("webm", "video/webm"),
    ];
    let (_, end) = name.split(['?', '#']).next()?.rsplit_once('.')?;
    TYPES.into_iter().find(|(known, _)| end.eq_ignore_ascii_case(known)).map(|(_, mime)| mime)
}

/// A part of OpenAI's forms with a sound, in the only two kinds that these take.
pub(crate) fn input_audio(media: &Media) -> Option<String> {
    let MediaSource::Base64(data) = &media.source else { return None };
    let sound = ObjectWriter::new().text("data", data).text("format", sound_format(media)?).finish();
    Some(ObjectWriter::new().text("type", "input_audio").raw("input_audio", &sound).finish())
}

fn sound_format(media: &Media) -> Option<&'static str> {
    match &*media.mime {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

/// The part that services beside OpenAI take for the address of a sound or a film: its name, for any other media `None`.
pub(crate) fn url_part(media: &Media) -> Option<&'static str> {
    match kind(media) {
        Kind::Sound => Some("audio_url"),
        Kind::Film => Some("video_url"),
        Kind::Image | Kind::Document => None,
    }
}

pub(crate) fn is_document(media: &Media) -> bool {
    kind(media) == Kind::Document
}

/// The text in place of media in the file of an agent that takes no such kind.
pub(crate) fn absent_text(media: &Media) -> String {
    format!("[{}: not copied]", name(media))
}

/// What a person is told that media are.
pub(crate) fn name(media: &Media) -> &str {
    if media.mime.is_empty() { "file" } else { &media.mime }
}

pub(crate) fn is_image(media: &Media) -> bool {
    kind(media) == Kind::Image
}

/// Whether a request for `profile` has a place for media on the side of `role`. `home` is the form that they come from: an
/// id means something to its own provider alone.
pub(crate) fn has_place(media: &Media, role: Role, profile: Wire, home: Option<Dialect>) -> bool {
    let kind = kind(media);
    let is_home = home.is_some_and(|home| provider(home) == provider(dialect_of(profile)));
    match (&media.source, profile, kind) {
        (MediaSource::Missing, ..) => true,
        (_, Wire::OpenaiResponses, Kind::Document | Kind::Sound | Kind::Film) if role == Role::Assistant => false,
        (MediaSource::Url(id), Wire::OpenaiChat, _) if is_id(id) => is_home && kind == Kind::Document,
        (MediaSource::Url(id), Wire::Gemini, _) if is_id(id) => false,
        (MediaSource::Url(id), ..) if is_id(id) => is_home && matches!(kind, Kind::Image | Kind::Document),
        (_, Wire::Gemini, _) | (_, _, Kind::Image) => true,
        (MediaSource::Url(_), Wire::Anthropic, Kind::Document) => true,
        (MediaSource::Base64(_), Wire::Anthropic, Kind::Document) => &*media.mime == "application/pdf" || is_home,
        (_, Wire::Anthropic, Kind::Sound | Kind::Film) => false,
        (_, Wire::OpenaiResponses, Kind::Document) => true,
        (source, Wire::OpenaiChat, Kind::Document) => matches!(source, MediaSource::Base64(_)),
        (_, Wire::OpenaiChat, Kind::Sound | Kind::Film) if home == Some(Dialect::OpenaiChat) => true,
        (source, _, Kind::Sound) => matches!(source, MediaSource::Base64(_)) && sound_format(media).is_some(),
        (_, _, Kind::Film) => false,
    }
}

/// Both of OpenAI's forms know the same files.
fn provider(dialect: Dialect) -> Dialect {
    if dialect == Dialect::OpenaiResponses { Dialect::OpenaiChat } else { dialect }
}

/// The form of the blocks in a file.
pub(crate) fn dialect_of_format(format: Format) -> Option<Dialect> {
    match format {
        Format::OpenaiChat => Some(Dialect::OpenaiChat),
        Format::OpenaiResponses | Format::Codex => Some(Dialect::OpenaiResponses),
        Format::Anthropic | Format::ClaudeCode => Some(Dialect::Anthropic),
        Format::Gemini => Some(Dialect::Gemini),
        _ => None,
    }
}

#[cfg(test)]
#[path = "media_tests.rs"]
mod tests;
