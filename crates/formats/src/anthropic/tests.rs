#![allow(clippy::unwrap_used)]
use epitome_session::{EntryKey, Epoch, Trigger, units};

use crate::tests::check_log as check;
use crate::{Format, ReadOptions, read, validate, write};

/// The request of some messages, a line each, when those of the log with these numbers have left.
fn without(messages: &[&str], numbers: &[u32]) -> String {
    let json = format!(r#"{{"model":"claude-opus-5","messages":[{}]}}"#, messages.join(","));
    let loaded = read(json.into(), ReadOptions { format: Some(Format::Anthropic), ..ReadOptions::default() }).unwrap();
    let mut session = loaded.sessions[0].session.clone();
    let left: Vec<EntryKey> = numbers.iter().map(|number| EntryKey::Log(*number)).collect();
    session.commit(Epoch::recorded(Trigger::Manual, left, Vec::new()));
    let written = String::from_utf8(write(&loaded, 0, &session, Format::Anthropic).unwrap()).unwrap();
    assert_eq!(validate(&written, crate::Wire::Anthropic), [], "{written}");
    written
}

#[test]
fn effort_stays_where_it_is_set() {
    let effort = r#"{"role":"system","content":[],"output_config":{"effort":"low"}}"#;
    let high = r#"{"role":"system","content":"Take care.","output_config":{"effort":"high"}}"#;
    let brief = r#"{"role":"system","content":"Be brief."}"#;
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let model = |text: &str| format!(r#"{{"role":"assistant","content":"{text}"}}"#);
    let (a, b, c, x, y) = (user("a"), user("b"), user("c"), model("x"), model("y"));
    let check = |messages: &[&str], numbers: &[u32], expect: &[&str]| {
        let expect = format!(r#"{{"model":"claude-opus-5","messages":[{}]}}"#, expect.join(","));
        assert_eq!(without(messages, numbers), expect);
    };
    let all: &[&str] = &[&a, &x, effort, &b, &y, &c];
    check(all, &[], all);
    check(all, &[0, 1], &[effort, &b, &y, &c]);
    check(all, &[1], &[&a, effort, &b, &y, &c]);
    check(all, &[3, 4], &[&a, &x, effort, &c]);
    check(&[effort, &a, &x, &b], &[1, 2], &[effort, &b]);
    // Beside instructions, which have their places.
    check(&[&a, brief, effort, &x, &b, &y, &c], &[4, 5], &[&a, brief, effort, &x, &c]);
    // Instructions that become one keep the newest level.
    let both = r#"{"role":"system","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"Take care."}],"output_config":{"effort":"high"}}"#;
    let one = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
    check(&[&a, brief, &x, &b, high, &y], &[2], &[one, both, &y]);
    check(
        &[&a, high, &x, &b, brief, &y],
        &[2],
        &[one, &both.replace("Be brief.", "-").replace("Take care.", "Be brief.").replace('-', "Take care."), &y],
    );
}

#[test]
fn a_compaction_that_changes_tools_stays() {
    let check = |changes: &str, expect: bool| {
        let json = format!(
            r#"{{"model":"claude-opus-5","messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":[{{"type":"compaction","content":"So far.","tool_changes":{changes}}}]}},{{"role":"user","content":"b"}}]}}"#
        );
        let loaded = read(json.into(), ReadOptions::default()).unwrap();
        let view = loaded.sessions[0].session.view();
        assert_eq!(units(view).len(), 2);
        assert_eq!(view[0].message.pinned, expect, "{changes}");
    };
    check(r#"[{"type":"tool_removal","tool":{"type":"tool_reference","name":"list"}}]"#, true);
    check("[]", false);
    check("null", false);
}

#[test]
fn anthropic() {
    let request = r#"{"model":"claude","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[
      {"role":"user","content":"hi"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SIG"},{"type":"redacted_thinking","data":"RED"},{"type":"text","text":"look"},{"type":"tool_use","id":"t1","name":"run","input":{"a": 1}},{"type":"tool_use","id":"t2","name":"run","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"x"},{"type":"text","text":"y"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]},{"type":"text","text":"go on"}]},
      {"role":"user","content":[{"type":"text","text":"<system-reminder>r</system-reminder>"}]},
      {"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}]}]}"#;
    let log = [
        "system/Instructions: s",
        "user/Typed: hi",
        r#"assistant/Model: thinking(hm;SIG) | thinking(;RED) | look | call(t1 run {"a": 1}) | call(t2 run {})"#,
        "tool/Tool: result(t1 one)",
        "tool/Tool: result(t2 x\ny!+media)",
        "user/Typed: go on",
        "user/Injected: <system-reminder>r</system-reminder>",
        "assistant/Model: call(s1 web_search {})",
    ];
    check(Format::Anthropic, request, &log, &[]);
    let list = r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":null}]}]"#;
    check(Format::Anthropic, list, &["tool/Tool: result(t1 )"], &[]);
}

#[test]
fn a_program_stays_as_it_is_with_all_that_it_calls() {
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let call = |id: &str, lead: &str| {
        let caller = r#""caller":{"type":"code_execution_20260120","tool_id":"srvtoolu_p"}"#;
        format!(
            r#"{{"role":"assistant","content":[{lead}{{"type":"tool_use","id":"{id}","name":"tide","input":{{}},{caller}}}]}}"#
        )
    };
    let result = |id: &str| {
        format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"2.1"}}]}}"#)
    };
    let program = r#"{"type":"server_tool_use","id":"srvtoolu_p","name":"code_execution","input":{"code":"tide()"}},"#;
    let (first, second) = (call("t1", program), call("t2", ""));
    let ended = r#"{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_p","content":{"type":"code_execution_result","stdout":"2.1","stderr":"","return_code":0,"content":[]}},{"type":"text","text":"Done."}]}"#;
    let (a, b, thanks, r1, r2) = (user("a"), user("b"), user("c"), result("t1"), result("t2"));
    let opening = user("[The conversation continues from here.]");
    let check = |messages: &[&str], numbers: &[u32], expect: &[&str]| {
        let expect = format!(r#"{{"model":"claude-opus-5","messages":[{}]}}"#, expect.join(","));
        assert_eq!(without(messages, numbers), expect);
    };
    let all: &[&str] = &[&a, &first, &r1, &second, &r2, ended, &thanks];
    check(all, &[], all);
    check(all, &[0], &[&opening, &first, &r1, &second, &r2, ended, &thanks]);
    check(
        all,
        &[1, 2, 3, 4, 5, 6],
        &[r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"c"}]}"#],
    );
    // One that still runs: the model has not gone on with the newest result.
    check(&[&a, &b, &first, &r1, &second, &r2], &[0], &[&b, &first, &r1, &second, &r2]);
    check(&[&a, &b, &first, &r1, &second], &[0], &[&b, &first, &r1, &second]);
    // What is not there, or not as a program, calls nothing.
    let lost = |numbers: &[u32]| {
        let written = without(all, numbers);
        assert!(!written.contains("caller"), "{written}");
        written
    };
    assert!(lost(&[1, 2]).contains(r#"{"type":"tool_use","id":"t2","name":"tide","input":{}}"#));
    assert!(lost(&[5]).contains(r#"{"type":"tool_use","id":"srvtoolu_p","#));
}
