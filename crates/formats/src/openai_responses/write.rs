//! OpenAI Responses items.

use epitome_session::{
    Arguments, Block, Content, Dialect, Entry, Media, MediaSource, Message, Origin, RawBlock, Role, ToolCall,
};

use super::blocks::PARTS;
use crate::Format;
use crate::json::{self, ObjectWriter, quote};
use crate::media::{input_audio, is_document, is_id};
use crate::openai_chat::write::{MISSING, arguments_object, image_type};
use crate::render::plan::{MessageToRender, Plan};
use crate::render::{RequestItem, RequestParts, Source};

pub(crate) fn render(plan: Plan<'_>, source: Option<&Source<'_>>) -> RequestParts {
    let mut parts = RequestParts { warnings: plan.warnings, ..RequestParts::default() };
    for (index, turn) in plan.turns.iter().enumerate() {
        if index == 0 && is_instructions(turn, source) {
            parts.system = Some(quote(&turn.message.plain_text()));
            continue;
        }
        if turn.is_beside_call {
            continue; // the item of its call holds it
        }
        if turn.is_as_read
            && let Some(entry) = turn.entry
            && let Some(recorded) = source.and_then(|source| recorded(entry, source))
        {
            parts.items.extend(recorded);
            continue;
        }
        parts.items.extend(items(&turn.message, turn.of_custom_call).into_iter().map(RequestItem::built));
    }
    parts
}

/// The bytes of an entry's records, one for each item.
fn recorded(entry: &Entry, source: &Source<'_>) -> Option<Vec<RequestItem>> {
    let part = |record: &u32| {
        let json = source.item(*record).filter(|json| json.starts_with('{'))?;
        Some(RequestItem { json: json.to_owned(), record: Some(*record) })
    };
    entry.message.records.iter().map(part).collect()
}

/// Whether the first message is the request's `instructions`: the system prompt, unless it was read from an item.
fn is_instructions(turn: &MessageToRender<'_>, source: Option<&Source<'_>>) -> bool {
    let only_text = turn.message.blocks.iter().all(|block| matches!(block.content, Content::Text { .. }));
    let is_item = turn.entry.zip(source).is_some_and(|(entry, source)| {
        source.format == Format::OpenaiResponses && source.object(entry).is_some_and(|item| item.has("role"))
    });
    turn.message.is_system_prompt() && only_text && !is_item
}

/// The items of one message.
pub(crate) fn items(message: &Message, of_custom_call: bool) -> Vec<String> {
    match message.role {
        Role::System if message.origin == Origin::Configuration => message.blocks.iter().filter_map(item_of).collect(),
        Role::System => vec![whole_message("developer", &message.blocks)],
        Role::User => {
            // Items that a compaction left, and what other agents said, are items of their own.
            let is_item = |block: &&Block| match &block.content {
                Content::Opaque(opaque) => opaque.kind.contains("compaction"),
                _ => own_item(block).is_some(),
            };
            let (own, parts): (Vec<&Block>, Vec<&Block>) = message.blocks.iter().partition(is_item);
            let mut items: Vec<String> = own.into_iter().filter_map(item_of).collect();
            if !parts.is_empty() {
                let parts: Vec<Block> = parts.into_iter().cloned().collect();
                items.push(whole_message("user", &parts));
            }
            items
        }
        Role::Assistant => message.blocks.iter().filter_map(item_of).collect(),
        Role::Tool => message.blocks.iter().filter_map(|block| output(block, of_custom_call)).collect(),
    }
}

fn own_raw(block: &Block) -> Option<&RawBlock> {
    block.raw.as_ref().filter(|raw| raw.dialect == Dialect::OpenaiResponses)
}

/// Recorded bytes that are a whole item and not a part of one.
fn own_item(block: &Block) -> Option<String> {
    let raw = own_raw(block)?;
    let kind = json::Object::parse(&raw.json)?.text("type")?.into_owned();
    (!PARTS.contains(&&*kind)).then(|| raw.json.to_string())
}

/// The item that a block of the model's is.
fn item_of(block: &Block) -> Option<String> {
    if let Some(item) = own_item(block) {
        return Some(item);
    }
    match &block.content {
        Content::Text { .. } | Content::Media(_) => Some(whole_message("assistant", std::slice::from_ref(block))),
        Content::ToolCall(call) => Some(call_item(call)),
        Content::Opaque(opaque) => Some(opaque.json.to_string()),
        Content::Thinking(_) | Content::ToolResult(_) | Content::Gone => None,
    }
}

fn whole_message(role: &str, blocks: &[Block]) -> String {
    let parts: Vec<String> = blocks.iter().filter_map(|block| part(block, role)).collect();
    ObjectWriter::new().text("type", "message").text("role", role).raw("content", &json::join(&parts)).finish()
}

fn part(block: &Block, role: &str) -> Option<String> {
    if let Some(raw) = own_raw(block) {
        return Some(raw.json.to_string());
    }
    match &block.content {
        Content::Text { text } => Some(text_part(text, role)),
        Content::Media(media) => Some(media_part(media, role)),
        Content::Opaque(opaque) => Some(opaque.json.to_string()),
        Content::Thinking(_) | Content::ToolCall(_) | Content::ToolResult(_) | Content::Gone => None,
    }
}

fn text_part(text: &str, role: &str) -> String {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    ObjectWriter::new().text("type", kind).text("text", text).finish()
}

fn media_part(media: &Media, role: &str) -> String {
    if role == "assistant" {
        return text_part(MISSING, role); // the model's side holds text alone
    }
    if let Some(sound) = input_audio(media) {
        return sound;
    }
    let part = ObjectWriter::new().text("type", if is_document(media) { "input_file" } else { "input_image" });
    match &media.source {
        MediaSource::Base64(data) if is_document(media) => {
            let data = format!("data:{};base64,{data}", media.mime);
            part.text("filename", media.name.as_deref().unwrap_or("attachment")).text("file_data", &data).finish()
        }
        MediaSource::Base64(data) => {
            part.text("image_url", &format!("data:{};base64,{data}", image_type(media))).finish()
        }
        MediaSource::Url(id) if is_id(id) => part.text("file_id", id).finish(),
        MediaSource::Url(url) => part.text(if is_document(media) { "file_url" } else { "image_url" }, url).finish(),
        MediaSource::Missing => text_part(MISSING, role),
    }
}

fn call_item(call: &ToolCall) -> String {
    match &call.arguments {
        Arguments::Text(text) => ObjectWriter::new()
            .text("type", "custom_tool_call")
            .id("call_id", &call.id)
            .text("name", &call.name)
            .text("input", text)
            .finish(),
        json @ Arguments::Json(_) => ObjectWriter::new()
            .text("type", "function_call")
            .id("call_id", &call.id)
            .text("name", &call.name)
            .text("arguments", &arguments_object(json))
            .finish(),
    }
}

fn output(block: &Block, of_custom_call: bool) -> Option<String> {
    if let Some(raw) = own_raw(block) {
        return Some(raw.json.to_string());
    }
    let result = block.as_result()?;
    let kind = if of_custom_call { "custom_tool_call_output" } else { "function_call_output" };
    let output = if result.attachments.is_empty() {
        quote(&result.text)
    } else {
        let mut parts = Vec::new();
        if !result.text.is_empty() {
            parts.push(text_part(&result.text, "user"));
        }
        parts.extend(result.attachments.iter().map(|media| media_part(media, "user")));
        json::join(&parts)
    };
    Some(ObjectWriter::new().text("type", kind).id("call_id", &result.call_id).raw("output", &output).finish())
}
