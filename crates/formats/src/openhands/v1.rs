//! Events of OpenHands' software-agent-sdk (1.43): each has a `kind`, and names the one in front of it. What the model is sent
//! of them is as in `to_llm_message` of `sdk/event/llm_convertible`, `events_to_messages` and `context/view/view.py`.

use std::collections::{HashMap, HashSet};

use epitome_session::{Block, Entry, EntryKey, Message, MessageId, Origin, Role, Trigger};
use serde_json::{Value, json};

use crate::branches::Place;
use crate::json::value::{items, non_empty_str};
use crate::recording::chat;
use crate::recording::content::{content, payload, text};
use crate::recording::session_builder::{Answer, SessionBuilder, summary_message};
use crate::time;

/// The parent of an event that begins the conversation anew (`ROOT_PARENT_ID`).
const ROOT: &str = "__root__";

/// What stands for a person's words where one rejected a call without any.
const REJECTED: &str = "User rejected the action";

/// What stands in front of a result that failed.
const FAILED: &str = "[An error occurred during execution.]";

/// Whether an event is of a kind that the model is sent, or that stands at the beginning of each conversation.
pub(super) fn fits(event: &Value) -> bool {
    let is_known = |kind: &str| {
        matches!(
            kind,
            "SystemPromptEvent" | "MessageEvent" | "ActionEvent" | "ObservationEvent" | "UserRejectObservation"
        ) || matches!(kind, "AgentErrorEvent" | "Condensation" | "ConversationStateUpdateEvent")
    };
    event["source"].is_string() && event["kind"].as_str().is_some_and(is_known)
}

pub(super) fn read<'a>(events: impl Iterator<Item = &'a Value> + Clone) -> SessionBuilder {
    let mut reading = EventReader::default();
    for event in events.clone().filter(|event| event["kind"] == "ActionEvent") {
        reading.responses.entry(response(event)).or_default().push(event);
    }
    events.for_each(|event| reading.event(event));
    reading.log
}

#[derive(Default)]
struct EventReader<'a> {
    log: SessionBuilder,
    /// The actions of each of the model's answers: they are one message.
    responses: HashMap<&'a str, Vec<&'a Value>>,
    /// The entries of each event.
    entries: HashMap<&'a str, Vec<EntryKey>>,
    /// Where the conversation was behind each event.
    places: HashMap<&'a str, Option<Place>>,
}

impl<'a> EventReader<'a> {
    fn event(&mut self, event: &'a Value) {
        self.follow(event);
        let id = event["id"].as_str().unwrap_or("");
        self.log.advance();
        let before = self.log.session.log().len() as u32;
        match event["kind"].as_str().unwrap_or("") {
            "SystemPromptEvent" => self.system(event),
            "MessageEvent" => self.message(event),
            "ActionEvent" => self.action(event),
            "ObservationEvent" => self.observation(event),
            "UserRejectObservation" => {
                let reason = event["rejection_reason"].as_str().unwrap_or("");
                let mut result = self.result(event, &json!(format!("Action rejected: {reason}")), true);
                let is_said = event["rejection_source"] != "hook" && reason != REJECTED && !reason.is_empty();
                let said = "Action rejected: ".len();
                let said = is_said.then(|| (said..said + reason.len()).into()).into_iter().collect::<Vec<_>>();
                result.blocks.iter_mut().for_each(|block| block.typed = Some(said.clone()));
                self.log.push(result);
            }
            "AgentErrorEvent" => {
                let result = self.result(event, &event["error"], true);
                self.log.push(result);
            }
            "Condensation" => self.condensation(event),
            _ => {}
        }
        let after = self.log.session.log().len() as u32;
        self.entries.entry(id).or_insert_with(|| (before..after).map(EntryKey::Log).collect());
        self.places.insert(id, self.log.tip());
    }

