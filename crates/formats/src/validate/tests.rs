#![allow(clippy::unwrap_used)]
use super::*;

/// The rules that a request breaks, in order.
fn check(profile: Wire, json: &str, expect: &[&str]) {
    let found = validate(json, profile);
    let rules: Vec<&str> = found.iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, expect, "{json}\n{found:?}");
}

#[test]
fn openai_chat() {
    let check = |json: &str, expect: &[&str]| check(Wire::OpenaiChat, json, expect);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"run","arguments":"{}"}}]}"#;
    let user = r#"{"role":"user","content":"hi"}"#;
    let result = r#"{"role":"tool","tool_call_id":"1","content":""}"#;
    check(&format!(r#"{{"messages":[{{"role":"system","content":"s"}},{user},{call},{result},{user}]}}"#), &[]);
    check(&format!("{user}\n{call}\n{result}\n"), &[]);
    check(&format!("[{user},{call}]"), &[]);
    check("[{]", &["json"]);
    check("", &["json"]);
    check("{}", &["messages"]);
    check(&format!("[{user},{call},{user}]"), &["call-without-result"]);
    check(&format!("[{user},{call},{result},{result}]"), &["result-without-call"]);
    check(&format!("[{user},{result}]"), &["result-without-call"]);
    check(&format!("[{call},{result}]"), &["first-user"]);
    check(r#"[{"role":"human","content":"x"}]"#, &["first-user", "role"]);
    check(r#"[{"role":"user","content":""}]"#, &["content"]);
    check(r#"[{"role":"user","content":[]}]"#, &["content"]);
    check(r#"[{"role":"user","content":[{"type":"text","text":""}]}]"#, &["content"]);
    check(&format!(r#"[{user},{{"role":"assistant","content":null}}]"#), &["content"]);
    let bad = call.replace(r#""{}""#, r#""{""#);
    check(&format!("[{user},{bad}]"), &["arguments"]);
    let bad = call.replace(r#""id":"1""#, r#""id":"""#);
    check(&format!("[{user},{bad}]"), &["call-id"]);
    check(&format!(r#"[{user},{{"role":"assistant","content":"x","tool_calls":"run()"}}]"#), &["content"]);
    check(
        &format!(
            r#"[{user},{{"role":"assistant","content":null,"function_call":{{"name":"f","arguments":"{{}}"}}}},{{"role":"function","name":"f","content":"x"}}]"#
        ),
        &[],
    );
    check(r#"{"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{}}]}"#, &["tools"]);
}

#[test]
fn openai_responses() {
    let check = |json: &str, expect: &[&str]| check(Wire::OpenaiResponses, json, expect);
    let user = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#;
    let call = r#"{"type":"function_call","call_id":"1","name":"run","arguments":"{}"}"#;
    let output = r#"{"type":"function_call_output","call_id":"1","output":""}"#;
    let reasoning = r#"{"type":"reasoning","summary":[]}"#;
    check(&format!(r#"{{"instructions":"x","input":[{user},{reasoning},{call},{output}]}}"#), &[]);
    check(r#"{"input":"hello"}"#, &[]);
    check(&format!("[{user},{call},{reasoning},{output}]"), &[]);
    check(&format!("[{user},{call},{user}]"), &["call-without-result"]);
    check(&format!("[{user},{output}]"), &["result-without-call"]);
    check(&format!("[{call},{output}]"), &["first-user"]);
    let two = call.replace('1', "2");
    check(&format!("[{user},{call},{two},{output},{reasoning}]"), &["call-without-result"]);
    check(
        &format!(r#"[{user},{call},{{"type":"custom_tool_call_output","call_id":"1","output":"x"}}]"#),
        &["result-without-call"],
    );
    check(&format!(r#"[{user},{{"type":"custom_tool_call","call_id":"3","name":"p"}}]"#), &["arguments"]);
    check(&format!("[{user},{}]", call.replace("{}", "[]")), &["arguments"]);
    check(&format!("[{user},{}]", call.replace(r#""1""#, r#""""#)), &["call-id"]);
    check(&user.replace("input_text", "output_text"), &["part-type"]);
    check(&user.replace("hi", ""), &["content"]);
    check(&format!("[{user},{{}}]"), &["role"]);
    check(&format!(r#"[{user},{{"id":"msg_1"}}]"#), &[]);
    check(&format!(r#"[{user},{{"id":"msg_1","content":"x"}}]"#), &["role"]);
    // A program calls again and again, until its output comes.
    let program = r#"{"type":"program","id":"p","call_id":"p1","code":"run()"}"#;
    let ended = r#"{"type":"program_output","id":"o","call_id":"p1","result":"x"}"#;
    let called =
        |id: &str| call.replace(r#""1""#, &format!(r#""{id}","caller":{{"type":"program","caller_id":"p1"}}"#));
    let (one, other, next) = (called("1"), called("2"), output.replace('1', "2"));
    check(&format!("[{user},{program},{one},{output},{other},{next},{ended},{user}]"), &[]);
    check(&format!("[{user},{program},{one},{output},{other},{next}]"), &[]);
    check(&format!("[{user},{program},{ended},{one},{output}]"), &["caller"]);
    check(&format!("[{user},{one},{output}]"), &["caller"]);
    let told = r#"{"type":"agent_message","author":"/root/a","recipient":"/root","content":[]}"#;
    check(&format!("[{told},{call},{output}]"), &[]);
    // What the provider has stored can be answered, once.
    let continued = |name: &str, items: &str| format!(r#"{{"model":"m",{name},"input":[{items}]}}"#);
    for name in [r#""previous_response_id":"r""#, r#""conversation":{"id":"c"}"#] {
        check(&continued(name, output), &[]);
        check(&continued(name, r#"{"type":"mcp_approval_response","approval_request_id":"a","approve":true}"#), &[]);
        let (call, next) = (call.replace('1', "2"), output.replace('1', "2"));
        check(&continued(name, &format!("{output},{user},{call},{next}")), &[]);
        check(&continued(name, &format!("{output},{output}")), &["result-without-call"]);
        check(&continued(name, &format!("{call},{next},{next}")), &["result-without-call"]);
        check(&continued(name, &format!("{next},{call}")), &["result-without-call"]);
        check(&continued(name, &format!("{call},{user}")), &["call-without-result"]);
    }
    check(&continued(r#""previous_response_id":null"#, output), &["first-user", "result-without-call"]);
}

#[test]
fn gemini() {
    let check = |contents: &str, expect: &[&str]| check(Wire::Gemini, &format!(r#"{{"contents":{contents}}}"#), expect);
    check(r#"{"parts":{"text":"hi"}}"#, &[]);
    check(r#"{"parts":[{"text":"hi"}]}"#, &[]);
    check(r#"[{"role":"user","parts":{"text":"hi"}}]"#, &[]);
    check(r#""hi""#, &[]);
    check(r#"" ""#, &["messages"]);
    check("7", &["messages"]);
    check(r#"{"text":"hi"}"#, &["content"]);
    check(r#"{"parts":"hi"}"#, &["content"]);
    check(r#"[{"parts":{"text":" "}}]"#, &["content"]);
    check(r#"[{"parts":{"functionResponse":{"name":"run","response":{}}}}]"#, &["result-without-call"]);
}

#[test]
fn anthropic() {
    let check = |json: &str, expect: &[&str]| check(Wire::Anthropic, json, expect);
    let user = r#"{"role":"user","content":"hi"}"#;
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"run","input":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"text","text":"go on"}]}"#;
    check(&format!(r#"{{"system":"s","messages":[{user},{call},{result}]}}"#), &[]);
    check(&format!("[{user},{call}]"), &[]);
    check("[]", &["messages"]);
    // Neighbours of one role are one turn.
    let said = r#"{"role":"assistant","content":"x"}"#;
    check(&format!("[{user},{user},{said},{said},{user}]"), &[]);
    check(&format!("[{user},{call},{said},{result}]"), &[]);
    check(&format!("[{user},{call},{user},{result}]"), &["results-first"]);
    check(&format!("[{user},{call},{user},{user}]"), &["call-without-result"]);
    check(&format!("[{user},{user},{result}]"), &["result-without-call", "results-first"]);
    check(&format!("[{call},{result}]"), &["first-user"]);
    check(&format!("[{user},{call},{user}]"), &["call-without-result"]);
    let two = call.replace("}]}", r#"},{"type":"tool_use","id":"t2","name":"run","input":{}}]}"#);
    check(&format!("[{user},{two},{result}]"), &["call-without-result"]);
    let results_only = result.replace(r#",{"type":"text","text":"go on"}"#, "");
    check(&format!("[{user},{two},{results_only}]"), &[]); // the other result is still to come
    check(result, &["result-without-call"]);
    check(&format!("[{user},{}]", call.replace("t1", "a|b")), &["call-id"]);
    check(&format!("[{user},{call},{result},{call}]"), &["call-id"]);
    check(&format!("[{user},{}]", call.replace("{}", "[]")), &["arguments"]);
    let system = r#"{"role":"system","content":"x"}"#;
    check(&format!("[{user},{system}]"), &[]);
    check(&format!("[{user},{system},{said},{user}]"), &[]);
    check(&format!("[{user},{said},{system}]"), &["system-in-messages"]);
    check(&format!("[{user},{system},{user}]"), &["system-in-messages"]);
    check(&format!("[{system},{user}]"), &["system-in-messages"]);
    let older = format!(r#"{{"model":"claude-opus-4-5","messages":[{user},{system}]}}"#);
    check(&older, &["system-in-messages"]);
    check(&older.replace("4-5", "4-8"), &[]);
    let effort = r#"{"role":"system","content":[],"output_config":{"effort":"low"}}"#;
    check(&format!("[{effort},{user},{effort},{effort},{said},{effort},{user},{effort}]"), &[]);
    check(&format!("[{user},{effort},{system},{effort},{said}]"), &[]);
    check(&format!("[{user},{said},{effort},{system}]"), &["system-in-messages"]);
    check(&format!("[{user},{system},{effort},{user}]"), &["system-in-messages"]);
    check(&format!("[{user},{}]", effort.replace(r#""effort":"low""#, "")), &["content"]);
    check(&format!("[{effort},{said}]"), &["first-user"]);
    check(&older.replace(system, effort), &["system-in-messages", "content"]);
    check(r#"[{"role":"user","content":"  "}]"#, &["content"]);
    check(r#"[{"role":"user","content":[]}]"#, &["content"]);
    check(
        &format!(r#"[{user},{{"role":"assistant","content":[{{"type":"thinking","thinking":"x"}}]}}]"#),
        &["content"],
    );
    let late =
        r#"{"role":"user","content":[{"type":"text","text":"go on"},{"type":"tool_result","tool_use_id":"t1"}]}"#;
    check(&format!("[{user},{call},{late}]"), &["results-first"]);
    // A program calls in its own message and behind it, until it has ended.
    let program = r#"{"type":"server_tool_use","id":"s1","name":"code_execution","input":{}}"#;
    let ended = r#"{"type":"code_execution_tool_result","tool_use_id":"s1","content":{}}"#;
    let called = call.replace("{}}]", r#"{},"caller":{"type":"code_execution_20260120","tool_id":"s1"}}]"#);
    let with = |block: &str| called.replace(r#""content":["#, &format!(r#""content":[{block},"#));
    let of_model = |block: &str| format!(r#"{{"role":"assistant","content":[{block}]}}"#);
    check(&format!("[{user},{},{results_only}]", with(program)), &[]);
    check(&format!("[{user},{},{called},{results_only},{}]", of_model(program), of_model(ended)), &[]);
    check(&format!("[{user},{called},{results_only}]"), &["caller"]);
    check(&format!("[{user},{},{},{called}]", of_model(program), of_model(ended)), &["caller"]);
    check(&format!("[{user},{}]", with(program).replace(r#""s1"}"#, r#""s2"}"#)), &["caller"]);
    check(&format!("[{user},{}]", called.replace(r#","tool_id":"s1""#, "")), &[]);
    check(r#"{"system":[{"type":"image"}],"messages":[{"role":"user","content":"x"}]}"#, &["content"]);
    check(r#"[{"role":"tool","content":"x"}]"#, &["role", "first-user"]);
}
