//! mini-swe-agent trajectories: chat messages whose one bash block is the call.

use std::ops::Range;

use epitome_session::{Content, Message, Origin, Role};
use serde_json::Value;

use crate::json::value::{items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::chat;
use crate::recording::session_builder::SessionBuilder;

const FENCES: &[&str] = &["```bash\n", "```mswea_bash_command\n"];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    document["trajectory_format"].as_str().is_some_and(|name| name.starts_with("mini-swe-agent"))
        && document["messages"].is_array()
}

pub(crate) fn read(probe: &Probe<'_>, _: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let document = &probe.document;
    let mut log = SessionBuilder::default();
    let (mut task_given, mut awaiting) = (false, false);
    for message in items(&document["messages"]) {
        match message["role"].as_str() {
            Some("user") => {
                // An answer with any other number of blocks is refused, and the reply is a notice of that.
                let origin = match (awaiting, task_given) {
                    (true, _) => Origin::ToolOutput,
                    (false, false) => Origin::Typed,
                    (false, true) => Origin::Injected,
                };
                (task_given, awaiting) = (true, false);
                let mut user = chat::plain(message, Role::User, origin);
                user.name = (origin == Origin::ToolOutput).then(|| "bash".into());
                log.push(user);
            }
            Some("assistant") => {
                let turn = assistant(&mut log, message);
                awaiting = turn.text_calls.len() == 1;
                log.push(turn);
            }
            _ => chat::push(&mut log, message),
        }
    }
    log.finish_alone(
        Format::MiniSweAgent,
        non_empty_str(&document["instance_id"]).unwrap_or("0"),
        "no element of `messages` has a role and content",
    )
}

fn assistant(log: &mut SessionBuilder, message: &Value) -> Message {
    let mut turn = chat::assistant(log, message);
    turn.usage = chat::usage(&message["extra"]["response"]["usage"]);
    if turn.calls().next().is_none() {
        let mut found = Vec::new();
        for (block, content) in turn.blocks.iter().enumerate() {
            if let Content::Text { text } = &content.content {
                found.extend(bash_blocks(text).into_iter().map(|range| (block, range)));
            }
        }
        // Of a reply with more blocks than one the agent runs none.
        if let [(block, range)] = &found[..] {
            chat::mark_call(&mut turn, "bash", *block, range.clone());
        }
    }
    turn
}

/// The contents of the fenced bash blocks, without the last line feed. Linear.
fn bash_blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(fence) = text[at..].find("```") {
        let opening = at + fence;
        let Some(label) = FENCES.iter().find(|label| text[opening..].starts_with(**label)) else {
            at = opening + 3;
            continue;
        };
        let start = opening + label.len();
        let Some(length) = text[start..].find("```") else { break };
        let end = start + length;
        blocks.push(start..start + text[start..end].trim_end_matches('\n').len());
        at = end + 3;
    }
    blocks
}
