use crate::Format;
use crate::tests::check_log as check;

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
