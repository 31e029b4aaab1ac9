//! SWE-agent trajectories: the `history` that the model saw, with tool calls or with the older commands in plain text.

use epitome_session::{Block, Content, Message, Origin, Role};
use serde_json::Value;

use crate::json::value::{first_object, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::chat;
use crate::recording::session_builder::SessionBuilder;

/// The commands of the agent's own interface; everything else goes to the shell.
const COMMANDS: &[&str] = &[
    "open",
    "goto",
    "scroll_up",
    "scroll_down",
    "create",
    "edit",
    "insert",
    "submit",
    "search_dir",
    "search_file",
    "find_file",
    "str_replace_editor",
    "view",
];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    document["trajectory"].is_array()
        && first_object(&document["history"]).is_some_and(|message| message["role"].is_string())
}

pub(crate) fn read(probe: &Probe<'_>, _: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let document = &probe.document;
    let mut log = SessionBuilder::default();
    let mut task_given = false;
    let mut awaited = None; // the text command whose output comes next
    for message in items(&document["history"]) {
        match message["role"].as_str() {
            Some("user") => {
                let tool = awaited.take();
                let origin = match (&tool, task_given) {
                    _ if message["is_demo"] == Value::Bool(true) => Origin::Injected,
                    (Some(_), _) => Origin::ToolOutput,
                    (None, false) => Origin::Typed,
                    (None, true) => Origin::Injected, // the agent's complaint about an answer that it could not read
                };
                task_given |= origin == Origin::Typed;
                let mut user = chat::plain(message, Role::User, origin);
                user.name = tool.map(Into::into);
                log.push(user);
            }
            Some("assistant") => {
                let turn = assistant(&mut log, message);
                awaited = turn.text_calls.first().map(|call| call.name.to_string());
                if awaited.is_none() && turn.calls().next().is_none() {
                    let action = message["action"].as_str().unwrap_or("");
                    awaited = (!action.trim().is_empty()).then(|| command(action).to_owned());
                }
                log.push(turn);
            }
            _ => chat::push(&mut log, message),
        }
    }
    let name =
        non_empty_str(&document["instance_id"]).or_else(|| non_empty_str(&document["environment"])).unwrap_or("0");
    log.finish_alone(Format::SweAgent, name, "no element of `history` has a role and content")
}

/// The turn; a command in plain text is marked at its place in the text.
fn assistant(log: &mut SessionBuilder, message: &Value) -> Message {
    let mut turn = chat::assistant(log, message);
    let action = message["action"].as_str().unwrap_or("").trim();
    if action.is_empty() || turn.calls().next().is_some() {
        return turn;
    }
    // The thought comes first and may quote the command: the last place is the one that ran.
    let place = turn.blocks.iter().enumerate().rev().find_map(|(block, content)| match &content.content {
        Content::Text { text } => text.rfind(action).map(|start| (block, start)),
        _ => None,
    });
    if let Some((block, start)) = place {
        chat::mark_call(&mut turn, command(action), block, start..start + action.len());
    } else if turn.blocks.is_empty() {
        turn.blocks.push(Block::text(action));
        chat::mark_call(&mut turn, command(action), 0, 0..action.len());
    }
    turn
}

fn command(action: &str) -> &str {
    let first = action.split_whitespace().next().unwrap_or("");
    COMMANDS.iter().find(|command| **command == first).unwrap_or(&"bash")
}
