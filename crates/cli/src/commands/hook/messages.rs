//! Claude Code's function hook, which gets the messages and gives those behind the compaction.

use epitome::Budget;
use epitome::engine::Threshold;
use epitome::formats::Profile;
use epitome::session::Heading;
use epitome::session::speaker::typed_parts;
use epitome_fit::{FitOptions, FitPiece, FitRequest, FitStatus, Fitted, fit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::agent_message::{AgentMessage, AgentRole, ToolOutput, ToolUse};
use crate::configuration;
use crate::failure::Failure;
use crate::render::text::number;
use crate::terminal;

/// The share of the messages' tokens that stays: the cache is lost with every compaction, so the next is to be far away.
const SHARE: f64 = 0.3;

/// Messages of no more tokens than these fit, whatever the window: nothing of them has to leave. Source: 4 % of the
/// smallest window that Claude Code compacts for, 100,000.
const LITTLE: u32 = 4_000;

/// How many of the newest messages stay whole, with their calls, where these take no more than half of the share: the agent
/// compacts in the middle of its work, and has not read them yet.
const NEWEST: u32 = 1;

/// The least share of the tokens that a compaction has to save. Source: with less the next one would be due at once.
const LEAST_SAVING: f64 = 0.2;

#[derive(Debug, Deserialize)]
struct HookInput {
    messages: Vec<Value>,
}

/// The messages behind a compaction, as `{"messages": […], "note"}`: the number of a message that stays as it is, or a
/// message. Without `messages` where the agent is to go on as without this program: where nothing has to leave or can be
/// saved, and where a message is not understood. `note` says why, for the latter standard error does too.
pub(super) fn compact(input: &str) -> Result<String, Failure> {
    let input: HookInput = serde_json::from_str(input).map_err(|error| {
        let error = anyhow::Error::new(error).context("what the agent said on standard input is not understood");
        Failure::usage(error).with_help("this command is called by Claude Code; `epitome compact FILE` is for people")
    })?;
    let came = match AgentMessage::read_all(&input.messages) {
        Ok(came) => came,
        Err(why) => {
            terminal::note(&format!("{why}; the compaction is left to the agent"));
            return Ok(no_opinion(&why));
        }
    };
    let list: Vec<String> = came.iter().map(|message| wire(message).to_string()).collect();
    let mut config = epitome::Config::default();
    let kept = config.set("pins.keep_recent", &epitome::strategy::Value::from(NEWEST));
    kept.map_err(|problem| Failure::other(anyhow::Error::msg(problem)))?;
    let runtime = configuration::build_without_model(config, &epitome::registry())?;
    let fitted = |options: FitOptions| {
        fit(&runtime, Profile::Anthropic, options, &FitRequest::new(&list)).map_err(Failure::usage)
    };
    let before = fitted(FitOptions::once(u32::MAX))?.tokens_before;
    if before <= LITTLE {
        return Ok(no_opinion(&format!("{} tokens fit, and nothing has to leave", number(before))));
    }
    let after = fitted(FitOptions::for_budget(budget(before)))?;
    if after.status != FitStatus::Compacted {
        return Ok(no_opinion(after.detail.unwrap_or("nothing to save")));
    }
    if f64::from(after.tokens_after) > f64::from(before) * (1.0 - LEAST_SAVING) {
        let (after, before) = (number(after.tokens_after), number(before));
        return Ok(no_opinion(&format!("{after} of {before} tokens would stay")));
    }
    let messages = pieces(&after, &came)?;
    if !has_what_was_asked(&messages, &came) {
        return Ok(no_opinion("what was asked would not stay as it is"));
    }
    let note = format!("epitome compacted {} tokens to {}", number(before), number(after.tokens_after));
    Ok(json!({"messages": messages, "note": note}).to_string())
}

fn no_opinion(why: &str) -> String {
    json!({"note": why}).to_string()
}

/// For messages of so many tokens: down to the share, but with room for all that must stay. A smaller window would cut the
/// task and the newest question.
fn budget(tokens: u32) -> Budget {
    let all = Threshold::Share(1.0);
    Budget {
        window: tokens,
        reserve_output: 0,
        tool_definitions: 0,
        soft: all,
        hard: all,
        target: Threshold::Share(SHARE),
    }
}

/// Whether the first and the newest text that a person typed are in the answer, word for word.
fn has_what_was_asked(answer: &[Value], came: &[AgentMessage]) -> bool {
    let kept = |number: u64| came.iter().find(|message| message.number().is_some_and(|own| own as u64 == number));
    let text_of = |piece: &Value| match piece.as_u64().and_then(kept) {
        Some(kept) => kept.text.clone(),
        None => piece["text"].as_str().unwrap_or_default().to_owned(),
    };
    let texts: Vec<String> = answer.iter().map(text_of).collect();
    let mut typed = came.iter().filter(|message| message.role == AgentRole::User).filter_map(|message| {
        let own = without_summary(&message.text);
        let words: Vec<&str> = typed_parts(own).into_iter().map(|range| &own[range]).collect();
        (!words.is_empty()).then_some(words)
    });
    let first = typed.next();
    let newest = typed.next_back();
    let is_there = |words: &str| texts.iter().any(|text| text.contains(words));
    first.into_iter().chain(newest).flatten().all(is_there)
}

/// A text up to the summary that an earlier compaction put behind it.
fn without_summary(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if Heading::read(line.trim_end()).is_some() {
            return &text[..at];
        }
        at += line.len();
    }
    text
}

