//! OpenHands: output lines of an evaluation with one instance each, a bare list of events, a document with its `events`, or a
//! line per event.

use std::collections::{HashMap, HashSet};

use epitome_session::{Block, Content, EntryKey, Message, Origin, Role, Trigger};
use serde_json::{Map, Value};

use crate::json::value::{arguments, first_object, id, items, non_empty_str, text_of};
use crate::openhands::v1::{self, whole_steps};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::chat;
use crate::recording::content::{Payload, from_url, text};
use crate::recording::records::{first_record, records};
use crate::recording::session_builder::{Answer, SessionBuilder, gather, summary_message};
use crate::time;

/// Bookkeeping among the events.
const SILENT: &[&str] = &["change_agent_state", "agent_state_changed", "null"];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let is_event = |event: &Value| {
        event["source"].is_string() && (event["action"].is_string() || event["observation"].is_string())
    };
    let is_events = |list: &Value| {
        let first = first_object(list).or_else(|| items(list).first().and_then(first_object));
        first.is_some_and(is_event) || items(list).iter().take(8).any(v1::fits)
    };
    is_events(&probe.document)
        || first_record(probe)
            .is_some_and(|record| is_events(&record["history"]) || is_events(&record["events"]) || v1::fits(record))
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    if probe.document.is_array() {
        return gather(Format::OpenHands, [("0".to_owned(), events(&probe.document).finish("0"))], warnings);
    }
    if first_record(probe).is_some_and(v1::fits) {
        let list = Value::Array(records(probe, warnings).map(std::borrow::Cow::into_owned).collect());
        return gather(Format::OpenHands, [("0".to_owned(), events(&list).finish("0"))], warnings);
    }
    let mut sessions = Vec::new();
    for (number, record) in records(probe, warnings).enumerate() {
        let name = non_empty_str(&record["instance_id"]).map_or_else(|| number.to_string(), str::to_owned);
        let history = if record["history"].is_array() { &record["history"] } else { &record["events"] };
        let session = events(history).finish(name.clone());
        sessions.push((name, session));
    }
    gather(Format::OpenHands, sessions, warnings)
}

fn events(history: &Value) -> SessionBuilder {
    // The oldest versions keep pairs of action and observation.
    let events = || {
        items(history).iter().flat_map(|event| match event {
            Value::Array(pair) => pair.as_slice(),
            other => std::slice::from_ref(other),
        })
    };
    if events().any(v1::fits) {
        return v1::read(events());
    }
    let acted = events().filter(|event| event["action"].is_string()).filter_map(tool_call_id).collect();
    let mut reading =
        OpenHandsReader { log: SessionBuilder::default(), acted, entries: HashMap::new(), responses: HashMap::new() };
    for event in events() {
        reading.event(event);
    }
    reading.log
}

struct OpenHandsReader<'a> {
    log: SessionBuilder,
    /// Calls that were carried out: the others of a response were dropped before the model saw them again.
    acted: HashSet<&'a str>,
    /// The entries by the id of the event that they were read from.
    entries: HashMap<String, EntryKey>,
    /// The entries by the id of the model's response: actions of one response are one turn.
    responses: HashMap<&'a str, Option<EntryKey>>,
}

impl<'a> OpenHandsReader<'a> {
    fn event(&mut self, event: &'a Value) {
        let key = match (event["action"].as_str(), event["observation"].as_str()) {
            (Some(kind), _) | (None, Some(kind)) if SILENT.contains(&kind) => None,
            (Some("recall"), _) => None,
            (None, Some("recall")) => self.recall(event),
            (Some("condensation"), _) => {
                self.condensation(event);
                None
            }
            (Some(action), _) => self.action(event, action),
            (None, Some(kind)) => self.observation(event, kind),
            (None, None) => None,
        };
        if let Some(key) = key {
            self.entries.insert(id(&event["id"]), key);
        }
    }

    /// What the agent's memory adds: the repository's rules, and what it knows by a key word; in the words of its templates
    /// (`prompts/additional_info.j2`, `microagent_info.j2`).
    fn recall(&mut self, event: &'a Value) -> Option<EntryKey> {
        let extras = &event["extras"];
        let element = |name: &str, text: &str| format!("<{name}>\n{}\n</{name}>", text.trim());
        let of_field = |(field, name): (&str, &str)| Some(element(name, non_empty_str(&extras[field])?));
        let fields = [
            ("repo_instructions", "REPOSITORY_INSTRUCTIONS"),
            ("additional_agent_instructions", "CONVERSATION_INSTRUCTIONS"),
        ];
        let knowledge = items(&extras["microagent_knowledge"]).iter().filter_map(|known| {
            let trigger = known["trigger"].as_str().unwrap_or("");
            let lead =
                format!("The following information has been included based on a keyword match for \"{trigger}\".");
            Some(element("EXTRA_INFO", &format!("{lead}\n\n{}", non_empty_str(&known["content"])?)))
        });
        let texts: Vec<String> = fields.into_iter().filter_map(of_field).chain(knowledge).collect();
        if texts.is_empty() {
            return None;
        }
        let block = Block::text(texts.join("\n\n")).as_instructions();
        let mut message = Message::new(id(&event["id"]), Role::User, Origin::Injected, vec![block]);
        message.timestamp = time::of_value(&event["timestamp"]);
        self.log.push(message)
    }