    /// Goes to the event in front of this one, where the conversation is elsewhere. Older events name none.
    fn follow(&mut self, event: &Value) {
        let parent = event["parent_id"].as_str().unwrap_or("");
        let place = if parent == ROOT { Some(None) } else { self.places.get(parent).copied() };
        if let Some(place) = place.filter(|place| *place != self.log.tip()) {
            self.log.move_to(place);
        }
    }

    fn system(&mut self, event: &Value) {
        if event["tools"].is_array() {
            self.log.session.tools = Some(event["tools"].to_string().into());
        }
        let texts =
            [&event["system_prompt"], &event["dynamic_context"]].into_iter().filter_map(|part| part["text"].as_str());
        self.push(event, Role::System, Origin::Instructions, texts.filter_map(text).collect());
    }

    fn message(&mut self, event: &Value) {
        let message = &event["llm_message"];
        if message["role"] == "assistant" {
            return self.turn(event, &model_message(message, &message["content"], &message["tool_calls"]));
        }
        // Another agent's words have a sender; what the agent's context adds is a message of its own.
        let is_typed = event["source"] == "user" && event["sender"].is_null();
        let (role, origin) = match message["role"].as_str() {
            Some("system") => (Role::System, Origin::Instructions),
            _ => (Role::User, if is_typed { Origin::Typed } else { Origin::Injected }),
        };
        self.push(event, role, origin, blocks(&message["content"]));
        self.push(event, Role::User, Origin::Injected, blocks(&event["extended_content"]));
    }

    /// The first action of an answer stands for all of them.
    fn action(&mut self, event: &'a Value) {
        let batch = self.responses.get(response(event)).filter(|_| !response(event).is_empty());
        let batch = batch.cloned().unwrap_or_else(|| vec![event]);
        if let Some(first) = batch.first().filter(|first| first["id"] != event["id"]) {
            let entries = self.entries.get(first["id"].as_str().unwrap_or("")).cloned();
            self.entries.extend(entries.map(|entries| (event["id"].as_str().unwrap_or(""), entries)));
            return;
        }
        let calls = Value::Array(batch.iter().map(|action| action["tool_call"].clone()).collect());
        self.turn(event, &model_message(event, &event["thought"], &calls));
    }

    fn turn(&mut self, event: &Value, said: &Value) {
        let mut turn = chat::assistant(&mut self.log, said);
        turn.id = MessageId::new(event["id"].as_str().unwrap_or(""));
        turn.timestamp = time::of_value(&event["timestamp"]);
        self.log.push(turn);
    }

    fn observation(&mut self, event: &Value) {
        let mut shown = observation_parts(&event["observation"]);
        shown.extend_from_slice(items(&flat(&event["extended_content"])));
        let result = self.result(event, &Value::Array(shown), event["observation"]["is_error"] == true);
        self.log.push(result);
    }

    fn result(&self, event: &Value, shown: &Value, is_error: bool) -> Message {
        let answer = Answer {
            call_id: event["tool_call_id"].as_str().unwrap_or(""),
            name: event["tool_name"].as_str(),
            payload: payload(shown),
            is_error,
        };
        let mut result =
            self.log.answer(event["id"].as_str().unwrap_or(""), answer, time::of_value(&event["timestamp"]));
        result.blocks.iter_mut().for_each(|block| block.typed = Some(Vec::new()));
        result
    }

    /// The forgotten events leave, and the summary stands where it says, which is where the first of them was.
    fn condensation(&mut self, event: &Value) {
        let forgotten: HashSet<EntryKey> = items(&event["forgotten_event_ids"])
            .iter()
            .filter_map(|id| self.entries.get(id.as_str()?))
            .flatten()
            .copied()
            .collect();
        let forgotten = whole_steps(self.log.session.view(), &forgotten);
        let summary = non_empty_str(&event["summary"]).filter(|_| event["summary_offset"].is_u64());
        let id = event["id"].as_str().unwrap_or("");
        let summary = summary.map(|text| summary_message(id, text, time::of_value(&event["timestamp"])));
        self.log.compact(Trigger::Recorded, |entry| forgotten.contains(&entry.key), summary, None);
    }