/// A message in Anthropic's form.
fn wire(message: &AgentMessage) -> Value {
    let mut content: Vec<Value> = Vec::new();
    for result in &message.tool_results {
        let mut block = json!({"type": "tool_result", "tool_use_id": result.tool_use_id, "content": result.text});
        if result.more.get("isError") == Some(&Value::Bool(true)) {
            block["is_error"] = true.into();
        }
        content.push(block);
    }
    if !message.text.is_empty() || message.tool_uses.is_empty() && content.is_empty() {
        content.push(json!({"type": "text", "text": message.text}));
    }
    for call in &message.tool_uses {
        content.push(json!({"type": "tool_use", "id": call.tool_use_id, "name": call.tool, "input": call.input}));
    }
    json!({"role": message.role, "content": content})
}

/// The result, a message or the number of one for each.
fn pieces(fitted: &Fitted, came: &[AgentMessage]) -> Result<Vec<Value>, Failure> {
    let mut messages = Vec::new();
    // The first of the messages that came which may still stay as they are.
    let mut from = 0;
    for piece in &fitted.pieces {
        let (message, index) = match piece {
            FitPiece::Keep(range) => {
                let kept = came.get(range.clone()).unwrap_or_default();
                messages.extend(kept.iter().map(AgentMessage::to_piece).collect::<Result<Vec<_>, _>>()?);
                from = range.end;
                continue;
            }
            FitPiece::Edit { index, message, .. } => (message, came.get(*index)),
            FitPiece::Insert { message, .. } => (message, None),
        };
        let message: Value = serde_json::from_str(message)?;
        match apart(&message, came, from) {
            Some((parts, next)) => {
                messages.extend(parts);
                from = next;
            }
            None => messages.push(hook_message(&message, index)?),
        }
    }
    Ok(messages)
}

/// The messages that one in Anthropic's form is of: that form puts neighbours of one role into one message, such as the task
/// and a summary behind it. Those of the user's that stay as they are, from number `from` on, are numbers. `None` where none
/// is; otherwise with the number behind the last of them.
fn apart(message: &Value, came: &[AgentMessage], from: usize) -> Option<(Vec<Value>, usize)> {
    let blocks = message["content"].as_array().filter(|_| message["role"] == "user")?;
    let texts: Vec<&str> = blocks.iter().map(|block| block["text"].as_str()).collect::<Option<_>>()?;
    let mut parts: Vec<Value> = Vec::new();
    let mut next = from;
    for text in texts {
        let is_text = |message: &AgentMessage| message.tool_results.is_empty() && message.text == text;
        let mut behind = came.iter().enumerate().skip(next);
        let found = behind.find(|(_, message)| message.role == AgentRole::User && is_text(message));
        match found {
            Some((at, message)) => {
                parts.push(message.to_piece().ok()?);
                next = at + 1;
            }
            None => {
                let written = AgentMessage::new(AgentRole::User, text.to_owned(), Vec::new(), Vec::new());
                parts.push(serde_json::to_value(written).ok()?);
            }
        }
    }
    (next > from).then_some((parts, next))
}

/// A message in Anthropic's form, as the hook gives it back. What the agent keeps of a result beside its text stays.
fn hook_message(message: &Value, came: Option<&AgentMessage>) -> Result<Value, Failure> {
    let text_of = |content: &Value| match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<&str>>().join("\n"),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).cloned().collect::<Vec<Value>>();
    let role = if message["role"] == "assistant" { AgentRole::Assistant } else { AgentRole::User };
    let tool_uses = of("tool_use").into_iter().map(|block| ToolUse {
        tool_use_id: word(&block["id"]),
        tool: word(&block["name"]),
        input: block["input"].as_object().cloned().unwrap_or_default(),
    });
    let tool_results = of("tool_result").into_iter().map(|block| {
        let id = word(&block["tool_use_id"]);
        let old = came.and_then(|came| came.tool_results.iter().find(|result| result.tool_use_id == id));
        let more = old.map(|old| old.more.clone()).unwrap_or_default();
        ToolOutput { text: text_of(&block["content"]), tool_use_id: id, more }
    });
    let (tool_uses, tool_results) = (tool_uses.collect(), tool_results.collect());
    let built = AgentMessage::new(role, text_of(&message["content"]), tool_uses, tool_results);
    Ok(serde_json::to_value(built)?)
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
