#![allow(clippy::unwrap_used)]

use crate::Format;
use crate::tests::{check_log as check, load, shown};

#[test]
fn openai_chat() {
    let call = r#"{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"run","arguments":"{\"a\": 1}"}},{"id":"2","type":"function","function":{"name":"patch","arguments":"*** Begin"}}]}"#;
    let messages = format!(
        r#"[{{"role":"system","content":"s"}}, {{"role":"user","content":[{{"type":"text","text":"see"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,AAAA"}}}}]}},
        {call}, {{"role":"tool","tool_call_id":"2","content":"two"}}, {{"role":"tool","tool_call_id":"1","content":[{{"type":"text","text":"one"}}]}}, {{"role":"assistant","content":"done"}}]"#
    );
    let log = [
        "system/Instructions: s",
        "user/Typed: see | media(image/png AAAA)",
        r#"assistant/Model: thinking(hm) | call(1 run {"a": 1}) | call(2 patch text:*** Begin)"#,
        "tool/Tool: result(2 two)",
        "tool/Tool: result(1 one)",
        "assistant/Model: done",
    ];
    check(Format::OpenaiChat, &messages, &log, &[]);
    check(Format::OpenaiChat, &format!(r#"{{"model":"m","messages":{messages},"tools":[]}}"#), &log, &[]);
    let lines = "{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":\"assistant\",\"content\":\"b\"}\r\n";
    check(Format::OpenaiChat, lines, &["user/Typed: a", "assistant/Model: b"], &[]);
    let legacy = r#"[{"role":"user","content":"a"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}]"#;
    let log = ["user/Typed: a", "assistant/Model: call( f {})", "tool/Tool: result( x)"];
    check(Format::OpenaiChat, legacy, &log, &[]);
    let sessions = load(
        "{\"id\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}\n",
    );
    let names: Vec<&str> = sessions.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["x", "1"]);
    let protocol = r#"[{"role":"user","content":"q"},{"role":"assistant","content":"so <tool_call>{\"name\":\"search\",\"arguments\":{}}</tool_call>"},{"role":"user","content":"<tool_response>r</tool_response>"}]"#;
    let loaded = load(protocol);
    let log = loaded.sessions[0].session.log();
    assert_eq!((&*log[1].text_calls[0].name, log[1].text_calls[0].start), ("search", 14));
    assert_eq!(shown(&log[2]), "user/ToolOutput: <tool_response>r</tool_response>");
}

#[test]
fn what_the_model_said_without_content() {
    let check = |message: &str, expect: &str| {
        let list = format!(r#"[{{"role":"user","content":"a"}},{message},{{"role":"user","content":"b"}}]"#);
        check(Format::OpenaiChat, &list, &["user/Typed: a", expect, "user/Typed: b"], &[]);
    };
    check(r#"{"role":"assistant","content":null,"refusal":"I cannot."}"#, "assistant/Model: I cannot.");
    check(r#"{"role":"assistant","refusal":"I cannot."}"#, "assistant/Model: I cannot.");
    check(r#"{"role":"assistant","content":"Hm.","refusal":"I cannot."}"#, "assistant/Model: Hm. | I cannot.");
    check(r#"{"role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}"#, "assistant/Model: I cannot.");
    check(r#"{"role":"assistant","content":"Hm.","refusal":null,"audio":null}"#, "assistant/Model: Hm.");
    check(r#"{"role":"assistant","content":null,"refusal":""}"#, "assistant/Model: ");
    check(r#"{"role":"assistant","content":null,"audio":{"id":"audio_1"}}"#, "assistant/Model: media(audio_1)");
    check(
        r#"{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"UklGRAAA"}}"#,
        "assistant/Model: media(audio/wav UklGRAAA)",
    );
}
