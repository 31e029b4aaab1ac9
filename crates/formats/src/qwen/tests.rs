use crate::tests::check as check_read;

/// A record: its id, the one in front of it, its type and fields.
fn record(uuid: &str, parent: &str, kind: &str, fields: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"q\",\"type\":\"{kind}\",\"version\":\"0.24.4\",{fields}}}\n"
    )
}

fn content(role: &str, parts: &str) -> String {
    format!(r#""message":{{"role":"{role}","parts":[{parts}]}}"#)
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    record(uuid, parent, "user", &content("user", &format!(r#"{{"text":"{text}"}}"#)))
}

fn model(uuid: &str, parent: &str, parts: &str) -> String {
    record(uuid, parent, "assistant", &content("model", parts))
}

fn system(uuid: &str, parent: &str, subtype: &str, payload: &str) -> String {
    record(uuid, parent, "system", &format!(r#""subtype":"{subtype}","systemPayload":{{{payload}}}"#))
}

#[track_caller]
fn check(records: &[String], expect: &str) {
    check_read(&records.concat(), &format!("qwen-code\n= q\n{expect}"));
}

#[test]
fn turns_calls_and_results() {
    let usage = r#","usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":7,"totalTokenCount":110}"#;
    let parts = r#"{"text":"hm","thought":true},{"text":"I look."},{"functionCall":{"id":"c1","name":"sh","args":{"c":"ls"}}},
        {"functionCall":{"id":"c2","name":"sh","args":{}}}"#;
    let result = |id: &str, response: &str| {
        format!(r#"{{"functionResponse":{{"id":"{id}","name":"sh","response":{response}}}}}"#)
    };
    let answered = |id: &str, response: &str, status: &str| {
        content("user", &result(id, response))
            + &format!(r#","toolCallResult":{{"callId":"{id}","status":"{status}"}}"#)
    };
    let hook = "<qwen:user-prompt-submit-context>\\nbe quick\\n</qwen:user-prompt-submit-context>";
    check(
        &[
            user("1", "", "look"),
            system("2", "1", "ui_telemetry", r#""uiEvent":{}"#),
            record("3", "2", "assistant", &(content("model", &parts.replace('\n', "")) + usage)),
            record("4", "3", "tool_result", &answered("c1", r#"{"output":"a.rs"}"#, "success")),
            record("5", "4", "tool_result", &answered("c2", r#"{"error":"denied"}"#, "cancelled")),
            record(
                "6",
                "5",
                "user",
                &(content("user", r#"{"text":"and b"}"#) + r#","subtype":"mid_turn_user_message""#),
            ),
            model("7", "6", r#"{"text":"Done."}"#),
            record(
                "8",
                "7",
                "user",
                &(content("user", r#"{"text":"a task ended"}"#) + r#","subtype":"notification","provenance":"system""#),
            ),
            record("9", "8", "user", &content("user", &format!(r#"{{"text":"go"}},{{"text":"{hook}"}}"#))),
            record("10", "9", "user", &(content("user", r#"{"text":"spoken"}"#) + r#","subtype":"realtime_message""#)),
            record("11", "10", "assistant", r#""model":"m""#),
        ],
        "1 user/typed: look
        3 assistant/model: (think hm) ⏐ I look. ⏐ sh#c1 {\"c\":\"ls\"} ⏐ sh#c2 {} [100/40/0→10]
        4 tool/tool: sh#c1 → a.rs
        5 tool/tool: sh#c2 error → denied
        6 user/typed: and b
        7 assistant/model: Done.
        8 user/injected: a task ended
        9 user/typed: go ⏐ <qwen:user-prompt-submit-context>↵be quick↵</qwen:user-prompt-submit-context>",
    );
}

#[test]
fn what_was_taken_back() {
    let said = |uuid: &str, parent: &str, text: &str| model(uuid, parent, &format!(r#"{{"text":"{text}"}}"#));
    let first = [user("1", "", "a"), said("2", "1", "A")].concat();
    let second = [user("3", "2", "b"), said("4", "3", "B")].concat();
    let rewind = system("5", "2", "rewind", r#""truncatedCount":2"#);
    check(
        &[first.clone(), second.clone(), rewind, user("6", "5", "c")],
        "1 user/typed: a
        2 assistant/model: A
        3 user/typed: b
        4 assistant/model: B
        -- TakenBack -3 -4
        6 user/typed: c
        view: 1 2 6",
    );
    // What nothing continues moves nothing.
    let artifact = system("7", "", "session_artifact_event", r#""event":{}"#);
    check(&[first.clone(), artifact, user("8", "2", "b")], "1 user/typed: a\n2 assistant/model: A\n8 user/typed: b");
    // A command that the program has answered itself was not sent.
    let command = |sent: bool| {
        let output = r#""outputHistoryItems":[{"type":"assistant","text":"x"}]"#;
        system(
            "9",
            "8",
            "slash_command",
            &format!(r#""phase":"result","rawCommand":"/x","sentToModel":{sent},{output}"#),
        )
    };
    let typed = user("8", "2", "/x");
    check(
        &[first.clone(), typed.clone(), command(false), user("10", "9", "c")],
        "1 user/typed: a
        2 assistant/model: A
        8 user/typed: /x
        -- TakenBack -8
        10 user/typed: c
        view: 1 2 10",
    );
    check(&[first.clone(), typed, command(true)], "1 user/typed: a\n2 assistant/model: A\n8 user/typed: /x");
    check(
        &[first, second.replace("\"2\"", "\"0\"")],
        "1 user/typed: a
        2 assistant/model: A
        -- TakenBack -1 -2
        3 user/typed: b
        4 assistant/model: B
        view: 3 4
        warning: line None: the record `0` is missing, and what was said in front of it is not sent any more",
    );
}

#[test]
fn compressions() {
    let said = |uuid: &str, parent: &str, text: &str| model(uuid, parent, &format!(r#"{{"text":"{text}"}}"#));
    let text = |role: &str, text: &str| format!(r#"{{"role":"{role}","parts":[{{"text":"{text}"}}]}}"#);
    let compression = |history: &[String]| {
        let info = r#""info":{"originalTokenCount":900,"newTokenCount":90}"#;
        system("5", "4", "chat_compression", &format!(r#"{info},"compressedHistory":[{}]"#, history.join(",")))
    };
    let turns = [user("1", "", "a"), said("2", "1", "A"), user("3", "2", "b"), said("4", "3", "B")].concat();
    let summed =
        compression(&[text("user", "so far"), text("model", "Got it."), text("user", "the file"), text("model", "B")]);
    check(
        &[turns.clone(), summed.clone(), user("6", "5", "c")],
        "1 user/typed: a
        2 assistant/model: A
        3 user/typed: b
        4 assistant/model: B
        -- Recorded from 900 -1 -2 -3 + m0 user/summary: so far + m1 assistant/model: Got it. + m2 user/injected: the file
        6 user/typed: c
        view: m0 m1 m2 4 6",
    );
    // Behind a way back to what was said in front of it, it holds no more.
    check(
        &[turns, summed, user("6", "2", "c")],
        "1 user/typed: a
        2 assistant/model: A
        3 user/typed: b
        4 assistant/model: B
        -- Recorded from 900 -1 -2 -3 + m0 user/summary: so far + m1 assistant/model: Got it. + m2 user/injected: the file
        -- TakenBack -3 -4
        6 user/typed: c
        view: 1 2 6",
    );
}

#[test]
fn damaged_lines() {
    check(
        &[user("1", "", "a"), "{\"uuid\":\"2\",\"par\n".to_owned(), user("3", "1", "b")],
        "1 user/typed: a\n3 user/typed: b\nwarning: line Some(2): passed over: not JSON: EOF while parsing a string at line 1 column 16",
    );
}
