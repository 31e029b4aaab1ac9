//! Media: images, documents, sounds and films, and what their own bytes say of them.

use std::sync::Arc;

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// An image, a document, a sound, a film.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Media {
    /// The media type, such as `image/png`; empty when unknown.
    pub mime: Arc<str>,
    /// The file's name or title, where it came with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub name: Option<Arc<str>>,
    /// How closely the model is to look, in the provider's word: `low`, `high`, `MEDIA_RESOLUTION_LOW`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub detail: Option<Arc<str>>,
    /// Where its bytes are.
    pub source: MediaSource,
}

/// Where the bytes of a [`Media`] block are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", content = "value", rename_all = "kebab-case")]
pub enum MediaSource {
    /// Base64 text.
    Base64(Arc<str>),
    /// An address, or an id of the provider's file store.
    Url(Arc<str>),
    /// The recording does not contain them.
    #[default]
    Missing,
}

/// A type that says nothing of the content.
const UNKNOWN: &str = "application/octet-stream";

/// The most bytes in which an image's size is looked for: a JPEG has it behind its previews and colour profiles.
const MOST_OF_HEAD: usize = 256 << 10;

/// The bytes in which it usually is.
const HEAD: usize = 4 << 10;

impl Media {
    /// Returns the media that a text in JSON is: a data URL, or base64, whose first bytes tell its type.
    pub fn of_text(text: &str) -> Self {
        let (mime, data) = match text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            Some((mime, data)) => (mime.replace('\\', ""), data),
            None => (mime_of(&decode(text, 16)).unwrap_or(UNKNOWN).to_owned(), text),
        };
        Self { mime: Arc::from(mime), source: MediaSource::Base64(Arc::from(data)), ..Self::default() }
    }

    /// Returns what it can be had again by, on one line: its name, and its address or its id. `None` where it came with neither.
    pub fn reference(&self) -> Option<String> {
        let place = match &self.source {
            MediaSource::Url(place) => Some(place),
            MediaSource::Base64(_) | MediaSource::Missing => None,
        };
        let parts: Vec<String> =
            self.name.iter().chain(place).map(|part| part.replace(char::is_control, " ")).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Returns its base64; empty where its bytes are elsewhere.
    pub fn base64(&self) -> &str {
        match &self.source {
            MediaSource::Base64(data) => data,
            MediaSource::Url(_) | MediaSource::Missing => "",
        }
    }

    /// Returns its type: the recorded one, and where that says nothing the one that its first bytes tell. Empty when unknown.
    pub fn kind(&self) -> &str {
        match &*self.mime {
            "" | UNKNOWN => mime_of(&decode(self.base64(), 16)).unwrap_or(&self.mime),
            mime => mime,
        }
    }

    /// Whether it is an image. Media of which nothing is known are: providers' forms leave out the type of these alone.
    pub fn is_image(&self) -> bool {
        matches!(self.kind().split('/').next(), Some("" | "image"))
    }

    /// Returns an image's width and height in pixels, by its first bytes; `None` where these tell none, or that it has none:
    /// a picture of no size is a damaged header, and would count for nothing. Constant time.
    pub fn pixels(&self) -> Option<(u32, u32)> {
        let size_in = |most| imagesize::blob_size(&decode(self.base64(), most)).ok();
        let size = size_in(HEAD).or_else(|| (self.base64().len() > HEAD).then(|| size_in(MOST_OF_HEAD)).flatten())?;
        let (width, height) = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
        (width > 0 && height > 0).then_some((width, height))
    }

    /// Returns the pages of a PDF as its tree of pages counts them; `None` where that stands compressed. Linear.
    pub fn pages(&self) -> Option<u32> {
        let file = decode(self.base64(), usize::MAX);
        let mut most = None;
        for at in memmem::find_iter(&file, b"/Count") {
            // The dictionary that it is in: other lists of the file have counts too.
            let start = memmem::rfind(&file[..at], b" obj").unwrap_or(0);
            let end = memmem::find(&file[at..], b"endobj").map_or(file.len(), |length| at + length);
            if memmem::find(&file[start..end], b"/Pages").is_some() {
                most = most.max(number(&file[at + "/Count".len()..]));
            }
        }
        most
    }
}

/// The number that a text begins with, behind white space.
fn number(text: &[u8]) -> Option<u32> {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// The type of a file by its first bytes. Source: the WHATWG's standard "MIME Sniffing", and the specification of PDF.
fn mime_of(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
        [b'%', b'P', b'D', b'F', ..] => "application/pdf",
        [b'I', b'D', b'3', ..] | [0xff, 0xfb | 0xf3 | 0xf2, ..] => "audio/mpeg",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        [0x1a, 0x45, 0xdf, 0xa3, ..] => "video/webm",
        _ => return None,
    })
}

/// The first `most` bytes of base64 in either alphabet; whatever else stands in the text, such as line ends, is passed over.
fn decode(text: &str, most: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(most.min(text.len() / 4 * 3 + 3));
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
        if bytes.len() >= most {
            break;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIF: &str = "R0lGODlhAwACAIAAAAAAAP///yH5BAAAAAAALAAAAAADAAIAAAICRF4AOw==";

    #[test]
    fn media_are_known_by_their_bytes() {
        let check = |text: &str, kind: &str, pixels: Option<(u32, u32)>, pages: Option<u32>| {
            let media = Media::of_text(text);
            assert_eq!((media.kind(), media.pixels(), media.pages()), (kind, pixels, pages), "{text}");
        };
        check(GIF, "image/gif", Some((3, 2)), None);
        check(&format!("data:;base64,{GIF}"), "image/gif", Some((3, 2)), None);
        check(&format!("data:image\\/x;base64,{GIF}"), "image/x", Some((3, 2)), None);
        check(&GIF.replace('U', "U\n"), "image/gif", Some((3, 2)), None);
        // 1 0 obj<</Type/Pages/Count 12>>endobj 2 0 obj<</Type/Outlines/Count 99>>endobj
        let outlines = "JVBERi0xIDAgb2JqPDwvVHlwZS9QYWdlcy9Db3VudCAxMj4+ZW5kb2JqIDIgMCBvYmo8PC9UeXBlL091dGxpbmVzL0NvdW50IDk5Pj5lbmRvYmo=";
        check(outlines, "application/pdf", None, Some(12));
        check("JVBERi0xLjc=", "application/pdf", None, None);
        check("gAAAAABo", UNKNOWN, None, None);
        check("iVBORw0KGgoAAAAAAAAAAAAAAAAAAAAAAAAAAA==", "image/png", None, None);
        check("", UNKNOWN, None, None);
        let named = Media { mime: "image/png".into(), ..Media::of_text("JVBERi0xLjc=") };
        assert_eq!(named.kind(), "image/png");
        assert!(Media::default().is_image() && !Media::of_text("JVBERi0xLjc=").is_image());
    }
}
