#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

/// A session of the agent: a task, and calls that print many lines.
fn session(calls: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "text": "Look at every part.", "toolUses": [], "handle": "h"})];
    for call in 0..calls {
        let id = format!("call_{call}");
        let lines: String = (0..120).map(|line| format!("src/part_{call}/file_{line}.rs: checked\n")).collect();
        let input = json!({"command": format!("look {call}")});
        messages.push(json!({"role": "assistant", "text": "", "handle": "h",
            "toolUses": [{"tool_use_id": id, "tool": "Bash", "input": input, "result": {"stdout": lines}}]}));
        messages.push(json!({"role": "user", "text": "", "toolUses": [], "handle": "h",
            "toolResults": [{"tool_use_id": id, "text": lines, "isError": false}]}));
    }
    json!({"messages": messages})
}

#[test]
fn messages_behind_a_compaction() {
    let input = session(8);
    let answer: Value = serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap();
    let messages = answer["messages"].as_array().unwrap();
    let first = messages[0]["text"].as_str().unwrap();
    assert!(first.starts_with("Look at every part.\n[Summary of "), "{first}");
    let last = messages.last().unwrap();
    assert!(last.is_number() || last["toolResults"][0]["isError"] == false, "{last}");
    assert!(messages.len() < 17, "{}", messages.len());
    let calls: Vec<&Value> = messages.iter().filter(|message| message["role"] == "assistant").collect();
    assert!(calls.iter().all(|message| message.get("handle").is_none()), "a changed message has no handle");
    assert!(answer["note"].as_str().unwrap().starts_with("epitome compacted "), "{answer}");
    let size = |value: &Value| value.to_string().len();
    assert!(size(&answer) * 2 < size(&input), "{} of {}", size(&answer), size(&input));
}

#[test]
fn a_result_that_is_an_error_is_one_in_the_providers_form_too() {
    let check = |result: Value, expect: Value| {
        let message = serde_json::from_value(json!({"role": "user", "toolResults": [result]})).unwrap();
        assert_eq!(wire(&message)["content"], json!([expect]));
    };
    let expect = json!({"type": "tool_result", "tool_use_id": "a", "content": "no such file"});
    let failed = json!({"type": "tool_result", "tool_use_id": "a", "content": "no such file", "is_error": true});
    check(json!({"tool_use_id": "a", "text": "no such file", "isError": true}), failed);
    check(json!({"tool_use_id": "a", "text": "no such file", "isError": false}), expect.clone());
    check(json!({"tool_use_id": "a", "text": "no such file"}), expect);
}

#[test]
fn what_is_left_to_the_agent() {
    let check = |input: &Value, expect: &str| {
        let answer: Value = serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap();
        assert!(answer.get("messages").is_none(), "{answer}");
        assert!(answer["note"].as_str().unwrap().contains(expect), "{answer}");
    };
    check(&json!({"messages": []}), "nothing to save");
    check(&json!({"messages": [{"role": "user", "text": "Hello."}]}), "infeasible");
    for wrong in ["", "{}", "{\"messages\": [{}]}", "no JSON"] {
        assert!(compact(wrong).is_err(), "{wrong}");
    }
}
