//! The transcript: messages as a model reads them.

use std::borrow::Cow;
use std::collections::HashMap;

use epitome_strategy::cut::Focus;
use epitome_strategy::levels::escaped_lines;
use epitome_strategy::secrets::redact;
use epitome_strategy::session::heading::is_missing_result;
use epitome_strategy::{BlockRef, Content, Message, Origin, Role, SummaryTask, Tokens, View};

use super::shorten::{arguments, shorten_text};
use super::source;

/// Begins the line that says who speaks; a line of a text that begins so is moved by one space.
const SPEAKER: &str = ">>> ";

/// The limits of texts, in tokens, and whether they keep secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextLimits {
    /// Tokens of what a tool answered.
    pub result: Tokens,
    /// Tokens of a string in a call's arguments.
    pub argument: Tokens,
    /// Tokens of what a person or the model said.
    pub said: Tokens,
    /// Tokens of a whole piece.
    pub piece: Tokens,
    /// Whether secrets are left out.
    pub redacts: bool,
}

impl TextLimits {
    /// For results of `result` tokens and pieces of `piece` tokens, with secrets unless it `redacts`.
    pub(super) fn new(result: Tokens, piece: Tokens, redacts: bool) -> Self {
        let result = result.max(16);
        // Texts of people are the summary's subject: they are cut last.
        let said = result.saturating_mul(3).max(600).min(piece);
        Self { result: result.min(piece), argument: (result / 2).min(piece / 2), said, piece, redacts }
    }
}

/// A part of the transcript that stays together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TranscriptPiece {
    /// The text, the last line without a line feed.
    pub text: String,
    /// The text's tokens.
    pub tokens: Tokens,
    /// The number of messages that end with it, from the start of the transcript.
    pub messages: usize,
}

/// The messages of the task that are not summaries, as pieces: a step with its results is one, unless it is too long.
/// Linear in the messages.
pub(super) fn pieces(task: &SummaryTask<'_>, limits: TextLimits) -> Vec<TranscriptPiece> {
    source::with_view(task, |view| {
        let focus = Focus::new(task.request.focus.as_deref());
        let tools: HashMap<BlockRef, &str> =
            view.facts().outputs().iter().map(|output| (output.at, output.tool)).collect();
        let writer = TranscriptWriter { view, limits, focus, tools };
        let mut pieces = Vec::new();
        for unit in view.units() {
            let texts: Vec<(usize, String)> =
                unit.entries.clone().map(|at| (at, writer.shown(at, view.message(at)))).collect();
            writer.add(&texts, &mut pieces);
        }
        pieces
    })
}

struct TranscriptWriter<'v, 'a> {
    view: &'v View<'a>,
    limits: TextLimits,
    focus: Focus,
    tools: HashMap<BlockRef, &'v str>,
}

impl TranscriptWriter<'_, '_> {
    /// Adds messages as one piece, or as several where they are too long for one.
    fn add(&self, messages: &[(usize, String)], pieces: &mut Vec<TranscriptPiece>) {
        let Some((last, _)) = messages.last() else { return };
        let texts: Vec<&str> = messages.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
        let text = texts.join("\n");
        let tokens = self.view.count(&text);
        if tokens <= self.limits.piece {
            if !text.is_empty() {
                pieces.push(TranscriptPiece { text, tokens, messages: last + 1 });
            }
        } else if messages.len() == 1 {
            let text = shorten_text(self.view, &text, self.limits.piece.saturating_sub(60), &self.focus).into_owned();
            pieces.push(TranscriptPiece { tokens: self.view.count(&text), text, messages: last + 1 });
        } else {
            let (first, second) = messages.split_at(messages.len() / 2);
            self.add(first, pieces);
            self.add(second, pieces);
        }
    }

    /// A message as the model may read it.
    fn shown(&self, at: usize, message: &Message) -> String {
        let text = self.message(at, message);
        if self.limits.redacts { redact(&text).into_owned() } else { text }
    }

    /// A message; empty where it says nothing.
    fn message(&self, at: usize, message: &Message) -> String {
        let mut text = String::new();
        for (index, block) in message.blocks.iter().enumerate() {
            match &block.content {
                Content::Text { text: said } if !said.trim().is_empty() => {
                    // Instructions of the host are there again with every request; outputs are results.
                    let is_said = matches!(message.origin, Origin::Typed | Origin::Model | Origin::Injected);
                    let most = if is_said { self.limits.said } else { self.limits.result };
                    push(&mut text, &speaker(message), &shorten_text(self.view, said.trim(), most, &self.focus), false);
                }
                Content::ToolCall(call) => {
                    let given = arguments(self.view, &call.arguments, self.limits.argument, &self.focus);
                    push(&mut text, &format!("call {}", name(&call.name)), &given, true);
                }
                Content::ToolResult(result) => {
                    let at = BlockRef { message: at as u32, block: index as u32 };
                    let tool = result.name.as_deref().or_else(|| self.tools.get(&at).copied()).unwrap_or_default();
                    let failed = if result.is_error && !is_missing_result(&result.text) { ", failed" } else { "" };
                    let images = attachments(result.attachments.len());
                    let head = format!("result {}{failed}{images}", name(tool));
                    let shown = shorten_text(self.view, result.text.trim(), self.limits.result, &self.focus);
                    push(&mut text, &head, &shown, false);
                }
                Content::Media(media) => push(&mut text, &speaker(message), &format!("[{}]", name(&media.mime)), true),
                // Reasoning leads to texts and calls, and these are here.
                Content::Text { .. } | Content::Thinking(_) | Content::Opaque(_) | Content::Gone => {}
            }
        }
        text
    }
}

/// Adds a line with the speaker, and the text: behind it where the text is one line and `inline`, else below.
fn push(text: &mut String, speaker: &str, said: &str, inline: bool) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(SPEAKER);
    text.push_str(speaker);
    if !said.is_empty() {
        text.push(if inline && !said.contains('\n') { ' ' } else { '\n' });
        text.push_str(&escaped_lines(said, |words| words.starts_with(SPEAKER.trim_end())));
    }
}

fn speaker(message: &Message) -> String {
    let who = match (message.role, message.origin) {
        (_, Origin::ToolOutput) => "tool output",
        (_, Origin::Injected) => "note of the runtime",
        (Role::System, _) if message.is_system_prompt() => "system",
        (Role::Assistant, _) => "agent",
        (Role::User | Role::System | Role::Tool, _) => "user",
    };
    match &message.name {
        Some(given) => format!("{who} {}", name(given)),
        None => who.to_owned(),
    }
}

/// A name that comes with the session: one line, not long.
fn name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 80;
    if name.len() <= LONGEST && !name.contains(['\n', '\r']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name[..name.floor_char_boundary(LONGEST)].replace(['\n', '\r'], " "))
}

fn attachments(count: usize) -> String {
    if count == 0 { String::new() } else { format!(", {count} images or files") }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
