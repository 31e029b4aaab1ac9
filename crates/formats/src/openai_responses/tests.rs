#![allow(clippy::unwrap_used)]
use epitome_session::{EntryKey, Epoch, Trigger};

use crate::tests::check_log as check;
use crate::{Format, ReadOptions, read, validate, write};

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
