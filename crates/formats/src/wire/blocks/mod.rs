//! Blocks and messages of the dialects, read into the session's types.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod pi;
pub(crate) mod responses;

use std::sync::Arc;

use epitome_session::{
    Block, Content, Dialect, Heading, HeadingKind, Media, MediaSource, Message, Opaque, Origin, RawBlock, Role, harness,
};

use super::json::Object;

/// A block that is written back as `json` while it is untouched.
pub(crate) fn with_raw(content: Content, dialect: Dialect, json: &str) -> Block {
    Block { content, raw: Some(RawBlock { dialect, json: Arc::from(json) }) }
}

/// A block of a kind that this version does not know.
pub(crate) fn opaque(json: &str, dialect: Dialect) -> Block {
    let kind = Object::parse(json).and_then(|object| object.text("type")).unwrap_or_default();
    Block::new(Content::Opaque(Opaque { kind: Arc::from(&*kind), json: Arc::from(json), dialect }))
}

/// Media at an address, which may be a data URL.
pub(crate) fn media_of_url(url: &str) -> Media {
    if let Some((mime, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        return Media { mime: Arc::from(mime), source: MediaSource::Base64(Arc::from(data)) };
    }
    Media { mime: Arc::from(""), source: MediaSource::Url(Arc::from(url)) }
}

/// A message of the system's side: instructions, or a summary that a compaction put there.
pub(crate) fn system_message(blocks: Vec<Block>) -> Message {
    let is_summary = matches!(&blocks[..], [Block { content: Content::Text { text }, .. }] if heads_summary(text));
    let origin = if is_summary { Origin::Summary } else { Origin::Instructions };
    Message::new("", Role::System, origin, blocks)
}

/// Whether a text begins with the heading of a summary. Instructions do not.
fn heads_summary(text: &str) -> bool {
    Heading::read(text).is_some_and(|heading| heading.kind == HeadingKind::Summary)
}

/// A user's message: typed by a person, unless all its text was put there by the runtime.
pub(crate) fn user_message(blocks: Vec<Block>) -> Message {
    let mut texts = blocks.iter().filter_map(|block| match &block.content {
        Content::Text { text } => Some(text.as_ref()),
        _ => None,
    });
    let has_media = blocks.iter().any(|block| matches!(block.content, Content::Media(_) | Content::Opaque(_)));
    let origin = if !has_media && texts.clone().next().is_some() && texts.all(is_injected) {
        Origin::Injected
    } else {
        Origin::Typed
    };
    Message::new("", Role::User, origin, blocks)
}

/// Whether a text on the user's side was put there by a runtime: an echo of a command, a notification, the environment,
/// or reminders and nothing else.
pub(crate) fn is_injected(text: &str) -> bool {
    !text.trim().is_empty() && harness::typed_ranges(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injected_texts() {
        let check = |text: &str, expect: bool| assert_eq!(is_injected(text), expect, "{text}");
        check("fix the bug", false);
        check("  <command-name>/clear</command-name>", true);
        check("[Request interrupted by user for tool use]", true);
        check("<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n", true);
        check("<system-reminder>a</system-reminder>\nand now fix it", false);
        check("<command-name>/review</command-name>\n<command-args>the parser</command-args>", false);
        check("# AGENTS.md instructions for /p", true);
        check("", false);
    }
}
