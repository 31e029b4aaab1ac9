//! Evaluation harnesses that record the messages of OpenAI chat: tau-bench, Spider2, WebDancer. Each run is read as a
//! request, by the reader of that format.

use epitome::Session;
use epitome::formats::{Format, ReadOptions, read};
use serde_json::{Value, json};

use super::turns::{Named, first_object, id, items, list, str_of};

/// A harness: its recognition and the fields of a run.
struct Harness {
    messages: &'static str,
    fits: fn(&Value) -> bool,
    name: fn(&Value) -> String,
}

const HARNESSES: &[Harness] = &[
    Harness {
        messages: "traj",
        fits: |run| !run["task_id"].is_null(),
        name: |run| format!("task{}_trial{}", id(&run["task_id"]), id(&run["trial"])),
    },
    Harness {
        messages: "conversation",
        fits: |run| run["instance_id"].is_string(),
        name: |run| str_of(&run["instance_id"]).to_owned(),
    },
    Harness { messages: "messages", fits: |run| run["type"] == "chatml", name: |_| String::new() },
];

/// The harness of a file's first run.
fn harness(document: &Value) -> Option<&'static Harness> {
    let first = list(document).iter().take(9).find(|run| run.is_object())?;
    let has_roles = |list: &Value| first_object(list).is_some_and(|message| message["role"].is_string());
    HARNESSES.iter().find(|harness| (harness.fits)(first) && has_roles(&first[harness.messages]))
}

pub(super) fn fits(document: &Value) -> bool {
    harness(document).is_some()
}

pub(super) fn read_runs(document: &Value) -> Vec<Named> {
    let Some(harness) = harness(document) else { return Vec::new() };
    let read_one = |(number, run): (usize, &Value)| {
        let name = (harness.name)(run);
        let name = if name.is_empty() { number.to_string() } else { name };
        let mut session = of_run(run, harness.messages).unwrap_or_default();
        session.id = Some(name.as_str().into());
        (name, session)
    };
    list(document).iter().enumerate().map(read_one).collect()
}

/// The session of a run; none where it holds no message that can be read.
fn of_run(run: &Value, messages: &str) -> Option<Session> {
    let roles = ["system", "developer", "user", "assistant", "tool", "function"];
    let known = items(&run[messages]).iter().filter(|message| roles.contains(&str_of(&message["role"])));
    let messages: Vec<Value> = known.map(with_functions).collect();
    let mut request = json!({ "messages": messages });
    if !items(&run["functions"]).is_empty() {
        request["tools"] = run["functions"].clone();
    }
    let options = ReadOptions { format: Some(Format::OpenaiChat), ..ReadOptions::default() };
    let loaded = read(request.to_string().into_bytes(), options).ok()?;
    let mut session = Session::new();
    session.tools = loaded.sessions[0].session.tools.clone();
    // What is not written back has no records.
    for message in loaded.sessions[0].session.log().iter().filter(|message| !message.blocks.is_empty()) {
        session.push(epitome::session::Message { records: Vec::new(), ..(**message).clone() });
    }
    Some(session)
}

/// The message with its calls in the shape that requests have: Spider2 writes name and arguments without `function`.
fn with_functions(message: &Value) -> Value {
    let mut message = message.clone();
    for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
        if call["function"].is_null() {
            let arguments = match &call["arguments"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let function = json!({ "name": call["name"], "arguments": arguments });
            *call = json!({ "id": id(&call["id"]), "type": "function", "function": function });
        }
    }
    message
}
