//! Copilot CLI events: JSON lines with the compactions and their summaries. What an event means for the context is as in
//! `processEventForState` of the program's 1.0.40, the newest version that is published as JavaScript, and in the schema of
//! events beside it (`schemas/session-events.schema.json`); newer kinds and fields are as `@github/copilot-sdk` 1.0.14
//! describes them.

use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Block, Content, EntryKey, Media, MediaSource, Message, Origin, Role, Trigger, speaker};
use serde_json::Value;

use crate::branches::Place;
use crate::json::value::{arguments, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::content::{content, payload, text, thinking};
use crate::recording::records::records;
use crate::recording::session_builder::{Answer, SessionBuilder, summary_message, tokens};
use crate::time;

/// Types of event that no other agent writes.
const OWN_EVENTS: &[&str] = &[
    "session.start",
    "session.resume",
    "assistant.turn_start",
    "assistant.message",
    "user.message",
    "system.message",
    "tool.execution_start",
    "tool.execution_complete",
];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let is_event = |value: &Value| {
        value["data"].is_object() && value["type"].as_str().is_some_and(|kind| OWN_EVENTS.contains(&kind))
    };
    is_event(&probe.document) || probe.heads.iter().any(is_event)
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let (mut events, mut unknown) = (Events::default(), Vec::new());
    for record in records(probe, warnings) {
        unknown.extend(events.event(&record));
    }
    warnings.extend(unknown.into_iter().map(|id| Warning {
        line: None,
        message: format!(
            "nothing was taken back: `session.snapshot_rewind` names the event `{id}`, which is not in the file"
        ),
    }));
    let log = events.log;
    let name = log.session.id.as_deref().unwrap_or("0").to_owned();
    log.finish_alone(Format::CopilotCli, name, "no `user.message` or `assistant.message` event has content")
}

#[derive(Default)]
struct Events {
    log: SessionBuilder,
    /// What stands in front of each event.
    fronts: HashMap<String, Option<Place>>,
    /// Bytes that events name by their id.
    assets: HashMap<String, String>,
    /// The length of the log when a compaction started: what came since then stays.
    started: Option<u32>,
}

impl Events {
    /// Takes an event. Returns the id of the event that it names and the file has not.
    fn event(&mut self, event: &Value) -> Option<String> {
        let data = &event["data"];
        let id = event["id"].as_str().unwrap_or("");
        self.fronts.insert(id.to_owned(), self.log.tip());
        // The work of a sub-agent is not part of the main context.
        if !event["agentId"].is_null() || !data["parentToolCallId"].is_null() {
            return None;
        }
        self.log.advance();
        let log = &mut self.log;
        let at = time::of_value(&event["timestamp"]);
        match event["type"].as_str().unwrap_or("") {
            "session.start" | "session.resume" => {
                if let (None, Some(id)) = (&log.session.id, non_empty_str(&data["sessionId"])) {
                    log.session.id = Some(id.into());
                }
            }
            "system.message" => system(log, id, data, at),
            "user.message" => self.user(id, data, at),
            "session.mode_notice_delivered" => {
                let notice = Block::text(data["content"].as_str().unwrap_or("")).as_instructions();
                if notice != Block::text("") {
                    let notice = Message::new(id, Role::User, Origin::Injected, vec![notice]);
                    log.push(Message { timestamp: at, ..notice });
                }
            }
            "session.binary_asset" => {
                let (id, bytes) = (data["assetId"].as_str(), data["data"].as_str());
                self.assets.extend(id.zip(bytes).map(|(id, bytes)| (id.to_owned(), bytes.to_owned())));
            }
            // The host began anew, with a message of its own where it has one.
            "session.context_cleared" => {
                log.compact(Trigger::Recorded, |entry| entry.message.role != Role::System, None, None);
                log.push_text(id, Role::User, Origin::Injected, data["initialMessage"].as_str().unwrap_or(""), at);
            }
            // The program shows a notice of a found file of instructions to the person alone.
            "system.notification" if data["kind"]["type"] != "instruction_discovered" => {
                log.push_text(id, Role::User, Origin::Injected, data["content"].as_str().unwrap_or(""), at);
            }
            "assistant.message" => assistant(log, id, data, at),
            // What the person ran without the model is not shown to it.
            "tool.execution_complete" if data["isUserRequested"] != true => self.result(id, data, at),
            "session.compaction_start" => self.started = Some(log.session.log().len() as u32),
            "session.compaction_complete" => self.compacted(id, data, at),
            "session.snapshot_rewind" => {
                // The named event goes, with all behind it (`truncateToEvent`).
                let named = data["upToEventId"].as_str().unwrap_or("");
                self.started = None;
                match self.fronts.get(named).copied() {
                    Some(front) => log.move_to(front),
                    None => return Some(named.to_owned()),
                }
            }
            _ => {}
        }
        None
    }

