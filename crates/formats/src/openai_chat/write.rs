//! OpenAI chat messages.

use epitome_session::heading::separator;
use epitome_session::{Arguments, Block, Content, Dialect, Media, MediaSource, Message, RawBlock, Role, ToolCall};

use super::blocks::{REASONING, sound_field};
use crate::json::{self, Object, ObjectWriter, quote};
use crate::media::{input_audio, is_document, is_id, url_part};
use crate::render::plan::{MessageToRender, Plan};
use crate::render::{RequestItem, RequestParts, Source, Wire};

pub(crate) fn render(plan: Plan<'_>, source: Option<&Source<'_>>) -> RequestParts {
    let mut parts = RequestParts { warnings: plan.warnings, ..RequestParts::default() };
    let merges = source.is_some_and(|source| source.merges_neighbours(Wire::OpenaiChat));
    let mut list = MessageList { items: Vec::new(), merges };
    // Images of results: a tool's message holds text alone, so they follow in a user's message behind the last result.
    let mut images: Vec<Media> = Vec::new();
    for group in plan.turns.chunk_by(is_one_record) {
        if group[0].message.role != Role::Tool {
            list.extend(take_images(&mut images));
        }
        if let Some(item) = recorded(group, source) {
            list.push(item);
            continue;
        }
        for turn in group {
            let recorded = turn.entry.zip(source).filter(|(_, source)| source.is_own(Wire::OpenaiChat));
            let recorded = recorded.and_then(|(entry, source)| source.object(entry)).unwrap_or_default();
            let built = turn.message.blocks.iter().filter(|block| own_raw(block).is_none());
            let results = built.filter_map(Block::as_result);
            images.extend(results.flat_map(|result| result.attachments.iter().cloned()));
            list.push(RequestItem::built(message(turn, &recorded)));
        }
    }
    if !plan.is_open {
        list.extend(take_images(&mut images));
    } else if !images.is_empty() {
        // A provider takes nothing between a call and its result: they follow once the last result is there.
        let count = images.len();
        parts.warnings.push(format!("{count} images were left out: other results of their step are not there"));
    }
    parts.items = list.items;
    parts
}

/// The messages of a request.
struct MessageList {
    items: Vec<RequestItem>,
    /// Whether neighbours of one role are written as one message.
    merges: bool,
}

impl MessageList {
    fn push(&mut self, item: RequestItem) {
        // What came in a row stays in a row.
        let is_new = |last: &&RequestItem| last.record.is_none() || item.record.is_none();
        let last = self.items.last().filter(|_| self.merges).filter(is_new);
        let one = last.and_then(|last| merged(&last.json, &item.json));
        match one {
            Some(json) => {
                self.items.pop();
                self.items.push(RequestItem::built(json));
            }
            None => self.items.push(item),
        }
    }

