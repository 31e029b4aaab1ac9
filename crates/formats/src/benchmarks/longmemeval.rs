//! LongMemEval in Honcho's test format: steps that add many chats to a memory, then ask.

use serde_json::Value;

use super::sets::turn;
use crate::json::value::{first_object, items};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::session_builder::SessionBuilder;
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    first_object(&probe.document["steps"]).is_some_and(|step| step["step_type"].is_string())
}

/// All chats are one session, in order, and the question is its last message: the set asks about all of them at once.
pub(crate) fn read(probe: &Probe<'_>, _: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut log = SessionBuilder::default();
    for step in items(&probe.document["steps"]) {
        match step["step_type"].as_str() {
            Some("add_messages") => {
                let chat = step["session_id"].as_str().unwrap_or("");
                for (number, said) in items(&step["messages"]).iter().enumerate() {
                    message(&mut log, chat, number, said);
                }
            }
            Some("query") => {
                log.push(turn("", true, step["input"].as_str().unwrap_or("")));
            }
            _ => {}
        }
    }
    log.finish_alone(Format::LongMemEval, "0", "no `add_messages` step in `steps` has messages with content")
}

/// The id names the chat: the set's evidence does too.
fn message(log: &mut SessionBuilder, chat: &str, number: usize, said: &Value) {
    let id = if chat.is_empty() { String::new() } else { format!("{chat}:{number}") };
    let peer = said["peer_id"].as_str().unwrap_or("");
    let mut message = turn(id, peer != "assistant", said["content"].as_str().unwrap_or(""));
    message.name = (!matches!(peer, "" | "user" | "assistant")).then(|| peer.into());
    message.timestamp = time::of_value(&said["created_at"]);
    log.push(message);
}