    fn user(&mut self, id: &str, data: &Value, at: Option<i64>) {
        let shown =
            non_empty_str(&data["transformedContent"]).or_else(|| non_empty_str(&data["content"])).unwrap_or("");
        let attachments = items(&data["attachments"]);
        let mut blocks: Vec<Block> = text(shown).into_iter().collect();
        // What the model was told of the files that it was not given.
        let tagged: Vec<&str> = attachments.iter().filter_map(|one| non_empty_str(&one["taggedFilesEntry"])).collect();
        if !tagged.is_empty() {
            let tagged_files = Block::text(format!("<tagged_files>\n{}\n</tagged_files>", tagged.join("\n")));
            blocks.push(Block { typed: Some(Vec::new()), ..tagged_files });
        }
        let is_media = |one: &&Value| {
            one["type"] == "blob" || one["mimeType"].as_str().is_some_and(|mime| mime.starts_with("image/"))
        };
        blocks.extend(attachments.iter().filter(is_media).map(|one| Block::new(Content::Media(self.media(one)))));
        let typed =
            matches!(data["source"].as_str(), None | Some("" | "user")) && data["isAutopilotContinuation"] != true;
        let origin = if typed { Origin::Typed } else { Origin::Injected };
        let mut user = Message::new(id, Role::User, origin, blocks);
        // The event has what was typed beside what the model was shown.
        let said = data["content"].as_str().unwrap_or("").trim();
        let place = |part: Range<usize>| Some(part.start + shown[part].find(said)?);
        let start = speaker::typed_parts(shown).into_iter().find_map(place).filter(|_| !said.is_empty());
        if let (Some(block), Some(start), true) = (user.blocks.first_mut(), start, typed) {
            block.typed = Some(vec![(start..start + said.len()).into()]);
        }
        user.timestamp = at;
        self.log.push(user);
    }

    /// A picture or a file, whose bytes may stand in an event of their own.
    fn media(&self, part: &Value) -> Media {
        let asset = || part["assetId"].as_str().and_then(|id| self.assets.get(id)).map(String::as_str);
        let bytes = non_empty_str(&part["data"]).or_else(asset);
        let source = bytes.map_or(MediaSource::Missing, |bytes| MediaSource::Base64(bytes.into()));
        Media { mime: part["mimeType"].as_str().unwrap_or("").into(), source, ..Media::default() }
    }

    fn result(&mut self, id: &str, data: &Value, at: Option<i64>) {
        let shown = match (&data["result"]["content"], &data["error"]["message"]) {
            (Value::Null, Value::Null) if data["result"].is_null() => &data["error"],
            (Value::Null, Value::Null) => &data["result"],
            (Value::Null, message) => message,
            (content, _) => content,
        };
        let mut payload = payload(shown);
        payload.attachments.extend(items(&data["result"]["binaryResultsForLlm"]).iter().map(|one| self.media(one)));
        let answer = Answer {
            call_id: data["toolCallId"].as_str().unwrap_or(""),
            name: data["toolName"].as_str(),
            payload,
            is_error: data["success"] == Value::Bool(false),
        };
        let mut message = self.log.answer(id, answer, at);
        // The event says whether a person answered.
        if data["toolTelemetry"]["properties"]["outcome"] != "answered" {
            message.blocks.iter_mut().for_each(|block| block.typed = Some(Vec::new()));
        }
        self.log.push(message);
    }

    /// The summary takes the place of what was said before the compaction started; a step that had begun stays whole.
    fn compacted(&mut self, id: &str, data: &Value, at: Option<i64>) {
        let started = self.started.take();
        let Some(summary) = non_empty_str(&data["summaryContent"]).filter(|_| data["success"] != false) else { return };
        let log = self.log.session.log();
        let mut kept = started.unwrap_or(log.len() as u32);
        while kept > 0 && log.get(kept as usize).is_some_and(|message| message.role == Role::Tool) {
            kept -= 1;
        }
        let leaves = |entry: &epitome_session::Entry| {
            entry.message.role != Role::System && !matches!(entry.key, EntryKey::Log(index) if index >= kept)
        };
        let summary = summary_message(id, summary, at);
        self.log.compact(Trigger::Recorded, leaves, Some(summary), tokens(&data["preCompactionTokens"]));
    }
}

/// The prompt is recorded again whenever the agent wakes up: only a change of it is news, and then the old one is gone. A
/// developer's message and each named one stand beside it.
fn system(log: &mut SessionBuilder, id: &str, data: &Value, at: Option<i64>) {
    let prompt = data["content"].as_str().unwrap_or("");
    let (name, is_developer) = (non_empty_str(&data["name"]), data["role"] == "developer");
    let origin = if is_developer { Origin::Developer } else { Origin::Instructions };
    let is_same =
        |message: &Message| message.role == Role::System && message.origin == origin && message.name.as_deref() == name;
    let old = log.session.view().iter().rev().find(|entry| is_same(&entry.message));
    if prompt.is_empty() || old.is_some_and(|old| old.message.plain_text() == prompt) {
        return;
    }
    if old.is_some() {
        log.compact(Trigger::Recorded, |entry| is_same(&entry.message), None, None);
    }
    let mut system = Message::text(id, Role::System, origin, prompt);
    (system.name, system.timestamp) = (name.map(Into::into), at);
    log.push(system);
}

fn assistant(log: &mut SessionBuilder, id: &str, data: &Value, at: Option<i64>) {
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(thinking(data["reasoningText"].as_str().unwrap_or(""), data["reasoningOpaque"].as_str()));
    blocks.extend(content(&data["content"], epitome_session::Dialect::OpenaiChat));
    for call in items(&data["toolRequests"]) {
        let (id, name) = (call["toolCallId"].as_str().unwrap_or(""), call["name"].as_str().unwrap_or(""));
        blocks.push(log.call(id, name, arguments(&call["arguments"])));
    }
    let mut turn =
        Message::new(non_empty_str(&data["messageId"]).unwrap_or(id), Role::Assistant, Origin::Model, blocks);
    turn.timestamp = at;
    log.push(turn);
}
