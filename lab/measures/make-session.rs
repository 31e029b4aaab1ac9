//! `make-session TOKENS > FILE`: writes a session of about that many o200k tokens as OpenAI chat messages.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use epitome::session::{Content, Message, Role};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let Some(tokens) = std::env::args().nth(1).and_then(|tokens| tokens.replace('_', "").parse().ok()) else {
        eprintln!("usage: make-session TOKENS > FILE");
        return ExitCode::from(2);
    };
    let Ok(counter) = epitome::tokens::by_name("o200k_base") else { return ExitCode::FAILURE };
    let count = |message: &Message| epitome::engine::count_message(&*counter, message).total as usize;
    let messages: Vec<Value> = epitome_benches::messages(tokens, count).iter().map(chat).collect();
    println!("{}", json!({ "messages": messages }));
    ExitCode::SUCCESS
}

/// A message as OpenAI chat has it.
fn chat(message: &Message) -> Value {
    let calls: Vec<Value> = message
        .calls()
        .map(|(_, call)| {
            let function = json!({"name": call.name, "arguments": call.arguments.text()});
            json!({"id": call.id, "type": "function", "function": function})
        })
        .collect();
    let result = message.blocks.iter().find_map(|block| match &block.content {
        Content::ToolResult(result) => Some(result),
        _ => None,
    });
    match (result, message.role) {
        (Some(result), _) => json!({"role": "tool", "tool_call_id": result.call_id, "content": result.text}),
        (None, Role::Assistant) if !calls.is_empty() => {
            json!({"role": "assistant", "content": message.plain_text(), "tool_calls": calls})
        }
        (None, role) => json!({"role": role.as_str(), "content": message.plain_text()}),
    }
}
