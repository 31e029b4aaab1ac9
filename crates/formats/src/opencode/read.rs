//! OpenCode exports: one document; a call and its result are one part. What was taken back is as in `cleanup` of
//! `session/revert.ts` (1.18.33).

use std::collections::{BTreeMap, HashMap};

use epitome_session::speaker::RejectionForm;
use epitome_session::{Block, Content, EntryKey, Message, Origin, Role};
use serde_json::Value;

use crate::json::value::{arguments, first_object, items, non_empty_str, text_of};
use crate::opencode::parts::{file, signature, usage};
use crate::opencode::summaries::Summaries;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::content::{Payload, text, thinking};
use crate::recording::session_builder::{Answer, SessionBuilder};
use crate::time;

/// The text that OpenCode sends in place of an output that it has pruned.
const CLEARED: &str = "[Old tool result content cleared]";
/// The text that OpenCode sends for a command that the user ran as a sub-task.
const SUBTASK: &str = "The following tool was executed by the user";

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    document["info"].is_object()
        && first_object(&document["messages"])
            .is_some_and(|message| message["info"].is_object() && message["parts"].is_array())
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let document = &probe.document;
    let id = document["info"]["id"].as_str().unwrap_or("");
    let mut reading = OpenCodeReader { log: SessionBuilder::new(id), ..OpenCodeReader::default() };
    let messages = items(&document["messages"]);
    // A person took back what stands from a message or one of its parts on; the next prompt removes it.
    let revert = &document["info"]["revert"];
    let named = revert["messageID"].as_str();
    let reverted = named.and_then(|id| messages.iter().position(|message| message["info"]["id"] == id));
    if let (None, Some(id)) = (reverted, named) {
        let message =
            format!("nothing was taken back: `info.revert` names the message `{id}`, which is not in the file");
        warnings.push(Warning { line: None, message });
    }
    let (before, from) = messages.split_at(reverted.unwrap_or(messages.len()));
    before.iter().for_each(|message| reading.message(message));
    let first = from.first().and_then(|message| halves(message, &revert["partID"]));
    if let Some((kept, _)) = &first {
        reading.message(kept);
    }
    let place = reading.log.tip();
    match &first {
        Some((_, taken)) => reading.message(taken),
        None => from.first().into_iter().for_each(|message| reading.message(message)),
    }
    from.iter().skip(1).for_each(|message| reading.message(message));
    reading.prune(i64::MAX);
    if reverted.is_some() {
        reading.log.move_to(place);
    }
    let name = if id.is_empty() { "0" } else { id };
    reading.log.finish_alone(Format::Opencode, name, "no element of `messages` has readable `parts`")
}

/// A message up to its part `part`, and from there on; without a part of this id all of it stays.
fn halves(message: &Value, part: &Value) -> Option<(Value, Value)> {
    let (part, parts) = (part.as_str()?, items(&message["parts"]));
    let at = parts.iter().position(|other| other["id"] == part).unwrap_or(parts.len());
    let half = |parts: &[Value]| serde_json::json!({ "info": message["info"], "parts": parts });
    Some((half(&parts[..at]), half(&parts[at..])))
}

#[derive(Default)]
struct OpenCodeReader {
    log: SessionBuilder,
    /// Tool results whose output OpenCode dropped, by the time at which it did.
    pruned: BTreeMap<i64, Vec<EntryKey>>,
    /// The first entry of each message, by the message's id.
    first_of: HashMap<String, EntryKey>,
    summaries: Summaries,
}

impl OpenCodeReader {
    fn message(&mut self, message: &Value) {
        let info = &message["info"];
        let created = time::of_value(&info["time"]["created"]);
        if let Some(created) = created {
            self.prune(created);
        }
        self.log.advance();
        let before = self.log.session.log().len() as u32;
        match info["role"].as_str() {
            Some("user") => self.user(message, created),
            Some("assistant") if info["summary"] == Value::Bool(true) => {
                self.summaries.summarise(message, created, &self.first_of, &mut self.log);
            }
            Some("assistant") => self.assistant(message, created),
            _ => {}
        }
        if let Some(id) = non_empty_str(&info["id"])
            && before < self.log.session.log().len() as u32
        {
            self.first_of.entry(id.to_owned()).or_insert(EntryKey::Log(before));
        }
    }

    /// Clears the results that were dropped up to `until`.
    fn prune(&mut self, until: i64) {
        let later = self.pruned.split_off(&until.saturating_add(1));
        let due = std::mem::replace(&mut self.pruned, later).into_values().flatten().collect::<Vec<EntryKey>>();
        self.log.clear_results(&due, CLEARED);
    }

