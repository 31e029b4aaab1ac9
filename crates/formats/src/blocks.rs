//! Blocks and messages of the dialects, read into the session's types.

use std::sync::Arc;

use epitome_session::{
    Block, CallId, Content, Dialect, Heading, HeadingKind, Media, MediaSource, Message, OpaqueBlock, Origin, RawBlock,
    Role, heading::is_notes, speaker, split_media,
};

use crate::json::Object;

/// A block that is written back as `json` while it is untouched.
pub(crate) fn with_raw(content: Content, dialect: Dialect, json: &str) -> Block {
    Block { raw: Some(RawBlock { dialect, json: Arc::from(json) }), ..Block::new(content) }
}

/// A block of a kind that this version does not know.
pub(crate) fn opaque(json: &str, dialect: Dialect) -> Block {
    let kind = Object::parse(json).and_then(|object| object.text("type")).unwrap_or_default();
    Block::new(Content::Opaque(OpaqueBlock { kind: Arc::from(&*kind), json: Arc::from(json), dialect }))
}

/// The field of a call, and of its result, that says what called: a program that the provider runs.
pub(crate) const CALLER: &str = "caller";

/// The call of the program that makes the call in a block, or that its result is for (Anthropic's and OpenAI's documentation of
/// "Programmatic tool calling"). `None` where the model calls itself.
pub(crate) fn caller_of(block: &Block) -> Option<CallId> {
    let field = match block.raw.as_ref()?.dialect {
        Dialect::Anthropic => "tool_id",
        Dialect::OpenaiResponses => "caller_id",
        Dialect::OpenaiChat | Dialect::Gemini | Dialect::Pi => return None,
    };
    let raw = block.raw.as_ref().filter(|raw| raw.json.contains("\"caller\""))?;
    let caller = Object::parse(&raw.json)?.object(CALLER)?;
    caller.has(field).then(|| caller.id(field))
}

/// The call, of an earlier message of the model's, that makes the calls in a message's blocks.
pub(crate) fn program_of(blocks: &[Block]) -> Option<CallId> {
    let calls = || blocks.iter().filter(|block| block.as_call().is_some());
    let is_here = |id: &CallId| calls().filter_map(Block::as_call).any(|call| call.id == *id);
    calls().filter_map(caller_of).find(|id| !is_here(id))
}

/// Configuration of the kind `kind` that stands among the messages, kept byte for byte.
pub(crate) fn configuration(json: &str, kind: &str, dialect: Dialect) -> Message {
    let block = Block::new(Content::Opaque(OpaqueBlock { kind: Arc::from(kind), json: Arc::from(json), dialect }));
    Message::new("", Role::System, Origin::Configuration, vec![block])
}

/// What JSON of any form says, and the media in it.
pub(crate) fn text_and_media(json: &str) -> (Arc<str>, Vec<Media>) {
    let (text, media) = split_media(json);
    (Arc::from(text), media.into_iter().map(Media::of_text).collect())
}

/// A tool's answer from the blocks of its message: the texts, joined by line feeds, and the media.
pub(crate) fn answer(blocks: Vec<Block>) -> (Arc<str>, Vec<Media>) {
    let mut attachments = Vec::new();
    let mut texts: Vec<Arc<str>> = Vec::new();
    for block in blocks {
        match block.content {
            Content::Text { text } => texts.push(text),
            Content::Media(media) => attachments.push(media),
            Content::Opaque(opaque) => {
                let (text, media) = text_and_media(&opaque.json);
                texts.push(text);
                attachments.extend(media);
            }
            Content::Thinking(_) | Content::ToolCall(_) | Content::ToolResult(_) | Content::Gone => {}
        }
    }
    let text = if texts.len() == 1 { texts.swap_remove(0) } else { Arc::from(texts.join("\n")) };
    (text, attachments)
}

/// Media at an address. A data URL is the media itself, and says its type; other addresses have the type `mime`.
pub(crate) fn media_of_url(url: &str, mime: &str) -> Media {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((mime, data)) => in_base64(mime, data),
        None => Media { mime: Arc::from(mime), source: MediaSource::Url(Arc::from(url)), ..Media::default() },
    }
}

/// Media whose bytes are at hand.
pub(crate) fn in_base64(mime: &str, data: &str) -> Media {
    Media { mime: Arc::from(mime), source: MediaSource::Base64(Arc::from(data)), ..Media::default() }
}

/// The same with how closely the model is to look, where a field says that.
pub(crate) fn with_detail(media: Media, object: &Object<'_>, field: &str) -> Media {
    Media { detail: object.text(field).map(|detail| Arc::from(&*detail)), ..media }
}

/// A message of the system's side, of the role `role`: instructions, or a summary that a compaction put there.
pub(crate) fn system_message(role: &str, blocks: Vec<Block>) -> Message {
    let is_summary = matches!(&blocks[..], [Block { content: Content::Text { text }, .. }] if heads_summary(text));
    let origin = match role {
        _ if is_summary => Origin::Summary,
        "developer" => Origin::Developer,
        _ => Origin::Instructions,
    };
    Message::new("", Role::System, origin, blocks)
}

/// Whether a text begins with the heading of a summary. Instructions do not.
fn heads_summary(text: &str) -> bool {
    Heading::read(text).is_some_and(|heading| heading.kind == HeadingKind::Summary)
}

