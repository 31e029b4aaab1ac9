//! Answers in the form of Anthropic's messages.

use axum::body::Bytes;
use axum::response::Response;
use epitome_fit::conversation::Figures;
use serde_json::{Value, json};

use super::fields::RequestFields;
use super::item::id_of;
use super::openai::{json_response, stream_response};
use crate::proxy::lookup::event_text;

/// The block with what was sealed, and the text that is shown for it.
pub(super) fn block(sealed: &str, shown: &str) -> Value {
    json!({ "type": "compaction", "content": shown, "encrypted_content": sealed })
}

/// The answer that is the block and nothing else.
pub(super) fn message(fields: &RequestFields<'_>, block: &Value, figures: Figures) -> Response {
    let id = id_of("msg_", block["encrypted_content"].as_str().unwrap_or_default());
    let (before, after) = (figures.tokens_before, figures.tokens_after);
    let usage = json!({
        "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "iterations": [{
            "type": "compaction", "input_tokens": before, "output_tokens": after,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        }],
    });
    let message = |content: Value, stop: Value| {
        json!({
            "id": id, "type": "message", "role": "assistant", "model": fields.value("model"), "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage,
        })
    };
    if fields.json("stream") != Some("true") {
        return json_response(&message(json!([block]), json!("compaction")));
    }
    let mut text = event("message_start", json!({ "message": message(json!([]), Value::Null) })).to_vec();
    text.extend(block_events(block));
    let ending = json!({ "delta": { "stop_reason": "compaction", "stop_sequence": null }, "usage": usage });
    text.extend(event("message_delta", ending));
    text.extend(event("message_stop", json!({})));
    stream_response(text)
}

/// The events of the block at the beginning of an answer.
pub(super) fn block_events(block: &Value) -> Vec<u8> {
    // Clients take what is opaque from the beginning or from the delta, as they were written.
    let empty = json!({ "type": "compaction", "content": "", "encrypted_content": block["encrypted_content"] });
    let delta = json!({
        "type": "compaction_delta", "content": block["content"], "encrypted_content": block["encrypted_content"],
    });
    let events = [
        event("content_block_start", json!({ "index": 0, "content_block": empty })),
        event("content_block_delta", json!({ "index": 0, "delta": delta })),
        event("content_block_stop", json!({ "index": 0 })),
    ];
    events.concat()
}

fn event(name: &str, data: Value) -> Bytes {
    let mut whole = json!({ "type": name });
    if let (Value::Object(whole), Value::Object(data)) = (&mut whole, data) {
        whole.extend(data);
    }
    event_text(Some(name), &whole)
}

/// The compacted conversation as a text for people, and for services that cannot read the rest of the block: who said
/// what, in order. Linear.
pub(super) fn conversation_text(messages: &[&str]) -> String {
    let mut text = String::from("The conversation so far, compacted.\n");
    for json in messages {
        let message: Value = serde_json::from_str(json).unwrap_or_default();
        text.push_str(&format!("\n[{}]\n", message["role"].as_str().unwrap_or("user")));
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|block| show_block(&mut text, block)),
            content => show_line(&mut text, "", content.as_str().unwrap_or_default()),
        }
    }
    text
}

fn show_block(text: &mut String, block: &Value) {
    match block["type"].as_str().unwrap_or_default() {
        "text" => show_line(text, "", block["text"].as_str().unwrap_or_default()),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let call = format!("{} {}", block["name"].as_str().unwrap_or_default(), block["input"]);
            show_line(text, "called ", &call);
        }
        "tool_result" | "mcp_tool_result" => match &block["content"] {
            Value::Array(parts) => parts.iter().for_each(|part| match part["text"].as_str() {
                Some(said) => show_line(text, "result: ", said),
                None => show_line(text, "result: ", &kind_of(part)),
            }),
            content => show_line(text, "result: ", content.as_str().unwrap_or_default()),
        },
        // What only the model that wrote it can read.
        "thinking" | "redacted_thinking" => {}
        _ => show_line(text, "", &kind_of(block)),
    }
}

/// What stands for a part that is not text.
fn kind_of(block: &Value) -> String {
    format!("({})", block["type"].as_str().unwrap_or("part"))
}

fn show_line(text: &mut String, label: &str, said: &str) {
    text.push_str(label);
    text.push_str(said);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_as_text() {
        let messages = [
            json!({"role": "user", "content": "Mend it."}),
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."},
                {"type": "tool_use", "name": "bash", "input": {"command": "make"}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "done"},
                {"type": "image"}]}, {"type": "image"}]}),
        ];
        let messages = messages.map(|message| message.to_string());
        let text = conversation_text(&messages.each_ref().map(String::as_str));
        let expect = "The conversation so far, compacted.\n\n[user]\nMend it.\n\n[assistant]\nYes.\ncalled bash \
                      {\"command\":\"make\"}\n\n[user]\nresult: done\nresult: (image)\n(image)\n";
        assert_eq!(text, expect);
    }
}
