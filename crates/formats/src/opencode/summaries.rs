//! OpenCode's compactions. A user's message with a `compaction` part asks for a summary, and names the message from which on the
//! conversation stays (`tail_start_id`). The model sees the request and the summary in front of that tail; an earlier request and
//! its summary are a part of the tail where they were made in it, and so is a request whose summary failed (`filterCompacted` and
//! `toModelMessages` of `session/message-v2.ts`, 1.18.33).

use std::collections::HashMap;

use epitome_session::{Entry, EntryKey, Message, Origin, Role, Trigger};
use serde_json::Value;

use crate::json::value::{items, non_empty_str};
use crate::opencode::parts::usage;
use crate::recording::session_builder::{SessionBuilder, summary_message};

/// How OpenCode words the request to the model.
const REQUEST: &str = "What did we do so far?";

/// The requests for summaries, and what came of them.
#[derive(Default)]
pub(super) struct Summaries {
    /// Requests without a summary yet, by their messages' ids: their message, and the id of the first message that stays.
    requests: HashMap<String, (Message, Option<String>)>,
    /// What each compaction put in front of its tail, and the number of messages in the log by then.
    made: Vec<(u32, Message)>,
}

impl Summaries {
    /// A user's message asks for a summary with its part `part`.
    pub(super) fn ask(&mut self, id: &str, part: &Value, created: Option<i64>) {
        let mut message = Message::text(id, Role::User, Origin::Injected, REQUEST);
        message.timestamp = created;
        self.requests.insert(id.to_owned(), (message, non_empty_str(&part["tail_start_id"]).map(str::to_owned)));
    }

    /// A summary takes the place of everything in front of the tail. `first_of` gives the first entry of a message.
    pub(super) fn summarise(
        &mut self,
        answer: &Value,
        created: Option<i64>,
        first_of: &HashMap<String, EntryKey>,
        log: &mut SessionBuilder,
    ) {
        let info = &answer["info"];
        let parts = items(&answer["parts"]).iter().filter(|part| part["type"] == "text");
        let texts: Vec<&str> = parts.filter_map(|part| non_empty_str(&part["text"])).collect();
        let request = info["parentID"].as_str().and_then(|id| self.requests.remove(id));
        if texts.is_empty() || !info["error"].is_null() {
            // The context stays as it was, and the request in it.
            request.and_then(|(message, _)| log.push(message));
            return;
        }
        let (request, tail) = request.unzip();
        let tail = tail.flatten().and_then(|id| first_of.get(&id));
        let tail = tail.and_then(|tail| log.session.view().iter().find(|entry| entry.key == *tail));
        let tail = tail.map(|entry| (entry.key, entry.position));
        let is_in_tail = |length: u32| matches!(tail, Some((EntryKey::Log(first), _)) if length > first);
        let earlier = self.made.iter().filter(|(length, _)| is_in_tail(*length)).cloned().collect();
        let summary = summary_message(info["id"].as_str().unwrap_or(""), &texts.join("\n"), created);
        let front: Vec<Message> = request.into_iter().chain([summary]).collect();
        let length = log.session.log().len() as u32;
        self.made.extend(front.iter().map(|message| (length, message.clone())));
        let before = usage(&info["tokens"]).and_then(|usage| u32::try_from(usage.input).ok());
        let leaves = |entry: &Entry| {
            entry.message.role != Role::System && tail.is_none_or(|(_, position)| entry.position < position)
        };
        log.compact_again(Trigger::Recorded, leaves, front, earlier, before);
    }
}
