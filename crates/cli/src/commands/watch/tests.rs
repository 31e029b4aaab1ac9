//! Cases of a session that is watched: the changes of its file are made between two looks.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::*;
use crate::args::{ConfigArgs, WindowArgs};
use crate::render::style::without_styles;
use crate::render::watch::line as line_of;

/// A look, and the change of the file before the next one.
type Change<'a> = &'a dyn Fn(&Path);

fn user(number: u32, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// A call of `make`, and its result.
fn call(number: u32, result: &str) -> String {
    let call = format!(
        "{{\"type\":\"assistant\",\"uuid\":\"a{number}\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m{number}\",\"role\":\"assistant\",\
         \"model\":\"m\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{number}\",\"name\":\"Bash\",\"input\":{{\"command\":\"make\"}}}}]}}}}\n"
    );
    let answer = format!(
        "{{\"type\":\"user\",\"uuid\":\"r{number}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\
         \"tool_result\",\"tool_use_id\":\"t{number}\",\"content\":\"{result}\"}}]}}}}\n"
    );
    call + &answer
}

fn compacted(number: u32) -> String {
    let boundary = format!(
        "{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b{number}\",\"sessionId\":\"s\",\"compactMetadata\":{{\"trigger\":\"auto\"}}}}\n"
    );
    let summary = format!(
        "{{\"type\":\"user\",\"uuid\":\"s{number}\",\"sessionId\":\"s\",\"isCompactSummary\":true,\"message\":{{\"role\":\"user\",\
         \"content\":\"What was said before.\"}}}}\n"
    );
    boundary + &summary
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// What is shown and told of a session file under a budget of 1,000 tokens, while the changes are made one after the
/// other: events with the messages in the context, and the first word of each warning that is told.
fn watched(changes: &[Change<'_>]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let registry = epitome::registry();
    let room = WindowArgs {
        budget: Some(1_000),
        window: None,
        model: None,
        configuration: ConfigArgs { config: None, agent: None },
    };
    let mut source = SessionSource::new(&path, None, None);
    let mut watcher = SnapshotWatcher::new(&room, &registry);
    let shown = std::cell::RefCell::new(Vec::new());
    let mut told = HashSet::new();
    let mut show = |frame: &ContextSnapshot| {
        let event = serde_json::to_value(frame.event).unwrap().as_str().unwrap().to_owned();
        let line = line_of(frame, &mut told);
        assert!(line.ends_with('\n') && frame.fullness.check.usable_tokens == 1_000);
        let warnings =
            line.lines().skip(1).filter_map(|line| without_styles(line).split(' ').nth(1).map(str::to_owned));
        let parts: Vec<String> =
            [format!("{event} {}", frame.messages)].into_iter().chain(warnings.map(|it| format!("!{it}"))).collect();
        shown.borrow_mut().push(parts.join(" "));
        Ok(())
    };
    let mut tell = |text: &str| {
        let text = text.replace(&path.display().to_string(), "FILE");
        shown.borrow_mut().push(format!("({})", text.split(". Put").next().unwrap().split(": ").last().unwrap()));
    };
    let mut changes = changes.iter();
    let mut wait = || match changes.next() {
        Some(change) => {
            change(&path);
            true
        }
        None => false,
    };
    follow(&mut source, &mut watcher, &mut show, &mut tell, &mut wait).unwrap();
    drop(changes);
    shown.into_inner()
}

#[test]
fn each_change_is_shown_once() {
    let nothing: Change<'_> = &|_| {};
    let say = |number: u32| move |path: &Path| append(path, &user(number, "more"));
    let check = |changes: &[Change<'_>], expect: &[&str]| assert_eq!(watched(changes), expect);
    check(&[], &["(waiting for it)"]);
    check(&[nothing, nothing], &["(waiting for it)"]);
    check(&[&say(0), nothing, &say(1), &say(2)], &["(waiting for it)", "start 1", "messages 2", "messages 3"]);
    // Half a line is nothing yet.
    let whole = user(1, "half");
    let (first, second) = whole.split_at(20);
    check(
        &[&say(0), &|path| append(path, first), &|path| append(path, second)],
        &["(waiting for it)", "start 1", "messages 1", "messages 2"],
    );
    // Truncated and begun again; gone and back; not a session for a while.
    check(
        &[&say(0), &say(1), &|path| fs::write(path, user(9, "anew")).unwrap()],
        &["(waiting for it)", "start 1", "messages 2", "other-session 1"],
    );
    check(
        &[&say(0), &|path| fs::remove_file(path).unwrap(), nothing, &|path| {
            append(path, &(user(0, "more") + &user(1, "and more")))
        }],
        &["(waiting for it)", "start 1", "(waiting for it)", "messages 2"],
    );
    check(
        &[&|path| fs::write(path, "{}\n").unwrap(), nothing, &|path| fs::write(path, user(0, "now")).unwrap()],
        &["(waiting for it)", "(waiting for a change)", "start 1"],
    );
}

#[test]
fn what_is_missing_is_told_once() {
    let record = |kind: &str, payload: &str| format!("{{\"type\":\"{kind}\",\"payload\":{payload}}}\n");
    let said = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#;
    let head = record("session_meta", r#"{"id":"f","history_base":{"thread_id":"0199-a"}}"#);
    let say: Change<'_> = &|path| append(path, &record("response_item", said));
    let expect = ["(waiting for it)", "(the rollout `0199-a` is not there)", "start 1", "messages 2", "messages 3"];
    assert_eq!(watched(&[&|path| append(path, &(head.clone() + &record("response_item", said))), say, say]), expect);
}

#[test]
fn compactions_and_warnings_are_told_once() {
    let check = |changes: &[Change<'_>], expect: &[&str]| assert_eq!(watched(changes), expect);
    let large = "word ".repeat(300);
    check(
        &[
            &|path| append(path, &(user(0, "go") + &call(1, &large))),
            &|path| append(path, &user(2, "and")),
            &|path| append(path, &compacted(3)),
            &|path| append(path, &user(4, "on")),
        ],
        &["(waiting for it)", "start 3 !one", "messages 4", "compaction 1", "messages 2"],
    );
    check(
        &[
            &|path| append(path, &(user(0, "go") + &call(1, "failed") + &call(2, "failed"))),
            &|path| append(path, &call(3, "failed")),
            &|path| append(path, &user(4, "stop")),
            // The same loop goes on, with other figures.
            &|path| append(path, &call(5, "failed")),
        ],
        &["(waiting for it)", "start 5", "messages 7 !Bash", "messages 8", "messages 10 !Bash"],
    );
}
