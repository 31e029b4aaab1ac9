//! Gemini CLI chats: one document, or in newer versions a line of metadata and a line per message; a call and its
//! result are one object. How the lines are read is as in `loadConversationRecord` of the client's
//! `chatRecordingService.ts`, 0.61.0.

use std::collections::{HashMap, HashSet};

use epitome_session::{Block, Dialect, Entry, EntryKey, Message, MessageId, Origin, Role, Trigger, Usage};
use serde_json::Value;

use crate::branches::Place;
use crate::gemini_cli::saved::{self, is_session_context};
use crate::gemini_cli::steps::{Step, Steps};
use crate::json::value::{arguments, items, non_empty_str, text_of};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Shape, Warning};
use crate::recording::content::{Payload, content, media, text, thinking};
use crate::recording::records::records;
use crate::recording::session_builder::{Answer, SessionBuilder, summary_message};
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let head = match &probe.shape {
        Shape::Document(_) => &probe.document,
        Shape::Lines(_) => probe.heads.first().unwrap_or(&Value::Null),
        Shape::Text(_) => return false,
    };
    head["sessionId"].is_string() && head["projectHash"].is_string() || saved::contents(head).is_some()
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    if let Some(contents) = saved::contents(&probe.document) {
        return saved::read(contents);
    }
    let mut steps = Steps::default();
    let mut chat = Chat::default();
    for record in records(probe, warnings) {
        if let Some(id) = non_empty_str(&record["sessionId"]) {
            chat.log.session.id = Some(id.into());
        }
        items(&record["messages"]).iter().for_each(|one| steps.message(one));
        let history = &record["$set"]["messages"];
        if history.is_array() {
            steps.history(history);
        } else if let Some(id) = non_empty_str(&record["$rewindTo"]) {
            steps.rewind(id);
        } else {
            steps.message(&record);
        }
    }
    for step in steps.finish() {
        match step {
            Step::Message(message) => chat.message(&message),
            Step::History(messages) => chat.history(items(&messages)),
            Step::Rewind(id) => chat.log.move_to(chat.fronts.get(&id).copied().flatten()),
        }
    }
    let log = chat.log;
    let name = log.session.id.as_deref().unwrap_or("0").to_owned();
    log.finish_alone(Format::GeminiCli, name, "no element of `messages` is a `user` or `gemini` message with content")
}

#[derive(Default)]
struct Chat {
    log: SessionBuilder,
    /// The message of each call.
    calls: HashMap<String, String>,
    /// The calls that were answered: newer versions write a result once more, as a message of the user's.
    answered: HashSet<String>,
    /// The messages of the texts that stand at the beginning.
    texts: HashMap<String, String>,
    /// The messages that were written again under another id, as happens to all when old results are hidden.
    again: HashMap<String, Vec<String>>,
    /// What stands in front of each message.
    fronts: HashMap<String, Option<Place>>,
}

impl Chat {
    fn message(&mut self, message: &Value) {
        self.fronts.insert(id(message).to_owned(), self.log.tip());
        match message["type"].as_str() {
            Some("user") => self.user(message),
            Some("gemini") => self.model(message),
            _ => {}
        }
    }

    fn user(&mut self, message: &Value) {
        let said: Vec<&str> = items(&message["content"]).iter().filter_map(|part| part["text"].as_str()).collect();
        if said.len() > 1 && is_session_context(said[0]) {
            // The context of the session and the first prompt are messages of their own, and one when written again.
            let known = said.iter().map(|text| self.texts.get(*text).cloned()).collect::<Option<Vec<String>>>();
            if let Some(known) = known {
                self.again.insert(id(message).to_owned(), known);
                return;
            }
        }
        if self.calls.is_empty() {
            self.texts.extend(said.iter().map(|text| ((*text).to_owned(), id(message).to_owned())));
        }
        for response in responses(&message["content"]) {
            let call_id = response["id"].as_str().unwrap_or("");
            if call_id.is_empty() || !self.answered.contains(call_id) {
                let (text, is_error) = shown_response(&response["response"]);
                let payload = Payload { text, attachments: Vec::new() };
                let answer = Answer { call_id, name: response["name"].as_str(), payload, is_error };
                let result = self.log.answer("", answer, time::of_value(&message["timestamp"]));
                self.log.push(result);
                self.answered.insert(call_id.to_owned());
            }
        }
        let mut user = Message::new(id(message), Role::User, Origin::Typed, parts(&message["content"]));
        if is_session_context(&user.plain_text()) {
            user.origin = Origin::Injected;
        }
        user.timestamp = time::of_value(&message["timestamp"]);
        self.log.push(user);
    }

