//! The model's output in an answer, with the interface that it came over.

use serde_json::Value;

use crate::Wire;
use crate::answer::{Call, HiddenCalls};

/// The model's output in one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The interface.
    pub wire: Wire,
    /// The output in its form: the message of a chat, the content of Anthropic's and of Gemini's, the output of Responses.
    pub json: Value,
}

impl Output {
    /// The output of a whole answer; `None` where the answer has none.
    pub fn in_answer(wire: Wire, answer: &Value) -> Option<Self> {
        let json = answer.pointer(wire.output_pointer())?;
        (json.is_array() || json.is_object()).then(|| Self { wire, json: json.clone() })
    }

    fn parts(&self) -> &[Value] {
        self.wire.parts(&self.json)
    }

    /// The calls of functions of these names.
    pub fn calls_of(&self, names: &[&str]) -> Vec<Call> {
        let ours = self.parts().iter().filter(|part| self.wire.is_call_of(part, names));
        ours.filter_map(|part| self.wire.function_call(part)).map(Call::new).collect()
    }

    /// Whether the client has a call to answer that is of none of these names.
    pub fn has_calls_beside(&self, names: &[&str]) -> bool {
        self.wire.has_calls_beside(&self.json, names)
    }

    /// It and the results of its calls, as messages of a request.
    pub fn step(&self, calls: &[Call], results: &[String], is_stored: bool) -> Vec<String> {
        let results = self.results(calls, results);
        self.wire.step(&self.json, results, is_stored).iter().map(Value::to_string).collect()
    }

    /// Its calls of these names and their results, to be put beside the client's.
    pub fn hidden_calls(&self, names: &[&str], calls: &[Call], results: &[String], is_stored: bool) -> HiddenCalls {
        let ours = self.parts().iter().filter(|part| self.wire.is_call_of(part, names));
        HiddenCalls {
            calls: ours.map(|part| self.wire.repeated(part, is_stored)).collect(),
            results: self.results(calls, results),
            places: self.wire.places(self.parts(), names),
        }
    }

    fn results(&self, calls: &[Call], results: &[String]) -> Vec<Value> {
        calls.iter().zip(results).map(|(call, text)| self.wire.result(call, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_calls_are_told_from_the_clients() {
        let names = ["search_history"];
        let check = |wire: Wire, json: Value, ours: usize, others: bool| {
            let mut said = Output { wire, json };
            assert_eq!((said.calls_of(&names).len(), said.has_calls_beside(&names)), (ours, others), "{:?}", said.json);
            wire.remove_calls(&mut said.json, &names);
            assert_eq!((said.calls_of(&names).len(), said.has_calls_beside(&names)), (0, others));
        };
        let tool = |name: &str| json!({"id": "1", "function": {"name": name, "arguments": "{}"}});
        check(Wire::OpenaiChat, json!({"tool_calls": [tool("search_history"), tool("bash")]}), 1, true);
        check(Wire::OpenaiChat, json!({"tool_calls": [tool("search_history")]}), 1, false);
        check(Wire::OpenaiChat, json!({"content": "x"}), 0, false);
        let block = |name: &str| json!({"type": "tool_use", "id": "1", "name": name, "input": {}});
        check(Wire::Anthropic, json!([{"type": "text", "text": "x"}, block("search_history")]), 1, false);
        check(Wire::Anthropic, json!([block("bash"), block("search_history"), block("search_history")]), 2, true);
        let item = |kind: &str, name: &str| json!({"type": kind, "call_id": "1", "name": name, "arguments": "{}"});
        check(Wire::OpenaiResponses, json!([item("reasoning", ""), item("function_call", "search_history")]), 1, false);
        check(Wire::OpenaiResponses, json!([item("custom_tool_call", "search_history")]), 0, true);
        check(Wire::OpenaiResponses, json!([item("web_search_call", "")]), 0, false);
        let part = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
        let content = |parts: &[Value]| json!({"role": "model", "parts": parts});
        check(Wire::Gemini, content(&[json!({"text": "x"}), part("search_history")]), 1, false);
        check(Wire::Gemini, content(&[part("search_history"), part("bash")]), 1, true);
        check(Wire::Gemini, content(&[json!({"executableCode": {}})]), 0, false);
    }
}
