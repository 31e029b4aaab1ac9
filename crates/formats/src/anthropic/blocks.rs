//! Anthropic's content blocks.

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Dialect, Media, MediaSource, Message, Origin, Role, Thinking, ToolCall, ToolResult,
    is_media,
};

use epitome_wire::anthropic::class_of_block;
use epitome_wire::{PartClass, tool};
use serde_json::{Map, Value};

use crate::blocks::{model_messages, opaque, text_and_media, user_messages, with_raw};
use crate::json::{self, Object};
use crate::media::is_id;

/// The session's messages of one Anthropic message: one for each tool result, wherever it stands, and for the rest, if there
/// is any, one for each text of an earlier compaction and for what stands between these. These messages have no ids yet.
pub(crate) fn messages(role: &str, content: &str) -> Vec<Message> {
    let mut messages = messages_of(role, blocks(content));
    for message in messages.iter_mut().filter(|message| message.role != Role::System) {
        message.pinned |= message.blocks.iter().any(is_configuration);
    }
    messages
}

/// Whether a block is configuration, which stays where it stands. A compaction carries on the changes of tools in what it stands
/// for (`tool_changes` of `BetaCompactionBlockParam`, anthropic-sdk-python 2.14), and goes back as it came.
fn is_configuration(block: &Block) -> bool {
    match &block.content {
        Content::Opaque(opaque) => class_of_block(&opaque.kind) == PartClass::Configuration,
        _ if is_compaction(block) => {
            let object = block.raw.as_ref().and_then(|raw| Object::parse(&raw.json));
            object.and_then(|object| object.list("tool_changes")).is_some_and(|changes| !changes.is_empty())
        }
        _ => false,
    }
}

/// Whether a message says nothing, and sets the effort from there on (Anthropic's documentation of "Per-message effort").
pub(crate) fn is_effort_alone(role: &str, message: &Object<'_>) -> bool {
    let is_silent = |block: &Block| matches!(&block.content, Content::Text { text } if text.is_empty());
    role == "system"
        && message.is_given("output_config")
        && blocks(message.get("content").unwrap_or_default()).iter().all(is_silent)
}

fn messages_of(role: &str, blocks: Vec<Block>) -> Vec<Message> {
    match role {
        "assistant" => said_messages(blocks),
        "system" | "developer" => vec![Message::new("", Role::System, Origin::Instructions, blocks)],
        _ => user_messages(blocks),
    }
}

/// The messages of one of the model's: a compaction of the provider's in it is one of its own, which stands for all in front.
fn said_messages(mut blocks: Vec<Block>) -> Vec<Message> {
    let Some(at) = blocks.iter().rposition(is_compaction) else { return model_messages(blocks) };
    let behind = blocks.split_off(at + 1);
    let summary = blocks.pop().into_iter().collect();
    let mut messages = if blocks.is_empty() { Vec::new() } else { model_messages(blocks) };
    messages.push(Message::new("", Role::User, Origin::Summary, summary));
    if !behind.is_empty() {
        messages.extend(model_messages(behind));
    }
    messages
}

/// Whether a block is a compaction of the provider's that can be read: what stands in front of it is not shown to the model
/// (Anthropic's documentation of "Compaction"). One without a text failed, and stands for nothing.
pub(crate) fn is_compaction(block: &Block) -> bool {
    let raw = block.raw.as_ref().filter(|raw| raw.dialect == Dialect::Anthropic);
    raw.and_then(|raw| Object::parse(&raw.json))
        .is_some_and(|object| object.text("type").as_deref() == Some("compaction"))
}

/// The blocks of a message's content: a string, or a list of blocks.
pub(crate) fn blocks(content: &str) -> Vec<Block> {
    if let Some(text) = json::string(content) {
        return vec![Block::text(&*text)];
    }
    match json::list(content) {
        Some(items) => items.into_iter().map(block).collect(),
        None if content.is_empty() || content == "null" => Vec::new(),
        None => vec![block(content)],
    }
}

