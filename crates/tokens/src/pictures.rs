//! What families of models spend on pictures and pages, by their providers' formulas.
//!
//! Pages of PDFs are counted as text and picture. Source of the figures that no provider names: requests with one picture, and
//! with one PDF, less the same without, on models of October 2026 (`image-token-cost` and `pdf-token-cost` by J. King,
//! huggingface.co/datasets/JOHNISKING).

use epitome_strategy::{MediaRates, Picture, Tokens};

/// Claude from Opus 4.7 on: larger pictures than before are not scaled down. Source: platform.claude.com/docs, "Images and
/// vision" (squares of 28 pixels, 2,576 at the longer side, 4,784 in all); for a page of text as measured, 2,324 to 2,481.
pub(crate) const CLAUDE_4_7_MEDIA: MediaRates =
    MediaRates { picture: |picture| picture.squares(28, 2_576, 4_784), page: 2_400 };

/// Gemini before 3. Source: ai.google.dev/gemini-api/docs/tokens and /image-understanding: 258 for a small picture, and for each
/// tile of a larger one, which is as wide as two thirds of its shorter side, 256 to 768 pixels; 258 for a page.
pub(crate) const GEMINI_2_MEDIA: MediaRates = MediaRates {
    picture: |picture| {
        if picture.width.max(picture.height) <= 384 {
            return 258;
        }
        let tile = (picture.width.min(picture.height) * 2 / 3).clamp(256, 768);
        picture.squares(tile, u32::MAX, Tokens::MAX).saturating_mul(258)
    },
    page: 258,
};

/// Gemini from 3 on. Source: ai.google.dev/gemini-api/docs/media-resolution; high is what it takes where nothing is said.
pub(crate) const GEMINI_3_MEDIA: MediaRates = MediaRates {
    picture: |picture| match picture.detail.map(|detail| detail.trim_start_matches("MEDIA_RESOLUTION_")) {
        Some("LOW" | "low") => 280,
        Some("MEDIUM" | "medium") => 560,
        Some("ULTRA_HIGH" | "ultra_high") => 2_240,
        _ => 1_120,
    },
    page: 560,
};

/// Pixtral. Source: docs.mistral.ai/capabilities/vision (squares of 16 pixels, 1,024 at the longer side).
pub(crate) const PIXTRAL_MEDIA: MediaRates =
    MediaRates { picture: |picture| picture.squares(16, 1_024, 4_096), page: 2_100 };

/// What a page costs a model of OpenAI's: its text, and its picture of 816 by 1,056 pixels.
const OPENAI_PAGE: Tokens = 1_700;

/// The tokens of a picture.
type Formula = fn(Picture<'_>) -> Tokens;

/// How the models of OpenAI's count a picture, by the beginning of the model's name: the longest counts, and a model that has
/// none counts as the newest do. Source: developers.openai.com/api/docs/guides/images-vision, "Calculating costs".
const OPENAI: &[(&str, Formula)] = &[
    ("chatgpt-4o", |picture| tiles(picture, 85, 170)),
    ("gpt-4", |picture| tiles(picture, 85, 170)),
    ("gpt-4o", |picture| tiles(picture, 85, 170)),
    ("gpt-4o-mini", |picture| tiles(picture, 2_833, 5_667)),
    ("gpt-4.1", |picture| tiles(picture, 85, 170)),
    ("gpt-4.1-mini", |picture| patches(picture, 1_536, 162)),
    ("gpt-4.1-nano", |picture| patches(picture, 1_536, 246)),
    ("gpt-4.5", |picture| tiles(picture, 85, 170)),
    ("gpt-5", |picture| tiles(picture, 70, 140)),
    ("gpt-5.1", |picture| tiles(picture, 70, 140)),
    ("gpt-5-mini", |picture| patches(picture, 1_536, 162)),
    ("gpt-5-nano", |picture| patches(picture, 1_536, 246)),
    ("o1", |picture| tiles(picture, 75, 150)),
    ("o3", |picture| tiles(picture, 75, 150)),
    ("o4-mini", |picture| patches(picture, 1_536, 172)),
];

/// The newest models of OpenAI's: 1.2 tokens for a square of 32 pixels, as measured on GPT-5.5 and 6.
fn newest(picture: Picture<'_>) -> Tokens {
    let most = match picture.detail {
        Some("low") => 256,
        Some("high") => 2_500,
        _ => 10_000,
    };
    patches(picture, most, 120)
}

/// A base and so much for each tile of 512 pixels of the picture, once it fits into 2,048 pixels and its shorter side has 768.
fn tiles(picture: Picture<'_>, base: Tokens, tile: Tokens) -> Tokens {
    if picture.detail == Some("low") {
        return base;
    }
    let shorter = f64::from(picture.width.min(picture.height).max(1));
    let longer = f64::from(picture.width.max(picture.height));
    let scale = (2_048.0 / longer).min(768.0 / shorter).min(1.0);
    base + tile * picture.squares(512, (longer * scale) as u32, Tokens::MAX)
}

/// Hundredths of a token for each square of 32 pixels, up to a number of squares.
fn patches(picture: Picture<'_>, most: Tokens, hundredths: Tokens) -> Tokens {
    (picture.squares(32, u32::MAX, most) * hundredths).div_ceil(100)
}

/// What a model of OpenAI's spends on media, by its name in small letters.
pub(crate) fn openai_media(model: &str) -> MediaRates {
    let name = model.rsplit(['/', ':']).next().unwrap_or(model);
    let is_word = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '.');
    let fits = |known: &str| name.strip_prefix(known).is_some_and(is_word);
    let known = OPENAI.iter().filter(|(known, _)| fits(known)).max_by_key(|(known, _)| known.len());
    MediaRates { picture: known.map_or(newest, |(_, picture)| *picture), page: OPENAI_PAGE }
}

