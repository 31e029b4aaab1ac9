//! LongMemEval in Honcho's test format: steps that add many chats to a memory, then ask.

use epitome::Session;
use serde_json::Value;

use super::turns::{Named, first_object, items, push, session, str_of, time, turn};
use super::{Question, distinct_turns};

pub(super) fn fits(document: &Value) -> bool {
    first_object(&document["steps"]).is_some_and(|step| step["step_type"].is_string())
}

/// All chats are one session, in order, and the question is its last message: the set asks about all of them at once.
pub(super) fn read(document: &Value) -> Vec<Named> {
    let mut log = session("");
    for step in items(&document["steps"]) {
        match str_of(&step["step_type"]) {
            "add_messages" => {
                let chat = str_of(&step["session_id"]);
                for (number, said) in items(&step["messages"]).iter().enumerate() {
                    push_message(&mut log, chat, number, said);
                }
            }
            "query" => push(&mut log, turn("", true, str_of(&step["input"]))),
            _ => {}
        }
    }
    vec![("0".to_owned(), log)]
}

/// The id names the chat: the set's evidence does too.
fn push_message(log: &mut Session, chat: &str, number: usize, said: &Value) {
    let id = if chat.is_empty() { String::new() } else { format!("{chat}:{number}") };
    let peer = str_of(&said["peer_id"]);
    let mut message = turn(id, peer != "assistant", str_of(&said["content"]));
    message.name = (!matches!(peer, "" | "user" | "assistant")).then(|| peer.into());
    message.timestamp = time(str_of(&said["created_at"]));
    push(log, message);
}

/// The questions. Chats whose name starts with `answer_` hold the evidence, and the user tells it there.
pub(super) fn questions(document: &Value, log: &Session) -> Vec<Question> {
    let told = log.log().iter().filter(|message| message.id.as_str().starts_with("answer_") && message.is_typed());
    let turns = distinct_turns(told.map(|message| message.id.as_str()));
    let of = |step: &Value| {
        let input = str_of(&step["input"]);
        let text = input.split_once("] ").map_or(input, |(_, question)| question);
        let prompt = str_of(&step["assertions"][0]["prompt"]);
        let expected = prompt.split_once("expected answer is: '").and_then(|(_, rest)| rest.split_once("'."));
        let answer = expected.map_or("", |(answer, _)| answer);
        Question { text: text.to_owned(), answer: answer.to_owned(), turns: turns.clone() }
    };
    items(&document["steps"]).iter().filter(|step| step["step_type"] == "query").map(of).collect()
}
