//! What today's requests are made of: every part has its class, stays where it has to, and leaves as what it is.

#![allow(clippy::unwrap_used)]

use epitome_session::{Change, EditKind, EntryKey, Epoch, Trigger};
use serde_json::Value;

use crate::{Format, LoadedFile, ReadOptions, read, validate, write};

fn load(json: &str, format: Format) -> LoadedFile {
    read(json.as_bytes().to_vec(), ReadOptions { format: Some(format), ..ReadOptions::default() }).unwrap()
}

/// The items of a request without the messages of the log with these numbers.
fn without(loaded: &LoadedFile, numbers: &[u32], list: &str) -> Vec<Value> {
    let mut session = loaded.sessions[0].session.clone();
    let changes = numbers.iter().map(|number| Change::Remove { entry: EntryKey::Log(*number) }).collect();
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Drop, changes, Vec::new()));
    let written = String::from_utf8(write(loaded, 0, &session, loaded.format).unwrap()).unwrap();
    assert_eq!(validate(&written, loaded.format.wire().unwrap()), [], "{written}");
    let request: Value = serde_json::from_str(&written).unwrap();
    request[list].as_array().unwrap().clone()
}

/// The kinds of items, blocks or parts, in order.
fn kinds(items: &[Value]) -> String {
    let own = |value: &Value| value["type"].as_str().or_else(|| value["role"].as_str()).unwrap_or("?").to_owned();
    let inner = |item: &Value| match item["content"].as_array() {
        Some(blocks) => {
            format!(
                "{}({})",
                item["role"].as_str().unwrap_or("?"),
                blocks.iter().map(own).collect::<Vec<_>>().join(",")
            )
        }
        None => own(item),
    };
    items.iter().map(inner).collect::<Vec<_>>().join(" ")
}

#[test]
fn openai_responses() {
    let items = [
        r#"{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"run"}]}"#, // 0
        r#"{"role":"user","content":"go"}"#,                                                            // 1
        r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"}"#,                     // 2
        r#"{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["make"]},"status":"completed"}"#,
        r#"{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"err","stderr":"","outcome":{"type":"exit","exit_code":2}}]}"#, // 3
        r#"{"type":"mcp_list_tools","id":"l","server_label":"deps","tools":[{"name":"pin"}]}"#, // 4
        r#"{"type":"mcp_call","id":"m1","server_label":"deps","name":"pin","arguments":"{\"v\":1}","output":"pinned","status":"completed"}"#, // 5, 6
        r#"{"type":"one_of_tomorrow","data":"x"}"#, // 7
        r#"{"role":"user","content":"on"}"#,        // 8
    ];
    let loaded = load(&format!(r#"{{"model":"gpt-5.6","input":[{}]}}"#, items.join(",")), Format::OpenaiResponses);
    let check = |numbers: &[u32], expect: &str| assert_eq!(kinds(&without(&loaded, numbers, "input")), expect);
    let all =
        "additional_tools user reasoning shell_call shell_call_output mcp_list_tools mcp_call one_of_tomorrow user";
    check(&[], all);
    check(&[2, 3], "additional_tools user mcp_list_tools mcp_call one_of_tomorrow user");
    check(&[5, 6], "additional_tools user reasoning shell_call shell_call_output mcp_list_tools one_of_tomorrow user");
    check(&[1], &all.replacen("user", "message", 1).replace("message", "user(input_text)"));
    // A call without its own result is not one of the provider's any more.
    check(&[6], &all.replace("mcp_call", "function_call function_call_output"));
}

#[test]
fn anthropic() {
    let messages = [
        r#"{"role":"user","content":"find it"}"#, // 0
        r#"{"role":"system","content":[{"type":"text","text":"Only below /scratch."},{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"draw"}}}]}"#, // 1
        r#"{"role":"assistant","content":[{"type":"text","text":"Search."},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},{"type":"text","text":"It is 4."},{"type":"tool_use","id":"t1","name":"run","input":{}}]}"#, // 2, 3, 4
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"tool_reference","tool_name":"post"}]}]}"#, // 5
        r#"{"role":"user","content":"on"}"#, // 6
    ];
    let request = format!(r#"{{"model":"claude-opus-5","messages":[{}]}}"#, messages.join(","));
    let loaded = load(&request, Format::Anthropic);
    let check = |numbers: &[u32], expect: &str| assert_eq!(kinds(&without(&loaded, numbers, "messages")), expect);
    check(
        &[],
        "user system(text,tool_addition) assistant(text,server_tool_use,web_search_tool_result,text,tool_use) user(tool_result,text)",
    );
    check(&[2, 3], "user system(text,tool_addition) assistant(text,tool_use) user(tool_result,text)");
    check(
        &[3],
        "user system(text,tool_addition) assistant(text,tool_use) user(tool_result) assistant(text,tool_use) user(tool_result,text)",
    );
    // An instruction stays behind a user's turn, whoever leaves.
    check(&[0, 2, 3, 4, 5], "user system(text,tool_addition)");
    let session = &loaded.sessions[0].session;
    let pinned: Vec<bool> = session.log().iter().map(|message| message.pinned).collect();
    assert_eq!(pinned, [false, false, false, false, false, true, false], "what loads a tool stays");
}

#[test]
fn gemini() {
    let contents = [
        r#"{"role":"user","parts":[{"text":"run it"}]}"#,
        r#"{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"One."}]}"#,
        r#"{"role":"user","parts":[{"text":"on"}]}"#,
    ];
    let loaded = load(&format!(r#"{{"contents":[{}]}}"#, contents.join(",")), Format::Gemini);
    let parts = |numbers: &[u32]| {
        let items = without(&loaded, numbers, "contents");
        let names = |part: &Value| part.as_object().unwrap().keys().next().unwrap().clone();
        let of = |content: &Value| content["parts"].as_array().unwrap().iter().map(names).collect::<Vec<_>>().join(",");
        items.iter().map(of).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(parts(&[]), "text executableCode,codeExecutionResult,text text");
    assert_eq!(parts(&[1, 2]), "text text text");
    assert_eq!(parts(&[2]), "text functionCall functionResponse text text");
}
