use std::sync::Arc;

use epitome_session::{Arguments, Block, Content, Origin, Role, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::*;

/// What is said and done, in order.
enum Event<'e> {
    /// A tool is called with arguments, and answers.
    Call(&'e str, Value, &'e str),
    /// The harness tells the model something.
    Told(&'e str),
}
use Event::{Call, Told};

fn lines(events: &[Event<'_>]) -> Vec<String> {
    let mut messages: Vec<Message> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        match event {
            Call(name, arguments, answer) => {
                let id: Arc<str> = format!("c{number}").into();
                let arguments = Arguments::Json(arguments.to_string().into());
                let call = ToolCall { id: Arc::clone(&id), name: (*name).into(), arguments };
                let blocks = vec![Block::new(Content::ToolCall(call))];
                messages.push(Message::new("", Role::Assistant, Origin::Model, blocks));
                let is_error = answer.starts_with("Error");
                let text = (*answer).into();
                let result = ToolResult { call_id: id, name: None, text, attachments: Vec::new(), is_error };
                messages.push(Message::result("", result));
            }
            Told(text) => messages.push(Message::text("", Role::User, Origin::Injected, *text)),
        }
    }
    WorkState::read(&messages.iter().collect::<Vec<_>>()).lines(Language::English)
}

#[track_caller]
fn check(events: &[Event<'_>], expect: &[&str]) {
    assert_eq!(lines(events), expect);
}

fn claude_shell() -> Event<'static> {
    let answer = "Command running in background with ID: bq7x21. Output is being written to: /tmp/tasks/bq7x21.output";
    Call("Bash", json!({"command": "npm run dev > /tmp/dev.log 2>&1", "run_in_background": true}), answer)
}

#[test]
fn what_runs_is_told_until_it_has_ended() {
    let runs = "- runs: bq7x21 · Bash: npm run dev > /tmp/dev.log 2>&1";
    check(&[claude_shell()], &[runs]);
    let look = |answer: &'static str| Call("BashOutput", json!({"bash_id": "bq7x21"}), answer);
    check(&[claude_shell(), look("<status>running</status>\n<stdout>\nready</stdout>")], &[runs]);
    check(&[claude_shell(), look("<status>completed</status>\n<exit_code>0</exit_code>")], &[]);
    check(
        &[claude_shell(), Call("KillShell", json!({"shell_id": "bq7x21"}), "Successfully killed shell: bq7x21")],
        &[],
    );
    check(
        &[claude_shell(), Call("KillShell", json!({"shell_id": "bq7x2"}), "Successfully killed shell: bq7x2")],
        &[runs],
    );
    check(&[claude_shell(), Call("Bash", json!({"command": "pkill -f worker"}), "")], &[runs]);
    let told = "<task-notification>\n<task-id>bq7x21</task-id>\n<status>completed</status>\n</task-notification>";
    check(&[claude_shell(), Told(told)], &[]);
    check(&[claude_shell(), Told(&told.replace("bq7x21", "other1"))], &[runs]);
    // What a tool prints ends nothing that is not its own.
    check(&[claude_shell(), Call("Read", json!({"file_path": "a.md"}), "bq7x21 has completed")], &[runs]);
}

#[test]
fn hosts_have_their_own_words() {
    let codex = |answer: &'static str| Call("exec_command", json!({"cmd": "cargo watch"}), answer);
    let running = "Chunk ID: f178d1\nWall time: 30.0 seconds\nProcess running with session ID 90862\nOutput:\nready";
    check(&[codex(running)], &["- runs: 90862 · exec_command: cargo watch"]);
    let poll = |answer: &'static str| Call("write_stdin", json!({"session_id": 90862, "chars": ""}), answer);
    check(&[codex(running), poll(running)], &["- runs: 90862 · exec_command: cargo watch"]);
    check(&[codex(running), poll("Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n")], &[]);
    check(&[codex("Wall time: 1 seconds\nProcess exited with code 1\nOutput:\nProcess running")], &[]);

    let agent = |answer: &'static str| Call("Task", json!({"description": "Review", "prompt": "Read it."}), answer);
    let launched = "Async agent launched successfully.\nagentId: afba179 (This is an internal ID)\nThe agent works.";
    check(&[agent(launched)], &["- runs: afba179 · Task: Review"]);
    check(&[agent(launched), Call("TaskOutput", json!({"task_id": "afba179"}), "<status>completed</status>")], &[]);
    check(&[agent("The review is done: nothing runs in the background.\nagentId: afba179")], &[]);
    let spawned = Call("spawn_agent", json!({"message": "Review it"}), r#"{"agent_id":"0199-a7","nickname":"Ada"}"#);
    check(&[spawned], &["- runs: 0199-a7 · spawn_agent: Review it"]);

    let gemini = json!({"command": "npm start", "is_background": true});
    check(
        &[Call("run_shell_command", gemini, "Command: npm start\nBackground PIDs: 4711")],
        &["- runs: 4711 · run_shell_command: npm start"],
    );
    let copilot = json!({"command": "gh run watch", "mode": "async", "shellId": "watchci"});
    check(&[Call("bash", copilot, "<command started in the background>")], &["- runs: watchci · bash: gh run watch"]);
    let left = |answer: &'static str| Call("Bash", json!({"command": "python3 serve.py &"}), answer);
    check(&[left("[1] 4711")], &["- runs: Bash: python3 serve.py &"]);
    check(&[left(""), Call("Bash", json!({"command": "pkill -f serve.py"}), "")], &[]);
    check(&[Call("Bash", json!({"command": "make && ls &&"}), "ID: 7 running")], &[]);
    check(&[Call("Bash", json!({"command": "docker ps"}), "CONTAINER ID: a7 running in background")], &[]);
}

#[test]
fn the_newest_plan_and_what_is_not_committed() {
    let plan = |status: [&str; 3]| {
        let item = |(text, status): (&str, &str)| json!({"content": text, "status": status});
        let items: Vec<Value> = ["read", "write", "test"].into_iter().zip(status).map(item).collect();
        Call("TodoWrite", json!({"todos": items}), "ok")
    };
    check(&[plan(["completed", "completed", "completed"])], &[]);
    check(
        &[plan(["pending"; 3]), plan(["completed", "in_progress", "pending"])],
        &["- begun: write", "- to do: test", "- of the plan 1 done, 0 more to do"],
    );
    let edit =
        |path: &'static str| Call("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}), "ok");
    let shell = |command: &'static str| Call("Bash", json!({"command": command}), "ok");
    check(&[edit("a.rs")], &[]);
    check(&[shell("git status"), edit("a.rs"), edit("b.rs"), edit("a.rs")], &["- not committed: a.rs, b.rs"]);
    check(&[edit("a.rs"), shell("git add -A && git commit -m x"), edit("b.rs")], &["- not committed: b.rs"]);
    check(&[edit("a.rs"), shell("git commit -am x")], &[]);
}
