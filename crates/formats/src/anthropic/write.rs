//! Anthropic messages.

use epitome_session::{Block, Content, Dialect, Media, MediaSource, Origin, RawBlock, Role};

use super::blocks::is_compaction;
use crate::json::{self, ObjectWriter, quote};
use crate::media::{absent_text, has_place, is_document, is_id};
use crate::openai_chat::write::{MISSING, arguments_object, image_type};
use crate::render::plan::{MessageToRender, Plan};
use crate::render::{RequestItem, RequestParts, Source, Wire};

pub(crate) fn render(plan: Plan<'_>, source: Option<&Source<'_>>) -> RequestParts {
    let mut parts = RequestParts { warnings: plan.warnings, ..RequestParts::default() };
    let (prompt, conversation): (Vec<MessageToRender<'_>>, Vec<MessageToRender<'_>>) =
        plan.turns.into_iter().partition(|turn| turn.is_prompt);
    parts.system = system_prompt(&prompt);
    for (role, group) in groups(conversation) {
        parts.items.push(recorded(&group, source).unwrap_or_else(|| RequestItem::built(message(role, &group, source))));
    }
    parts
}

/// The side of the conversation that a message belongs to.
fn role(turn: &MessageToRender<'_>) -> &'static str {
    match turn.message.role {
        Role::Assistant => "assistant",
        Role::Tool if turn.is_beside_call => "assistant",
        Role::User if turn.message.blocks.iter().any(is_compaction) => "assistant",
        Role::System if turn.message.is_system_prompt() => "system",
        Role::Tool | Role::User | Role::System => "user",
    }
}

/// A message of a request: its role, and what it is made of.
type Group<'a> = (&'static str, Vec<MessageToRender<'a>>);

/// Whether a group is a message of configuration, which is nobody's turn.
fn is_configuration((_, turns): &Group<'_>) -> bool {
    turns.iter().all(|turn| turn.message.origin == Origin::Configuration)
}

/// The messages of a request by their role. Neighbours of one role are one; an instruction has its place behind a user's
/// turn and in front of one of the model's, or at the end (Anthropic's documentation of "Mid-conversation system messages").
/// A level of effort alone may stand anywhere, and stays where it does ("Per-message effort").
fn groups(turns: Vec<MessageToRender<'_>>) -> Vec<Group<'_>> {
    let (mut groups, mut instructions): (Vec<Group<'_>>, Vec<Group<'_>>) = (Vec::new(), Vec::new());
    for turn in turns {
        let role = role(&turn);
        if role == "system" {
            let is_alone = turn.message.origin == Origin::Configuration;
            // The first that waits is no level of effort alone: that waits behind instructions only.
            match instructions.first_mut() {
                Some((_, group)) if !is_alone => group.push(turn),
                None if is_alone => groups.push((role, vec![turn])),
                _ => instructions.push((role, vec![turn])),
            }
            continue;
        }
        if role == "assistant" {
            settle(&mut groups, &mut instructions);
            if groups.is_empty() {
                groups.push(("user", vec![MessageToRender::opening()]));
            }
        }
        match groups.last_mut() {
            Some((last, group)) if *last == role => group.push(turn),
            _ => groups.push((role, vec![turn])),
        }
    }
    settle(&mut groups, &mut instructions);
    groups
}

/// Puts instructions into their place, behind a turn of the user's.
fn settle<'a>(groups: &mut Vec<Group<'a>>, instructions: &mut Vec<Group<'a>>) {
    let behind = groups.iter().rfind(|group| !is_configuration(group));
    if !instructions.is_empty() && !matches!(behind, Some(("user", _))) {
        groups.push(("user", vec![MessageToRender::opening()]));
    }
    groups.append(instructions);
}

fn system_prompt(turns: &[MessageToRender<'_>]) -> Option<String> {
    let blocks: Vec<&Block> = turns.iter().flat_map(|turn| &turn.message.blocks).collect();
    match &blocks[..] {
        [] => None,
        [Block { content: Content::Text { text }, raw: None, .. }] => Some(quote(text)),
        blocks => Some(json::join(&blocks.iter().filter_map(|block| self::block(block)).collect::<Vec<_>>())),
    }
}

/// The bytes of a group that is one record and all of it.
fn recorded(group: &[MessageToRender<'_>], source: Option<&Source<'_>>) -> Option<RequestItem> {
    let source = source?;
    let [record] = group.first()?.entry?.message.records[..] else { return None };
    let is_whole = source.members(record) as usize == group.len()
        && group.iter().all(|turn| turn.is_as_read && turn.entry.is_some_and(|it| it.message.records == [record]));
    // A record whose blocks are in another order than providers want is rebuilt.
    let json = source.record(record).filter(|_| is_whole)?;
    Some(RequestItem { json: json.to_owned(), record: Some(record) })
}

fn message(role: &str, group: &[MessageToRender<'_>], source: Option<&Source<'_>>) -> String {
    if let [turn] = group
        && turn.message.origin == Origin::Configuration
    {
        return turn.message.blocks.iter().filter_map(block).collect();
    }
    // Results first: they must follow their calls directly.
    let is_result = |turn: &&MessageToRender<'_>| turn.message.role == Role::Tool && !turn.is_beside_call;
    let results = group.iter().filter(is_result);
    let others = group.iter().filter(|turn| !is_result(turn));
    let mut blocks = Vec::new();
    let mut only: Option<&str> = None;
    for turn in results.chain(others) {
        for block in &turn.message.blocks {
            blocks.extend(self::block(block));
            let is_said = matches!(turn.message.role, Role::User | Role::System);
            if let (Content::Text { text }, None, true) = (&block.content, &block.raw, is_said) {
                only = Some(text);
            }
        }
    }
    let content = match only.filter(|_| blocks.len() == 1) {
        Some(text) => quote(text),
        None => json::join(&blocks),
    };
    let own = source.filter(|source| role == "system" && source.is_own(Wire::Anthropic));
    // The effort that instructions set besides: the newest of what is one message now.
    let effort = group.iter().rev().find_map(|turn| own?.object(turn.entry?)?.get("output_config"));
    let message = ObjectWriter::new().text("role", role).raw("content", &content);
    message.optional_field("output_config", effort).finish()
}

fn own_raw(block: &Block) -> Option<&RawBlock> {
    block.raw.as_ref().filter(|raw| raw.dialect == Dialect::Anthropic)
}

/// A block as Anthropic takes it.
pub(crate) fn block(block: &Block) -> Option<String> {
    if let Some(raw) = own_raw(block) {
        return Some(raw.json.to_string());
    }
    match &block.content {
        Content::Text { text } => Some(text_block(text)),
        Content::Thinking(thinking) => {
            let signature = thinking.signature.as_deref().unwrap_or_default();
            let writer = ObjectWriter::new();
            Some(if thinking.redacted {
                writer.text("type", "redacted_thinking").text("data", signature).finish()
            } else {
                writer.text("type", "thinking").text("thinking", &thinking.text).text("signature", signature).finish()
            })
        }
        Content::ToolCall(call) => Some(
            ObjectWriter::new()
                .text("type", "tool_use")
                .id("id", &call.id)
                .text("name", &call.name)
                .raw("input", &arguments_object(&call.arguments))
                .finish(),
        ),
        Content::ToolResult(result) => {
            let content = if result.attachments.is_empty() {
                quote(&result.text)
            } else {
                let mut blocks = Vec::new();
                if !result.text.trim().is_empty() {
                    blocks.push(text_block(&result.text));
                }
                blocks.extend(result.attachments.iter().map(|it| media(it, Dialect::Anthropic)));
                json::join(&blocks)
            };
            Some(
                ObjectWriter::new()
                    .text("type", "tool_result")
                    .id("tool_use_id", &result.call_id)
                    .raw("content", &content)
                    .optional_field("is_error", result.is_error.then_some("true"))
                    .finish(),
            )
        }
        Content::Media(image) => {
            let home = block.raw.as_ref().map_or(Dialect::Anthropic, |raw| raw.dialect);
            Some(media(image, home))
        }
        Content::Opaque(opaque) => (opaque.dialect == Dialect::Anthropic).then(|| opaque.json.to_string()),
        Content::Gone => None,
    }
}

fn text_block(text: &str) -> String {
    ObjectWriter::new().text("type", "text").text("text", text).finish()
}

/// Media that come from the form `home`. A request has lost those without a place by now, a file of Claude Code has not.
fn media(media: &Media, home: Dialect) -> String {
    if !has_place(media, Role::User, Wire::Anthropic, Some(home)) {
        return text_block(&absent_text(media));
    }
    let source = match &media.source {
        MediaSource::Base64(data) => {
            let writer = ObjectWriter::new().text("type", "base64").text("media_type", image_type(media));
            writer.text("data", data).finish()
        }
        MediaSource::Url(id) if is_id(id) => ObjectWriter::new().text("type", "file").text("file_id", id).finish(),
        MediaSource::Url(url) => ObjectWriter::new().text("type", "url").text("url", url).finish(),
        MediaSource::Missing => return text_block(MISSING),
    };
    ObjectWriter::new()
        .text("type", if is_document(media) { "document" } else { "image" })
        .raw("source", &source)
        .finish()
}