    fn user(&mut self, message: &Value, created: Option<i64>) {
        // The parts that OpenCode adds to a typed message (the files that it names, notices) become a message of their
        // own behind it.
        let (mut typed, mut added, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for part in items(&message["parts"]) {
            match part["type"].as_str() {
                Some("text") if part["ignored"] != Value::Bool(true) => {
                    let is_added = part["synthetic"] == Value::Bool(true);
                    let blocks = if is_added { &mut added } else { &mut typed };
                    blocks.extend(text(part["text"].as_str().unwrap_or("")));
                }
                Some("file") => files.extend(file(part).map(|media| Block::new(Content::Media(media)))),
                Some("subtask") => added.push(Block::text(SUBTASK)),
                Some("compaction") => self.summaries.ask(message["info"]["id"].as_str().unwrap_or(""), part, created),
                _ => {}
            }
        }
        if typed.is_empty() { &mut added } else { &mut typed }.append(&mut files);
        for (origin, blocks) in [(Origin::Typed, typed), (Origin::Injected, added)] {
            if !blocks.is_empty() {
                let id = message["info"]["id"].as_str().unwrap_or("");
                let mut user = Message::new(id, Role::User, origin, blocks);
                user.timestamp = created;
                self.log.push(user);
            }
        }
    }

    fn assistant(&mut self, message: &Value, created: Option<i64>) {
        let info = &message["info"];
        // An answer that failed is not sent, unless the person stopped it when it had begun (`toModelMessages`).
        let has_begun = |part: &Value| !matches!(part["type"].as_str(), Some("step-start" | "reasoning"));
        let is_stopped =
            info["error"]["name"] == "MessageAbortedError" && items(&message["parts"]).iter().any(has_begun);
        if !info["error"].is_null() && !is_stopped {
            return;
        }
        let mut step = Step::default();
        for part in items(&message["parts"]) {
            match part["type"].as_str() {
                // An older export keeps several requests in one message.
                Some("step-start") => self.step(std::mem::take(&mut step), info, created),
                Some("text") => step.texts.extend(text(part["text"].as_str().unwrap_or(""))),
                Some("reasoning") => {
                    let signature = signature(&part["metadata"]);
                    step.thinking.extend(thinking(part["text"].as_str().unwrap_or(""), signature));
                }
                Some("file") => step.texts.extend(file(part).map(|media| Block::new(Content::Media(media)))),
                Some("tool") => step.tools.push(part),
                _ => {}
            }
        }
        self.step(step, info, created);
    }

    /// One request's answer: the turn, then the results of its calls.
    fn step(&mut self, step: Step<'_>, info: &Value, created: Option<i64>) {
        let id = info["id"].as_str().unwrap_or("");
        let mut blocks = step.thinking;
        blocks.extend(step.texts);
        for tool in &step.tools {
            let (id, name) = (tool["callID"].as_str().unwrap_or(""), tool["tool"].as_str().unwrap_or(""));
            blocks.push(self.log.call(id, name, arguments(&tool["state"]["input"])));
        }
        let mut turn = Message::new(id, Role::Assistant, Origin::Model, blocks);
        turn.timestamp = created;
        turn.usage = usage(&info["tokens"]);
        self.log.push(turn);
        for tool in step.tools {
            self.result(tool);
        }
    }

    fn result(&mut self, tool: &Value) {
        let state = &tool["state"];
        let (output, is_error) = match state["status"].as_str() {
            Some("completed") => (&state["output"], false),
            // What a stopped tool had printed.
            Some("error") if state["metadata"]["interrupted"] == true && state["metadata"]["output"].is_string() => {
                (&state["metadata"]["output"], false)
            }
            Some("error") => (&state["error"], true),
            _ => return, // still running when the session was exported
        };
        let attachments = items(&state["attachments"]).iter().filter_map(file).collect();
        let answer = Answer {
            call_id: tool["callID"].as_str().unwrap_or(""),
            name: tool["tool"].as_str(),
            payload: Payload { text: text_of(output), attachments },
            is_error,
        };
        let mut message =
            self.log.answer(tool["id"].as_str().unwrap_or(""), answer, time::of_value(&state["time"]["end"]));
        // What a person answered stands beside the text, as what the tool gave; a call is refused before the tool runs.
        let is_own = tool["tool"].as_str().is_some_and(|name| RejectionForm::OPENCODE.is_of(name));
        if is_error {
            let said = state["error"].as_str().filter(|_| is_own).and_then(|text| RejectionForm::OPENCODE.words(text));
            let said = said.map(|range| vec![range.into()]).unwrap_or_default();
            message.blocks.iter_mut().for_each(|block| block.typed = Some(said.clone()));
        } else if !state["metadata"]["answers"].is_array() {
            message.blocks.iter_mut().for_each(|block| block.typed = Some(Vec::new()));
        }
        let key = self.log.push(message);
        if let (Some(key), Some(time)) = (key, time::of_value(&state["time"]["compacted"])) {
            self.pruned.entry(time).or_default().push(key);
        }
    }
}

#[derive(Default)]
struct Step<'a> {
    thinking: Vec<Block>,
    texts: Vec<Block>,
    tools: Vec<&'a Value>,
}
