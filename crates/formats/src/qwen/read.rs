//! Qwen Code chats: Claude Code's frame with its tree of records around Gemini's contents. What of them is sent, and in which
//! order, is as in `SessionApiHistoryAccumulator` and `prepareTranscriptRecords` of 0.24.4 (github.com/QwenLM/qwen-code,
//! packages/core/src/services/session-api-history.ts and utils/transcript-records.ts).

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Content, Epoch, Message, MessageId, Origin, Role, Trigger, Usage, pair};
use serde_json::Value;

use super::kinds::BESIDE;
use crate::branches::Place;
use crate::gemini::blocks;
use crate::json::value::{items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::records::records;
use crate::recording::session_builder::{SessionBuilder, tokens};
use crate::replacement::difference;
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    probe.heads.iter().chain([&probe.document]).any(is_record)
}

/// Whether a record is one of Qwen Code's: the frame is Claude Code's too.
pub(crate) fn is_record(record: &Value) -> bool {
    let is_framed = record["uuid"].is_string() && record.get("parentUuid").is_some();
    let is_content = record["message"]["parts"].is_array() || record["systemPayload"].is_object();
    is_framed && (is_content || record["type"] == "tool_result")
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut chat = Chat { side_chains: probe.side_chains, ..Chat::default() };
    records(probe, warnings).for_each(|record| chat.record(&record));
    warnings.append(&mut chat.warnings);
    let name = chat.log.session.id.as_deref().unwrap_or("0").to_owned();
    chat.log.finish_alone(Format::QwenCode, name, "no record of the conversation has a message with content")
}

#[derive(Default)]
struct Chat {
    log: SessionBuilder,
    /// Where the conversation is behind each record.
    places: HashMap<String, Option<Place>>,
    /// The newest message, where it is a text that a person typed and may be a command of the program's, with the place in front.
    typed: Option<(String, Option<Place>)>,
    /// Whether a sub-agent's work is read.
    side_chains: bool,
    warnings: Vec<Warning>,
}

impl Chat {
    fn record(&mut self, record: &Value) {
        let subtype = record["subtype"].as_str().unwrap_or_default();
        let is_aside = BESIDE.contains(&subtype) || record["isSidechain"] == true && !self.side_chains;
        let Some(uuid) = non_empty_str(&record["uuid"]).filter(|_| !is_aside) else { return };
        if self.log.session.id.is_none() {
            self.log.session.id = non_empty_str(&record["sessionId"]).map(Arc::from);
        }
        // A record that comes again is a further part of the first.
        if !self.places.contains_key(uuid) {
            self.go_behind(record);
        }
        let front = self.log.tip();
        match (record["type"].as_str(), subtype) {
            // What was spoken with another model.
            (_, "realtime_message") => {}
            (Some("user" | "assistant" | "tool_result"), _) => {
                self.message(record);
                self.typed = typed_text(record).map(|text| (text.to_owned(), front));
            }
            (_, "slash_command") => self.command(&record["systemPayload"]),
            (_, "chat_compression") => self.compression(&record["systemPayload"]),
            _ => {}
        }
        self.places.insert(uuid.to_owned(), self.log.tip());
    }

    /// Goes where the record in front of it is. The program sends nothing of what is in front of a record that is missing.
    fn go_behind(&mut self, record: &Value) {
        let parent = non_empty_str(&record["parentUuid"]);
        let known = parent.and_then(|uuid| self.places.get(uuid));
        if let Some(missing) = parent.filter(|_| known.is_none()) {
            let message =
                format!("the record `{missing}` is missing, and what was said in front of it is not sent any more");
            self.warnings.push(Warning { line: None, message });
        }
        let place = known.copied().flatten();
        if place != self.log.tip() {
            self.typed = None;
            self.log.move_to(place);
        }
    }