fn block(json: &str) -> Block {
    if let Some(text) = json::string(json) {
        return Block::text(&*text);
    }
    let Some(object) = Object::parse(json) else { return opaque(json, Dialect::Anthropic) };
    let kind = object.text("type").unwrap_or_default();
    if let Some((text, media)) = attached_text(&kind, &object)
        && media.is_empty()
    {
        // Somebody attached it: nobody said it.
        let block = with_raw(Content::Text { text }, Dialect::Anthropic, json);
        return Block { typed: Some(Vec::new()), ..block };
    }
    let read = match &*kind {
        "text" => text(&object),
        "thinking" => thinking(&object),
        "redacted_thinking" => redacted_thinking(&object),
        "compaction" => object.text("content").map(|text| (Content::Text { text: Arc::from(&*text) }, false)),
        "tool_use" => tool_use(&object),
        "tool_result" => Some(tool_result(&object)),
        kind if class_of_block(kind) == PartClass::Call => own_call(&object, json),
        kind if class_of_block(kind) == PartClass::Result => own_result(&object, json),
        "image" | "document" => {
            media(&object).map(|media| {
                // The bytes of a block with an id stay with it: they say whose id it is.
                let is_address = !matches!(&media.source, MediaSource::Url(place) if is_id(place));
                (Content::Media(media), is_address && object.has_only(&["type", "source"]))
            })
        }
        _ => None,
    };
    match read {
        Some((content, true)) => Block::new(content),
        Some((content, false)) => with_raw(content, Dialect::Anthropic, json),
        None => opaque(json, Dialect::Anthropic),
    }
}

/// The content of a block, and whether the block holds nothing else.
type ParsedBlock = (Content, bool);

fn text(object: &Object<'_>) -> Option<ParsedBlock> {
    let text = Arc::from(&*object.text("text")?);
    Some((Content::Text { text }, object.has_only(&["type", "text"])))
}

fn thinking(object: &Object<'_>) -> Option<ParsedBlock> {
    let text = Arc::from(&*object.text("thinking").unwrap_or_default());
    let signature = object.text("signature").filter(|signature| !signature.is_empty()).map(|it| Arc::from(&*it));
    let thinking = Thinking { text, signature, redacted: false };
    Some((Content::Thinking(thinking), object.has_only(&["type", "thinking", "signature"])))
}

fn redacted_thinking(object: &Object<'_>) -> Option<ParsedBlock> {
    let signature = Some(Arc::from(&*object.text("data")?));
    let thinking = Thinking { text: Arc::from(""), signature, redacted: true };
    Some((Content::Thinking(thinking), object.has_only(&["type", "data"])))
}

fn tool_use(object: &Object<'_>) -> Option<ParsedBlock> {
    let input = object.get("input").unwrap_or("{}");
    let arguments = match json::string(input) {
        Some(text) => Arguments::Text(Arc::from(&*text)),
        None => Arguments::Json(Arc::from(input)),
    };
    let id = object.id("id");
    let name = Arc::from(&*object.text("name")?);
    // Bytes that no provider would take are not kept.
    let plain = object.has_only(&["type", "id", "name", "input"])
        || !object.get("input").is_some_and(|input| input.starts_with('{'));
    Some((Content::ToolCall(ToolCall { id, name, arguments }), plain))
}

fn tool_result(object: &Object<'_>) -> ParsedBlock {
    let content = object.get("content").unwrap_or_default();
    let mut result = ToolResult {
        call_id: object.id("tool_use_id"),
        name: None,
        text: Arc::from(""),
        attachments: Vec::new(),
        is_error: object.is_true("is_error"),
    };
    let mut plain = object.has_only(&["type", "tool_use_id", "content", "is_error"]);
    if let Some(text) = json::string(content) {
        result.text = Arc::from(&*text);
    } else if let Some(items) = json::list(content) {
        plain = false;
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match result_part(item) {
                ResultPart::Media(media) => result.attachments.push(media),
                ResultPart::Text(text, media) => {
                    texts.push(text);
                    result.attachments.extend(media);
                }
            }
        }
        result.text = Arc::from(texts.join("\n"));
    } else if !content.is_empty() {
        plain = false;
        (result.text, result.attachments) = text_and_media(content);
    }
    (Content::ToolResult(result), plain)
}