    fn push(&mut self, event: &Value, role: Role, origin: Origin, blocks: Vec<Block>) {
        let mut message = Message::new(event["id"].as_str().unwrap_or(""), role, origin, blocks);
        message.timestamp = time::of_value(&event["timestamp"]);
        self.log.push(message);
    }
}

/// A step leaves with all its results or not at all, as OpenHands itself shows it to the model.
pub(super) fn whole_steps(view: &[Entry], forgotten: &HashSet<EntryKey>) -> HashSet<EntryKey> {
    let mut leaving = HashSet::new();
    let mut step_leaves = false;
    for entry in view {
        if entry.message.role != Role::Tool {
            step_leaves = forgotten.contains(&entry.key);
        }
        if step_leaves {
            leaving.insert(entry.key);
        }
    }
    leaving
}

/// The id of the model's answer that an action is of.
fn response(event: &Value) -> &str {
    event["llm_response_id"].as_str().unwrap_or("")
}

/// What the model said, in the roles of OpenAI's chat completions. `from` has its reasoning.
fn model_message(from: &Value, content: &Value, calls: &Value) -> Value {
    let reasoned = &from["responses_reasoning_item"];
    let summary: Vec<&str> = items(&reasoned["summary"]).iter().filter_map(Value::as_str).collect();
    let mut thinking = items(&from["thinking_blocks"]).to_vec();
    if thinking.is_empty() && reasoned.is_object() {
        let signature = &reasoned["encrypted_content"];
        thinking.push(json!({ "type": "thinking", "thinking": summary.join("\n"), "signature": signature }));
    }
    let reasoning = &from["reasoning_content"];
    json!({ "thinking_blocks": thinking, "reasoning_content": reasoning, "content": flat(content), "tool_calls": calls })
}

fn blocks(parts: &Value) -> Vec<Block> {
    content(&flat(parts), epitome_session::Dialect::OpenaiChat)
}

/// The parts of a content with one image in each, where the program has a list of addresses.
fn flat(parts: &Value) -> Value {
    let flat = items(parts).iter().flat_map(|part| match part["image_urls"].as_array() {
        Some(urls) => urls.iter().map(|url| json!({ "type": "image_url", "image_url": { "url": url } })).collect(),
        None => vec![part.clone()],
    });
    if parts.is_array() { Value::Array(flat.collect()) } else { parts.clone() }
}

/// What the model was shown of an observation (`to_llm_content`; the terminal's in `openhands-tools`).
fn observation_parts(observation: &Value) -> Vec<Value> {
    let mut parts = match flat(&observation["content"]) {
        Value::Array(parts) => parts,
        Value::Null => Vec::new(),
        text => vec![text],
    };
    let metadata = &observation["metadata"];
    if metadata.is_object()
        && matches!(observation["kind"].as_str(), Some("TerminalObservation" | "ExecuteBashObservation"))
    {
        let field = |name: &str| metadata[name].as_str().unwrap_or("");
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        let mut shown = format!("{}{}{}", field("prefix"), texts.concat(), field("suffix"));
        for (name, label) in
            [("working_dir", "Current working directory"), ("py_interpreter_path", "Python interpreter")]
        {
            if !field(name).is_empty() {
                shown.push_str(&format!("\n[{label}: {}]", field(name)));
            }
        }
        if let Some(code) = metadata["exit_code"].as_i64().filter(|code| *code != -1) {
            shown.push_str(&format!("\n[Command finished with exit code {code}]"));
        }
        parts = vec![json!({ "type": "text", "text": shown })];
    }
    if observation["is_error"] == true {
        parts.insert(0, json!({ "type": "text", "text": FAILED }));
    }
    if let Some(picture) = non_empty_str(&observation["screenshot_data"]) {
        let url = format!("data:image/png;base64,{picture}");
        parts.push(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    parts
}
