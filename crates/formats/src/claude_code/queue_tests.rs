#![allow(clippy::unwrap_used)]

use epitome_session::Session;

use super::tests::{answer, block, record, said};
use crate::Format;
use crate::follow::Follower;
use crate::tests::{check_log, load, shown, view};
use crate::write::tests::written;

/// A step of the queue. `fields` stand behind the operation.
fn operation(operation: &str, fields: &str) -> String {
    format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-01-01T00:00:01.000Z","sessionId":"S"{fields}}}"#
    ) + "\n"
}

fn with(text: &str) -> String {
    format!(r#","content":"{text}""#)
}

fn attachment(uuid: &str, fields: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"S","type":"attachment","uuid":"{uuid}","timestamp":"2026-01-01T00:00:01.000Z","attachment":{{{fields}}}}}"#
    ) + "\n"
}

fn queued_command(uuid: &str, text: &str) -> String {
    attachment(
        uuid,
        &format!(r#""type":"queued_command","commandMode":"prompt","origin":{{"kind":"human"}},"prompt":"{text}""#),
    )
}

fn reminder() -> String {
    attachment("at0", r#""type":"task_reminder","content":[]"#)
}

/// A step of the agent with two calls, and `middle` between the two results.
fn session(middle: &[String]) -> String {
    let calls =
        r#"{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t2","name":"f","input":{}}"#;
    [
        record("user", "u1", "", &said("fix it")),
        record("assistant", "a1", "", &block("m1", calls)),
        record("user", "r1", "", &answer("t1", "one")),
        middle.concat(),
        record("user", "r2", "", &answer("t2", "two")),
        record("assistant", "a2", "", &block("m2", r#"{"type":"text","text":"done"}"#)),
    ]
    .concat()
}

#[test]
fn what_was_typed_while_the_agent_worked() {
    let check = |middle: &[String], expect: &[&str]| {
        let input = session(middle);
        let mut whole = vec!["user/Typed: fix it", "assistant/Model: call(t1 f {}) | call(t2 f {})"];
        whole.extend(["tool/Tool: result(t1 one)", "tool/Tool: result(t2 two)"]);
        whole.extend(expect);
        whole.push("assistant/Model: done");
        check_log(Format::ClaudeCode, &input, &whole, &whole);
        let mut follower = Follower::new(Format::ClaudeCode).unwrap();
        input.split_inclusive('\n').for_each(|line| follower.read_on(line.as_bytes()));
        assert_eq!(log(&follower.session()), whole, "line by line");
    };
    let enqueue = |text: &str| operation("enqueue", &with(text));
    let remove = || operation("remove", "");
    let absorbed = |text: &str| operation("remove", &(with(text) + r#","reason":"absorbed_mid_turn""#));
    let tabs: &[&str] = &["user/Typed: use tabs"];

    // older versions: nothing but the queue has it, and it stands behind the results of the step
    check(&[enqueue("use tabs"), remove()], tabs);
    check(
        &[enqueue("use tabs"), enqueue("and 日本"), remove(), remove()],
        &["user/Typed: use tabs", "user/Typed: and 日本"],
    );
    check(&[enqueue("use tabs"), enqueue("no"), operation("remove", &with("use tabs"))], tabs);
    check(&[enqueue(r#"{\"task_id\":\"b1\"}"#), enqueue("use tabs"), remove()], tabs);
    let notification = "<agent-notification>\\n<agent-id>a</agent-id>\\n</agent-notification>";
    let injected = "user/Injected: <agent-notification>\n<agent-id>a</agent-id>\n</agent-notification>";
    check(&[enqueue(notification), remove()], &[injected]);

    // newer versions: the attachment, in front of the removal or behind it
    check(&[enqueue("use tabs"), queued_command("at", "use tabs"), operation("remove", &with("use tabs"))], tabs);
    check(&[enqueue("use tabs"), operation("remove", &with("use tabs")), queued_command("at", "use tabs")], tabs);
    check(&[enqueue("use tabs"), absorbed("use tabs"), queued_command("at", "use tabs")], tabs);
    check(&[enqueue("use tabs"), queued_command("at", "use tabs"), remove()], tabs);
    check(&[queued_command("at", "use tabs")], tabs);
    check(&[reminder(), enqueue("use tabs"), absorbed("use tabs")], tabs);
    let twice = [
        enqueue("go"),
        enqueue("go"),
        absorbed("go"),
        absorbed("go"),
        queued_command("x", "go"),
        queued_command("y", "go"),
    ];
    check(&twice, &["user/Typed: go", "user/Typed: go"]);
    let list = attachment(
        "at",
        r#""type":"queued_command","commandMode":"prompt","prompt":[{"type":"text","text":"this"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]"#,
    );
    check(&[operation("enqueue", ""), list, remove()], &["user/Typed: this | media(image/png AA==)"]);
    let task = attachment("at", r#""type":"queued_command","commandMode":"task-notification","prompt":"it has ended""#);
    check(&[enqueue("it has ended"), task, remove()], &["user/Injected: it has ended"]);

    // never given: taken back, dropped for another reason, still waiting, or without the attachment that others have
    check(&[enqueue("no"), operation("popAll", &with("no")), enqueue("use tabs"), remove()], tabs);
    check(&[enqueue("no"), enqueue("no, too"), operation("popAll", "")], &[]);
    check(&[enqueue("no"), operation("remove", &(with("no") + r#","reason":"cancelled""#))], &[]);
    check(&[enqueue("no")], &[]);
    check(&[reminder(), enqueue("no"), operation("remove", &with("no"))], &[]);
    check(&[remove(), operation("dequeue", ""), operation("popAll", ""), operation("?", "")], &[]);
    // given as a message of its own, which is a record of its own
    check(&[enqueue("no"), operation("dequeue", ""), enqueue("use tabs"), remove()], tabs);
}

#[test]
fn what_left_the_queue_stands_in_front_of_what_comes_next() {
    let check = |end: &str, expect: &str| {
        let input = [
            record("user", "u1", "", &said("fix it")),
            operation("enqueue", &with("use tabs")),
            operation("remove", ""),
            end.to_owned(),
        ];
        assert_eq!(
            log(&load(&input.concat()).sessions[0].session),
            ["user/Typed: fix it", "user/Typed: use tabs", expect]
        );
    };
    check(
        &record("user", "u2", "", &said("[Request interrupted by user]")),
        "user/Injected: [Request interrupted by user]",
    );
    check(&record("user", "u2", "", &said("next")), "user/Typed: next");
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"sessionId":"S"}"#;
    check(&(boundary.to_owned() + "\n" + &record("user", "u2", "", &said("next"))), "user/Typed: next");
}

#[test]
fn what_left_the_queue_goes_on_behind_a_compaction() {
    for middle in [
        vec![operation("enqueue", &with("use tabs")), operation("remove", "")],
        vec![queued_command("at", "use tabs"), operation("remove", &with("use tabs"))],
    ] {
        let input = session(&middle);
        let text = written(&input, &[0, 1, 2, 3]);
        assert!(text.starts_with(&input), "the file stays as it was");
        let view = view(load(&text).sessions[0].session.view());
        assert_eq!(view, ["user/Summary: so far", "user/Typed: use tabs", "assistant/Model: done"]);
        let copy =
            text[input.len()..].lines().find(|line| line.contains("use tabs") && line.contains("copyOf")).unwrap();
        let copy: serde_json::Value = serde_json::from_str(copy).unwrap();
        assert_eq!((&copy["type"], &copy["message"]["role"]), (&"user".into(), &"user".into()), "{copy}");
    }
}

fn log(session: &Session) -> Vec<String> {
    session.log().iter().map(|message| shown(message)).collect()
}
