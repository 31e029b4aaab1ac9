//! The rules of providers, checked on the request itself. Nothing here is shared with rendering: what one side gets wrong
//! the other sees.

mod anthropic;
mod chat;
mod responses;

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::Profile;

/// A rule of a provider that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, such as `messages[3].content[0]`.
    pub path: String,
    /// Which rule: `json`, `messages`, `role`, `first-user`, `content`, `arguments`, `call-id`, `call-without-result`,
    /// `result-without-call`, `alternation`, `system-in-messages`, `results-first`, `part-type`, `tools`.
    pub rule: &'static str,
    /// What is wrong, for a person.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {} ({})", self.path, self.message, self.rule)
    }
}

/// Checks a request, a request object or a bare list of its messages, against the rules of `profile`. JSON lines are
/// taken as a list of messages, or as requests of their own. Empty where it keeps them all. Linear in the request.
///
/// Calls of the last message that is no result may be unanswered: they are still being worked on. Whether reasoning
/// stands where its signature was made cannot be seen here.
pub fn validate(json: &str, profile: Profile) -> Vec<Violation> {
    let mut found = Findings::default();
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(json).into_iter::<Value>() {
        match value {
            Ok(value) => values.push(value),
            Err(error) => {
                found.add("", "json", error.to_string());
                return found.0;
            }
        }
    }
    let list_name = if profile == Profile::OpenaiResponses { "input" } else { "messages" };
    let is_message = |value: &Value| value.get("role").is_some() || value.get("type").is_some();
    if !values.iter().any(is_message) {
        for value in &values {
            request(value, list_name, profile, &mut found);
        }
    } else {
        messages(&values, list_name, profile, &mut found);
    }
    if values.is_empty() {
        found.add("", "json", "there is nothing".to_owned());
    }
    found.0
}

fn request(value: &Value, list_name: &str, profile: Profile, found: &mut Findings) {
    let list = if value.is_array() { value } else { &value[list_name] };
    match list {
        Value::Array(list) => messages(list, list_name, profile, found),
        Value::String(_) if profile == Profile::OpenaiResponses => {}
        _ => found.add(list_name, "messages", "there is no list of messages".to_owned()),
    }
    if profile == Profile::Anthropic {
        anthropic::system(&value["system"], found);
    }
    if let Some(tools) = value["tools"].as_array() {
        for (index, tool) in tools.iter().enumerate() {
            let named = match profile {
                Profile::OpenaiChat => tool["function"]["name"].is_string() || tool["custom"]["name"].is_string(),
                Profile::OpenaiResponses => tool["type"].is_string() && tool.get("input_schema").is_none(),
                Profile::Anthropic => tool["name"].is_string() && tool.get("parameters").is_none(),
            };
            if !named {
                found.add(&format!("tools[{index}]"), "tools", "the definition is not in this format".to_owned());
            }
        }
    }
}

fn messages(list: &[Value], list_name: &str, profile: Profile, found: &mut Findings) {
    match profile {
        Profile::OpenaiChat => chat::check(list, list_name, found),
        Profile::OpenaiResponses => responses::check(list, list_name, found),
        Profile::Anthropic => anthropic::check(list, list_name, found),
    }
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, path: &str, rule: &'static str, message: String) {
        self.0.push(Violation { path: path.to_owned(), rule, message });
    }
}

/// Calls that wait for their results.
#[derive(Default)]
struct OpenCalls {
    /// The ids in the order of the calls; none where a result has come.
    calls: Vec<Option<String>>,
    /// By id and kind, the positions of those that wait, oldest first.
    waiting: HashMap<(String, String), VecDeque<usize>>,
    answered_some: bool,
}

impl OpenCalls {
    fn open(&mut self, id: &str, kind: &str) {
        self.waiting.entry((id.to_owned(), kind.to_owned())).or_default().push_back(self.calls.len());
        self.calls.push(Some(id.to_owned()));
    }

    /// Whether a call of that id and kind was waiting.
    fn answer(&mut self, id: &str, kind: &str) -> bool {
        self.answered_some = true;
        let waiting = self.waiting.get_mut(&(id.to_owned(), kind.to_owned()));
        let Some(at) = waiting.and_then(VecDeque::pop_front) else { return false };
        self.calls[at] = None;
        true
    }

    /// Ends the step: nothing may be waiting.
    fn close(&mut self, path: &str, found: &mut Findings) {
        for id in self.calls.drain(..).flatten() {
            found.add(path, "call-without-result", format!("the call `{id}` has no result in front of this"));
        }
        self.waiting.clear();
        self.answered_some = false;
    }
}

/// Checks that arguments in a string are a JSON object.
fn arguments(path: &str, arguments: &Value, found: &mut Findings) {
    let is_object =
        arguments.as_str().is_some_and(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()));
    if !is_object {
        found.add(path, "arguments", "the arguments are no JSON object in a string".to_owned());
    }
}

#[cfg(test)]
#[path = "../validate_tests.rs"]
mod tests;
