use std::sync::Arc;

use epitome_session::heading::state_heading;
use epitome_session::{Arguments, Block, Content, Origin, Role, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::*;

/// What is said and done, in order.
enum Event<'e> {
    /// A tool is called with arguments, and answers.
    Call(&'e str, Value, &'e str),
    /// The harness tells the model something.
    Told(&'e str),
    /// A person writes.
    Typed(&'e str),
}
use Event::{Call, Told, Typed};

fn lines(events: &[Event<'_>]) -> Vec<String> {
    WorkState::read(&messages_of(events)).lines(Language::English, 160)
}

fn messages_of(events: &[Event<'_>]) -> Vec<Arc<Message>> {
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
            Typed(text) => messages.push(Message::text("", Role::User, Origin::Typed, *text)),
        }
    }
    messages.into_iter().map(Arc::new).collect()
}

#[track_caller]
fn check(events: &[Event<'_>], expect: &[&str]) {
    assert_eq!(lines(events), expect);
}

fn claude_shell() -> Event<'static> {
    let answer = "Command running in background with ID: bq7x21. Output is being written to: /tmp/tasks/bq7x21.output";
    Call("Bash", json!({"command": "npm run dev > /tmp/dev.log 2>&1", "run_in_background": true}), answer)
}

const RUNS: &str = "- runs: bq7x21 · Bash: npm run dev > /tmp/dev.log 2>&1";

#[test]
fn what_runs_is_told_until_it_has_ended() {
    let runs = RUNS;
    check(&[claude_shell()], &[runs]);
    let look = |answer: &'static str| Call("BashOutput", json!({"bash_id": "bq7x21"}), answer);
    check(
        &[
            claude_shell(),
            look("<retrieval_status>timeout</retrieval_status>\n<status>running</status>\n<output>\nready</output>"),
        ],
        &[runs],
    );
    check(&[claude_shell(), look("<status>completed</status>\n<exit_code>0</exit_code>")], &[]);
    check(
        &[
            claude_shell(),
            Call("TaskStop", json!({"task_id": "bq7x21"}), "Successfully stopped task: bq7x21 (npm run dev)"),
        ],
        &[],
    );
    check(
        &[claude_shell(), Call("TaskStop", json!({"task_id": "bq7x2"}), "Successfully stopped task: bq7x2 (sleep)")],
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
    let launched = "Async agent launched successfully. (This is internal.)\nagentId: afba179 (internal ID)\nIt works.";
    check(&[agent(launched)], &["- runs: afba179 · Task: Review"]);
    check(&[agent(launched), Call("TaskOutput", json!({"task_id": "afba179"}), "<status>completed</status>")], &[]);
    check(&[agent("The review is done: nothing runs in the background.\nagentId: afba179")], &[]);
    let spawned = Call("spawn_agent", json!({"message": "Review it"}), r#"{"agent_id":"0199-a7","nickname":"Ada"}"#);
    check(&[spawned], &["- runs: 0199-a7 · spawn_agent: Review it"]);

    let gemini = json!({"command": "npm start", "is_background": true});
    check(
        &[Call(
            "run_shell_command",
            gemini,
            "Command moved to background (PID: 4711). Output hidden. Press Ctrl+B to view.",
        )],
        &["- runs: 4711 · run_shell_command: npm start"],
    );
    let copilot = json!({"command": "gh run watch", "mode": "async", "shellId": "watchci"});
    check(
        &[Call("bash", copilot, "<command started in background with shellId: watchci>")],
        &["- runs: watchci · bash: gh run watch"],
    );
    let copilot =
        |answer: &'static str| Call("bash", json!({"command": "make", "mode": "sync", "shellId": "3"}), answer);
    check(
        &[copilot("cc a.c\n<command with shellId: 3 is still running after 30 seconds. Read on.>")],
        &["- runs: 3 · bash: make"],
    );
    let read = |answer: &'static str| Call("read_bash", json!({"shellId": "3", "delay": 5}), answer);
    let still = || copilot("cc a.c\n<command with shellId: 3 is still running after 30 seconds. Read on.>");
    check(&[still(), read("cc b.c\n<shellId: 3 completed with exit code 0>")], &[]);
    check(&[copilot("cc a.c\n<shellId: 3 completed with exit code 0>")], &[]);
    let shell = |answer: &'static str| Call("Bash", json!({"command": "make"}), answer);
    let moved =
        "Command did not complete within its 120s timeout and was moved to the background (ID: b52e07). It goes on.";
    check(&[shell(moved)], &["- runs: b52e07 · Bash: make"]);
    let scheduled = || {
        let answer = "Scheduled recurring job k3x9 (every 5 minutes). Session-only. Auto-expires after 7 days.";
        Call("CronCreate", json!({"cron": "*/5 * * * *", "prompt": "Look at the build"}), answer)
    };
    check(&[scheduled()], &["- runs: k3x9 · CronCreate: Look at the build"]);
    check(&[scheduled(), Call("CronDelete", json!({"id": "k3x9"}), "Cancelled job k3x9.")], &[]);
    check(&[Call("Read", json!({"file_path": "a.log"}), "Command running in background with ID: b1")], &[]);
    let left = |answer: &'static str| Call("Bash", json!({"command": "python3 serve.py &"}), answer);
    check(&[left("[1] 4711")], &["- runs: 4711 · Bash: python3 serve.py &"]);
    let end = |command: &'static str| Call("Bash", json!({"command": command}), "");
    for ends in ["kill 4711", "kill %1", "lsof -ti:8000 | xargs kill -9", "pkill -f serve.py"] {
        check(&[left("[1] 4711"), end(ends)], &[]);
    }
    check(&[left("[1] 4711"), end("kill 4712")], &["- runs: 4711 · Bash: python3 serve.py &"]);
    check(&[claude_shell(), end("kill $(cat worker.pid)")], &[RUNS]);
    check(&[left("[1] 4711"), end("echo $HOME; kill 4712")], &["- runs: 4711 · Bash: python3 serve.py &"]);
    let job = |answer: &'static str| Call("start_job", json!({"query": "rows", "background": true}), answer);
    let state = |answer: &'static str| Call("get_job", json!({"job_id": "J-88"}), answer);
    let runs = "- runs: J-88 · start_job: {\"query\":\"rows\",\"background\":true}";
    check(&[job(r#"{"job_id":"J-88","status":"running"}"#)], &[runs]);
    check(&[job(r#"{"job_id":"J-88"}"#), state(r#"{"status":"running","done":0.4}"#)], &[runs]);
    check(&[job(r#"{"job_id":"J-88"}"#), state(r#"{"status":"succeeded"}"#)], &[]);
    check(&[left(""), Call("Bash", json!({"command": "pkill -f serve.py"}), "")], &[]);
    check(&[Call("Bash", json!({"command": "make && ls &&"}), "ID: 7 running")], &[]);
    check(&[Call("Bash", json!({"command": "docker ps"}), "CONTAINER ID: a7 running in background")], &[]);
}

#[test]
fn the_newest_plan_and_what_was_edited() {
    let plan = |status: [&str; 3]| {
        let item = |(text, status): (&str, &str)| json!({"content": text, "status": status});
        let items: Vec<Value> = ["read", "write", "test"].into_iter().zip(status).map(item).collect();
        Call("TodoWrite", json!({"todos": items}), "ok")
    };
    check(&[plan(["completed", "completed", "completed"])], &[]);
    check(
        &[plan(["pending"; 3]), plan(["completed", "in_progress", "pending"])],
        &["- plan: 1 of 3 done", "- begun: write", "- to do: test"],
    );
    let list = |items: Value| Call("TodoWrite", json!({"todos": items}), "ok");
    check(&[plan(["pending"; 3]), list(json!([]))], &[]);
    check(&[plan(["pending"; 3]), list(json!([{"content": "read", "status": "cancelled"}]))], &[]);
    let create = |number: &str, subject: &'static str| {
        let answer = format!("Task #{number} created successfully: {subject}");
        Call("TaskCreate", json!({"subject": subject, "description": "All of it."}), Box::leak(answer.into_boxed_str()))
    };
    let update = |arguments: Value| Call("TaskUpdate", arguments, "Updated task");
    let tasks = || [create("1", "read"), create("2", "write"), create("3", "test")];
    let mut events = Vec::from(tasks());
    check(&events, &["- plan: 0 of 3 done", "- to do: #1 read", "- to do: #2 write", "- to do: #3 test"]);
    events.push(update(json!({"taskId": "1", "status": "completed"})));
    events.push(update(json!({"taskId": "2", "status": "in_progress", "subject": "write all"})));
    events.push(create("4", "tidy"));
    events.push(update(json!({"taskId": "3", "status": "deleted", "subject": "test (dropped)"})));
    let behind = ["- plan: 1 of 3 done", "- begun: #2 write all", "- to do: #4 tidy"];
    check(&events, &behind);
    events.push(update(json!({"taskId": "4", "status": "deleted"})));
    events.push(Call("TaskUpdate", json!({"taskId": "2", "status": "completed"}), "Error: a hook refused it"));
    check(&events, &["- plan: 1 of 2 done", "- begun: #2 write all"]);
    events.push(update(json!({"taskId": "2", "status": "completed"})));
    check(&events, &[]);

    let edit =
        |path: &'static str| Call("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}), "ok");
    let shell = |command: &'static str| Call("Bash", json!({"command": command}), "ok");
    check(&[edit("a.rs")], &["- edited: a.rs"]);
    check(&[shell("sed -i s/a/b/ c.rs && cargo test > out.log")], &["- edited: c.rs"]);
    check(&[shell("cat > d.py <<'EOF'\nx = 1\nEOF")], &["- edited: d.py"]);
    check(&[shell("cargo test > out.log 2>&1")], &[]);
    check(&[edit("/w/a.rs"), edit("/w/tmp/b.rs"), edit("/w/c.rs"), shell("rm -r tmp/ a.rs")], &["- edited: /w/c.rs"]);
    check(
        &[shell("git status"), edit("a.rs"), edit("b.rs"), edit("a.rs")],
        &["- edited since the last commit: a.rs, b.rs"],
    );
    check(
        &[edit("a.rs"), shell("git add -A && git commit -m x"), edit("b.rs")],
        &["- edited since the last commit: b.rs"],
    );
    check(&[edit("a.rs"), shell("git -C /w commit -am x")], &[]);
    check(
        &[edit("a.rs"), shell("git checkout -b x && git log --grep commit")],
        &["- edited since the last commit: a.rs"],
    );
    check(
        &[edit("a.rs"), Call("Bash", json!({"command": "git commit -am x"}), "Error: a hook failed")],
        &["- edited since the last commit: a.rs"],
    );
    // What was taken back, put aside or moved is followed; what a script did before its last command failed was done.
    let since = |files: &str| format!("- edited since the last commit: {files}");
    let both = |command: &'static str| [edit("/w/a.rs"), edit("/w/src/b.rs"), shell(command)];
    check(&both("git checkout -- src/b.rs"), &[&since("/w/a.rs")]);
    check(&both("git checkout main src"), &[&since("/w/src/b.rs, /w/a.rs")]);
    check(&both("cd /w && git restore ."), &[]);
    check(&both("git restore --staged a.rs"), &[&since("/w/src/b.rs, /w/a.rs")]);
    check(&both("git reset --hard && git clean -fd"), &[]);
    check(&both("git stash"), &[]);
    check(&both("git stash && git pull && git stash pop"), &[&since("/w/src/b.rs, /w/a.rs")]);
    check(&both("git mv src/b.rs src/c.rs"), &[&since("/w/src/c.rs, /w/a.rs")]);
    check(&[shell("git mv x.rs y.rs")], &[&since("y.rs")]);
    check(&both("mv src lib/ && git status"), &[&since("/w/lib/src/b.rs, /w/a.rs")]);
    check(
        &[edit("a.rs"), shell("git commit -qam x"), edit("b.rs"), shell("git reset --soft HEAD~1")],
        &[&since("b.rs, a.rs")],
    );
    check(
        &[
            edit("a.rs"),
            shell("git commit -qam x"),
            edit("b.rs"),
            shell("git commit -qa --amend"),
            shell("git reset HEAD^"),
        ],
        &[&since("b.rs, a.rs")],
    );
    check(&[edit("a.rs"), shell("git commit -qam x"), shell("git reset HEAD@{1}")], &[]);
    let refused = "ruff.....Failed\n- hook id: ruff\n- exit code: 1";
    check(&[edit("a.rs"), Call("Bash", json!({"command": "git commit -am x"}), refused)], &[&since("a.rs")]);
    let pushed = "[main 1a2b3c4] x\n 1 file changed\nerror: failed to push some refs";
    check(&[edit("a.rs"), Call("Bash", json!({"command": "git commit -am x && git push"}), pushed)], &[]);
    let red = "Exit code 1\n1 failed";
    check(&[Call("Bash", json!({"command": "sed -i s/a/b/ c.rs && cargo test"}), red)], &["- edited: c.rs"]);
    check(&[Call("Bash", json!({"command": "sed -i s/a/b/ c.rs"}), "Exit code 1\nsed: no such file")], &[]);
    let patch = |text: &'static str| Call("apply_patch", json!({"input": text}), "Done");
    let begin =
        patch("*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Update File: b.py\n@@\n-x\n+y\n*** End Patch");
    check(
        &[
            begin,
            patch("*** Begin Patch\n*** Delete File: a.py\n*** Update File: b.py\n*** Move to: c.py\n*** End Patch"),
        ],
        &["- edited: c.py"],
    );
    let folder = "/home/dev/ledger/a/folder/with/a/long/name";
    let many: Vec<String> = (0..9).map(|number| format!("{folder}/{number}.rs")).collect();
    assert_eq!(named(&many, 120, Language::English), format!("{folder}/8.rs, {folder}/7.rs and 7 more"));
}

/// What a compaction told is read back, and goes on with what came behind.
#[test]
fn a_state_that_was_told_goes_on() {
    let told = [
        "- runs: b7 · Bash: npm run dev: all",
        "- runs: Bash: serve &",
        "- approved by the user, who has written since: /w/a: b.md",
        "- plan: 2 of 6 done",
        "- begun: #2 write all",
        "- to do: #4 tidy",
        "- to do: #5 ship",
        "- edited since the last commit: c.rs, b.rs and 2 more",
    ];
    let said = |language: Language, lines: &[String]| {
        let text = format!("[Summary of 9 earlier messages]\nx\n\n{}\n{}", state_heading(language), lines.join("\n"));
        Arc::new(Message::text("", Role::User, Origin::Summary, text))
    };
    let lines: Vec<String> = told.map(str::to_owned).to_vec();
    let state = WorkState::read(&[said(Language::English, &lines)]);
    let mut expect = lines.clone();
    expect[7] = "- edited since the last commit: c.rs, b.rs".to_owned();
    assert_eq!(state.lines(Language::English, 160), expect);
    let chinese = state.lines(Language::Chinese, 160);
    assert_eq!(WorkState::read(&[said(Language::Chinese, &chinese)]), state);

    // What a tool printed in this form is no state.
    for printed in [
        "\\[State at this point, by the calls and their results]\n- runs: x · y: z",
        "[State at this point, by the calls and their results]\n- runs: x · y: z\nmore",
    ] {
        let text = format!("[Summary of 9 earlier messages]\n{printed}");
        let message = Arc::new(Message::text("", Role::User, Origin::Summary, text));
        assert_eq!(WorkState::read(&[message]), WorkState::default(), "{printed}");
    }

    let mut messages = vec![said(Language::English, &lines)];
    messages.extend(messages_of(&[
        Call("KillShell", json!({"shell_id": "b7"}), "Successfully killed shell: b7"),
        Call("TaskUpdate", json!({"taskId": "2", "status": "completed"}), "Updated task #2 status"),
        Call("Bash", json!({"command": "git commit -qam x"}), ""),
    ]));
    let expect = [
        "- runs: Bash: serve &",
        "- approved by the user, who has written since: /w/a: b.md",
        "- plan: 3 of 6 done",
        "- to do: #4 tidy",
        "- to do: #5 ship",
    ];
    assert_eq!(WorkState::read(&messages).lines(Language::English, 160), expect);

    // Where its calls are there as well, nothing is told twice.
    let mut messages = messages_of(&[
        Call("Bash", json!({"command": "serve &"}), ""),
        Call("TaskCreate", json!({"subject": "tidy"}), "Task #4 created successfully: tidy"),
    ]);
    messages.push(said(Language::English, &lines));
    let expect = [
        &[lines[1].clone(), lines[0].clone(), lines[2].clone()][..],
        &["- plan: 0 of 1 done".to_owned(), "- to do: #4 tidy".to_owned()],
    ]
    .concat();
    assert_eq!(WorkState::read(&messages).lines(Language::English, 160)[..5], expect);
}

#[test]
fn an_approved_plan_stands_until_another_is_shown() {
    let shown = |name: &'static str, arguments: Value, answer: &'static str| Call(name, arguments, answer);
    let agreed = "User has approved your plan. You can now start coding.\n\nYour plan has been saved to: /w/plans/calm-owl.md\nYou can refer back to it.";
    let claude = || shown("ExitPlanMode", json!({"plan": "# Split the importer\n\n1. Read"}), agreed);
    check(&[claude()], &["- approved by the user: /w/plans/calm-owl.md"]);
    let refused = shown("ExitPlanMode", json!({"plan": "# B"}), "Error: The user doesn't want to proceed");
    check(&[claude(), refused], &[]);
    let gemini = "Plan approved. Switching to Auto-Edit mode.\n\nThe approved implementation plan is stored at: plans/a.md\nRead it.";
    let gemini = shown("exit_plan_mode", json!({"plan_filename": "a.md"}), gemini);
    check(&[gemini], &["- approved by the user: plans/a.md"]);
    let opencode = "User approved switching to build agent. Wait for further instructions.";
    check(
        &[shown("plan_exit", json!({"plan": "Split it\nthen test"}), opencode)],
        &["- approved by the user: Split it"],
    );
    check(&[shown("Read", json!({"file_path": "a"}), agreed)], &[]);
    check(
        &[claude(), Typed("Forget that plan.")],
        &["- approved by the user, who has written since: /w/plans/calm-owl.md"],
    );
}
