//! The parts of Gemini's contents: the calls in them, and the signature that stands for what the model thought.
//!
//! Of the calls of one content only the first is signed, and Google refuses a history in which the first is not. So where
//! the first call is ours and the client gets the others, the first of these bears the signature in its place, and gives
//! it back when ours returns.

use serde_json::{Value, json};

/// The field of a call in a part.
const CALL: [&str; 2] = ["functionCall", "function_call"];

/// The field of a call's result in a part.
const RESULT: [&str; 2] = ["functionResponse", "function_response"];

/// The field of a part's signature.
const SIGNATURE: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// What one of the two spellings of a field holds.
fn field<'v>(part: &'v Value, names: [&str; 2]) -> Option<&'v Value> {
    names.iter().find_map(|name| part.get(name))
}

/// The call that a part is.
pub(super) fn call(part: &Value) -> Option<&Value> {
    field(part, CALL)
}

/// The name of the function that a part calls.
pub(super) fn name(part: &Value) -> Option<&str> {
    call(part)?["name"].as_str()
}

/// The words that a part says, where it is not a thought.
pub(super) fn words(part: &Value) -> Option<&str> {
    part["text"].as_str().filter(|_| part["thought"] != true)
}

/// The signature of the first call of some parts, where that is one of `names`: the first call of the others bears it.
pub(super) fn lent_signature(parts: &[Value], names: &[&str]) -> Option<Value> {
    let first = parts.iter().find(|part| call(part).is_some())?;
    field(first, SIGNATURE).filter(|_| is_of(first, names)).cloned()
}

/// Takes out the calls of `names`. The first call that is left bears the signature that is lent, if it has none of its own.
/// Parts of which nothing is left say nothing, as Google's own do.
pub(super) fn remove(parts: &mut Vec<Value>, names: &[&str], lent: Option<&Value>) {
    let before = parts.len();
    parts.retain(|part| !is_of(part, names));
    if let Some(lent) = lent
        && let Some(first) = parts.iter_mut().find(|part| call(part).is_some())
        && field(first, SIGNATURE).is_none()
    {
        first[SIGNATURE[0]] = lent.clone();
    }
    if parts.is_empty() && before > 0 {
        parts.push(json!({"text": ""}));
    }
}

/// Whether a part calls one of `names`.
pub(super) fn is_of(part: &Value, names: &[&str]) -> bool {
    name(part).is_some_and(|name| names.contains(&name))
}

/// The numbers of the calls of `names` among all calls.
pub(super) fn places(parts: &[Value], names: &[&str]) -> Vec<usize> {
    let calls = parts.iter().filter(|part| call(part).is_some()).enumerate();
    calls.filter(|(_, part)| is_of(part, names)).map(|(number, _)| number).collect()
}

/// The result of a call, as a part.
pub(super) fn result(id: &str, name: &str, text: &str) -> Value {
    let mut response = json!({"name": name, "response": {"output": text}});
    if !id.is_empty() {
        response["id"] = id.into();
    }
    json!({RESULT[0]: response})
}

/// Whether a part belongs into a request: no summary of thoughts, and no empty text. What is signed does.
pub(super) fn is_kept(part: &Value) -> bool {
    let says_nothing = part["thought"] == true || part["text"].as_str().is_some_and(str::is_empty);
    !says_nothing || field(part, SIGNATURE).is_some()
}

/// Adds a part of a stream to those before it: texts of one kind are one part.
pub(super) fn push(parts: &mut Vec<Value>, part: &Value) {
    let is_text = |part: &Value| part["text"].is_string() && field(part, SIGNATURE).is_none();
    if let Some(last) = parts.last_mut()
        && is_text(last)
        && is_text(part)
        && last["thought"] == part["thought"]
    {
        if let (Value::String(text), Some(more)) = (&mut last["text"], part["text"].as_str()) {
            text.push_str(more);
        }
        return;
    }
    parts.push(part.clone());
}

