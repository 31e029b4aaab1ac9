//! The model's output in one answer: which calls in it are ours, and its form in a request.

use epitome::formats::Format;
use serde_json::{Value, json};

use super::contents;

/// A call of one of our tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecallCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The call's arguments as JSON text.
    pub(super) arguments: String,
}

/// A call of ours beside the client's own, with its result: the client never saw them, so they are put back into the
/// request that brings the results of the others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Graft {
    /// The calls as the model made them.
    pub(super) calls: Vec<Value>,
    /// Their results, as the format has them.
    pub(super) results: Vec<Value>,
    /// Their numbers among all calls, where the format has an order for them: Gemini's.
    pub(super) places: Vec<usize>,
}

/// Items of Responses that the client has to answer.
const CLIENTS_CALLS: [&str; 7] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
];

/// The model's output in the provider's form: the message of a chat, the content of Anthropic's and of Gemini's, the
/// output of Responses.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Utterance {
    pub(super) format: Format,
    pub(super) json: Value,
}

impl Utterance {
    /// The path of the output in a whole answer.
    pub(super) fn place(format: Format) -> &'static str {
        match format {
            Format::Anthropic => "/content",
            Format::OpenaiResponses => "/output",
            Format::Gemini => "/candidates/0/content",
            _ => "/choices/0/message",
        }
    }

    /// The output of a whole answer; `None` where the answer has none.
    pub(super) fn in_answer(format: Format, answer: &Value) -> Option<Self> {
        let json = answer.pointer(Self::place(format))?;
        (json.is_array() || json.is_object()).then(|| Self { format, json: json.clone() })
    }

    /// The calls in it.
    fn calls(&self) -> &[Value] {
        let list = match self.format {
            Format::Anthropic | Format::OpenaiResponses => &self.json,
            Format::Gemini => &self.json["parts"],
            _ => &self.json["tool_calls"],
        };
        list.as_array().map_or(&[], Vec::as_slice)
    }

    /// The calls that are ours.
    pub(super) fn recall_calls(&self, names: &[&str]) -> Vec<RecallCall> {
        self.calls()
            .iter()
            .filter(|call| is_ours(self.format, call, names))
            .map(|call| our_call(self.format, call))
            .collect()
    }

    /// Whether the client has a call to answer.
    pub(super) fn has_others(&self, names: &[&str]) -> bool {
        self.calls().iter().any(|call| is_a_clients(self.format, call) && !is_ours(self.format, call, names))
    }

    /// Takes our calls out.
    pub(super) fn remove_ours(&mut self, names: &[&str]) {
        let format = self.format;
        let list = match format {
            Format::Anthropic | Format::OpenaiResponses => Some(&mut self.json),
            Format::Gemini => self.json.get_mut("parts"),
            _ => self.json.get_mut("tool_calls"),
        };
        if let Some(list) = list.and_then(Value::as_array_mut) {
            if format == Format::Gemini {
                let lent = contents::lent_signature(list, names);
                return contents::remove(list, names, lent.as_ref());
            }
            list.retain(|call| !is_ours(format, call, names));
            if format == Format::OpenaiChat
                && list.is_empty()
                && let Some(message) = self.json.as_object_mut()
            {
                message.shift_remove("tool_calls");
            }
        }
    }

    /// It and the results of its calls, all ours, as messages of a request. With `is_stored` the provider knows what it
    /// said by its id; without, reasoning that cannot be read back is left out.
    pub(super) fn step(&self, calls: &[RecallCall], results: &[String], is_stored: bool) -> Vec<String> {
        let results: Vec<Value> = calls.iter().zip(results).map(|(call, text)| self.result(call, text)).collect();
        let mut messages = Vec::new();
        match self.format {
            Format::Anthropic => {
                // Texts of nothing are not taken back.
                let is_empty =
                    |block: &Value| block["type"] == "text" && block["text"].as_str().is_none_or(str::is_empty);
                let blocks = self.calls().iter().filter(|block| !is_empty(block)).cloned().collect::<Vec<Value>>();
                messages.push(json!({"role": "assistant", "content": blocks}));
                messages.push(json!({"role": "user", "content": results}));
            }
            Format::OpenaiResponses => {
                let can_be_read = |item: &Value| {
                    is_stored || item["type"] != "reasoning" || item["encrypted_content"].as_str().is_some()
                };
                messages.extend(
                    self.calls().iter().filter(|item| can_be_read(item)).map(|item| without_id(item, is_stored)),
                );
                messages.extend(results);
            }
            Format::Gemini => {
                let mut parts = Vec::new();
                self.calls()
                    .iter()
                    .filter(|part| contents::is_kept(part))
                    .for_each(|part| contents::push(&mut parts, part));
                messages.push(json!({"role": "model", "parts": parts}));
                messages.push(json!({"role": "user", "parts": results}));
            }
            _ => {
                let mut message = self.json.clone();
                message["role"] = "assistant".into();
                messages.push(message);
                messages.extend(results);
            }
        }
        messages.iter().map(Value::to_string).collect()
    }

    /// Our calls of it and their results, to be put beside the client's.
    pub(super) fn graft(&self, names: &[&str], calls: &[RecallCall], results: &[String], is_stored: bool) -> Graft {
        let ours = self.calls().iter().filter(|call| is_ours(self.format, call, names));
        Graft {
            calls: ours.map(|call| without_id(call, is_stored || self.format != Format::OpenaiResponses)).collect(),
            results: calls.iter().zip(results).map(|(call, text)| self.result(call, text)).collect(),
            places: if self.format == Format::Gemini { contents::places(self.calls(), names) } else { Vec::new() },
        }
    }

    fn result(&self, call: &RecallCall, text: &str) -> Value {
        match self.format {
            Format::Anthropic => json!({"type": "tool_result", "tool_use_id": call.id, "content": text}),
            Format::OpenaiResponses => json!({"type": "function_call_output", "call_id": call.id, "output": text}),
            Format::Gemini => contents::result(&call.id, &call.name, text),
            _ => json!({"role": "tool", "tool_call_id": call.id, "content": text}),
        }
    }
}