/// The beginning of the summary that Claude Code puts in front of a session that it continues.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// The origin of a text in place of messages which a compaction removed, known by its heading; `None` for any other
/// text.
fn compacted(text: &str) -> Option<Origin> {
    match Heading::read(text) {
        Some(heading) if heading.kind == HeadingKind::Summary => Some(Origin::Summary),
        Some(_) => Some(Origin::Notice),
        None if is_notes(text) => Some(Origin::Notice),
        None => text.starts_with(CONTINUED).then_some(Origin::Summary),
    }
}

/// A user's message: typed by a person, unless all its text was put there by the runtime, or by a compaction.
pub(crate) fn user_message(blocks: Vec<Block>) -> Message {
    let mut texts = blocks.iter().filter_map(|block| match &block.content {
        Content::Text { text } => Some(text.as_ref()),
        _ => None,
    });
    let has_media = blocks.iter().any(|block| matches!(block.content, Content::Media(_) | Content::Opaque(_)));
    let only = texts.clone().next().filter(|_| !has_media && texts.clone().count() == 1);
    let origin = match only.and_then(compacted) {
        Some(origin) => origin,
        None if !has_media && texts.clone().next().is_some() && texts.all(is_injected) => Origin::Injected,
        None => Origin::Typed,
    };
    Message::new("", Role::User, origin, blocks)
}

/// Whether a result loads definitions of tools, which have to stay loaded.
pub(crate) fn loads_tools(block: &Block) -> bool {
    let raw = block.raw.as_ref().filter(|_| block.as_result().is_some());
    // Quotes in a text are escaped: this is a whole string of the JSON.
    raw.is_some_and(|raw| raw.json.contains("\"tool_reference\""))
}

/// A tool's result as a message. One that loads tools stays: it is configuration.
fn result_message(block: Block) -> Message {
    let pinned = loads_tools(&block);
    Message { pinned, ..Message::new("", Role::Tool, Origin::Tool, vec![block]) }
}

/// The messages of one message of the model's in a form where it holds the results of tools that the provider runs: one for
/// each result, and one for what the model says up to the next.
pub(crate) fn model_messages(blocks: Vec<Block>) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut said: Vec<Block> = Vec::new();
    let say = |said: &mut Vec<Block>| {
        let program = program_of(said);
        Message { program, ..Message::new("", Role::Assistant, Origin::Model, std::mem::take(said)) }
    };
    for block in blocks {
        if block.as_result().is_none() {
            said.push(block);
            continue;
        }
        if !said.is_empty() {
            messages.push(say(&mut said));
        }
        messages.push(result_message(block));
    }
    if !said.is_empty() || messages.is_empty() {
        messages.push(say(&mut said));
    }
    messages
}

/// The messages of the user's side in a form that has one message for all neighbours: one for each tool result, and for the
/// rest, if there is any, one for each text in place of messages that left, for such a text is nobody's words, and one for
/// each run of others.
pub(crate) fn user_messages(blocks: Vec<Block>) -> Vec<Message> {
    let (results, rest): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(|block| block.as_result().is_some());
    let mut messages: Vec<Message> = results.into_iter().map(result_message).collect();
    let mut run: Vec<Block> = Vec::new();
    for block in rest {
        if matches!(&block.content, Content::Text { text } if compacted(text).is_some()) {
            if !run.is_empty() {
                messages.push(user_message(std::mem::take(&mut run)));
            }
            messages.push(user_message(vec![block]));
        } else {
            run.push(block);
        }
    }
    if !run.is_empty() || messages.is_empty() {
        messages.push(user_message(run));
    }
    messages
}

/// Whether a text on the user's side was put there by a runtime: an echo of a command, a notification, the environment,
/// or reminders and nothing else.
pub(crate) fn is_injected(text: &str) -> bool {
    !text.trim().is_empty() && speaker::typed_parts(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_on_the_users_side() {
        let check = |text: &str, expect: Origin| {
            assert_eq!(user_message(vec![Block::text(text)]).origin, expect, "{text}");
        };
        check("fix it", Origin::Typed);
        check("[Summary of 12 earlier messages]\n» I fixed it.", Origin::Summary);
        check("[Summary of 12 earlier messages · recall 0a1b2c3d]\n## Goal", Origin::Summary);
        check("[3 earlier messages left the context]", Origin::Notice);
        check("[Summary of the talk]\nplease translate", Origin::Typed);
        check(
            "This session is being continued from a previous conversation that ran out of context. …",
            Origin::Summary,
        );
        check("<system-reminder>a</system-reminder>", Origin::Injected);
    }

    #[test]
    fn texts_of_a_compaction_stand_beside_what_was_typed() {
        let check = |texts: &[&str], expect: &[(Origin, usize)]| {
            let blocks = texts.iter().map(|text| Block::text(*text)).collect();
            let read: Vec<_> = user_messages(blocks).iter().map(|it| (it.origin, it.blocks.len())).collect();
            assert_eq!(read, expect, "{texts:?}");
        };
        let (summary, notice) = ("[Summary of 12 earlier messages]\n» Done.", "[3 earlier messages left the context]");
        check(&[], &[(Origin::Typed, 0)]);
        check(&["a", "b"], &[(Origin::Typed, 2)]);
        check(&[summary], &[(Origin::Summary, 1)]);
        check(
            &["a", "b", summary, notice, "c"],
            &[(Origin::Typed, 2), (Origin::Summary, 1), (Origin::Notice, 1), (Origin::Typed, 1)],
        );
    }

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