#[cfg(test)]
#[cfg(feature = "vocab-o200k")]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::sync::Arc;

    use epitome_strategy::session::{Media, MediaSource};

    use super::*;
    use crate::by_model;

    /// The header of a GIF of that size, in base64.
    fn gif(width: u16, height: u16) -> MediaSource {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bytes = [b"GIF89a".as_slice(), &width.to_le_bytes(), &height.to_le_bytes(), &[0; 14]].concat();
        let four = |three: &[u8]| {
            let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]))
        };
        MediaSource::Base64(bytes.chunks(3).flat_map(four).collect::<String>().into())
    }

    /// The figures are those of the providers' documents, or were measured (see above).
    #[test]
    fn a_picture_costs_what_its_provider_takes() {
        let check = |models: &[&str], (width, height): (u16, u16), detail: Option<&str>, expect: Tokens| {
            let media = Media { source: gif(width, height), detail: detail.map(Arc::from), ..Media::default() };
            for model in models {
                let tokens = by_model(Some(model)).unwrap().media_tokens(&media);
                assert_eq!(tokens, expect, "{model} {width}x{height} {detail:?}");
            }
        };
        check(&["claude-sonnet-4-5", "claude-opus-5-5"], (1_024, 1_024), None, 1_369);
        check(&["claude-opus-4-7", "claude-sonnet-5"], (1_920, 1_080), None, 2_691);
        check(&["claude-haiku-4.5", "llama-4-maverick"], (1_920, 1_080), None, 1_568);
        check(&["claude-opus-5"], (9_000, 9_000), None, 4_784);
        check(&["gpt-4o", "openai/gpt-4.1"], (1_024, 1_024), None, 765);
        check(&["gpt-4o", "chatgpt-4o-latest"], (2_048, 4_096), None, 1_105);
        check(&["gpt-4o"], (2_048, 4_096), Some("low"), 85);
        check(&["gpt-4o-mini"], (512, 512), None, 8_500);
        check(&["gpt-5", "gpt-5.1-codex"], (512, 512), None, 210);
        check(&["o3"], (512, 512), None, 225);
        check(&["gpt-4.1-mini"], (1_024, 1_024), None, 1_659);
        check(&["gpt-5.5", "gpt-5.6-sol"], (1_920, 1_080), None, 2_448);
        check(&["gpt-5.5"], (4_032, 3_024), None, 12_000);
        check(&["gpt-5.5"], (4_032, 3_024), Some("high"), 3_000);
        check(&["gpt-5.5"], (4_032, 3_024), Some("low"), 308);
        check(&["gemini-3-pro-preview", "google/gemini-4-argon"], (4_032, 3_024), None, 1_120);
        check(&["gemini-3.5-flash"], (64, 64), Some("MEDIA_RESOLUTION_LOW"), 280);
        check(&["pixtral-large", "mistralai/pixtral-12b"], (480, 360), None, 30 * 23);
        check(&["gemini-2.5-pro"], (384, 300), None, 258);
        check(&["gemini-2.5-pro"], (960, 540), None, 6 * 258);
    }
}