/// A call of a tool that the provider or its servers run.
fn own_call(object: &Object<'_>, json: &str) -> Option<ParsedBlock> {
    let fields: Map<String, Value> = serde_json::from_str(json).ok()?;
    let name = Arc::from(tool::name_of(&fields, &object.text("name")?));
    let arguments = Arguments::Json(Arc::from(object.get("input").unwrap_or("{}")));
    Some((Content::ToolCall(ToolCall { id: object.id("id"), name, arguments }), false))
}

/// The result of such a call.
fn own_result(object: &Object<'_>, json: &str) -> Option<ParsedBlock> {
    let fields: Map<String, Value> = serde_json::from_str(json).ok()?;
    let outcome = tool::Outcome::read(&fields, is_media);
    let failed = fields.get("content").and_then(|content| content["type"].as_str()?.strip_suffix("_error"));
    let result = ToolResult {
        call_id: object.id("tool_use_id"),
        name: None,
        text: Arc::from(outcome.texts.join("\n")),
        attachments: outcome.media.into_iter().map(Media::of_text).collect(),
        is_error: object.is_true("is_error") || failed.is_some(),
    };
    Some((Content::ToolResult(result), false))
}

/// What a part of a result's content is.
enum ResultPart {
    /// A picture or a file, and nothing else.
    Media(Media),
    /// Text, and the media in it.
    Text(Arc<str>, Vec<Media>),
}

fn result_part(json: &str) -> ResultPart {
    if let Some(text) = json::string(json) {
        return ResultPart::Text(Arc::from(&*text), Vec::new());
    }
    let part = Object::parse(json).unwrap_or_default();
    let kind = part.text("type").unwrap_or_default();
    if let Some(media) = media(&part).filter(|_| matches!(&*kind, "image" | "document")) {
        return ResultPart::Media(media);
    }
    let (text, media) = match &*kind {
        "text" => (Arc::from(&*part.text("text").unwrap_or_default()), Vec::new()),
        // References and whatever else there may be count as what they are written as.
        kind => attached_text(kind, &part).unwrap_or_else(|| text_and_media(json)),
    };
    ResultPart::Text(text, media)
}

/// Whether a part of a result's content is a picture or a file, which stays beside the result's text.
pub(crate) fn is_media_part(json: &str) -> bool {
    matches!(result_part(json), ResultPart::Media(_))
}

/// The text of a document that is one, or of what a search found, with its title and its place, and the media in it. `None`
/// where there is no text, or anything else.
fn attached_text(kind: &str, object: &Object<'_>) -> Option<(Arc<str>, Vec<Media>)> {
    let (mut texts, mut media) = (Vec::new(), Vec::new());
    let content = match kind {
        "search_result" => object.get("content")?,
        "document" => {
            let source = object.object("source")?;
            match &*source.text("type")? {
                "text" => source.get("data")?,
                "content" => source.get("content")?,
                _ => return None,
            }
        }
        _ => return None,
    };
    for block in blocks(content) {
        match block.content {
            Content::Text { text } if !text.trim().is_empty() => texts.push(text),
            Content::Text { .. } => {}
            Content::Media(found) => media.push(found),
            _ => return None,
        }
    }
    if texts.is_empty() {
        return None;
    }
    let heads = ["title", "context", "source"].into_iter().filter_map(|name| object.text(name));
    let heads = heads.filter(|head| !head.trim().is_empty()).map(|head| Arc::from(&*head));
    Some((Arc::from(heads.chain(texts).collect::<Vec<Arc<str>>>().join("\n")), media))
}

fn media(object: &Object<'_>) -> Option<Media> {
    let source = object.object("source")?;
    // A document that says no type is a PDF by its address, or a file of the provider's store.
    let usual = if object.text("type")? == "document" { "application/pdf" } else { "" };
    let mime = Arc::from(&*source.text("media_type").unwrap_or(usual.into()));
    let place = match &*source.text("type")? {
        "base64" => MediaSource::Base64(Arc::from(&*source.text("data")?)),
        "url" => MediaSource::Url(Arc::from(&*source.text("url")?)),
        "file" => MediaSource::Url(Arc::from(&*source.text("file_id")?)),
        _ => return None,
    };
    let name = object.text("title").map(|title| Arc::from(&*title));
    Some(Media { mime, name, source: place, ..Media::default() })
}