    fn message(&mut self, record: &Value) {
        let (kind, provenance) = (&record["type"], record["provenance"].as_str().unwrap_or("real_user"));
        let is_typed = provenance == "real_user" && record["isSidechain"] != true;
        let is_known = matches!(record["subtype"].as_str(), None | Some("mid_turn_user_message"));
        let failed = matches!(record["toolCallResult"]["status"].as_str(), Some("error" | "cancelled"));
        let mut messages = content(&record["message"]);
        if let Some(said) = messages.iter_mut().rfind(|message| message.role == Role::Assistant) {
            said.usage = usage(&record["usageMetadata"]);
        }
        let mut id = record["uuid"].as_str().unwrap_or_default();
        for mut message in messages {
            message.timestamp = time::of_value(&record["timestamp"]);
            match message.role {
                Role::Tool => mark_failed(&mut message, failed),
                Role::User if kind == "tool_result" => message.origin = Origin::ToolOutput,
                Role::User if !(is_typed && is_known) => message.origin = Origin::Injected,
                _ => {}
            }
            message.id = MessageId::new(std::mem::take(&mut id));
            self.log.push(message);
        }
    }

    /// A command that the program has answered itself was not sent, though it was recorded as a message.
    fn command(&mut self, payload: &Value) {
        let outputs = items(&payload["outputHistoryItems"]);
        let is_answered = payload["phase"] == "result"
            && payload["sentToModel"] != true
            && !outputs.is_empty()
            && outputs.iter().all(|output| output["type"] == "assistant");
        let typed = self.typed.take().filter(|(text, _)| is_answered && payload["rawCommand"] == text.as_str());
        if let Some((_, front)) = typed {
            self.log.move_to(front);
        }
    }

    /// The program has put another history in place of what it sent.
    fn compression(&mut self, payload: &Value) {
        let history = &payload["compressedHistory"];
        if !history.is_array() {
            return;
        }
        self.typed = None;
        self.log.advance();
        let mut wanted: Vec<Message> = items(history).iter().flat_map(content).collect();
        pair(&mut wanted);
        let (removed, mut synthetics) = difference(&self.log.session, None, wanted);
        let mut summary = Origin::Summary;
        for synthetic in &mut synthetics {
            let message = Arc::make_mut(&mut synthetic.message);
            // Behind the summary the program shows files and states again.
            if message.role == Role::User && message.origin == Origin::Typed {
                message.origin = std::mem::replace(&mut summary, Origin::Injected);
            }
        }
        let mut epoch = Epoch::recorded(Trigger::Recorded, removed, synthetics);
        epoch.tokens_before = tokens(&payload["info"]["originalTokenCount"]);
        self.log.session.commit(epoch);
    }
}

fn mark_failed(message: &mut Message, failed: bool) {
    for block in &mut message.blocks {
        if let Content::ToolResult(result) = &mut block.content {
            result.is_error |= failed;
        }
    }
}

/// The messages of one of Gemini's contents.
fn content(content: &Value) -> Vec<Message> {
    let parts = &content["parts"];
    match parts.is_array() {
        true => blocks::messages(content["role"].as_str().unwrap_or_default(), &parts.to_string()),
        false => Vec::new(),
    }
}

/// The text of a user's message that is nothing else.
fn typed_text(record: &Value) -> Option<&str> {
    let [part] = items(&record["message"]["parts"]) else { return None };
    let is_plain = record["type"] == "user" && record["subtype"].is_null() && part.as_object()?.len() == 1;
    part["text"].as_str().filter(|_| is_plain)
}

fn usage(counts: &Value) -> Option<Usage> {
    let count = |name: &str| counts[name].as_u64();
    let input = count("promptTokenCount")?;
    let said = || count("candidatesTokenCount").unwrap_or(0).saturating_add(count("thoughtsTokenCount").unwrap_or(0));
    Some(Usage {
        input,
        cache_read: count("cachedContentTokenCount").unwrap_or(0),
        cache_write: 0,
        output: count("totalTokenCount").map_or_else(said, |total| total.saturating_sub(input)),
    })
}