    fn action(&mut self, event: &'a Value, action: &str) -> Option<EntryKey> {
        let args = &event["args"];
        let said = args["content"].as_str().unwrap_or("");
        let mut message = match (action, event["source"].as_str()) {
            ("system", _) => {
                if args["tools"].is_array() {
                    self.log.session.tools = Some(args["tools"].to_string().into());
                }
                Message::new("", Role::System, Origin::Instructions, text(said).into_iter().collect())
            }
            ("message", Some("user")) => {
                let mut blocks: Vec<Block> = text(said).into_iter().collect();
                let images = items(&args["image_urls"]).iter();
                blocks.extend(images.map(|url| Block::new(Content::Media(from_url(url.as_str(), None)))));
                Message::new("", Role::User, Origin::Typed, blocks)
            }
            ("message", _) => Message::new("", Role::Assistant, Origin::Model, text(said).into_iter().collect()),
            (_, Some("user")) => {
                // A command that the user ran in the agent's workspace.
                let command =
                    non_empty_str(&args["command"]).or_else(|| non_empty_str(&args["code"])).unwrap_or(action);
                Message::new("", Role::User, Origin::Injected, vec![Block::text(command)])
            }
            _ => return self.step(event, action),
        };
        message.id = epitome_session::MessageId::new(id(&event["id"]));
        message.timestamp = time::of_value(&event["timestamp"]);
        self.log.push(message)
    }

    /// An agent's action with a tool: its response's text and all its calls are one turn.
    fn step(&mut self, event: &'a Value, action: &str) -> Option<EntryKey> {
        let metadata = &event["tool_call_metadata"];
        let response = &metadata["model_response"];
        let response_id = non_empty_str(&response["id"]);
        if let Some(turn) = response_id.and_then(|id| self.responses.get(id)) {
            return *turn;
        }
        let answer = &response["choices"][0]["message"];
        let own_words = if action == "think" { "" } else { event["args"]["thought"].as_str().unwrap_or("") };
        let words = non_empty_str(&answer["content"]).unwrap_or(own_words);
        let mut blocks: Vec<Block> = text(words).into_iter().collect();
        for call in items(&answer["tool_calls"]) {
            if let (Some(id), Some(name)) = (non_empty_str(&call["id"]), call["function"]["name"].as_str())
                && self.acted.contains(id)
            {
                blocks.push(self.log.call(id, name, arguments(&call["function"]["arguments"])));
            }
        }
        if !blocks.iter().any(|block| block.as_call().is_some()) {
            let name = metadata["function_name"].as_str().unwrap_or(action);
            let made_up = format!("event-{}", id(&event["id"]));
            let call_id = tool_call_id(event).unwrap_or(&made_up);
            blocks.push(self.log.call(call_id, name, arguments(&own_arguments(&event["args"]))));
        }
        let mut turn = Message::new(id(&event["id"]), Role::Assistant, Origin::Model, blocks);
        turn.timestamp = time::of_value(&event["timestamp"]);
        turn.usage = chat::usage(&response["usage"]);
        let key = self.log.push(turn);
        if let Some(id) = response_id {
            self.responses.insert(id, key);
        }
        key
    }

    fn observation(&mut self, event: &'a Value, kind: &str) -> Option<EntryKey> {
        let at = time::of_value(&event["timestamp"]);
        let message_id = id(&event["id"]);
        let output = text_of(&event["content"]);
        let cause = format!("event-{}", id(&event["cause"]));
        let answers_call = tool_call_id(event).is_some() || self.is_made_up(event, &cause);
        if !answers_call {
            // A failure to read the model's answer, or the output of a user's command.
            let mut note =
                Message::new(message_id, Role::User, Origin::ToolOutput, text(&output).into_iter().collect());
            note.name = Some(kind.into());
            note.timestamp = at;
            return self.log.push(note);
        }
        let failed = event["success"] == Value::Bool(false) || kind == "error";
        let answer = Answer {
            call_id: tool_call_id(event).unwrap_or(&cause),
            name: event["tool_call_metadata"]["function_name"].as_str(),
            payload: Payload { text: output, attachments: Vec::new() },
            is_error: failed,
        };
        let message = self.log.answer(&message_id, answer, at);
        self.log.push(message)
    }

    /// Whether the event answers a call whose id was made up from its event's.
    fn is_made_up(&self, event: &Value, call_id: &str) -> bool {
        let Some(EntryKey::Log(index)) = self.entries.get(&id(&event["cause"])).copied() else { return false };
        let log = self.log.session.log();
        log.get(index as usize).is_some_and(|turn| turn.calls().any(|(_, call)| call.id.as_ref() == call_id))
    }

    /// The condenser's record: the events that left, and the summary that replaces them.
    fn condensation(&mut self, event: &Value) {
        let args = &event["args"];
        let mut forgotten: HashSet<EntryKey> = items(&args["forgotten_event_ids"])
            .iter()
            .filter_map(|event| self.entries.get(&id(event)))
            .copied()
            .collect();
        if let (Some(start), Some(end)) =
            (args["forgotten_events_start_id"].as_u64(), args["forgotten_events_end_id"].as_u64())
        {
            let within = |event: &str| event.parse::<u64>().is_ok_and(|number| (start..=end).contains(&number));
            forgotten.extend(self.entries.iter().filter(|(event, _)| within(event)).map(|(_, key)| *key));
        }
        let forgotten = whole_steps(self.log.session.view(), &forgotten);
        let summary = non_empty_str(&args["summary"])
            .map(|summary| summary_message(&id(&event["id"]), summary, time::of_value(&event["timestamp"])));
        self.log.compact(Trigger::Recorded, |entry| forgotten.contains(&entry.key), summary, None);
    }
}

fn tool_call_id(event: &Value) -> Option<&str> {
    non_empty_str(&event["tool_call_metadata"]["tool_call_id"])
}

/// The arguments of an action that no model's response was recorded for: its fields, without what the runtime added.
fn own_arguments(args: &Value) -> Value {
    let fields = args.as_object().into_iter().flatten();
    let meant = fields.filter(|(key, value)| {
        key.as_str() != "thought" && !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("")
    });
    Value::Object(meant.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}