/// Puts calls, or their results, into a content at their numbers among those that it has. `None` where it has none: then
/// the client continues in another way.
pub(super) fn insert(content: &mut Value, inserted: &[Value], places: &[usize]) -> Option<()> {
    let kind = if inserted.iter().all(|part| call(part).is_some()) { CALL } else { RESULT };
    let parts = content.get_mut("parts")?.as_array_mut()?;
    let of_kind = |parts: &[Value]| -> Vec<usize> {
        parts.iter().enumerate().filter(|(_, part)| field(part, kind).is_some()).map(|(at, _)| at).collect()
    };
    if of_kind(parts).is_empty() {
        return None;
    }
    for signature in inserted.iter().filter_map(|part| field(part, SIGNATURE)) {
        for part in parts.iter_mut().filter(|part| field(part, SIGNATURE) == Some(signature)) {
            if let Some(part) = part.as_object_mut() {
                SIGNATURE.iter().for_each(|name| drop(part.shift_remove(*name)));
            }
        }
    }
    for (part, place) in inserted.iter().zip(places) {
        let known = of_kind(parts);
        let at = known.get(*place).copied().or(known.last().map(|last| last + 1)).unwrap_or(parts.len());
        parts.insert(at, part.clone());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn called(name: &str, signature: &str) -> Value {
        let mut part = json!({"functionCall": {"name": name, "args": {}}});
        if !signature.is_empty() {
            part["thoughtSignature"] = signature.into();
        }
        part
    }

    #[test]
    fn the_first_call_is_signed_with_ours_and_without() {
        let names = ["search_history", "recall"];
        let check = |parts: Vec<Value>, without: Vec<Value>| {
            let mut rest = parts.clone();
            remove(&mut rest, &names, lent_signature(&parts, &names).as_ref());
            assert_eq!(rest, without);
            let ours: Vec<Value> = parts.iter().filter(|part| is_of(part, &names)).cloned().collect();
            let mut content = json!({"role": "model", "parts": rest});
            if insert(&mut content, &ours, &places(&parts, &names)).is_some() {
                assert_eq!(content["parts"], json!(parts), "as the model made them");
            }
        };
        let (ours, theirs) = (called("recall", "s"), called("bash", ""));
        check(vec![ours.clone(), theirs.clone()], vec![called("bash", "s")]);
        check(vec![called("bash", "s"), called("recall", "")], vec![called("bash", "s")]);
        check(
            vec![called("bash", "s"), called("recall", ""), theirs.clone()],
            vec![called("bash", "s"), theirs.clone()],
        );
        let text = json!({"text": "One moment."});
        check(vec![text.clone(), ours.clone(), called("search_history", ""), theirs], vec![text, called("bash", "s")]);
        check(vec![ours], vec![json!({"text": ""})]);
    }

    #[test]
    fn results_stand_where_their_calls_do() {
        let result = |name: &str| result("", name, "x");
        let check = |theirs: &[&str], places: &[usize], expect: &[&str]| {
            let parts: Vec<Value> = theirs.iter().map(|name| result(name)).collect();
            let mut content = json!({"role": "user", "parts": parts});
            let ours = vec![result("recall"); places.len()];
            assert_eq!(insert(&mut content, &ours, places).is_some(), !theirs.is_empty());
            let found: Vec<&str> = content["parts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|part| part["functionResponse"]["name"].as_str().unwrap())
                .collect();
            assert_eq!(found, expect);
        };
        check(&["a", "b"], &[0], &["recall", "a", "b"]);
        check(&["a", "b"], &[1, 3], &["a", "recall", "b", "recall"]);
        check(&["a"], &[2], &["a", "recall"]);
        check(&[], &[0], &[]);
    }

    #[test]
    fn pieces_of_a_text_are_one() {
        let check = |pieces: &[Value], expect: &[Value]| {
            let mut parts = Vec::new();
            pieces.iter().for_each(|piece| push(&mut parts, piece));
            assert_eq!(parts, expect);
        };
        let (a, thought) = (json!({"text": "a"}), json!({"text": "a", "thought": true}));
        check(
            &[thought.clone(), thought.clone(), a.clone(), a.clone()],
            &[json!({"text": "aa", "thought": true}), json!({"text": "aa"})],
        );
        let signed = json!({"text": "", "thoughtSignature": "s"});
        check(&[a.clone(), signed.clone(), a.clone()], &[a.clone(), signed, a]);
    }
}
