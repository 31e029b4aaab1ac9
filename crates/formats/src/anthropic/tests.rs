use crate::Format;
use crate::tests::check_log as check;

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
