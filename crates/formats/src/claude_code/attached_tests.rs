//! What the host puts into requests, and what the model sees in place of what was said.

#![allow(clippy::unwrap_used)]

use super::tests::{answer, block, record, said};
use crate::Format;
use crate::follow::Follower;
use crate::tests::{check_log, load, shown, view};
use crate::write::tests::written;

fn attachment(uuid: &str, beside: &str, fields: &str) -> String {
    format!(
        r#"{{"parentUuid":"u1","isSidechain":false,"sessionId":"S","type":"attachment","uuid":"{uuid}","timestamp":"2026-01-01T00:00:01.000Z"{beside},"attachment":{{{fields}}}}}"#
    ) + "\n"
}

/// A turn with a call, `begin` behind its prompt and `middle` behind its result.
fn turn(begin: &str, middle: &str) -> String {
    [
        record("user", "u1", "", &said("look")),
        begin.to_owned(),
        record("assistant", "a1", "", &block("m1", r#"{"type":"tool_use","id":"t1","name":"f","input":{}}"#)),
        record("user", "r1", "", &answer("t1", "a long result")),
        middle.to_owned(),
        record("assistant", "a2", "", &block("m2", r#"{"type":"text","text":"done"}"#)),
    ]
    .concat()
}

const CALL: &str = "assistant/Model: call(t1 f {})";
const RESULT: &str = "tool/Tool: result(t1 a long result)";
const DONE: &str = "assistant/Model: done";

/// A text as the agent hands it on.
fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}

#[test]
fn what_the_host_attaches() {
    let check = |beside: &str, fields: &str, expect: &[&str]| {
        let input = turn(&attachment("at", beside, fields), "");
        let given = format!("user/Injected: {}", expect.join(" | "));
        // The agent moves it in front of the prompt.
        let mut log = if expect.is_empty() { vec![] } else { vec![given.as_str()] };
        log.extend(["user/Typed: look", CALL, RESULT, DONE]);
        check_log(Format::ClaudeCode, &input, &log, &log);
        let mut follower = Follower::new(Format::ClaudeCode).unwrap();
        input.split_inclusive('\n').for_each(|line| follower.read_on(line.as_bytes()));
        assert_eq!(follower.session().log().iter().map(|it| shown(it)).collect::<Vec<_>>(), log, "line by line");
    };
    let check_text = |fields: &str, expect: &str| check("", fields, &[&reminder(expect)]);

    // the agent's own words, where it recorded them
    let rendered =
        r#","renderedRole":"user","rendered":[{"content":"one"},{"content":[{"type":"text","text":"two"}]}]"#;
    check(rendered, r#""type":"environment","snapshot":{"os":"x"}"#, &["one", "two"]);
    check(rendered, r#""type":"session_context","context":{"branch":"main"}"#, &["one", "two"]);

    let file = r#""type":"file","filename":"/p/a.py","content":{"type":"text","file":{"filePath":"/p/a.py","content":"x = 1\ny = 2","startLine":7}}"#;
    let called = reminder("Called the Read tool with the following input: /p/a.py");
    check("", file, &[&called, &reminder("Result of calling the Read tool:\n7\tx = 1\n8\ty = 2")]);
    let image =
        r#""type":"file","filename":"a.png","content":{"type":"image","file":{"base64":"AA==","type":"image/png"}}"#;
    check("", image, &["media(image/png AA==)"]);
    check_text(
        r#""type":"edited_text_file","filename":"a.py","snippet":"3\tz = 9""#,
        "Note: a.py changed on disk since you last read it. The changes:\n3\tz = 9",
    );
    check_text(
        r#""type":"compact_file_reference","filename":"a.py","displayPath":"a.py""#,
        "Note: a.py was read before the last conversation was summarized.",
    );
    check_text(
        r#""type":"nested_memory","path":"/p/CLAUDE.md","content":{"path":"/p/CLAUDE.md","type":"Project","content":"Use tabs."}"#,
        "Contents of /p/CLAUDE.md:\n\nUse tabs.",
    );
    check_text(
        r#""type":"hook_additional_context","content":["Sign off.","Be brief."],"hookName":"Stop","hookEvent":"Stop""#,
        "Stop hook additional context: Sign off.\nBe brief.",
    );
    check_text(
        r#""type":"hook_success","content":"on main","hookName":"SessionStart:resume","hookEvent":"SessionStart""#,
        "SessionStart:resume hook success: on main",
    );
    check_text(
        r#""type":"invoked_skills","skills":[{"name":"a","path":"/a","content":"A"},{"name":"b","path":"/b","content":"B"}]"#,
        "Skills invoked in this session:\n\n### Skill: a\nPath: /a\n\nA\n\n### Skill: b\nPath: /b\n\nB\n",
    );
    check_text(
        r#""type":"diagnostics","files":[{"uri":"a.py","diagnostics":[{"message":"no x"},{"message":"no y"}]}]"#,
        "The following new diagnostic issues were detected:\na.py:\nno x\nno y",
    );
    check_text(
        r#""type":"task_reminder","content":[{"id":"1","subject":"port it","description":"…","status":"pending"}],"itemCount":1"#,
        "Here are the existing tasks:\n\n#1. [pending] port it",
    );
    // two texts of one kind
    check(
        "",
        r#""type":"deferred_tools_delta","addedLines":["A"],"addedNames":["A"],"removedNames":["B"]"#,
        &[
            &reminder("The following deferred tools are now available via ToolSearch:\nA"),
            &reminder("The following tools are no longer available:\nB"),
        ],
    );
    // a kind that is not known, with a text in a usual field; what it quotes does not end it
    check_text(r#""type":"news","content":{"type":"text","parts":["one","two"]}"#, "one\ntwo");
    check_text(r#""type":"news","text":"a</system-reminder>b""#, "a&lt;/system-reminder>b");

    // nothing that a model is given
    check("", r#""type":"hook_success","content":"ok","hookName":"PreToolUse:Read","hookEvent":"PreToolUse""#, &[]);
    check("", r#""type":"hook_system_message","content":"for the person","hookEvent":"Stop""#, &[]);
    check("", r#""type":"prompt_snapshot","systemPrompt":["You are"],"content":"x""#, &[]);
    check("", r#""type":"already_read_file","filename":"a.py","content":{"type":"text","file":{"content":"x"}}"#, &[]);
    check("", r#""type":"hook_additional_context","content":[],"hookName":"Stop","hookEvent":"Stop""#, &[]);
}

#[test]
fn a_version_that_records_the_words_records_all_that_it_sends() {
    let of = |version: &str, beside: &str, kind: &str| {
        let fields = format!(r#""type":"{kind}","content":"{kind} by {version}""#);
        attachment(&format!("{kind}{version}"), &format!(r#","version":"{version}"{beside}"#), &fields)
    };
    let words = r#","renderedRole":"user","rendered":[{"content":"words"}]"#;
    let media = r#","renderedRole":"user""#;
    let input = [
        of("1", "", "news"),
        of("2", words, "news"),
        of("2", "", "aura"),
        of("2", media, "sound"),
        of("3", "", "aura"),
    ];
    let [first, sound, last] =
        ["news by 1", "sound by 2", "aura by 3"].map(|text| format!("user/Injected: {}", reminder(text)));
    let log = [&first, "user/Injected: words", &sound, &last, "user/Typed: look", CALL, RESULT, DONE];
    check_log(Format::ClaudeCode, &turn(&input.concat(), ""), &log, &log);
}

#[test]
fn attachments_that_are_not_known_are_told() {
    let unknown = |uuid: &str| attachment(uuid, "", r#""type":"aura","colour":7"#);
    let loaded = load(&turn(&(unknown("x") + &unknown("y")), ""));
    let warning = &loaded.warnings[0];
    assert_eq!((loaded.warnings.len(), warning.line), (1, Some(2)));
    assert!(warning.message.contains("2 attachments of the kind aura"), "{}", warning.message);
}

#[test]
fn what_was_attached_stands_behind_a_compaction() {
    let rule = attachment("at", "", r#""type":"critical_system_reminder","content":"Sign off.""#);
    let input = turn("", &rule);
    let text = written(&input, &[0, 1, 2]);
    assert!(text.starts_with(&input), "the file stays as it was");
    let given = format!("user/Injected: {}", reminder("Sign off."));
    assert_eq!(view(load(&text).sessions[0].session.view()), ["user/Summary: so far", &given, DONE]);
    let lines = text[input.len()..].lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let copy = lines.iter().find(|line| line["epitome"]["copyOf"] == "at").unwrap();
    let meta = (&copy["type"], &copy["isMeta"], &copy["message"]["role"]);
    assert_eq!(meta, (&"user".into(), &true.into(), &"user".into()), "as the agent sends it");
    assert!(lines.iter().all(|line| line["type"] != "attachment"));
}

#[test]
fn what_the_model_sees_in_place_of_a_result() {
    let replacement = |id: &str| {
        format!(
            r#"{{"type":"content-replacement","sessionId":"S","replacements":[{{"kind":"tool-result","toolUseId":"{id}","replacement":"on disk"}},{{"kind":"other","toolUseId":"t1"}}]}}"#
        ) + "\n"
    };
    let cut = attachment("at", "", r#""type":"tool_results_cut","callIds":["t1"],"standIn":"on disk""#);
    let whole = ["user/Typed: look", CALL, RESULT, DONE];
    let short = ["user/Typed: look", CALL, "tool/Tool: result(t1 on disk)", DONE];
    check_log(Format::ClaudeCode, &turn("", &replacement("t1")), &whole, &short);
    check_log(Format::ClaudeCode, &turn("", &cut), &whole, &short);
    // The record may stand in front of the result, and be written twice.
    check_log(Format::ClaudeCode, &turn(&replacement("t1"), ""), &whole, &short);
    check_log(Format::ClaudeCode, &(turn("", &replacement("t1")) + &replacement("t1")), &whole, &short);
    check_log(Format::ClaudeCode, &turn("", &replacement("t9")), &whole, &whole);
}

#[test]
fn what_only_the_person_is_shown() {
    let notice = |fields: &str, model: &str| {
        let message = format!(
            r#"{{"id":"n1","role":"assistant","model":"{model}","content":[{{"type":"text","text":"API Error: 529"}}]}}"#
        );
        record("assistant", "n1", fields, &message)
    };
    let check = |middle: &str, expect: &[&str]| {
        let mut log = vec!["user/Typed: look", CALL, RESULT];
        log.extend(expect);
        log.push(DONE);
        check_log(Format::ClaudeCode, &turn("", middle), &log, &log);
    };
    check(&notice(r#","isApiErrorMessage":true,"error":"overloaded""#, "<synthetic>"), &[]);
    check(&notice(r#","isVirtual":true"#, "claude"), &[]);
    check(&record("user", "n1", r#","isVirtual":true"#, &said("shown")), &[]);
    check(&record("user", "n1", r#","retiredByNoPersonsInput":true"#, &said("shown")), &[]);
    check(&notice("", "<synthetic>"), &["assistant/Model: API Error: 529"]);
    // The output of a local command is sent, by whatever record.
    let command = |fields: &str| {
        format!(
            r#"{{"parentUuid":"r1","sessionId":"S","type":"system","subtype":"local_command","uuid":"c","content":"<local-command-stdout>4 files</local-command-stdout>"{fields}}}"#
        ) + "\n"
    };
    check(&command(""), &["user/Injected: <local-command-stdout>4 files</local-command-stdout>"]);
    check(&command(r#","isDisplayOnly":true"#), &[]);
}

#[test]
fn what_other_agents_say_is_nobodys_demand() {
    let check = |fields: &str, text: &str, expect: &str| {
        let input = record("user", "u1", "", &said("look")) + &record("user", "u2", fields, &said(text));
        let log = [
            "user/Typed: look".to_owned(),
            format!("user/{expect}: {}", text.replace("\\n", "\n").replace("\\\"", "\"")),
        ];
        check_log(Format::ClaudeCode, &input, &[&log[0], &log[1]], &[]);
    };
    let message = r#"<teammate-message teammate_id=\"lint\" color=\"red\">\nPush it.\n</teammate-message>"#;
    check("", message, "Injected");
    check("", &format!("{message}\\n\\n{message}"), "Injected");
    check("", r#"<task-notification>\n<task-id>b1</task-id>\n</task-notification>"#, "Injected");
    check(r#","origin":{"kind":"peer","from":"lint"}"#, "Push it.", "Injected");
    check(r#","origin":{"kind":"human"}"#, "Push it.", "Typed");
    // A mailbox that the host delivers.
    let mail = attachment("at", "", r#""type":"teammate_mailbox","messages":[{"from":"lint","text":"Push it."}]"#);
    let given = reminder("<teammate-message teammate_id=\"lint\">\nPush it.\n</teammate-message>");
    let given = format!("user/Injected: {given}");
    check_log(Format::ClaudeCode, &turn(&mail, ""), &[&given, "user/Typed: look", CALL, RESULT, DONE], &[]);
}

#[test]
fn collapsed_spans() {
    let commit = |id: &str, first: &str, last: &str| {
        format!(
            r#"{{"type":"marble-origami-commit","sessionId":"S","collapseId":"1","summaryUuid":"{id}","summaryContent":"<collapsed>{id}</collapsed>","firstArchivedUuid":"{first}","lastArchivedUuid":"{last}"}}"#
        ) + "\n"
    };
    let reset = "{\"type\":\"marble-origami-reset\",\"sessionId\":\"S\",\"reason\":\"x\"}\n";
    let next = record("user", "u2", "", &said("next"));
    let log = ["user/Typed: look", CALL, RESULT, DONE, "user/Typed: next"];
    let check = |behind: &[&str], expect: &[&str]| {
        check_log(Format::ClaudeCode, &(turn("", "") + &behind.concat() + &next), &log, expect);
    };
    let one = commit("s1", "a1", "r1");
    check(&[&one], &["user/Typed: look", "user/Summary: <collapsed>s1</collapsed>", DONE, "user/Typed: next"]);
    // A span may begin with the summary of another one.
    check(
        &[&one, &commit("s2", "s1", "a2")],
        &["user/Typed: look", "user/Summary: <collapsed>s2</collapsed>", "user/Typed: next"],
    );
    check(&[&one, reset], &log);
    let lost = load(&(turn("", "") + &commit("s1", "gone", "a2")));
    assert_eq!((lost.warnings.len(), lost.warnings[0].line), (1, Some(5)));
}

#[test]
fn what_was_attached_to_a_prompt_is_taken_back_with_it() {
    let child =
        |parent: &str, line: String| line.replacen(r#""parentUuid":null"#, &format!(r#""parentUuid":"{parent}""#), 1);
    let rule = |uuid: &str, parent: &str, text: &str| {
        let line = attachment(uuid, "", &format!(r#""type":"critical_system_reminder","content":"{text}""#));
        line.replacen(r#""parentUuid":"u1""#, &format!(r#""parentUuid":"{parent}""#), 1)
    };
    let said_by_model = |uuid: &str, parent: &str| {
        child(parent, record("assistant", uuid, "", &block(uuid, r#"{"type":"text","text":"done"}"#)))
    };
    let input = [
        record("user", "u1", "", &said("look")),
        rule("x1", "u1", "stays"),
        said_by_model("a1", "x1"),
        child("a1", record("user", "u2", "", &said("wrong"))),
        rule("x2", "u2", "leaves"),
        said_by_model("a2", "x2"),
        child("a1", record("user", "u3", "", &said("right"))),
    ];
    let stays = format!("user/Injected: {}", reminder("stays"));
    let loaded = load(&input.concat());
    assert_eq!(view(loaded.sessions[0].session.view()), [&stays, "user/Typed: look", DONE, "user/Typed: right"]);
}
