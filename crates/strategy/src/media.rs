//! What media cost: pictures by their size, documents by their pages, sounds and films by their length.

use epitome_session::{Media, MediaSource};

use crate::services::Tokens;

/// Tokens of an image or document of unknown size. Source: between the 1,200 to 1,844 tokens that coding agents assume
/// for a screenshot.
pub const MEDIA_TOKENS: Tokens = 1_500;

/// Tokens of a second of sound. Source: ai.google.dev/gemini-api/docs/tokens, the highest figure that a provider names.
const SOUND_TOKENS_PER_SECOND: usize = 32;

/// Tokens of a second of film with its sound. Source: the same page, 263 for the pictures.
const FILM_TOKENS_PER_SECOND: usize = 263 + SOUND_TOKENS_PER_SECOND;

/// Bytes of a second of sound that is not compressed: 24,000 samples of two bytes. Source: OpenAI's own PCM.
const PLAIN_SOUND_BYTES_PER_SECOND: usize = 48_000;

/// Bytes of a second of compressed sound: 128 kbit, the usual rate of MP3.
const SOUND_BYTES_PER_SECOND: usize = 16_000;

/// Bytes of a second of film: 1 Mbit, what YouTube recommends for 360 lines. Larger films of the same length count as
/// more than they cost, which a budget bears better than less.
const FILM_BYTES_PER_SECOND: usize = 125_000;

/// Bytes of a page of a PDF whose pages cannot be read, rather less than scans and pages with pictures have.
const PDF_BYTES_PER_PAGE: usize = 50_000;

/// Bytes of text, or of what the provider alone can read, for a token. Source: `approx_tokens_from_byte_count` of Codex.
const BYTES_PER_TOKEN: usize = 4;

/// Bytes around what is encrypted. Source: `estimate_reasoning_length` of Codex (`codex-rs/core/src/context_manager/history.rs`).
const ENVELOPE_BYTES: usize = 650;

/// An image as its provider counts it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picture<'a> {
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// How closely the model is to look, in the provider's word.
    pub detail: Option<&'a str>,
}

impl Picture<'_> {
    /// Returns how many squares of `side` pixels cover it, once its longer side has at most `longest` pixels: at most `most`,
    /// for then providers scale it down.
    pub fn squares(&self, side: u32, longest: u32, most: Tokens) -> Tokens {
        let scale = (f64::from(longest) / f64::from(self.width.max(self.height).max(1))).min(1.0);
        let along = |pixels: u32| ((f64::from(pixels) * scale).round() / f64::from(side)).ceil();
        // A float above the largest number becomes it.
        ((along(self.width) * along(self.height)) as Tokens).min(most)
    }
}

/// What a family of models spends on media.
#[derive(Debug, Clone, Copy)]
pub struct MediaRates {
    /// Tokens of an image whose size is known.
    pub picture: fn(Picture<'_>) -> Tokens,
    /// Tokens of a page of a PDF.
    pub page: Tokens,
}

impl Default for MediaRates {
    /// What Claude spent before its version 4.7, for models of which nothing is known.
    fn default() -> Self {
        Self { picture: |picture| picture.squares(28, 1_568, 1_568), page: 2_100 }
    }
}

impl MediaRates {
    /// Returns the tokens of media. Constant time for images, sounds and films, linear in documents.
    pub fn tokens(&self, media: &Media) -> Tokens {
        let MediaSource::Base64(data) = &media.source else { return MEDIA_TOKENS };
        let bytes = data.len() / 4 * 3;
        let by_length = |rate: usize, tokens: usize| bytes.div_ceil(rate).max(1).saturating_mul(tokens);
        let tokens = match media.kind().split_once('/') {
            Some(("audio", "wav" | "x-wav" | "wave" | "pcm" | "l16" | "L16")) => {
                by_length(PLAIN_SOUND_BYTES_PER_SECOND, SOUND_TOKENS_PER_SECOND)
            }
            Some(("audio", _)) => by_length(SOUND_BYTES_PER_SECOND, SOUND_TOKENS_PER_SECOND),
            Some(("video", _)) => by_length(FILM_BYTES_PER_SECOND, FILM_TOKENS_PER_SECOND),
            Some(("application", "pdf")) => {
                let pages = media.pages().map(|pages| pages as usize);
                pages.unwrap_or(bytes.div_ceil(PDF_BYTES_PER_PAGE)).max(1).saturating_mul(self.page as usize)
            }
            Some(("text", _)) => bytes.div_ceil(BYTES_PER_TOKEN),
            Some(("application", "octet-stream")) => bytes.saturating_sub(ENVELOPE_BYTES).div_ceil(BYTES_PER_TOKEN),
            _ => return media.pixels().map_or(MEDIA_TOKENS, |(width, height)| self.of_size(width, height, media)),
        };
        Tokens::try_from(tokens).unwrap_or(Tokens::MAX)
    }

    fn of_size(&self, width: u32, height: u32, media: &Media) -> Tokens {
        (self.picture)(Picture { width, height, detail: media.detail.as_deref() }).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of a PNG of 1,024 by 512 pixels.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAABAAAAAIACAIAAAA=";

    #[test]
    fn media_count_by_their_kind_size_and_length() {
        let check = |mime: &str, source: MediaSource, expect: Tokens| {
            let media = Media { mime: mime.into(), source, ..Media::default() };
            assert_eq!(MediaRates::default().tokens(&media), expect, "{mime}");
        };
        let data = |bytes: usize| MediaSource::Base64("A".repeat(bytes / 3 * 4).into());
        let place = || MediaSource::Url("https://x".into());
        check("image/png", MediaSource::Base64(PNG.into()), 37 * 19);
        check("", MediaSource::Base64(PNG.into()), 37 * 19);
        check("image/png", data(3), MEDIA_TOKENS);
        check("", place(), MEDIA_TOKENS);
        check("application/pdf", data(300_000), 6 * 2_100);
        // 1 0 obj<</Type/Pages/Count 12>>endobj
        check(
            "",
            MediaSource::Base64("JVBERi0xIDAgb2JqPDwvVHlwZS9QYWdlcy9Db3VudCAxMj4+ZW5kb2JqIA==".into()),
            12 * 2_100,
        );
        check("application/pdf", place(), MEDIA_TOKENS);
        check("text/plain", data(300), 75);
        check("application/octet-stream", data(1_050), 100);
        check("application/octet-stream", data(300), 0);
        check("audio/wav", data(480_000), 10 * 32);
        check("audio/mpeg", data(480_000), 30 * 32);
        check("audio/mpeg", data(3), 32);
        check("audio/mpeg", place(), MEDIA_TOKENS);
        check("video/mp4", data(1_250_001), 11 * 295);
        check("video/mp4", MediaSource::Missing, MEDIA_TOKENS);
    }

    #[test]
    fn squares_cover_a_picture_that_was_scaled() {
        let check = |width, height, (side, longest, most): (u32, u32, Tokens), expect: Tokens| {
            assert_eq!(
                Picture { width, height, detail: None }.squares(side, longest, most),
                expect,
                "{width}x{height}"
            );
        };
        check(1_024, 1_024, (28, 1_568, 1_568), 37 * 37);
        check(1_920, 1_080, (28, 2_576, 4_784), 69 * 39);
        check(1_920, 1_080, (28, 1_568, 1_568), 1_568);
        check(1, 1, (32, 2_048, 1_536), 1);
        check(0, 0, (32, 2_048, 1_536), 0);
        check(u32::MAX, u32::MAX, (32, u32::MAX, Tokens::MAX), Tokens::MAX);
    }
}
