//! The parts of a context: whose text takes how many tokens.

use std::collections::{BTreeMap, HashMap};

use epitome_engine::count_media;
use epitome_session::{Content, Entry, Language, Origin, Role, Session, units};
use epitome_strategy::{EntryTokens, FileAccess, Protection, TokenCounter, Tokens, View, named};
use serde::{Deserialize, Serialize};

named! {
    /// A part of a context.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum PartKind {
        /// The system prompt.
        SystemPrompt = "system-prompt",
        /// The definitions of the tools, which are sent with every request beside the messages.
        ToolDefinitions = "tool-definitions",
        /// What the agent program put among the messages: reminders, the environment, files with instructions.
        Instructions = "instructions",
        /// The first message that a person typed.
        Task = "task",
        /// The other messages that people typed.
        User = "user",
        /// What the model said.
        Assistant = "assistant",
        /// The model's reasoning.
        Thinking = "thinking",
        /// The calls of tools, with their arguments.
        ToolCalls = "tool-calls",
        /// What tools printed, files apart.
        ToolResults = "tool-results",
        /// Files that tools read.
        FilesRead = "files-read",
        /// Images, documents and sounds.
        Images = "images",
        /// Summaries and notices in place of messages that left.
        Summaries = "summaries",
        /// Blocks of a kind that is not known.
        Other = "other",
    }
}

/// One part of a context, with what it is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextPart))]
pub struct Part {
    /// Which part.
    pub part: PartKind,
    /// How many messages have some of it; 0 for the definitions of the tools.
    pub messages: u32,
    /// Its tokens.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// Calls and results by tool, files by path, the largest first; empty for the other parts.
    pub items: Vec<PartItem>,
}

/// A tool, or a file, within a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextPartItem))]
pub struct PartItem {
    /// The tool's name, or the file's path as the call spells it; `unknown` where the recording names no tool.
    pub name: String,
    /// How many calls or results.
    pub count: u32,
    /// Their tokens.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
}

/// The part that a result belongs to, and the name of its item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ResultPart {
    pub(super) part: PartKind,
    pub(super) name: String,
    pub(super) tool: String,
}

/// Where each tool output of a view belongs, by the message and block that hold it.
#[derive(Debug, Default)]
pub(super) struct ResultParts(HashMap<(u32, u32), ResultPart>);

impl ResultParts {
    /// Reads the outputs of a view. Linear in its blocks and in the arguments of its calls.
    pub(super) fn read(view: &View<'_>) -> Self {
        let facts = view.facts();
        let mut files: HashMap<u32, (&str, usize, bool)> = HashMap::new();
        for event in facts.file_events() {
            let is_read = matches!(event.access, FileAccess::ReadWhole | FileAccess::ReadPart);
            let (_, count, are_reads) = files.entry(event.call).or_insert((&event.path, 0, true));
            (*count, *are_reads) = (*count + 1, *are_reads && is_read);
        }
        let part = |call: Option<u32>, tool: &str| match call.and_then(|call| files.get(&call)) {
            Some((path, count, true)) => {
                let name = if *count > 1 { format!("{path} and {} more", count - 1) } else { (*path).to_owned() };
                ResultPart { part: PartKind::FilesRead, name, tool: tool_name(tool) }
            }
            _ => ResultPart { part: PartKind::ToolResults, name: tool_name(tool), tool: tool_name(tool) },
        };
        let outputs = facts.outputs().iter();
        Self(outputs.map(|it| ((it.at.message, it.at.block), part(it.call, it.tool))).collect())
    }

    fn part(&self, message: usize, block: usize) -> Option<&ResultPart> {
        self.0.get(&(message as u32, block as u32))
    }
}

pub(super) fn tool_name(name: &str) -> String {
    if name.is_empty() { "unknown".to_owned() } else { name.to_owned() }
}

/// A share of one message: the part, the item where the part has items, the tool that it is a call or a result of, and the
/// tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) part: PartKind,
    pub(super) item: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) tokens: Tokens,
}

