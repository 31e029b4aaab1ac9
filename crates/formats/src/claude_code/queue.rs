//! What is typed, or comes in, while the agent works: Claude Code holds it in a queue, and gives it to the model with the
//! next tool results, or as a message of its own when the turn has ended.
//!
//! The file has a `queue-operation` record for each step. `enqueue` has the text. `dequeue` is followed by a `user`
//! record, `popAll` gives the text back to the person; neither adds anything here. `remove` takes it out of the queue
//! in the middle of a turn: newer versions write what the model is given then as an `attachment` too, and the reason,
//! for they also remove what nobody needs any more; older ones wrote no attachments, and nothing else says what was
//! given.

use std::collections::VecDeque;
use std::ops::Range;

use epitome_session::{Message, Origin, Role};

use crate::anthropic::blocks as anthropic;
use crate::claude_code::attached::is_instructions;
use crate::json::Object;

/// The reason of a `remove` that gives the text to the model.
const ABSORBED: &str = "absorbed_mid_turn";

/// The beginning of what older versions note of a task in the background: it is for programs, not for the model.
const TASK_NOTE: &str = r#"{"task_id":"#;

/// The queue, as far as the file was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Queued>,
    /// What the next model call has behind the tool results.
    leaving: Vec<Leaving>,
    /// The texts of attachments whose `remove` has not come yet.
    attached: VecDeque<String>,
    /// Whether the version that writes the file writes attachments.
    has_attachments: bool,
}

/// A content as JSON, and the text in it.
#[derive(Debug, Clone)]
struct Queued {
    json: String,
    text: String,
}

impl Queued {
    fn new(json: &str) -> Self {
        let text = Message::new("", Role::User, Origin::Typed, anthropic::blocks(json)).plain_text();
        Self { json: json.to_owned(), text }
    }
}

/// What leaves the queue for the model.
#[derive(Debug, Clone)]
pub(super) struct Leaving {
    pub(super) line: usize,
    pub(super) span: Range<usize>,
    pub(super) uuid: String,
    /// The content as JSON.
    pub(super) json: String,
    pub(super) timestamp: Option<i64>,
    /// Whether no person wrote it.
    pub(super) is_injected: bool,
    /// Whether the agent loads instructions by it.
    pub(super) is_instructions: bool,
    text: String,
    evidence: Evidence,
}

impl Leaving {
    fn attached(line: usize, span: Range<usize>, uuid: &str, json: String, record: &Object<'_>) -> Self {
        Self {
            line,
            span,
            uuid: uuid.to_owned(),
            json,
            timestamp: time_of(record),
            is_injected: true,
            is_instructions: false,
            text: String::new(),
            evidence: Evidence::Attachment,
        }
    }
}

/// What says that the model was given a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    Attachment,
    Reason,
    /// Only that it left the queue.
    Removal,
}

impl Queue {
    /// Reads a `queue-operation` record.
    pub(super) fn operate(&mut self, line: usize, span: Range<usize>, record: &Object<'_>) {
        let content = record.get("content").map(Queued::new);
        match (&*record.text("operation").unwrap_or_default(), content) {
            ("enqueue", content) => {
                // Without a content it has its place in the queue all the same.
                let queued = content.unwrap_or_else(|| Queued::new("\"\""));
                if !queued.text.starts_with(TASK_NOTE) {
                    self.waiting.push_back(queued);
                }
            }
            ("dequeue", _) => drop(self.waiting.pop_front()),
            ("popAll", Some(content)) => drop(self.take(&content.text)),
            ("popAll", None) => self.waiting.clear(),
            ("remove", content) => self.remove(line, span, record, content),
            _ => {}
        }
    }

    fn remove(&mut self, line: usize, span: Range<usize>, record: &Object<'_>, content: Option<Queued>) {
        let of_attachment = match &content {
            Some(content) => self.attached.iter().position(|text| *text == content.text),
            None => (!self.attached.is_empty()).then_some(0),
        };
        if let Some(text) = of_attachment.and_then(|index| self.attached.remove(index)) {
            self.take(&text);
            return;
        }
        let queued = match content {
            Some(content) => Some(self.take(&content.text).unwrap_or(content)),
            None => self.waiting.pop_front(),
        };
        let evidence = match record.text("reason").as_deref() {
            None => Evidence::Removal,
            Some(ABSORBED) => Evidence::Reason,
            Some(_) => return,
        };
        let Some(Queued { json, text }) = queued.filter(|queued| !queued.text.is_empty()) else { return };
        self.leaving.push(Leaving {
            line,
            span,
            uuid: String::new(),
            json,
            timestamp: time_of(record),
            is_injected: false,
            is_instructions: false,
            text,
            evidence,
        });
    }

    /// Reads an `attachment` record; whether it is of a queued text.
    pub(super) fn attach(&mut self, line: usize, span: Range<usize>, uuid: &str, record: &Object<'_>) -> bool {
        self.has_attachments = true;
        let Some(attachment) = record.object("attachment") else { return false };
        let prompt = attachment.get("prompt").filter(|_| attachment.text("type").as_deref() == Some("queued_command"));
        let Some(prompt) = prompt else { return false };
        let Queued { json, text } = Queued::new(prompt);
        let is_removed = |it: &Leaving| it.evidence != Evidence::Attachment && it.text == text;
        match self.leaving.iter().position(is_removed) {
            Some(index) => drop(self.leaving.remove(index)),
            None => self.attached.push_back(text.clone()),
        }
        let from = attachment.object("origin").and_then(|origin| origin.text("kind"));
        let is_prompt = attachment.text("commandMode").is_none_or(|mode| mode == "prompt");
        let is_injected = !is_prompt || attachment.is_true("isMeta") || from.is_some_and(|kind| kind != "human");
        let leaving = Leaving { text, is_injected, ..Leaving::attached(line, span, uuid, json, record) };
        self.leaving.push(leaving);
        true
    }

    /// What the host puts into the next request: the content as JSON.
    pub(super) fn inject(&mut self, line: usize, span: Range<usize>, uuid: &str, json: String, record: &Object<'_>) {
        let kind = record.object("attachment").and_then(|attachment| attachment.text("type"));
        let is_instructions = kind.is_some_and(|kind| is_instructions(&kind));
        self.leaving.push(Leaving { is_instructions, ..Leaving::attached(line, span, uuid, json, record) });
    }

    /// Takes out what the model is given now, in the order in which it left.
    pub(super) fn give(&mut self) -> Vec<Leaving> {
        let is_given = |it: &Leaving| it.evidence != Evidence::Removal || !self.has_attachments;
        std::mem::take(&mut self.leaving).into_iter().filter(is_given).collect()
    }

    fn take(&mut self, text: &str) -> Option<Queued> {
        let index = self.waiting.iter().position(|queued| queued.text == text)?;
        self.waiting.remove(index)
    }
}

fn time_of(record: &Object<'_>) -> Option<i64> {
    record.text("timestamp").and_then(|text| crate::time::parse(&text))
}