/// An item of Responses as it may be sent back.
fn without_id(item: &Value, keeps_id: bool) -> Value {
    let mut item = item.clone();
    if !keeps_id && let Some(fields) = item.as_object_mut() {
        fields.shift_remove("id");
    }
    item
}

/// Whether a block or an item is a call that the client has to answer.
pub(super) fn is_a_clients(format: Format, call: &Value) -> bool {
    match format {
        Format::Anthropic => call["type"] == "tool_use",
        Format::OpenaiResponses => call["type"].as_str().is_some_and(|kind| CLIENTS_CALLS.contains(&kind)),
        Format::Gemini => contents::call(call).is_some(),
        _ => true,
    }
}

/// Whether a block or an item is a call of one of our tools.
pub(super) fn is_ours(format: Format, call: &Value, names: &[&str]) -> bool {
    let name = match format {
        Format::Anthropic if call["type"] == "tool_use" => &call["name"],
        Format::OpenaiResponses if call["type"] == "function_call" => &call["name"],
        Format::Gemini => return contents::is_of(call, names),
        Format::Anthropic | Format::OpenaiResponses => return false,
        _ => &call["function"]["name"],
    };
    name.as_str().is_some_and(|name| names.contains(&name))
}

fn our_call(format: Format, call: &Value) -> RecallCall {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (id, name, arguments) = match format {
        Format::Anthropic => (&call["id"], &call["name"], &call["input"]),
        Format::OpenaiResponses => (&call["call_id"], &call["name"], &call["arguments"]),
        Format::Gemini => {
            let call = contents::call(call).unwrap_or(&Value::Null);
            (&call["id"], &call["name"], &call["args"])
        }
        _ => (&call["id"], &call["function"]["name"], &call["function"]["arguments"]),
    };
    let arguments = if arguments.is_string() { text(arguments) } else { arguments.to_string() };
    RecallCall { id: text(id), name: text(name), arguments }
}

/// Adds the output figures of one answer to the total. Input figures are left out: each answer reads all that those
/// before it have read, and agents take the figure for the size of their context.
pub(super) fn add_output(total: &mut Value, usage: &Value) {
    for (output, details) in
        [("output_tokens", "output_tokens_details"), ("completion_tokens", "completion_tokens_details")]
    {
        let Some(written) = usage.get(output) else { continue };
        add_figures(&mut total[output], written);
        if let Some(figures) = usage.get(details) {
            add_figures(&mut total[details], figures);
        }
        if usage.get("total_tokens").is_some() {
            add_figures(&mut total["total_tokens"], written);
        }
    }
    for written in ["candidatesTokenCount", "thoughtsTokenCount"] {
        let Some(figure) = usage.get(written) else { continue };
        add_figures(&mut total[written], figure);
        add_figures(&mut total["totalTokenCount"], figure);
    }
}

