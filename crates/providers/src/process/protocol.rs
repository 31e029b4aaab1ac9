//! The protocol: the request, and the plan that answers it.

use epitome_strategy::session::MediaSource;
use epitome_strategy::{BlockRef, Content, Goal, Message, Origin, Plan, Protection, Role, Tokens, UnitKind, View};
use serde::Serialize;

/// The version of the protocol. It changes when something is taken away or changes its meaning; keys may be added.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Request<'a> {
    protocol: u32,
    goal: &'a Goal,
    view: ShownView<'a>,
}

#[derive(Serialize)]
struct ShownView<'a> {
    /// Of the whole view.
    tokens: Tokens,
    /// Of an excerpt's first mark, and of each further one.
    mark_tokens: Tokens,
    further_mark_tokens: Tokens,
    messages: Vec<ShownMessage<'a>>,
    units: Vec<ShownUnit>,
}

#[derive(Serialize)]
struct ShownMessage<'a> {
    position: usize,
    id: &'a str,
    role: Role,
    origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<i64>,
    pinned: bool,
    unit: usize,
    tokens: Tokens,
    blocks: Vec<ShownBlock<'a>>,
}

#[derive(Serialize)]
struct ShownBlock<'a> {
    tokens: Tokens,
    /// Whether an excerpt may cut its text.
    excerptable: bool,
    #[serde(flatten)]
    content: ShownContent<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum ShownContent<'a> {
    Text { text: &'a str },
    Thinking { text: &'a str, signed: bool },
    ToolCall { id: &'a str, name: &'a str, arguments: &'a str },
    ToolResult { call_id: &'a str, is_error: bool, attachments: usize, text: &'a str },
    Media { mime: &'a str, missing: bool },
    Opaque { kind: &'a str },
    Gone,
}

#[derive(Serialize)]
struct ShownUnit {
    position: usize,
    kind: UnitKind,
    /// Its messages: from the first one to the one in front of `end`.
    first: usize,
    end: usize,
    round: u32,
    closed: bool,
    tokens: Tokens,
    protection: Protection,
    may_leave: bool,
    may_edit: bool,
}

/// The request for a plan, one line of JSON: what a strategy outside sees. Linear in the view.
///
/// # Errors
///
/// A number that JSON does not have.
pub fn request(view: &View<'_>, goal: &Goal) -> Result<Vec<u8>, serde_json::Error> {
    let messages = (0..view.len()).map(|position| message(view, position)).collect();
    let units = (0..view.units().len()).map(|position| unit(view, position)).collect();
    let shown = ShownView {
        tokens: view.total_tokens(),
        mark_tokens: view.mark_tokens(),
        further_mark_tokens: view.further_mark_tokens(),
        messages,
        units,
    };
    let mut json = serde_json::to_vec(&Request { protocol: VERSION, goal, view: shown })?;
    json.push(b'\n');
    Ok(json)
}

fn message<'a>(view: &View<'a>, position: usize) -> ShownMessage<'a> {
    let message: &'a Message = view.message(position);
    let block = |(index, block): (usize, &'a epitome_strategy::Block)| ShownBlock {
        tokens: view.block_tokens(BlockRef { message: position as u32, block: index as u32 }),
        excerptable: block.excerptable().is_some(),
        content: content(&block.content),
    };
    ShownMessage {
        position,
        id: message.id.as_str(),
        role: message.role,
        origin: message.origin,
        name: message.name.as_deref(),
        timestamp: message.timestamp,
        pinned: message.pinned,
        unit: view.unit_of(position),
        tokens: view.message_tokens(position),
        blocks: message.blocks.iter().enumerate().map(block).collect(),
    }
}

/// Texts whole, bytes of pictures and signatures not at all.
fn content(content: &Content) -> ShownContent<'_> {
    match content {
        Content::Text { text } => ShownContent::Text { text },
        Content::Thinking(thinking) => {
            ShownContent::Thinking { text: &thinking.text, signed: thinking.signature.is_some() }
        }
        Content::ToolCall(call) => {
            ShownContent::ToolCall { id: &call.id, name: &call.name, arguments: call.arguments.text() }
        }
        Content::ToolResult(result) => ShownContent::ToolResult {
            call_id: &result.call_id,
            is_error: result.is_error,
            attachments: result.attachments.len(),
            text: &result.text,
        },
        Content::Media(media) => {
            ShownContent::Media { mime: &media.mime, missing: media.source == MediaSource::Missing }
        }
        Content::Opaque(opaque) => ShownContent::Opaque { kind: &opaque.kind },
        Content::Gone => ShownContent::Gone,
    }
}

fn unit(view: &View<'_>, position: usize) -> ShownUnit {
    let unit = &view.units()[position];
    let protection = view.protection(position);
    ShownUnit {
        position,
        kind: unit.kind,
        first: unit.entries.start,
        end: unit.entries.end,
        round: unit.round,
        closed: unit.closed,
        tokens: view.unit_tokens(position),
        protection,
        may_leave: protection.may_leave(),
        may_edit: protection.may_edit(),
    }
}

/// The plan in an answer, or the problem, to follow the program's name. Linear in the answer.
pub fn plan(answer: &[u8]) -> Result<Plan, String> {
    if answer.iter().all(u8::is_ascii_whitespace) {
        return Err("answered nothing".to_owned());
    }
    let plan: Plan = serde_json::from_slice(answer).map_err(|error| format!("answered no plan: {error}"))?;
    if plan.edits.is_empty() && plan.declined.is_none() {
        return Err("answered a plan without `edits` and without `declined`".to_owned());
    }
    if !plan.edits.is_empty() && plan.declined.is_some() {
        return Err("answered a plan with `edits` that says `declined` as well".to_owned());
    }
    let is_code = |code: &str| {
        !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match plan.edits.iter().find(|edit| !is_code(&edit.reason().code)) {
        Some(edit) => Err(format!(
            "answered a plan with the reason code `{}`; codes are lower-case words with hyphens",
            edit.reason().code.chars().take(60).collect::<String>()
        )),
        None => Ok(plan),
    }
}
