//! Gemini's streams.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Gemini;
use super::parts::{call, is_kept, is_of, lent_signature, push, remove, words};
use crate::events::{Event, event_text};
use crate::merge::{MergedAnswer, PartialAnswer};
use crate::stream::{Stage, StreamedAnswer, Streams, Taken};
use crate::usage::add_known;

impl Streams for Gemini {
    fn take(&self, answer: &mut StreamedAnswer, event: &Event) -> Taken {
        let json = &event.json;
        if !json["error"].is_null() {
            return Taken::at(Stage::Broken);
        }
        answer.add_usage(&json["usageMetadata"]);
        let Some(candidate) = json["candidates"].get(0) else {
            return if json.is_null() { Taken::default() } else { Taken::at(Stage::Ending) };
        };
        let mut taken = Taken::default();
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            taken.said += words(part).map_or(0, |words| words.chars().count());
            push(&mut answer.parts, part);
            taken.parts.push(answer.parts.len() - 1);
        }
        if !candidate["finishReason"].is_null() {
            answer.stop = candidate["finishReason"].clone();
            taken.stage = Stage::Ending;
        }
        taken
    }

    fn whole(&self, answer: &StreamedAnswer, output: Value) -> Value {
        json!({"candidates": [{"content": output, "finishReason": answer.stop}], "usageMetadata": answer.usage})
    }

    fn error_event(&self, message: &str) -> Bytes {
        event_text(None, &json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}))
    }

    fn for_client(&self, merged: &mut MergedAnswer, partial: &mut PartialAnswer<'_>, json: &mut Value) -> bool {
        if let Some(usage) = json.get_mut("usageMetadata") {
            add_known(usage, &merged.earlier);
        }
        let Some(candidate) = json.get_mut("candidates").and_then(|candidates| candidates.get_mut(0)) else {
            return true;
        };
        let is_end = !candidate["finishReason"].is_null();
        let Some(parts) = candidate.pointer_mut("/content/parts").and_then(Value::as_array_mut) else { return true };
        let lent = lent_signature(&partial.answer.parts, partial.names).filter(|_| partial.shown.is_empty());
        let has_ours = parts.iter().any(|part| is_of(part, partial.names));
        remove(parts, partial.names, lent.as_ref());
        if let Some(at) = parts.iter().position(|part| call(part).is_some()) {
            partial.shown.insert(at, 0); // the client has the first of its calls
        }
        is_end || !has_ours || parts.iter().any(is_kept)
    }

    fn words_of_end(&self, json: &Value) -> Option<Value> {
        let mut json = json.clone();
        let candidate = json.get_mut("candidates")?.get_mut(0)?;
        candidate.as_object_mut()?.shift_remove("finishReason");
        let parts = candidate.pointer_mut("/content/parts")?.as_array_mut()?;
        parts.retain(|part| words(part).is_some_and(|words| !words.is_empty()));
        (!parts.is_empty()).then_some(json)
    }
}