fn add_figures(total: &mut Value, usage: &Value) {
    match (total, usage) {
        (Value::Object(total), Value::Object(usage)) => {
            for (name, figure) in usage {
                match total.get_mut(name) {
                    Some(known) => add_figures(known, figure),
                    None => {
                        total.insert(name.clone(), figure.clone());
                    }
                }
            }
        }
        (total, usage) => {
            if let (Some(one), Some(other)) = (total.as_u64(), usage.as_u64()) {
                *total = one.saturating_add(other).into();
            } else if total.is_null() {
                *total = usage.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_adds_up() {
        let check = |usages: [Value; 2], expect: Value| {
            let mut total = Value::Null;
            usages.iter().for_each(|usage| add_output(&mut total, usage));
            assert_eq!(total, expect);
        };
        let anthropic = |output: u64| json!({"input_tokens": 900, "cache_read_input_tokens": 8, "output_tokens": output, "tier": "a"});
        check([anthropic(10), anthropic(5)], json!({"output_tokens": 15}));
        let chat = |output: u64, reasoning: Value| {
            json!({"prompt_tokens": 900, "completion_tokens": output, "total_tokens": 900 + output,
                "prompt_tokens_details": {"cached_tokens": 8}, "completion_tokens_details": {"reasoning_tokens": reasoning}})
        };
        let expect =
            json!({"completion_tokens": 15, "completion_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 15});
        check([chat(10, json!(null)), chat(5, json!(3))], expect);
        let gemini = |written: u64| {
            json!({"promptTokenCount": 900, "candidatesTokenCount": written, "thoughtsTokenCount": 2,
            "totalTokenCount": 902 + written})
        };
        let expect = json!({"candidatesTokenCount": 15, "totalTokenCount": 19, "thoughtsTokenCount": 4});
        check([gemini(10), gemini(5)], expect);
        check([Value::Null, json!({})], Value::Null);
    }

    #[test]
    fn our_calls_are_told_from_the_clients() {
        let names = ["search_history"];
        let check = |format, json: Value, ours: usize, others: bool| {
            let mut said = Utterance { format, json };
            assert_eq!((said.recall_calls(&names).len(), said.has_others(&names)), (ours, others), "{:?}", said.json);
            said.remove_ours(&names);
            assert_eq!((said.recall_calls(&names).len(), said.has_others(&names)), (0, others));
        };
        let tool = |name: &str| json!({"id": "1", "function": {"name": name, "arguments": "{}"}});
        check(Format::OpenaiChat, json!({"tool_calls": [tool("search_history"), tool("bash")]}), 1, true);
        check(Format::OpenaiChat, json!({"tool_calls": [tool("search_history")]}), 1, false);
        check(Format::OpenaiChat, json!({"content": "x"}), 0, false);
        let block = |name: &str| json!({"type": "tool_use", "id": "1", "name": name, "input": {}});
        check(Format::Anthropic, json!([{"type": "text", "text": "x"}, block("search_history")]), 1, false);
        check(Format::Anthropic, json!([block("bash"), block("search_history"), block("search_history")]), 2, true);
        let item = |kind: &str, name: &str| json!({"type": kind, "call_id": "1", "name": name, "arguments": "{}"});
        check(
            Format::OpenaiResponses,
            json!([item("reasoning", ""), item("function_call", "search_history")]),
            1,
            false,
        );
        check(Format::OpenaiResponses, json!([item("custom_tool_call", "search_history")]), 0, true);
        check(Format::OpenaiResponses, json!([item("web_search_call", "")]), 0, false);
        let part = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
        let content = |parts: &[Value]| json!({"role": "model", "parts": parts});
        check(Format::Gemini, content(&[json!({"text": "x"}), part("search_history")]), 1, false);
        check(Format::Gemini, content(&[part("search_history"), part("bash")]), 1, true);
        check(Format::Gemini, content(&[json!({"executableCode": {}})]), 0, false);
    }
}
