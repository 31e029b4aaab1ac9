//! Gemini's answers.

use serde_json::{Value, json};

use super::Gemini;
use super::parts::{call, insert, is_kept, lent_signature, places, push, remove, result};
use crate::answer::{Answers, Call, HiddenCalls, RejoinedMessages};

impl Answers for Gemini {
    fn output_pointer(&self) -> &'static str {
        "/candidates/0/content"
    }

    fn parts_field(&self) -> Option<&'static str> {
        Some("parts")
    }

    fn function_call<'a>(&self, part: &'a Value) -> Option<[&'a Value; 3]> {
        call(part).map(|call| [&call["id"], &call["name"], &call["args"]])
    }

    fn result(&self, call: &Call, text: &str) -> Value {
        result(&call.id, &call.name, text)
    }

    fn remove_calls(&self, content: &mut Value, names: &[&str]) {
        let Some(parts) = content.get_mut("parts").and_then(Value::as_array_mut) else { return };
        let lent = lent_signature(parts, names);
        remove(parts, names, lent.as_ref());
    }

    fn step(&self, content: &Value, results: Vec<Value>, _is_stored: bool) -> Vec<Value> {
        let mut parts = Vec::new();
        let kept = content["parts"].as_array().into_iter().flatten().filter(|part| is_kept(part));
        kept.for_each(|part| push(&mut parts, part));
        vec![json!({"role": "model", "parts": parts}), json!({"role": "user", "parts": results})]
    }

    fn places(&self, parts: &[Value], names: &[&str]) -> Vec<usize> {
        places(parts, names)
    }

    fn rejoined(&self, hidden: &HiddenCalls, said: &str, next: Option<&str>) -> Option<RejoinedMessages> {
        let mut said: Value = serde_json::from_str(said).ok()?;
        let mut next: Value = serde_json::from_str(next?).ok()?;
        insert(&mut said, &hidden.calls, &hidden.places)?;
        insert(&mut next, &hidden.results, &hidden.places)?;
        Some(RejoinedMessages { said: Some(said), next: Some(next), ..RejoinedMessages::default() })
    }

    fn usage_field(&self) -> &'static str {
        "usageMetadata"
    }
}
