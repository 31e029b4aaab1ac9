#![allow(clippy::unwrap_used)]
use epitome_session::{Change, Content, EditKind, EntryKey, Epoch, Trigger};

use crate::tests::check_log as check;
use crate::{Format, ReadOptions, Wire, read, validate, write};

/// What answers calls that the provider has stored stays, and only where it is the provider that has them.
#[test]
fn answers_to_stored_calls() {
    let answer = r#"{"type":"function_call_output","call_id":"c1","output":"14 m"}"#;
    let items = |items: &[&str]| items.join(",");
    let user = r#"{"role":"user","content":"And Ost?"}"#;
    let call = r#"{"type":"function_call","call_id":"c2","name":"depth","arguments":"{}"}"#;
    let output = r#"{"type":"function_call_output","call_id":"c2","output":"9 m"}"#;
    let said = r#"{"role":"assistant","content":"9 metres."}"#;
    let check = |to: Format, name: &str, sent: &[&str], left: &[u32], expect: &[&str]| {
        let json = format!(r#"{{"model":"m"{name},"input":[{}]}}"#, items(sent));
        let loaded = read(json.into(), ReadOptions::default()).unwrap();
        let mut session = loaded.sessions[0].session.clone();
        let left: Vec<EntryKey> = left.iter().map(|number| EntryKey::Log(*number)).collect();
        session.commit(Epoch::recorded(Trigger::Manual, left, Vec::new()));
        let written = String::from_utf8(write(&loaded, 0, &session, to).unwrap()).unwrap();
        assert_eq!(validate(&written, to.wire().unwrap()), [], "{written}");
        if to == Format::OpenaiResponses {
            assert_eq!(written, format!(r#"{{"model":"m"{name},"input":[{}]}}"#, items(expect)));
        } else {
            assert!(written.contains("14 m"), "{written}");
        }
    };
    let own = Format::OpenaiResponses;
    let stored = r#","previous_response_id":"r1""#;
    for name in [stored, r#","conversation":{"id":"c"}"#] {
        check(own, name, &[answer], &[], &[answer]);
        check(own, name, &[answer, user, call, output, said], &[1], &[answer, call, output, said]);
        check(own, name, &[answer, user, call, output, said], &[1, 2, 3], &[answer, said]);
        check(Format::OpenaiChat, name, &[answer, user], &[], &[]);
    }
    let silent = answer.replace("14 m", "");
    check(own, stored, &[&silent, user, call, output, said], &[2, 3], &[&silent, user, said]);
    check(own, "", &[answer, user], &[], &[user]);
}

/// Requests whose items are of kinds that chat messages have not.
#[test]
fn requests_of_any_known_item() {
    let check = |items: &str, expect: bool| {
        let json = format!(r#"{{"model":"m","input":[{items}]}}"#);
        let format = read(json.into(), ReadOptions::default()).map(|loaded| loaded.format);
        assert_eq!(format.ok(), expect.then_some(Format::OpenaiResponses), "{items}");
    };
    check(r#"{"type":"mcp_approval_response","approval_request_id":"a","approve":true}"#, true);
    check(r#"{"type":"shell_call_output","call_id":"c","output":[]}"#, true);
    check(r#"{"id":"msg_1"}"#, true);
    check(r#"{"id":"msg_1","title":"x"}"#, false);
    check(r#"{"type":"novelty"}"#, false);
    check(r#""a text to embed""#, false);
}

#[test]
fn openai_responses() {
    let items = r#"[{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"https://x/y.png"}]},
      {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"ENC"},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look","annotations":[]}]},
      {"type":"function_call","call_id":"c1","name":"run","arguments":"{}"},
      {"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin"},
      {"type":"web_search_call","status":"completed"},
      {"type":"function_call_output","call_id":"c1","output":"out"},
      {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]"#;
    let log = [
        "system/Developer: d",
        "user/Typed: hi | media(https://x/y.png)",
        "assistant/Model: thinking(hm;ENC) | I look | call(c1 run {}) | call(c2 apply_patch text:*** Begin) | call( web_search {})",
        "tool/Tool: result( )",
        "tool/Tool: result(c1 out)",
        "tool/Tool: result(c2 ok+media)",
        "assistant/Model: done",
    ];
    check(Format::OpenaiResponses, items, &log, &[]);
    let mut with_instructions = vec!["system/Instructions: be brief"];
    with_instructions.extend(log);
    check(
        Format::OpenaiResponses,
        &format!(r#"{{"model":"m","instructions":"be brief","input":{items}}}"#),
        &with_instructions,
        &[],
    );
    check(Format::OpenaiResponses, r#"{"model":"m","input":"hello"}"#, &["user/Typed: hello"], &[]);
}

#[test]
fn a_refusal_is_what_the_model_said() {
    let items = r#"[{"role":"user","content":"a"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hm.","annotations":[]},{"type":"refusal","refusal":"I cannot."}]},
      {"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}]"#;
    check(Format::OpenaiResponses, items, &["user/Typed: a", "assistant/Model: Hm. | I cannot. | No."], &[]);
}

/// The items of a request when some messages of the log have left, and the reasoning of others: the type of each with its id
/// and its phase.
fn items_without(items: &[&str], left: &[u32], thoughtless: &[u32]) -> String {
    let json = format!(r#"{{"model":"gpt-5.4","input":[{}]}}"#, items.join(","));
    let options = ReadOptions { format: Some(Format::OpenaiResponses), ..ReadOptions::default() };
    let loaded = read(json.into(), options).unwrap();
    let mut session = loaded.sessions[0].session.clone();
    let mut changes: Vec<Change> = left.iter().map(|number| Change::Remove { entry: EntryKey::Log(*number) }).collect();
    for number in thoughtless {
        let blocks = session.log()[*number as usize].blocks.iter().enumerate();
        let thoughts = blocks.filter(|(_, block)| matches!(block.content, Content::Thinking(_)));
        changes.extend(thoughts.map(|(block, _)| Change::Strip {
            entry: EntryKey::Log(*number),
            block: block as u32,
            mark: None,
        }));
    }
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Drop, changes, Vec::new()));
    let written = String::from_utf8(write(&loaded, 0, &session, Format::OpenaiResponses).unwrap()).unwrap();
    assert_eq!(validate(&written, Wire::OpenaiResponses), [], "{written}");
    // Without the file, what left is not known.
    let rendered = crate::render(session.view(), Wire::OpenaiResponses, None, None).json;
    let shown = |json: &str| {
        let request: serde_json::Value = serde_json::from_str(json).unwrap();
        let field = |item: &serde_json::Value, name: &str, mark: &str| {
            item[name].as_str().map(|value| format!("{mark}{value}")).unwrap_or_default()
        };
        let item = |item: &serde_json::Value| {
            let kind = item["type"].as_str().unwrap().trim_end_matches("_call");
            format!("{kind}{}{}", field(item, "id", "#"), field(item, "phase", "/"))
        };
        request["input"].as_array().unwrap().iter().map(item).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(&written), shown(&rendered), "with the file, and without");
    shown(&written)
}

#[test]
fn what_came_with_reasoning_has_no_id_without_it() {
    let user = r#"{"type":"message","role":"user","content":"a"}"#;
    let thought = |id: &str| format!(r#"{{"type":"reasoning","id":"{id}","summary":[],"encrypted_content":"ENC"}}"#);
    let said = |id: &str, phase: &str| {
        let part = r#"{"type":"output_text","text":"b","annotations":[],"logprobs":[]}"#;
        format!(
            r#"{{"type":"message","id":"{id}","role":"assistant","status":"completed","phase":"{phase}","content":[{part}]}}"#
        )
    };
    let call = |id: &str| {
        format!(r#"{{"type":"function_call","id":"{id}","call_id":"c_{id}","name":"f","arguments":"{{}}"}}"#)
    };
    let output = |id: &str| format!(r#"{{"type":"function_call_output","call_id":"c_{id}","output":"x"}}"#);
    let search = r#"{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}"#;
    let shell = r#"{"type":"shell_call","id":"sh","call_id":"c_sh","action":{"commands":["ls"]}}"#;
    let printed = r#"{"type":"shell_call_output","call_id":"c_sh","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]}"#;
    let (r1, r2, m1, m2) = (thought("r1"), thought("r2"), said("m1", "commentary"), said("m2", "final_answer"));
    let (f1, f2, o1, o2) = (call("f1"), call("f2"), output("f1"), output("f2"));
    let check = |items: &[&str], left: &[u32], thoughtless: &[u32], expect: &str| {
        assert_eq!(items_without(items, left, thoughtless), expect, "without {left:?}, reasoning {thoughtless:?}");
    };
    let calls: &[&str] = &[user, user, &r1, &m1, &f1, &f2, &o1, &o2, &r2, &m2];
    let whole = "reasoning#r1 message#m1/commentary function#f1 function#f2";
    let outputs = "function_call_output function_call_output";
    check(calls, &[0], &[], &format!("message {whole} {outputs} reasoning#r2 message#m2/final_answer"));
    check(
        calls,
        &[0],
        &[2],
        &format!("message message/commentary function function {outputs} reasoning#r2 message#m2/final_answer"),
    );
    check(calls, &[0], &[5], &format!("message {whole} {outputs} message/final_answer"));
    // What the provider ran is in between: it needs its id, so it is a call like any other.
    let searched: &[&str] = &[user, user, &r1, search, &m1, &r2, shell, printed, &m2];
    check(
        searched,
        &[0],
        &[],
        "message reasoning#r1 web_search#ws message#m1/commentary reasoning#r2 shell#sh shell_call_output message#m2/final_answer",
    );
    check(
        searched,
        &[0],
        &[2],
        "message function function_call_output message/commentary reasoning#r2 shell#sh shell_call_output message#m2/final_answer",
    );
    check(
        searched,
        &[0, 2, 3],
        &[],
        "message message/commentary reasoning#r2 shell#sh shell_call_output message#m2/final_answer",
    );
    check(
        searched,
        &[0],
        &[4],
        "message reasoning#r1 web_search#ws message#m1/commentary shell shell_call_output message#m2/final_answer",
    );
}