/// The shares of one message of a view, in the order of its blocks; together they are the message's tokens. Linear in the
/// number of its blocks.
pub(super) fn shares(
    position: usize,
    entry: &Entry,
    tokens: &EntryTokens,
    is_task: bool,
    results: &ResultParts,
    counter: &dyn TokenCounter,
) -> Vec<Share> {
    let message = &entry.message;
    let own = match (message.role, message.origin) {
        _ if message.is_system_prompt() => PartKind::SystemPrompt,
        (_, Origin::Summary | Origin::Notice) => PartKind::Summaries,
        (Role::User, Origin::Typed) if is_task => PartKind::Task,
        (Role::User, Origin::Typed) => PartKind::User,
        (Role::User, Origin::ToolOutput) | (Role::Tool, _) => PartKind::ToolResults,
        (Role::User | Role::System, _) => PartKind::Instructions,
        (Role::Assistant, _) => PartKind::Assistant,
    };
    let mut shares: Vec<Share> = Vec::new();
    let plain = |part: PartKind, tokens: Tokens| Share { part, item: None, tool: None, tokens };
    for (index, (block, tokens)) in message.blocks.iter().zip(&tokens.blocks).enumerate() {
        let result = |tokens: Tokens| {
            let known = results.part(position, index).cloned();
            let unknown = || ResultPart { part: PartKind::ToolResults, name: tool_name(""), tool: tool_name("") };
            let ResultPart { part, name, tool } = known.unwrap_or_else(unknown);
            Share { part, item: Some(name), tool: Some(tool), tokens }
        };
        match &block.content {
            Content::Gone => {}
            Content::Text { .. } if own == PartKind::ToolResults => shares.push(result(*tokens)),
            Content::Text { .. } => shares.push(plain(own, *tokens)),
            Content::Thinking(_) => shares.push(plain(PartKind::Thinking, *tokens)),
            Content::ToolCall(call) => {
                let (part, name) = (PartKind::ToolCalls, tool_name(&call.name));
                shares.push(Share { part, item: Some(name.clone()), tool: Some(name), tokens: *tokens });
            }
            Content::ToolResult(content) => {
                let images = count_media(counter, &content.attachments).min(*tokens);
                shares.push(result(tokens - images));
                if images > 0 {
                    shares.push(plain(PartKind::Images, images));
                }
            }
            Content::Media(_) => shares.push(plain(PartKind::Images, *tokens)),
            Content::Opaque(_) if message.origin == Origin::Configuration => {
                shares.push(plain(PartKind::ToolDefinitions, *tokens));
            }
            Content::Opaque(_) => shares.push(plain(PartKind::Other, *tokens)),
        }
    }
    let frame = tokens.total.saturating_sub(tokens.blocks.iter().sum());
    match shares.first_mut() {
        Some(first) => first.tokens += frame,
        None => shares.push(plain(own, frame)),
    }
    shares
}

/// The parts of a session's view, the largest first; together they are the view's tokens. `tokens` has the counts of the
/// view's messages, in order. Linear in the blocks of the view and in the arguments of its calls, not in the texts.
pub fn parts(session: &Session, tokens: &[EntryTokens], counter: &dyn TokenCounter) -> Vec<Part> {
    let mut sums = PartSums::default();
    with_shares(session, tokens, counter, |_, shares| sums.add(&shares));
    sums.into_parts()
}

/// Calls `take` with the position and the shares of each message of a session's view, in order.
pub(super) fn with_shares(
    session: &Session,
    tokens: &[EntryTokens],
    counter: &dyn TokenCounter,
    mut take: impl FnMut(usize, Vec<Share>),
) {
    with_view(session, tokens, counter, |view| {
        let results = ResultParts::read(view);
        let task = session.view().iter().position(|entry| entry.message.is_typed());
        for (position, (entry, tokens)) in session.view().iter().zip(tokens).enumerate() {
            take(position, shares(position, entry, tokens, task == Some(position), &results, counter));
        }
    });
}

/// Calls `look` with the view of a session as strategies see it, without protections.
pub(super) fn with_view<T>(
    session: &Session,
    tokens: &[EntryTokens],
    counter: &dyn TokenCounter,
    look: impl FnOnce(&View<'_>) -> T,
) -> T {
    let units = units(session.view());
    let protections = vec![Protection::Free; units.len()];
    look(&View::new(session.view(), &units, tokens, &protections, counter, Language::English))
}

/// Parts that are being summed up.
#[derive(Debug, Default)]
pub(super) struct PartSums(BTreeMap<PartKind, PartSum>);

#[derive(Debug, Default)]
struct PartSum {
    messages: u32,
    tokens: Tokens,
    /// For each item its count and its tokens.
    items: BTreeMap<String, (u32, Tokens)>,
}

impl PartSums {
    /// Adds the shares of one message.
    pub(super) fn add(&mut self, shares: &[Share]) {
        for share in shares {
            let sum = self.0.entry(share.part).or_default();
            sum.tokens = sum.tokens.saturating_add(share.tokens);
            if let Some(name) = &share.item {
                let item = sum.items.entry(name.clone()).or_default();
                *item = (item.0 + 1, item.1.saturating_add(share.tokens));
            }
        }
        let mut kinds: Vec<PartKind> = shares.iter().map(|share| share.part).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            self.0.entry(kind).or_default().messages += 1;
        }
    }

    /// The parts, the largest first; equal ones stay in the order of the kinds.
    pub(super) fn into_parts(self) -> Vec<Part> {
        let part = |(part, sum): (PartKind, PartSum)| {
            let items = sum.items.into_iter().map(|(name, (count, tokens))| PartItem { name, count, tokens });
            let mut items: Vec<PartItem> = items.collect();
            items.sort_by_key(|item| std::cmp::Reverse(item.tokens));
            Part { part, messages: sum.messages, tokens: sum.tokens, items }
        };
        let mut parts: Vec<Part> = self.0.into_iter().filter(|(_, sum)| sum.tokens > 0).map(part).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        parts
    }
}