    fn model(&mut self, message: &Value) {
        let content = &message["content"];
        let calls = items(&message["toolCalls"]);
        // What is written again has its calls in the content.
        let in_content = || items(content).iter().map(|part| &part["functionCall"]).filter(|call| call.is_object());
        let known =
            in_content().map(|call| self.calls.get(call["id"].as_str()?).cloned()).collect::<Option<Vec<String>>>();
        if let Some(known) = known.filter(|known| calls.is_empty() && !known.is_empty()) {
            self.again.insert(id(message).to_owned(), known);
            return;
        }
        let has_thoughts = items(content).iter().any(|part| part["thought"] == true);
        let mut blocks = Vec::new();
        for thought in items(&message["thoughts"]).iter().filter(|_| !has_thoughts) {
            let (subject, description) = (text_of(&thought["subject"]), text_of(&thought["description"]));
            let separator = if subject.is_empty() || description.is_empty() { "" } else { ": " };
            blocks.extend(thinking(&format!("{subject}{separator}{description}"), thought["signature"].as_str()));
        }
        blocks.extend(parts(content));
        let is_known = |call: &&Value| calls.iter().any(|known| known["id"] == call["id"]);
        for call in calls.iter().chain(in_content().filter(|call| !is_known(call))) {
            let (call_id, name) = (call["id"].as_str().unwrap_or(""), call["name"].as_str().unwrap_or(""));
            blocks.push(self.log.call(call_id, name, arguments(&call["args"])));
            if !call_id.is_empty() {
                self.calls.insert(call_id.to_owned(), id(message).to_owned());
            }
        }
        let mut turn = Message::new(id(message), Role::Assistant, Origin::Model, blocks);
        turn.timestamp = time::of_value(&message["timestamp"]);
        turn.usage = usage(&message["tokens"]);
        self.log.push(turn);
        for call in calls {
            if result(&mut self.log, call) {
                self.answered.insert(call["id"].as_str().unwrap_or("").to_owned());
            }
        }
    }

    /// The client replaced its whole history: it began, compressed what was said, hid old results, or resumed a session.
    /// What it names by its id stays, and what it says again under another; the rest of the replacement stands for what left.
    fn history(&mut self, messages: &[Value]) {
        if self.log.session.view().is_empty() {
            messages.iter().for_each(|message| self.message(message));
            return;
        }
        self.log.advance();
        self.recognise(messages);
        let named = messages.iter().map(id).filter(|id| !id.is_empty());
        let kept: HashSet<&str> = named
            .flat_map(|id| std::iter::once(id).chain(self.again.get(id).into_iter().flatten().map(String::as_str)))
            .collect();
        let known: HashSet<String> =
            self.log.session.view().iter().map(|entry| entry.message.id.as_str().to_owned()).collect();
        let new =
            messages.iter().filter(|message| !known.contains(id(message)) && !self.again.contains_key(id(message)));
        let new = new.map(|message| (message, join_texts(&message["content"])));
        let front = new.filter(|(_, text)| !text.is_empty() && !is_session_context(text)).map(|(message, text)| {
            match message["type"] == "gemini" {
                // The model takes note of the summary.
                true => Message::text("", Role::Assistant, Origin::Model, &*text),
                false => summary_message("", &text, None),
            }
        });
        let front: Vec<Message> = front.collect();
        let leaves: HashSet<EntryKey> = self
            .log
            .session
            .view()
            .iter()
            .filter(|entry| entry.message.role != Role::System)
            .filter(|entry| !kept.contains(entry.message.id.as_str()) && !kept.contains(self.owner(entry)))
            .map(|entry| entry.key)
            .collect();
        self.log.compact_again(Trigger::Recorded, |entry| leaves.contains(&entry.key), front, Vec::new(), None);
        self.hide(messages);
        self.bring_forward(messages);
    }

    /// Recognises what a history says again under another id, as a compression has it of the messages that stay: calls and
    /// results by the call, texts by their words, from the newest on.
    fn recognise(&mut self, messages: &[Value]) {
        let view = self.log.session.view();
        let mut places: HashMap<(Role, String), Vec<usize>> = HashMap::new();
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        for (place, entry) in view.iter().enumerate() {
            places.entry((entry.message.role, entry.message.plain_text())).or_default().push(place);
            by_id.insert(entry.message.id.as_str(), place);
        }
        let mut end = view.len();
        for message in messages.iter().rev() {
            if let Some(place) = by_id.get(id(message)) {
                end = *place;
                continue;
            }
            let parts = items(&message["content"]).iter();
            let calls = parts.flat_map(|part| [&part["functionCall"], &part["functionResponse"]]);
            let calls: Vec<&str> = calls.filter_map(|call| call["id"].as_str()).collect();
            let text = join_texts(&message["content"]);
            let known = match calls.is_empty() {
                false => calls.iter().map(|call| self.calls.get(*call).cloned()).collect(),
                true if text.is_empty() => None,
                true => {
                    let role = if message["type"] == "gemini" { Role::Assistant } else { Role::User };
                    // What lies behind the end is not looked at again.
                    let place = places.get_mut(&(role, text)).and_then(|found| {
                        found.truncate(found.partition_point(|place| *place < end));
                        found.pop()
                    });
                    end = place.unwrap_or(end);
                    place.map(|place| vec![view[place].message.id.as_str().to_owned()])
                }
            };
            if let Some(known) = known {
                self.again.entry(id(message).to_owned()).or_insert(known);
            }
        }
    }