    fn extend(&mut self, items: impl IntoIterator<Item = RequestItem>) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

/// Two messages of one role as one, with the text or the parts of both; `None` where they are not, or the first one calls.
fn merged(first: &str, second: &str) -> Option<String> {
    let (one, other) = (Object::parse(first)?, Object::parse(second)?);
    let role = one.text("role").filter(|role| matches!(&**role, "user" | "assistant"))?;
    let calls = ["tool_calls", "function_call"].iter().any(|name| one.get(name).is_some());
    if calls || other.text("role").as_deref() != Some(&*role) || one.text("name") != other.text("name") {
        return None;
    }
    let content = match joined(one.get("content"), other.get("content")) {
        Some(text) => text,
        None => {
            let parts = [parts(one.get("content"))?, parts(other.get("content"))?].concat();
            if parts.is_empty() { "null".to_owned() } else { json::join(&parts) }
        }
    };
    let mut writer = ObjectWriter::new().text("role", &role).raw("content", &content);
    let is_kept = |name: &str| name != "role" && name != "content";
    for (name, value) in other.fields().filter(|(name, _)| is_kept(name)) {
        writer = writer.raw(name, value);
    }
    for (name, value) in one.fields().filter(|(name, _)| is_kept(name) && !other.has(name)) {
        writer = writer.raw(name, value);
    }
    Some(writer.finish())
}

/// Two contents that are texts as one text, for some services take no list of parts: the bytes of both, and between them what
/// tells them apart when they are read. `None` where one of them is no text.
fn joined(first: Option<&str>, second: Option<&str>) -> Option<String> {
    const EMPTY: &str = "\"\"";
    let (first, second) = (first.unwrap_or(EMPTY), second.unwrap_or(EMPTY));
    let between = separator(&json::string(first)?, &json::string(second)?);
    let (first, second) = (&first[1..first.len() - 1], &second[1..second.len() - 1]);
    let between = quote(if first.is_empty() || second.is_empty() { "" } else { between });
    let joined = format!("{first}{}{second}", &between[1..between.len() - 1]);
    (!joined.is_empty()).then(|| format!("\"{joined}\""))
}

/// The parts of a message's content.
fn parts(content: Option<&str>) -> Option<Vec<String>> {
    let Some(content) = content else { return Some(Vec::new()) };
    match json::string(content) {
        Some(text) if text.is_empty() => Some(Vec::new()),
        Some(text) => Some(vec![text_part(&text)]),
        None => Some(json::list(content)?.into_iter().map(str::to_owned).collect()),
    }
}

/// Whether two neighbours were read from one message.
fn is_one_record(left: &MessageToRender<'_>, right: &MessageToRender<'_>) -> bool {
    let record = |turn: &MessageToRender<'_>| turn.entry.and_then(|entry| entry.message.records.first().copied());
    record(left).is_some() && record(left) == record(right)
}

/// The bytes of a group that is one record and all of it.
fn recorded(group: &[MessageToRender<'_>], source: Option<&Source<'_>>) -> Option<RequestItem> {
    let source = source?;
    let record = *group.first()?.entry?.message.records.first()?;
    let is_whole = source.members(record) as usize == group.len() && group.iter().all(|turn| turn.is_as_read);
    let json = source.record(record).filter(|json| is_whole && is_message(json))?;
    Some(RequestItem { json: json.to_owned(), record: Some(record) })
}

/// Whether a record is a message as providers take it: some recordings hold their list of calls as text.
fn is_message(json: &str) -> bool {
    !json.contains("\"tool_calls\"") || Object::parse(json).is_some_and(|object| object.text("tool_calls").is_none())
}

fn take_images(images: &mut Vec<Media>) -> Option<RequestItem> {
    if images.is_empty() {
        return None;
    }
    let mut content = vec![text_part("[Images from the tool results above]")];
    content.extend(images.drain(..).map(|image| media(&image)));
    Some(RequestItem::built(ObjectWriter::new().text("role", "user").raw("content", &json::join(&content)).finish()))
}

/// A message rebuilt; fields of its record that are not rebuilt stay.
fn message(turn: &MessageToRender<'_>, recorded: &Object<'_>) -> String {
    const REBUILT: [&str; 8] =
        ["role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal", "audio"];
    let message = &*turn.message;
    let role = match message.role {
        Role::System => recorded.text("role").unwrap_or("system".into()),
        Role::User => "user".into(),
        Role::Assistant => "assistant".into(),
        Role::Tool => recorded.text("role").unwrap_or("tool".into()),
    };
    let mut writer = ObjectWriter::new().text("role", &role);
    if let Some((block, result)) = message.blocks.iter().find_map(|block| Some((block, block.as_result()?))) {
        if role != "function" {
            writer = writer.optional_id("tool_call_id", message.recorded_call_id.as_ref().unwrap_or(&result.call_id));
        }
        let name = result.name.as_deref().filter(|_| recorded.has("name"));
        let content = own_raw(block).map_or_else(|| quote(&result.text), |raw| raw.json.to_string());
        writer = writer.optional_field("name", name.map(quote).as_deref()).raw("content", &content);
    } else {
        writer = writer.optional_field("name", message.name.as_deref().map(quote).as_deref());
        writer = writer.raw("content", &content(message));
    }
    for thinking in message.blocks.iter().filter(|block| own_raw(block).is_none()).filter_map(as_thinking) {
        let name = REASONING.into_iter().find(|name| recorded.is_given(name)).unwrap_or(REASONING[0]);
        writer = writer.text(name, thinking);
    }
    for (name, sound) in message.blocks.iter().filter_map(sound_field) {
        writer = writer.raw(name, sound);
    }
    let calls: Vec<(&Block, &ToolCall)> =
        message.blocks.iter().filter_map(|block| Some((block, block.as_call()?))).collect();
    match &calls[..] {
        [] => {}
        [(_, legacy)] if recorded.has("function_call") => writer = writer.raw("function_call", &function(legacy)),
        calls => {
            let calls: Vec<String> = calls.iter().map(|(block, call)| tool_call(block, call)).collect();
            writer = writer.raw("tool_calls", &json::join(&calls));
        }
    }
    for (name, value) in recorded.fields().filter(|(name, _)| !REBUILT.contains(name) && !REASONING.contains(name)) {
        writer = writer.raw(name, value);
    }
    writer.finish()
}

fn as_thinking(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Thinking(thinking) => Some(&thinking.text),
        _ => None,
    }
}

/// The content: text where the message is text alone, else a list of parts.
fn content(message: &Message) -> String {
    let mut parts = Vec::with_capacity(message.blocks.len());
    let mut texts: Vec<&str> = Vec::new();
    let mut only_text = true;
    for block in message.blocks.iter().filter(|block| sound_field(block).is_none()) {
        match (&block.content, own_raw(block)) {
            (Content::Text { .. }, Some(raw)) => {
                only_text = false;
                parts.push(raw.json.to_string());
            }
            (Content::Text { text }, None) => {
                texts.push(text);
                parts.push(text_part(text));
            }
            (Content::Media(image), raw) => {
                only_text = false;
                parts.push(raw.map_or_else(|| media(image), |raw| raw.json.to_string()));
            }
            (Content::Opaque(opaque), _) => {
                only_text = false;
                parts.push(opaque.json.to_string());
            }
            (Content::Thinking(_), Some(raw)) => {
                only_text = false;
                parts.push(raw.json.to_string());
            }
            (Content::Thinking(_) | Content::ToolCall(_) | Content::ToolResult(_) | Content::Gone, _) => {}
        }
    }
    match &texts[..] {
        [] if parts.is_empty() => "null".to_owned(),
        [text] if only_text => quote(text),
        // Services that take this format often take text alone from the model and the system.
        texts if only_text && message.role != Role::User => quote(&texts.join("\n")),
        _ => json::join(&parts),
    }
}

fn own_raw(block: &Block) -> Option<&RawBlock> {
    block.raw.as_ref().filter(|raw| raw.dialect == Dialect::OpenaiChat)
}

fn text_part(text: &str) -> String {
    ObjectWriter::new().text("type", "text").text("text", text).finish()
}

fn media(media: &Media) -> String {
    if let Some(sound) = input_audio(media) {
        return sound;
    }
    let file = |fields: ObjectWriter| ObjectWriter::new().text("type", "file").raw("file", &fields.finish()).finish();
    let url = match &media.source {
        MediaSource::Base64(data) if is_document(media) => {
            let data = format!("data:{};base64,{data}", media.mime);
            return file(
                ObjectWriter::new()
                    .text("filename", media.name.as_deref().unwrap_or("attachment"))
                    .text("file_data", &data),
            );
        }
        MediaSource::Url(id) if is_document(media) && is_id(id) => {
            let name = media.name.as_deref().map(quote);
            return file(ObjectWriter::new().optional_field("filename", name.as_deref()).text("file_id", id));
        }
        MediaSource::Base64(data) => format!("data:{};base64,{data}", image_type(media)),
        MediaSource::Url(url) => url.to_string(),
        MediaSource::Missing => return text_part(MISSING),
    };
    let kind = url_part(media).unwrap_or("image_url");
    let place = ObjectWriter::new().text("url", &url).finish();
    ObjectWriter::new().text("type", kind).raw(kind, &place).finish()
}

/// The text in place of an image that the recording does not hold.
pub(crate) const MISSING: &str = "[image: not recorded]";

/// The media type of an image; some recordings leave it out.
pub(crate) fn image_type(media: &Media) -> &str {
    if media.mime.is_empty() { "image/png" } else { &media.mime }
}

fn tool_call(block: &Block, call: &ToolCall) -> String {
    if let Some(raw) = own_raw(block) {
        return raw.json.to_string();
    }
    ObjectWriter::new().optional_id("id", &call.id).text("type", "function").raw("function", &function(call)).finish()
}

fn function(call: &ToolCall) -> String {
    ObjectWriter::new().text("name", &call.name).text("arguments", &arguments_object(&call.arguments)).finish()
}

/// The arguments as the JSON object that providers ask for: any other value is put into its field `input`.
pub(crate) fn arguments_object(arguments: &Arguments) -> String {
    let text = arguments.text();
    match arguments {
        Arguments::Json(_) if text.trim_start().starts_with('{') => text.to_string(),
        Arguments::Json(_) => ObjectWriter::new().raw("input", text).finish(),
        Arguments::Text(_) if text.trim().is_empty() => "{}".to_owned(),
        Arguments::Text(_) => ObjectWriter::new().text("input", text).finish(),
    }
}
