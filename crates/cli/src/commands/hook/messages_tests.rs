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
    assert_eq!(messages[0], 0, "the task is the agent's own message");
    let summary = messages[1]["text"].as_str().unwrap();
    assert!(summary.starts_with("[Summary of "), "{summary}");
    assert_eq!(messages.last().unwrap(), &json!(16), "the newest result is not read yet");
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
        let message = serde_json::from_value(json!({"role": "user", "text": "", "toolResults": [result]})).unwrap();
        assert_eq!(wire(&message)["content"], json!([expect]));
    };
    let expect = json!({"type": "tool_result", "tool_use_id": "a", "content": "no such file"});
    let failed = json!({"type": "tool_result", "tool_use_id": "a", "content": "no such file", "is_error": true});
    check(json!({"tool_use_id": "a", "text": "no such file", "isError": true}), failed);
    check(json!({"tool_use_id": "a", "text": "no such file", "isError": false}), expect.clone());
    check(json!({"tool_use_id": "a", "text": "no such file"}), expect);
}

/// Why an input is left to the agent.
fn left(input: &Value) -> String {
    let answer: Value = serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap();
    assert!(answer.get("messages").is_none(), "{answer}");
    answer["note"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_left_to_the_agent() {
    let check = |input: &Value, expect: &str| assert!(left(input).contains(expect), "{}", left(input));
    check(&json!({"messages": []}), "there is no message that says anything");
    check(&json!({"messages": [{"role": "user", "text": "Hello.", "toolUses": []}]}), "6 tokens fit");
    check(&session(1), "tokens fit, and nothing has to leave");
    let long = "Each of these files is to be read and none of them may be changed. ".repeat(1_000);
    let mut task = session(2);
    task["messages"][0]["text"] = long.into();
    check(&task, "tokens would stay");
    for wrong in ["", "{}", "[]", "null", "{\"messages\": {}}", "{\"messages\": null}", "no JSON"] {
        assert!(compact(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_message_that_is_not_understood_leaves_all_to_the_agent() {
    // Each stands in a session that would be compacted without it.
    let check = |message: Value, expect: &str| {
        for at in [0, 5, 17] {
            let mut input = session(8);
            input["messages"].as_array_mut().unwrap().insert(at, message.clone());
            assert!(left(&input).contains(expect), "{message} at {at}: {}", left(&input));
        }
    };
    check(json!({}), "missing field `role`");
    check(json!("text"), "it is not an object");
    check(json!(null), "it is not an object");
    check(json!([]), "it is not an object");
    check(json!({"role": "user"}), "missing field `text`");
    check(json!({"role": "system", "text": "s", "toolUses": []}), "unknown variant `system`");
    check(json!({"role": "user", "content": "other form"}), "missing field `text`");
    check(json!({"role": "user", "text": null, "toolUses": []}), "invalid type: null");
    check(json!({"role": "user", "text": ["a"], "toolUses": []}), "invalid type");
    check(json!({"role": "user", "text": [{"type": "text", "text": "a"}]}), "invalid type");
    check(json!({"role": "user", "text": "a", "toolUses": [], "images": [{"data": "aGk="}]}), "`images` is not known");
    check(json!({"role": "user", "text": "", "content": "other form"}), "`content` is not known");
    check(json!({"type": "user", "role": "user", "text": "", "message": {"content": "x"}}), "is not known");
    check(
        json!({"role": "assistant", "text": "", "toolUses": [{"type": "server_tool_use", "id": "a"}]}),
        "missing field",
    );
    check(
        json!({"role": "assistant", "text": "", "toolUses": [{"tool_use_id": "a", "tool": "B", "input": "x"}]}),
        "invalid type",
    );
    check(json!({"role": "assistant", "text": "", "toolUses": {"tool_use_id": "a"}}), "invalid type");
    check(json!({"role": "user", "text": "", "toolResults": [{"tool_use_id": "call_0"}]}), "missing field `text`");
    let unknown = json!({"tool_use_id": "call_0", "text": "", "content": [{"type": "text", "text": "x"}]});
    check(json!({"role": "user", "text": "", "toolResults": [unknown]}), "`content` is not known");
    let result = json!({"tool_use_id": "no_call", "text": "x"});
    check(json!({"role": "user", "text": "", "toolResults": [result]}), "a result of no call, `no_call`");
    check(json!({"role": "assistant", "text": "", "toolResults": [result]}), "is the model's, and has a tool's result");
    let call = json!({"tool_use_id": "new", "tool": "Bash", "input": {}});
    check(json!({"role": "user", "text": "", "toolUses": [call]}), "is the user's, and calls a tool");
    let twice = json!({"tool_use_id": "new", "tool": "Bash", "input": {}});
    check(json!({"role": "assistant", "text": "", "toolUses": [twice, twice]}), "second call `new`");
    let nothing = json!({"role": "assistant", "text": "", "toolUses": []});
    assert!(left(&json!({"messages": [nothing, nothing]})).contains("says anything"));
}

/// The answer to a session into which messages were put at a place.
fn answer_with(more: &[Value], at: usize) -> Value {
    let mut input = session(8);
    let messages = input["messages"].as_array_mut().unwrap();
    messages.splice(at..at, more.iter().cloned());
    serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap()
}

#[test]
fn calls_that_stand_twice_are_read_where_they_stand_last() {
    let call = |id: &str| json!({"tool_use_id": id, "tool": "Bash", "input": {"command": "look"}});
    let result = |id: &str| json!({"tool_use_id": id, "text": "an earlier reading", "isError": false});
    let step = |text: &str, ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
        let results: Vec<Value> = ids.iter().map(|id| result(id)).collect();
        [
            json!({"role": "assistant", "text": text, "toolUses": calls, "handle": "h"}),
            json!({"role": "user", "text": "", "toolUses": [], "toolResults": results, "handle": "h"}),
        ]
    };
    // The newest step stands behind its own earlier listing, at 15 and 16: its numbers are the agent's.
    let check = |text: &str, ids: &[&str], expect: &[Value]| {
        let answer = answer_with(&step(text, ids), 15);
        let messages = answer["messages"].as_array().unwrap();
        let tail = &messages[messages.len() - expect.len()..];
        assert_eq!(tail, expect, "{answer}");
        assert!(!messages.contains(&json!(15)) && !messages.contains(&json!(16)), "{answer}");
        assert!(!answer.to_string().contains("an earlier reading"), "{answer}");
    };
    check("", &["call_7"], &[json!(17), json!(18)]);
    check("", &["call_7", "call_7"], &[json!(17), json!(18)]);
    // A part that does not stand again stays, as a message of its own.
    let answer = answer_with(&step("Look once more.", &["call_6", "call_7"]), 15);
    let texts = answer["messages"].as_array().unwrap().iter().filter(|piece| piece["text"] == "Look once more.");
    assert_eq!(texts.count(), 1, "{answer}");
    assert!(!answer.to_string().contains("call_7"), "{answer}");
    // A call whose result does not stand again is not understood.
    let alone = json!({"role": "assistant", "text": "", "toolUses": [call("call_0")]});
    let answer = answer_with(&[alone], 5);
    assert!(answer["note"].as_str().unwrap().contains("message 5 has a second call `call_0`"), "{answer}");
}

#[test]
fn a_field_that_holds_no_words_is_no_reason() {
    let mut input = session(8);
    for message in input["messages"].as_array_mut().unwrap() {
        message["isMeta"] = false.into();
        message["timestamp_ms"] = 1_700_000_000_u64.into();
        message["images"] = json!([]);
    }
    let answer: Value = serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap();
    assert!(answer["messages"].is_array(), "{answer}");
}

#[test]
fn the_task_and_the_newest_question_stay_whole() {
    let long = |word: &str, count: usize| -> String {
        (0..count)
            .map(|line| format!("{word} {line}: read src/{word}_{line}.rs, and never change its header.\n"))
            .collect()
    };
    // Each is more than the share that stays of the whole.
    let (task, question) = (long("part", 150), long("module", 150));
    let mut input = session(6);
    input["messages"][0]["text"] = task.clone().into();
    let messages = input["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "text": "Looked at all.", "toolUses": [], "handle": "h"}));
    messages.push(json!({"role": "user", "text": question, "toolUses": [], "handle": "h"}));
    let came = messages.clone();
    let answer: Value = serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap();
    let messages = answer["messages"].as_array().unwrap();
    let text_of = |piece: &Value| piece.as_u64().map_or(piece, |number| &came[number as usize])["text"].clone();
    let texts: Vec<String> = messages.iter().map(|piece| text_of(piece).as_str().unwrap().to_owned()).collect();
    assert!(texts[0].starts_with(task.trim_end()), "{}", texts[0]);
    assert!(texts.iter().any(|text| text.contains(question.trim_end())), "{texts:?}");
    assert!(answer["note"].as_str().unwrap().starts_with("epitome compacted "), "{answer}");
}

#[test]
fn a_summary_of_an_earlier_compaction_may_leave() {
    let check = |text: &str, expect: &str| assert_eq!(without_summary(text), expect);
    check("Look at every part.", "Look at every part.");
    check("Look.\n\nAt all.\n[Summary of 4 earlier messages]\n» …", "Look.\n\nAt all.\n");
    check("[Summary of 4 earlier messages]\n» …", "");
}