    /// A way back to a message of a history leaves what the history has in front of it.
    fn bring_forward(&mut self, messages: &[Value]) {
        let mut kept: HashMap<String, Vec<MessageId>> = HashMap::new();
        for entry in self.log.session.view() {
            if matches!(entry.key, EntryKey::Log(_)) {
                kept.entry(self.owner(entry).to_owned()).or_default().push(entry.message.id.clone());
            }
        }
        for (number, message) in messages.iter().enumerate() {
            let own = id(message).to_owned();
            self.fronts.insert(own.clone(), self.log.tip().filter(|_| number > 0));
            for name in self.again.get(&own).unwrap_or(&vec![own]) {
                kept.remove(name).into_iter().flatten().for_each(|id| self.log.bring_forward(id));
            }
        }
    }

    /// The message that has an entry of the log: a result is written with its call.
    fn owner<'a>(&'a self, entry: &'a Entry) -> &'a str {
        call_of(entry).and_then(|call| self.calls.get(call)).map_or(entry.message.id.as_str(), String::as_str)
    }

    /// Results of calls that the history has in other words from here on.
    fn hide(&mut self, messages: &[Value]) {
        let now: HashMap<&str, String> = messages
            .iter()
            .flat_map(|message| responses(&message["content"]))
            .filter_map(|response| Some((response["id"].as_str()?, shown_response(&response["response"]).0)))
            .collect();
        let changed: Vec<(EntryKey, String)> = self
            .log
            .session
            .view()
            .iter()
            .filter_map(|entry| {
                let result = entry.message.blocks.first()?.as_result()?;
                let text = now.get(&*result.call_id).filter(|text| text.contains(HIDDEN) && ***text != *result.text)?;
                Some((entry.key, text.clone()))
            })
            .collect();
        self.log.clear_results_with(&changed);
    }
}

/// What stands at the beginning of a result that the client hides from its model.
const HIDDEN: &str = "<tool_output_masked>";

/// The call that an entry answers.
fn call_of(entry: &Entry) -> Option<&str> {
    Some(&entry.message.blocks.first()?.as_result()?.call_id)
}

/// The results of calls in a message's content.
fn responses(content: &Value) -> impl Iterator<Item = &Value> {
    items(content).iter().map(|part| &part["functionResponse"]).filter(|response| response.is_object())
}

/// A result as the model sees it, and whether it is an error.
fn shown_response(response: &Value) -> (String, bool) {
    let (error, output) = (&response["error"], &response["output"]);
    match (error.is_null(), output.is_null()) {
        (false, _) => (text_of(error), true),
        (true, false) => (text_of(output), false),
        (true, true) => (text_of(response), false),
    }
}

/// Appends the result of a call; whether it has one.
fn result(log: &mut SessionBuilder, call: &Value) -> bool {
    let mut is_error = matches!(call["status"].as_str(), Some("error" | "cancelled"));
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    let recorded =
        if call["result"].is_array() { items(&call["result"]) } else { std::slice::from_ref(&call["result"]) };
    for part in recorded {
        let response = &part["functionResponse"]["response"];
        if let Some(media) = media(part) {
            attachments.push(media);
        } else if response["error"].is_null() {
            let shown_part =
                [&response["output"], response, &part["text"], part].into_iter().find(|one| !one.is_null());
            texts.extend(shown_part.map(text_of));
        } else {
            is_error = true;
            texts.push(text_of(&response["error"]));
        }
    }
    if texts.is_empty() && attachments.is_empty() {
        match non_empty_str(&call["resultDisplay"]) {
            Some(display) => texts.push(display.to_owned()),
            None => return false, // never answered
        }
    }
    let answer = Answer {
        call_id: call["id"].as_str().unwrap_or(""),
        name: call["name"].as_str(),
        payload: Payload { text: texts.join("\n"), attachments },
        is_error,
    };
    let message = log.answer("", answer, time::of_value(&call["timestamp"]));
    log.push(message);
    true
}

fn join_texts(value: &Value) -> String {
    Message::new("", Role::User, Origin::Injected, parts(value)).plain_text()
}

/// Gemini's parts have no type: the present field shows it.
fn parts(value: &Value) -> Vec<Block> {
    match value {
        Value::Array(parts) => parts
            .iter()
            // Calls and their results are read on their own.
            .filter(|part| !part["functionCall"].is_object() && !part["functionResponse"].is_object())
            .filter_map(|part| match part["thought"] {
                Value::Bool(true) => thinking(part["text"].as_str().unwrap_or(""), part["thoughtSignature"].as_str()),
                _ => crate::recording::content::block(part, Dialect::OpenaiChat),
            })
            .collect(),
        Value::String(plain) => text(plain).into_iter().collect(),
        other => content(other, Dialect::OpenaiChat),
    }
}

fn id(message: &Value) -> &str {
    message["id"].as_str().unwrap_or("")
}

fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    Some(Usage {
        input: tokens["input"].as_u64()?,
        cache_read: count(&tokens["cached"]),
        cache_write: 0,
        output: count(&tokens["output"]).saturating_add(count(&tokens["thoughts"])),
    })
}
