#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use super::*;

const CODEX: &str = "2026/01/02/rollout-2026-01-02T03-04-05-5f6a7b8c-1111.jsonl";
const CLAUDE: &str = "1b2c3d4e-0000.jsonl";

/// A folder of sessions. Each has its working folder below this one, and text; `seconds` is when it was changed, by the
/// client's coming.
fn folder(files: &[(&str, &str, &str, i64)], works_in: Option<&str>) -> (tempfile::TempDir, SharedFolder) {
    let place = tempfile::tempdir().unwrap();
    for own in ["mine", "other"] {
        fs::create_dir(place.path().join(own)).unwrap();
    }
    let works_in = works_in.map(|own| place.path().join(own));
    let folder = SharedFolder::new(place.path().join("sessions"), works_in);
    fs::create_dir(&folder.path).unwrap();
    for (name, own, text, seconds) in files {
        let path = folder.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let own = serde_json::json!({"payload": {"cwd": place.path().join(own)}});
        let head = if name.ends_with(".json") { "{}".to_owned() } else { own.to_string() };
        fs::write(&path, format!("{head}\n{text}\n")).unwrap();
        let by = Duration::from_secs(seconds.unsigned_abs());
        let changed = if *seconds < 0 { folder.since - by } else { folder.since + by };
        File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
    }
    (place, folder)
}

fn origin(session: &str, call: &str) -> CallOrigin {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    CallOrigin { session: given(session), call: given(call) }
}

fn check(folder: &SharedFolder, origin: &CallOrigin, expect: Result<&str, &str>) {
    let found = folder.file_of(origin);
    let name = found.map(|file| file.strip_prefix(&folder.path).unwrap().to_string_lossy().into_owned());
    match (name, expect) {
        (Err(problem), Err(part)) => assert!(problem.to_string().contains(part), "{origin:?}: {problem}"),
        (Ok(name), Ok(expect)) => assert_eq!(name, expect, "{origin:?}"),
        (name, expect) => panic!("{origin:?}: {name:?} in place of {expect:?}"),
    }
}

#[test]
fn an_id_is_no_guess() {
    let call = r#"{"type":"tool_use","id":"toolu_1"}"#;
    let same = r#"{"type":"tool_use","id":"call_1"}"#;
    let files = [
        (CODEX, "other", "", -90),
        (CLAUDE, "mine", call, -60),
        ("a.jsonl", "mine", same, 5),
        ("b.jsonl", "mine", same, 9),
    ];
    let (_place, folder) = folder(&files, Some("mine"));
    check(&folder, &origin("5f6a7b8c-1111", ""), Ok(CODEX));
    check(&folder, &origin("5f6a7b8c-1111", "toolu_1"), Ok(CODEX));
    check(&folder, &origin("7b8c-1111", ""), Err("a file of session `7b8c-1111`"));
    check(&folder, &origin("5f6a7b8c-2222", ""), Err("is not there"));
    check(&folder, &origin("", "toolu_1"), Ok(CLAUDE));
    // Some providers count their calls anew in each session.
    check(&folder, &origin("", "call_1"), Err("2 sessions of this folder may be meant"));
    check(&folder.clone().started_for(Some("a".to_owned())), &origin("", "call_1"), Ok("a.jsonl"));
    check(&folder.clone().started_for(Some("a".to_owned())), &origin("", "toolu_1"), Ok(CLAUDE));
    check(&folder.clone().started_for(Some("a".to_owned())), &origin("", "toolu_9"), Ok("a.jsonl"));
    check(&folder.started_for(Some("gone".to_owned())), &origin("", ""), Err("a file of session `gone`"));
}

#[test]
fn a_helper_asks_for_its_session() {
    let helper = "1b2c3d4e-0000/subagents/agent-7.jsonl";
    let files = [(CLAUDE, "mine", "", -60), ("new.jsonl", "mine", "", 1), (helper, "mine", r#"{"id":"toolu_7"}"#, 2)];
    let (_place, folder) = folder(&files, None);
    check(&folder, &origin("", "toolu_7"), Ok(CLAUDE));
    assert!(folder.has_call("toolu_7") && !folder.has_call("toolu_"));
}

#[test]
fn without_an_id_only_what_can_be_meant() {
    let check = |files: &[(&str, &str, &str, i64)], works_in: Option<&str>, expect: Result<&str, &str>| {
        let (_place, folder) = folder(files, works_in);
        check(&folder, &CallOrigin::default(), expect);
    };
    let mine = |name: &'static str, seconds| (name, "mine", "", seconds);
    let other = |name: &'static str, seconds| (name, "other", "", seconds);
    check(&[mine("a.jsonl", -60), other("b.jsonl", 5)], Some("mine"), Ok("a.jsonl"));
    check(&[mine("a.jsonl", -60), mine("b.jsonl", 5)], Some("mine"), Ok("b.jsonl"));
    check(&[mine("a.jsonl", 1), mine("b.jsonl", 5)], Some("mine"), Err("2 sessions of this folder may be meant"));
    check(&[mine("a.jsonl", -60), mine("b.jsonl", -5)], Some("mine"), Err("2 sessions of this folder may be meant"));
    check(&[other("b.jsonl", 5)], Some("mine"), Err("a session of this folder"));
    check(&[other("b.jsonl", 5)], None, Ok("b.jsonl"));
    check(&[("a.json", "", "", -5)], Some("mine"), Ok("a.json"));
    check(&[], Some("mine"), Err("is not there"));
}

#[test]
fn what_clients_say() {
    let check = |meta: Value, session: &str, call: &str| {
        let read = CallOrigin::read(meta.as_object().unwrap());
        assert_eq!(read, origin(session, call), "{meta}");
        assert_eq!(CallOrigin::read(&read.meta()), read);
    };
    let json = serde_json::json!({
        "callId": "call_1", "threadId": "5f6a", "sessionId": "5f6a", "progressToken": 1,
        "x-codex-turn-metadata": {"session_id": "5f6a", "thread_id": "5f6a"},
    });
    check(json, "5f6a", "call_1");
    check(serde_json::json!({"x-codex-turn-metadata": {"thread_id": "5f6a"}}), "5f6a", "");
    check(serde_json::json!({"claudecode/toolUseId": "toolu_1", "progressToken": 2}), "", "toolu_1");
    check(serde_json::json!({"threadId": 7, "x-codex-turn-metadata": "none"}), "", "");
}
