//! Sessions that agents' own programs wrote (tests/agents/recorded), against what the program sent next.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use epitome_session::{Content, Entry, Origin};
use serde::Deserialize;

use crate::{FileName, LoadedFile, ReadOptions, read_with_inherited};

/// As much of a text is compared: longer ones are cut, some in their parts.
const LENGTH: usize = 200;

#[derive(Deserialize)]
struct Scene {
    /// The program's version.
    version: String,
    /// The session's file, beside those that it continues.
    file: String,
    /// Each text, call and result that was sent in front of the next prompt.
    sent: Vec<String>,
}

/// The scene of a folder, and its session.
fn load_scene(name: &str) -> (LoadedFile, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents/recorded").join(name);
    let scene: Scene = serde_json::from_slice(&std::fs::read(folder.join("sent.json")).unwrap()).unwrap();
    assert!(!scene.version.is_empty());
    let find = |name: &FileName<'_>| {
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let found = names.into_iter().find(|path| path.to_string_lossy().ends_with(&format!("{}.jsonl", name.id)));
        std::fs::read(found.ok_or(std::io::ErrorKind::NotFound)?)
    };
    let bytes = std::fs::read(folder.join(scene.file)).unwrap();
    (read_with_inherited(bytes, ReadOptions::default(), Some(&find)).unwrap(), scene.sent)
}

/// What the model sees, as the recorder tells what it was sent. A summary is told as such: the agents frame its text anew.
fn seen(view: &[Entry]) -> Vec<String> {
    let mut seen = Vec::new();
    for message in view.iter().map(|entry| &entry.message) {
        let role = if message.origin == Origin::Summary { "summary" } else { message.role.as_str() };
        seen.extend(message.blocks.iter().filter_map(|block| match &block.content {
            Content::Text { text } => Some(format!("{role}: {text}")),
            Content::ToolCall(call) => Some(format!("call: {}", call.name)),
            Content::ToolResult(result) => Some(format!("result: {}", result.text)),
            _ => None,
        }));
    }
    seen
}

/// Holds that the view is what the program sent next, but for what is `beside` the conversation: how such texts begin.
#[track_caller]
fn check(name: &str, beside: &[&str]) {
    let start = |text: &str, length: usize| -> String { text.trim().chars().take(length).collect() };
    let (loaded, sent) = load_scene(name);
    assert_eq!(loaded.warnings, [], "{name}");
    let is_said = |text: &String| !beside.iter().any(|start| text.starts_with(start));
    let seen: Vec<String> = seen(loaded.sessions[0].session.view()).into_iter().filter(is_said).collect();
    let sent = sent.iter().filter(|text| is_said(text));
    let sent = sent.zip(seen.iter().map(Some).chain(std::iter::repeat(None))).map(|(sent, seen)| {
        let summary = seen.filter(|it| it.strip_prefix("summary: ").is_some_and(|it| sent.contains(&start(it, 40))));
        start(summary.unwrap_or(sent), LENGTH)
    });
    assert_eq!(seen.iter().map(|text| start(text, LENGTH)).collect::<Vec<_>>(), sent.collect::<Vec<_>>(), "{name}");
}

#[test]
fn codex() {
    for name in ["forks", "revert", "compaction-in-a-fork"] {
        check(&format!("codex/{name}"), &[]);
    }
}

#[test]
fn claude_code() {
    for name in ["taken-back", "compaction"] {
        // The machine, the date and the model, which this version tells in a turn of the system's own.
        check(&format!("claude/{name}"), &["system: ", "user: <system-reminder>"]);
    }
}

#[test]
fn pi() {
    for name in ["turns", "compaction"] {
        check(&format!("pi/{name}"), &[]);
    }
}

#[test]
fn qwen_code() {
    for name in ["taken-back", "compaction"] {
        // The system prompt, and what it says of the machine and the date, are made anew for each request.
        check(&format!("qwen/{name}"), &["system: ", "user: <system-reminder>"]);
    }
}

#[test]
fn gemini_cli() {
    for name in ["turns", "compaction"] {
        // What it says to begin with is one message when it is written again.
        check(&format!("gemini/{name}"), &["user: <session_context>"]);
    }
}

#[test]
fn copilot_cli() {
    // The system prompt is recorded behind the first prompt.
    check("copilot/turns", &["system: "]);
}

#[test]
fn opencode() {
    for name in ["revert", "after-a-revert", "compaction", "two-compactions", "failed-compaction"] {
        // It makes the system prompt anew for each request.
        check(&format!("opencode/{name}"), &["system: You are opencode"]);
    }
}
