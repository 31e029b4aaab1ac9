//! The messages behind a compaction, as Claude Code's function hook gives them back.
//!
//! A number stands for the agent's own record, with all that it holds: a signature, a picture, what the harness attached. The
//! agent records what it gets anew behind the boundary, each message under the one in front of it; but a result that it
//! made itself it puts under the record of its call, which is in front of the boundary, and a session that is resumed would
//! come back whole. So results go back as messages of our own, with their texts.

use epitome_fit::{FitPiece, Fitted};
use serde_json::{Value, json};

use super::agent_message::{ToolOutput, ToolUse};
use super::entries::{Answer, ConversationEntry, SaidText};
use crate::failure::Failure;

/// A message that is given back.
#[derive(Debug)]
enum KeptMessage {
    /// The agent's own, by its number, with its text.
    Row(usize, String),
    Said(String),
    Answer(String, Vec<ToolUse>),
    Results(Vec<ToolOutput>),
}

/// The messages behind a compaction of a conversation.
#[derive(Debug)]
pub(super) struct KeptMessages<'c> {
    messages: Vec<KeptMessage>,
    /// The model's newest answer, where it calls tools: its records stay, for without its thinking the provider refuses
    /// the results that follow it.
    newest: Option<&'c Answer>,
}

impl<'c> KeptMessages<'c> {
    /// What a fitting leaves of a part of a conversation.
    pub(super) fn of(
        fitted: &Fitted,
        came: &[ConversationEntry],
        conversation: &'c [ConversationEntry],
    ) -> Result<Self, Failure> {
        let newest = conversation.iter().rev().find_map(|entry| match entry {
            ConversationEntry::Answer(answer) => Some(answer),
            _ => None,
        });
        let newest = newest.filter(|answer| !answer.calls.is_empty());
        let mut kept = Self { messages: Vec::new(), newest };
        // The first of the entries that may still stay as they are.
        let mut from = 0;
        for piece in &fitted.pieces {
            match piece {
                FitPiece::Keep(range) => {
                    came.get(range.clone()).unwrap_or_default().iter().for_each(|entry| kept.keep(entry));
                    from = range.end;
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
            _ => None,
        });
        let has_rows = rows.filter(|number| newest.rows.contains(number)).eq(&newest.rows);
        let ids = |message: &KeptMessage| match message {
            KeptMessage::Results(results) => results.iter().map(|result| result.tool_use_id.clone()).collect(),
            _ => Vec::new(),
        };
        let results: Vec<String> = self.messages.iter().flat_map(ids).collect();
        has_rows && newest.calls.iter().all(|call| results.contains(&call.tool_use_id))
    }

    /// The texts of the user's side.
    pub(super) fn said(&self) -> Vec<&str> {
        let texts = self.messages.iter().filter_map(|message| match message {
            KeptMessage::Row(_, text) | KeptMessage::Said(text) => Some(text.as_str()),
            KeptMessage::Answer(..) | KeptMessage::Results(_) => None,
        });
        texts.collect()
    }

    /// The messages for the agent.
    pub(super) fn to_json(&self) -> Result<Vec<Value>, serde_json::Error> {
        let none: [u8; 0] = [];
        let to_json = |message: &KeptMessage| match message {
            KeptMessage::Row(number, _) => Ok(json!(number)),
            KeptMessage::Said(text) => Ok(json!({"role": "user", "text": text, "toolUses": none})),
            KeptMessage::Answer(text, calls) => {
                Ok(json!({"role": "assistant", "text": text, "toolUses": serde_json::to_value(calls)?}))
            }
            KeptMessage::Results(results) => {
                let results = serde_json::to_value(results)?;
                Ok(json!({"role": "user", "text": "", "toolUses": none, "toolResults": results}))
            }
        };
        self.messages.iter().map(to_json).collect()
    }

    /// Adds an entry that stays as it is.
    pub(super) fn keep(&mut self, entry: &ConversationEntry) {
        match entry {
            ConversationEntry::Said(SaidText { number: Some(number), text }) => {
                self.messages.push(KeptMessage::Row(*number, text.clone()));
            }
            ConversationEntry::Said(said) => self.messages.push(KeptMessage::Said(said.text.clone())),
            ConversationEntry::Answer(answer) => self.add_answer(answer.text.clone(), answer.calls.clone()),
            ConversationEntry::Results(results) => self.messages.push(KeptMessage::Results(results.clone())),
        }
    }

    /// Adds an answer of the model: the newest by its records.
    fn add_answer(&mut self, text: String, calls: Vec<ToolUse>) {
        let is_newest = |newest: &&Answer| {
            calls.iter().any(|call| newest.calls.iter().any(|own| own.tool_use_id == call.tool_use_id))
        };
        match self.newest.filter(is_newest) {
            Some(newest) => {
                let rows = newest.rows.iter().map(|number| KeptMessage::Row(*number, String::new()));
                self.messages.extend(rows);
            }
            None if text.is_empty() && calls.is_empty() => {}
            None => self.messages.push(KeptMessage::Answer(text, calls)),
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
            let (text, calls) = (texts.collect::<Vec<_>>().join("\n"), calls.collect());
            self.add_answer(text, calls);
            return from;
        }
        let results = of("tool_result").map(|block| {
            let is_error = block["is_error"].as_bool().unwrap_or_default();
            ToolOutput::new(word(&block["tool_use_id"]), text_of(&block["content"]), is_error)
        });
        let results: Vec<ToolOutput> = results.collect();
        if !results.is_empty() {
            self.messages.push(KeptMessage::Results(results));
        }
        let mut next = from;
        for text in texts {
            let is_it = |entry: &ConversationEntry| matches!(entry, ConversationEntry::Said(said) if said.text == text);
            match came.iter().enumerate().skip(next).find(|(_, entry)| is_it(entry)) {
                Some((at, entry)) => {
                    self.keep(entry);
                    next = at + 1;
                }
                None => self.messages.push(KeptMessage::Said(text)),
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
