//! Lists of messages to be fitted.

use std::path::{Path, PathBuf};

use epitome::formats::{ReadOptions, Wire, read, render};
use epitome::{Runtime, Session};
use epitome_fit::{FitOptions, FitRequest, Fitted, Fitter, RequestPart};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn runtime() -> Runtime {
    epitome::Config::default().build(&epitome::registry()).unwrap()
}

pub(crate) fn fitter(profile: Wire, options: FitOptions) -> Fitter {
    Fitter::new(&runtime(), profile, options)
}

/// A chat with so many steps of a tool with much output.
pub(crate) fn chat(steps: usize) -> Vec<String> {
    let mut list =
        vec![json!({"role": "user", "content": "Find out why the build of the parser fails. Keep the tests."})];
    for number in 0..steps {
        list.push(json!({"role": "assistant", "content": format!("I look at part {number}."),
            "tool_calls": [{"id": format!("c{number}"), "type": "function",
                "function": {"name": "bash", "arguments": json!({"command": format!("make part{number}")}).to_string()}}]}));
        let lines: Vec<String> = (0..60)
            .map(|line| format!("src/part{number}/file{line}.rs: checked, {} warnings", line * number))
            .collect();
        list.push(json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": lines.join("\n")}));
    }
    list.iter().map(Value::to_string).collect()
}

/// A message of one text, by `user` or `assistant`.
pub(crate) fn said(profile: Wire, role: &str, text: &str) -> String {
    match (profile, role) {
        (Wire::Gemini, "assistant") => json!({"role": "model", "parts": [{"text": text}]}).to_string(),
        (Wire::Gemini, role) => json!({"role": role, "parts": [{"text": text}]}).to_string(),
        (_, role) => json!({"role": role, "content": text}).to_string(),
    }
}

/// A list in the form of a provider, with the content beside it.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) profile: Wire,
    pub(crate) messages: Vec<String>,
    pub(crate) system: Option<String>,
}

impl List {
    /// A session as a list.
    pub(crate) fn new(session: &Session, profile: Wire) -> Self {
        let request: Value = serde_json::from_str(&render(session.view(), profile, None, None).json).unwrap();
        let (list, system) = (profile.list_field(), profile.system_field().unwrap_or_default());
        Self {
            profile,
            messages: request[list].as_array().unwrap().iter().map(Value::to_string).collect(),
            system: request.get(system).map(Value::to_string),
        }
    }

    /// The example that is shipped.
    pub(crate) fn example(profile: Wire) -> Self {
        let loaded =
            read(include_bytes!("../../../../examples/session.jsonl").to_vec(), ReadOptions::default()).unwrap();
        Self::new(&loaded.sessions[0].session, profile)
    }

    /// A recorded session as a list; `None` for a large file, and for one that cannot be read.
    pub(crate) fn recorded(file: &Path, profile: Wire) -> Option<Self> {
        let small = file.metadata().is_ok_and(|metadata| metadata.len() < 1 << 20);
        let loaded = small.then(|| read(std::fs::read(file).unwrap(), ReadOptions::default()).ok()).flatten()?;
        Some(Self::new(&loaded.sessions[0].session, profile))
    }

    /// The lengths at which it is the model's turn, at most so many of them.
    pub(crate) fn turns(&self, most: usize) -> Vec<usize> {
        let values: Vec<Value> = self.messages.iter().map(|json| serde_json::from_str(json).unwrap()).collect();
        let is_model = |item: &Value| {
            matches!(item["role"].as_str(), Some("assistant" | "model"))
                || matches!(item["type"].as_str(), Some("function_call" | "reasoning"))
        };
        let ends =
            (1..=values.len()).filter(|end| !is_model(&values[end - 1]) && values.get(*end).is_none_or(is_model));
        let ends: Vec<usize> = ends.collect();
        ends.iter().copied().step_by(ends.len().div_ceil(most).max(1)).collect()
    }

    /// The name of the list in a request.
    pub(crate) fn name(&self) -> &'static str {
        self.profile.list_field()
    }

    pub(crate) fn request(&self, length: usize) -> FitRequest<'_> {
        let mut request = FitRequest::new(&self.messages[..length]);
        if let Some(system) = &self.system {
            request.system = RequestPart::Json(system);
        }
        request
    }

    /// The fitted list as a whole request.
    pub(crate) fn sent(&self, fitted: &Fitted, length: usize) -> String {
        let messages = fitted.to_messages(&self.messages[..length]).unwrap().join(",");
        format!(r#"{{"{}":[{messages}]}}"#, self.name())
    }
}

/// The files of recorded sessions, in order; none where there are none on this machine.
pub(crate) fn recorded() -> Vec<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or_else(|| root.join("../shared/data/dev"), PathBuf::from);
    let (mut files, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let is_sealed = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("reserve"));
            match path.is_dir() {
                _ if is_sealed => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}

/// A made-up turn: how many calls it makes, how many lines each prints, and whether a person speaks after it.
pub(crate) type Turn = (usize, usize, bool);

/// The size and kind of a made-up turn.
pub(crate) fn turn() -> impl Strategy<Value = Turn> {
    (0_usize..4, 1_usize..120, any::<bool>())
}

/// A list of made-up turns, and the lengths at which each ends.
pub(crate) fn made_up(turns: &[Turn]) -> (List, Vec<usize>) {
    let mut messages = vec![r#"{"role":"user","content":"Find out why the build fails."}"#.to_owned()];
    let mut ends = vec![1];
    for (number, (calls, lines, speaks)) in turns.iter().copied().enumerate() {
        let made: Vec<String> = (0..calls)
            .map(|call| {
                format!(
                    r#"{{"id":"c{number}_{call}","type":"function","function":{{"name":"bash","arguments":"{{}}"}}}}"#
                )
            })
            .collect();
        let said = format!("Step {number}: {}", "I look at it. ".repeat(lines / 40));
        messages.push(match calls {
            0 => format!(r#"{{"role":"assistant","content":"{said}"}}"#),
            _ => format!(r#"{{"role":"assistant","content":"{said}","tool_calls":[{}]}}"#, made.join(",")),
        });
        for call in 0..calls {
            let output: Vec<String> = (0..lines).map(|line| format!("file{call}.rs:{line}: nothing")).collect();
            let output = output.join("\\n");
            messages.push(format!(r#"{{"role":"tool","tool_call_id":"c{number}_{call}","content":"{output}"}}"#));
        }
        if calls == 0 || speaks {
            messages.push(format!(r#"{{"role":"user","content":"And then, {number}?"}}"#));
        }
        ends.push(messages.len());
    }
    (List { profile: Wire::OpenaiChat, messages, system: None }, ends)
}
