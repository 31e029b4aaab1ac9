//! A provider's limits for one request beside tokens, and the size of a request in the same terms.

use serde::{Deserialize, Serialize};

use crate::block::{Content, RawBlock};
use crate::media::Media;
use crate::message::Message;

/// A provider's limits for one request, beside tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestLimits {
    /// The most bytes of the whole request.
    pub bytes: usize,
    /// The most images.
    pub images: usize,
    /// With more images than the first number, none may have more pixels at a side than the second.
    pub crowd: Option<(usize, u32)>,
}

/// The size of a request, beside tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestSize {
    /// The bytes of its texts and media.
    pub bytes: usize,
    /// How many images it has.
    pub images: usize,
    /// The images with more pixels at a side than a crowd may have.
    pub large: usize,
}

impl RequestSize {
    /// Returns the size of messages. Linear in the blocks, and for images with a limit of their pixels in their first bytes.
    pub fn of<'m>(messages: impl IntoIterator<Item = &'m Message>, limits: &RequestLimits) -> Self {
        let mut load = Self::default();
        for message in messages {
            load.bytes += message_bytes(message);
            for block in &message.blocks {
                block.content.media().iter().for_each(|media| load.count(media, limits));
            }
        }
        load
    }

    /// Returns the size of media alone.
    pub fn of_media(media: &[Media], limits: &RequestLimits) -> Self {
        let mut load = Self { bytes: media.iter().map(|media| media.base64().len()).sum(), ..Self::default() };
        media.iter().for_each(|media| load.count(media, limits));
        load
    }

    fn count(&mut self, media: &Media, limits: &RequestLimits) {
        let side = || media.pixels().map_or(0, |(width, height)| width.max(height));
        if media.is_image() {
            self.images += 1;
            self.large += usize::from(limits.crowd.is_some_and(|(_, most)| side() > most));
        }
    }

    /// Subtracts what has left.
    pub fn subtract(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_sub(other.bytes);
        self.images = self.images.saturating_sub(other.images);
        self.large = self.large.saturating_sub(other.large);
    }

    /// Returns the first limit that it exceeds, in words; `None` where it exceeds none.
    pub fn exceeded_limit(&self, limits: &RequestLimits) -> Option<String> {
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        if self.bytes > limits.bytes {
            let (is, most) = (megabytes(self.bytes), megabytes(limits.bytes));
            return Some(format!("{is:.1} MB, and the provider takes {most:.0} MB in a request"));
        }
        if self.images > limits.images {
            return Some(format!("{} images, and the provider takes {} in a request", self.images, limits.images));
        }
        let (most, side) = limits.crowd.filter(|(most, _)| self.images > *most && self.large > 0)?;
        Some(format!(
            "{} images of more than {side} pixels, which the provider takes beside {most} at most",
            self.large
        ))
    }
}

/// Returns the bytes of a message's texts and media, as they are sent. Linear in the blocks.
pub fn message_bytes(message: &Message) -> usize {
    let bytes = |media: &[Media]| media.iter().map(|media| media.base64().len()).sum::<usize>();
    let text = |content: &Content| match content {
        Content::Text { text } => text.len(),
        Content::Thinking(thinking) => thinking.text.len() + thinking.signature.as_ref().map_or(0, |it| it.len()),
        Content::ToolCall(call) => call.arguments.text().len(),
        Content::ToolResult(result) => result.text.len(),
        Content::Opaque(opaque) => opaque.json.len(),
        Content::Media(_) | Content::Gone => 0,
    };
    let raw = |raw: &Option<RawBlock>| raw.as_ref().map_or(0, |raw| raw.json.len());
    let blocks = message.blocks.iter();
    blocks.map(|block| raw(&block.raw).max(text(&block.content) + bytes(block.content.media()))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_told_when_it_is_passed() {
        let limits = RequestLimits { bytes: 32_000_000, images: 100, crowd: Some((20, 2_000)) };
        let check = |(bytes, images, large): (usize, usize, usize), expect: &str| {
            assert!(
                RequestSize { bytes, images, large }.exceeded_limit(&limits).unwrap_or_default().starts_with(expect),
                "{expect}"
            );
        };
        assert_eq!(RequestSize { bytes: 32_000_000, images: 100, large: 0 }.exceeded_limit(&limits), None);
        assert_eq!(RequestSize { bytes: 9, images: 20, large: 20 }.exceeded_limit(&limits), None);
        check((44_800_000, 5, 0), "44.8 MB, and the provider takes 32 MB");
        check((9, 101, 0), "101 images, and the provider takes 100");
        check((9, 21, 3), "3 images of more than 2000 pixels");
    }
}
