//! The parts of a view that can be cut, by kind.

use epitome_strategy::tools::ToolKind;
use epitome_strategy::{BlockRef, Content, Origin, Protection, Role, Tokens, ToolOutput, UnitKind, View};

use crate::Settings;

/// The kind of a part, which decides the order in which parts shrink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Unsigned reasoning.
    Reasoning,
    /// A tool's output.
    Result,
    /// A tool's output that later work depends on: an error, the answer to a change, a plan, another agent's report,
    /// the last one of a round.
    KeyResult,
    /// The model's text between its calls.
    Text,
    /// A text that the harness put on the user's side.
    Injected,
    /// A call's arguments.
    Arguments,
    /// The model's last text in a round.
    Conclusion,
}

/// How new a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Old,
    /// In one of the newest steps.
    Recent,
    /// In the step that the model is working on.
    Newest,
}

/// A block that can be cut.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) at: BlockRef,
    pub(crate) kind: Kind,
    pub(crate) group: Group,
    /// Its name for a person.
    pub(crate) what: String,
    pub(crate) tokens: Tokens,
    /// Tokens that the tiers so far leave.
    pub(crate) left: Tokens,
    /// For arguments: the longest string that the tiers so far leave.
    pub(crate) max_chars: u32,
    /// The last tier that cut it.
    pub(crate) tier: u32,
    pub(crate) is_touched: bool,
}

/// Returns every part that may be cut, oldest first. Linear in the view, but for sorting.
pub(crate) fn collect(view: &View<'_>, settings: &Settings) -> Vec<Part> {
    let recent = recent_start(view, settings.keep_newest_steps);
    let group = |unit: u32| match view.protection(unit as usize) {
        Protection::NewestStep => Group::Newest,
        _ if unit as usize >= recent => Group::Recent,
        _ => Group::Old,
    };
    let part = |at: BlockRef, unit: u32, kind: Kind, what: String| {
        let tokens = view.block_tokens(at);
        Part { at, kind, group: group(unit), what, tokens, left: tokens, max_chars: 0, tier: 0, is_touched: false }
    };
    let may_edit = |unit: u32| view.protection(unit as usize).may_edit();
    let mut parts = Vec::new();

    let outputs = view.facts().outputs();
    for (index, output) in outputs.iter().enumerate().filter(|(_, output)| may_edit(output.unit)) {
        let round = |unit: u32| view.units()[unit as usize].round;
        let is_last = outputs.get(index + 1).is_none_or(|next| round(next.unit) != round(output.unit));
        let tool = if output.tool.is_empty() { "a tool" } else { output.tool };
        // The step that the model is working on goes through the first tier only, whatever its results are.
        let is_newest = group(output.unit) == Group::Newest;
        let (kind, what) = match !is_newest && (is_last || is_key(view, output)) {
            true => (Kind::KeyResult, format!("key result of {tool}")),
            false => (Kind::Result, format!("result of {tool}")),
        };
        parts.push(part(output.at, output.unit, kind, what));
    }
    for call in view.facts().calls().iter().filter(|call| may_edit(call.unit)) {
        // A call in plain text cannot be trimmed.
        if view.block(call.at).is_some_and(|block| block.as_call().is_some()) {
            parts.push(part(call.at, call.unit, Kind::Arguments, format!("arguments of {}", call.name)));
        }
    }
    let conclusions = conclusions(view);
    for (index, unit) in view.units().iter().enumerate().filter(|(index, _)| may_edit(*index as u32)) {
        for message in unit.entries.clone() {
            for block in 0..view.message(message).blocks.len() {
                let at = BlockRef { message: message as u32, block: block as u32 };
                if let Some((kind, what)) = text_kind(view, at, conclusions[index]) {
                    parts.push(part(at, index as u32, kind, what.to_owned()));
                }
            }
        }
    }
    parts.sort_by_key(|part| part.at);
    parts
}

/// Returns where the newest `count` steps start.
fn recent_start(view: &View<'_>, count: u32) -> usize {
    let steps = view.units().iter().enumerate().rev().filter(|(_, unit)| unit.kind == UnitKind::Step);
    steps.take(count as usize).last().map_or(view.units().len(), |(index, _)| index)
}

fn is_key(view: &View<'_>, output: &ToolOutput<'_>) -> bool {
    let kind = output.call.map_or(ToolKind::Other, |call| view.facts().calls()[call as usize].kind);
    output.is_error || matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Plan | ToolKind::Delegate)
}

/// Returns which units have the model's last text of a round: of each round the last step with a text.
fn conclusions(view: &View<'_>) -> Vec<bool> {
    let mut is_conclusion = vec![false; view.units().len()];
    let mut concluded = None;
    for (index, unit) in view.units().iter().enumerate().rev() {
        let says = |message: usize| {
            let message = view.message(message);
            message.role == Role::Assistant && message.blocks.iter().any(|block| is_said(&block.content))
        };
        if unit.kind == UnitKind::Step && concluded != Some(unit.round) && unit.entries.clone().any(says) {
            concluded = Some(unit.round);
            is_conclusion[index] = true;
        }
    }
    is_conclusion
}

fn is_said(content: &Content) -> bool {
    matches!(content, Content::Text { text } if !text.trim().is_empty())
}

/// Returns the kind of a block of text; `None` for other blocks, and for texts that are never cut here.
fn text_kind(view: &View<'_>, at: BlockRef, in_conclusion: bool) -> Option<(Kind, &'static str)> {
    let message = view.message(at.message as usize);
    match &message.blocks[at.block as usize].content {
        Content::Thinking(thinking) if thinking.signature.is_none() => Some((Kind::Reasoning, "reasoning")),
        Content::Text { .. } => match (message.role, message.origin) {
            // A call in plain text would not be a call any more.
            _ if message.text_calls.iter().any(|call| call.block == at.block) => None,
            (Role::Assistant, _) if in_conclusion => Some((Kind::Conclusion, "conclusion")),
            (Role::Assistant, _) => Some((Kind::Text, "text on the way")),
            (Role::User, Origin::Injected) => Some((Kind::Injected, "injected text")),
            // Questions, summaries and instructions stay whole; a tool's output is a result.
            (Role::System | Role::User | Role::Tool, _) => None,
        },
        Content::Thinking(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Media(_)
        | Content::Opaque(_)
        | Content::Gone => None,
    }
}
