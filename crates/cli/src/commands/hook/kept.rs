//! The messages behind a compaction, as Claude Code's function hook gives them back.
//!
//! A number stands for the agent's own record, with all that it holds: a signature, a picture, what the harness attached. The
//! agent records what it gets anew behind the boundary, each message under the one in front of it; but a result that it
//! made itself it puts under the record of its call, which is in front of the boundary, and a session that is resumed would
//! come back whole. So results go back as messages of our own, with their texts.

use epitome_fit::{FitPiece, Fitted};
use serde_json::{Value, json};

use super::agent_message::{ToolOutput, ToolUse};
use super::entries::ConversationEntry;
use crate::failure::Failure;

/// A message that is given back.
#[derive(Debug)]
enum KeptMessage {
    /// The agent's own, by its number, with its text.
    Row(usize, String),
    Written(ConversationEntry),
}

/// The messages behind a compaction of a conversation.
#[derive(Debug)]
pub(super) struct KeptMessages<'c> {
    messages: Vec<KeptMessage>,
    /// The model's newest answer, where it calls tools: its records stay, for without its thinking the provider refuses
    /// the results that follow it.
    newest: Option<&'c ConversationEntry>,
}

impl<'c> KeptMessages<'c> {
    /// What a fitting leaves of a part of a conversation.
    pub(super) fn of(
        fitted: &Fitted,
        came: &[ConversationEntry],
        conversation: &'c [ConversationEntry],
    ) -> Result<Self, Failure> {
        let newest = conversation.iter().rfind(|entry| entry.is_answer());
        let newest = newest.filter(|answer| !answer.tool_uses.is_empty());
        let mut kept = Self { messages: Vec::new(), newest };
        // The first of the entries that may still stay as they are.
        let mut from = 0;
        for piece in &fitted.pieces {
            match piece {
                FitPiece::Keep { start, end } => {
                    came.get(*start..*end).unwrap_or_default().iter().for_each(|entry| kept.keep(entry));
                    from = *end;
                }
                FitPiece::Edit { message, .. } | FitPiece::Insert { message, .. } => {
                    from = kept.add_written(&serde_json::from_str(message)?, came, from);
                }
            }
        }
        Ok(kept)
    }

    /// Whether the newest step is there: the records of its answer, and a result for each call that had one.
    pub(super) fn has_newest_step(&self) -> bool {
        let Some(newest) = self.newest else { return true };
        let rows = self.messages.iter().filter_map(|message| match message {
            KeptMessage::Row(number, _) => Some(number),
            KeptMessage::Written(_) => None,
        });
        let has_rows = rows.filter(|number| newest.rows.contains(number)).eq(&newest.rows);
        let results = self.messages.iter().filter_map(|message| match message {
            KeptMessage::Row(..) => None,
            KeptMessage::Written(entry) => Some(&entry.tool_results),
        });
        let results: Vec<&str> = results.flatten().map(|result| result.tool_use_id.as_str()).collect();
        has_rows && newest.tool_uses.iter().all(|call| results.contains(&call.tool_use_id.as_str()))
    }

    /// The texts of the user's side.
    pub(super) fn said(&self) -> Vec<&str> {
        let texts = self.messages.iter().filter_map(|message| match message {
            KeptMessage::Row(_, text) => Some(text.as_str()),
            KeptMessage::Written(entry) => Some(entry.text.as_str()).filter(|_| entry.is_said()),
        });
        texts.collect()
    }

    /// The messages for the agent.
    pub(super) fn to_json(&self) -> Result<Vec<Value>, serde_json::Error> {
        let to_json = |message: &KeptMessage| match message {
            KeptMessage::Row(number, _) => Ok(json!(number)),
            KeptMessage::Written(entry) => serde_json::to_value(entry),
        };
        self.messages.iter().map(to_json).collect()
    }

    /// Adds an entry that stays as it is; the newest answer of the model by its records.
    pub(super) fn keep(&mut self, entry: &ConversationEntry) {
        let is_newest = |newest: &&ConversationEntry| {
            let is_of_newest = |call: &ToolUse| newest.tool_uses.iter().any(|own| own.tool_use_id == call.tool_use_id);
            entry.tool_uses.iter().any(is_of_newest)
        };
        match (self.newest.filter(is_newest), entry.rows.as_slice()) {
            (Some(newest), _) => {
                let rows = newest.rows.iter().map(|number| KeptMessage::Row(*number, String::new()));
                self.messages.extend(rows);
            }
            (None, [number]) if entry.is_said() => self.messages.push(KeptMessage::Row(*number, entry.text.clone())),
            (None, _) if entry.is_answer() && entry.text.is_empty() && entry.tool_uses.is_empty() => {}
            (None, _) => self.messages.push(KeptMessage::Written(entry.clone())),
        }
    }

    /// Adds a message that was written, in Anthropic's form. That form puts neighbours of one role into one message, such as
    /// the task and a summary behind it: a text of the user's that is as it came, from entry `from` on, is the agent's own.
    /// Returns the number of the entry behind the last of these.
    fn add_written(&mut self, message: &Value, came: &[ConversationEntry], from: usize) -> usize {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let texts = of("text").map(|block| word(&block["text"]));
        if message["role"] == "assistant" {
            let calls = of("tool_use").map(|block| ToolUse {
                tool_use_id: word(&block["id"]),
                tool: word(&block["name"]),
                input: block["input"].as_object().cloned().unwrap_or_default(),
            });
            self.keep(&ConversationEntry::answer(texts.collect::<Vec<_>>().join("\n"), calls.collect(), Vec::new()));
            return from;
        }
        let results = of("tool_result").map(|block| {
            let is_error = block["is_error"].as_bool().unwrap_or_default();
            ToolOutput::new(word(&block["tool_use_id"]), text_of(&block["content"]), is_error)
        });
        let results: Vec<ToolOutput> = results.collect();
        if !results.is_empty() {
            self.keep(&ConversationEntry::results(results));
        }
        let mut next = from;
        for text in texts {
            let is_it = |entry: &ConversationEntry| entry.is_said() && entry.text == text;
            match came.iter().enumerate().skip(next).find(|(_, entry)| is_it(entry)) {
                Some((at, entry)) => {
                    self.keep(entry);
                    next = at + 1;
                }
                None => self.keep(&ConversationEntry::of_user(text, None)),
            }
        }
        next
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<&str>>().join("\n"),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}
