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

/// The answer to a session.
fn answer_to(input: &Value) -> Vec<Value> {
    let answer: Value = serde_json::from_str(&compact(&input.to_string()).unwrap()).unwrap();
    assert!(answer["note"].as_str().unwrap().starts_with("epitome compacted "), "{answer}");
    answer["messages"].as_array().unwrap().clone()
}

fn result(call: &str, text: &str) -> Value {
    json!({"role": "user", "text": "", "toolUses": [], "toolResults": [{"tool_use_id": call, "text": text, "isError": false}]})
}

#[test]
fn messages_behind_a_compaction() {
    let input = session(8);
    let messages = answer_to(&input);
    assert_eq!(messages[0], 0, "the task is the agent's own message");
    let summary = messages[1]["text"].as_str().unwrap();
    assert!(summary.starts_with("[Summary of "), "{summary}");
    let newest = input["messages"][16]["toolResults"][0]["text"].as_str().unwrap();
    assert_eq!(
        messages[messages.len() - 2..],
        [json!(15), result("call_7", newest)],
        "the newest result is not read yet"
    );
    assert!(messages.len() < 17, "{}", messages.len());
    let calls: Vec<&Value> = messages.iter().filter(|message| message["role"] == "assistant").collect();
    assert!(calls.iter().all(|message| message.get("handle").is_none()), "a changed message has no handle");
    let size = |value: &Value| value.to_string().len();
    let answer = Value::from(messages);
    assert!(size(&answer) * 2 < size(&input), "{} of {}", size(&answer), size(&input));
}

/// Rows of one answer of the model: what it thought, what it said, and calls, with the results as the agent has them.
fn step(said: &str, calls: &[&str], lines: &str) -> Vec<Value> {
    let row =
        |text: &str, calls: &[Value]| json!({"role": "assistant", "text": text, "toolUses": calls, "handle": "h"});
    let call = |id: &&str| json!({"tool_use_id": id, "tool": "Bash", "input": {"command": "look"}});
    let result = |id: &&str| {
        json!({"role": "user", "text": "", "toolUses": [], "handle": "h",
            "toolResults": [{"tool_use_id": id, "text": lines, "isError": false, "result": {"stdout": lines}}]})
    };
    let mut rows = vec![row("", &[]), row(said, &[])];
    rows.extend(calls.iter().map(|id| row("", &[call(id)])));
    rows.extend(calls.iter().map(result));
    rows
}

#[test]
fn the_newest_step_stays_with_all_its_records() {
    let lines: String = (0..120).map(|line| format!("src/file_{line}.rs: checked\n")).collect();
    let mut input = session(8);
    let rows = input["messages"].as_array_mut().unwrap();
    rows.extend(step("An older step.", &["old_1", "old_2"], &lines));
    rows.extend(step("I look at both.", &["new_1", "new_2"], "short"));
    let messages = answer_to(&input);
    let expect = [json!(23), json!(24), json!(25), json!(26)];
    let at = messages.len() - 5;
    assert_eq!(messages[at..at + 4], expect, "thinking, text and both calls by number");
    let both = &messages[at + 4]["toolResults"];
    assert_eq!(
        both,
        &json!([{"tool_use_id": "new_1", "text": "short", "isError": false},
        {"tool_use_id": "new_2", "text": "short", "isError": false}])
    );
    // No other record of the model's goes back by number, and no call stands without its result.
    let numbers: Vec<u64> = messages.iter().filter_map(Value::as_u64).collect();
    assert_eq!(numbers, [0, 23, 24, 25, 26]);
    let ids = |list: &str| -> Vec<Value> {
        let of = messages.iter().flat_map(|message| message[list].as_array().into_iter().flatten());
        of.map(|part| part["tool_use_id"].clone()).collect()
    };
    let (calls, results) = (ids("toolUses"), ids("toolResults"));
    assert_eq!(results[..results.len() - 2], calls[..]);
}

#[test]
fn a_newest_step_that_is_listed_twice_goes_back_once() {
    // As a resumed session lists it: the records in front of the boundary beside those behind it.
    let once = step("I look.", &["call_a"], "short");
    let mut input = session(8);
    let rows = input["messages"].as_array_mut().unwrap();
    rows.extend(once.iter().flat_map(|row| [row.clone(), row.clone()]));
    let messages = answer_to(&input);
    let tail = &messages[messages.len() - 4..];
    assert_eq!(tail, [json!(18), json!(20), json!(22), result("call_a", "short")]);
}

/// A session's file with these records.
fn transcript(records: &[Value]) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(file.path(), lines).unwrap();
    file
}

fn record(kind: &str, uuid: &str, message: Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "S", "message": message})
}

#[test]
fn what_was_typed_comes_from_the_sessions_file_too() {
    let typed = |uuid: &str, text: &str| record("user", uuid, json!({"role": "user", "content": text}));
    let read = json!([{"type": "tool_result", "tool_use_id": "call_2", "content": "read"}]);
    let call = json!([{"type": "tool_use", "id": "call_2", "name": "Bash", "input": {}}]);
    let file = transcript(&[
        typed("u1", "The lock file stays as it is.\nThe port is 7319."),
        typed("u2", "Look at every part."),
        typed("u3", "<command-name>/compact</command-name>\n<command-args>Only the log.</command-args>"),
        record("assistant", "a1", json!({"id": "m1", "role": "assistant", "content": call})),
        record("user", "r1", json!({"role": "user", "content": read})),
        typed("u4", "And be brief."),
    ]);
    let mut input = session(8);
    input["transcript"] = file.path().to_str().unwrap().into();
    let messages = answer_to(&input);
    let text = Value::from(messages.clone()).to_string();
    assert_eq!(messages[0]["text"], "The lock file stays as it is.\nThe port is 7319.", "{}", messages[0]);
    assert_eq!(messages[1], 0, "what is there is not said again");
    assert!(text.contains("And be brief.") && !text.contains("Only the log."));
    // What an earlier compaction wrote into its summary is there too.
    let summary =
        "[Summary of 4 earlier messages]\n« The lock file stays as it is.\n« The port is 7319.\n« And be brief.";
    input["messages"].as_array_mut().unwrap().insert(1, json!({"role": "user", "text": summary, "toolUses": []}));
    assert_eq!(answer_to(&input)[0], 0);
}

#[test]
fn records_of_one_answer_between_which_results_stand_are_one_step() {
    let parts = ["thinking", "text", "tool_use", "tool_use"];
    let of = |(at, kind): (usize, &&str)| {
        record(
            "assistant",
            &format!("n{at}"),
            json!({"id": "newest", "role": "assistant", "content": [{"type": kind}]}),
        )
    };
    let file = transcript(&parts.iter().enumerate().map(of).collect::<Vec<_>>());
    let mut rows = step("Both.", &["one", "two"], "short");
    // The first result came before the second call.
    rows.swap(3, 4);
    for (row, name) in rows.iter_mut().zip(["n0", "n1", "n2", "r", "n3", "r"]) {
        row["handle"] = name.into();
    }
    let mut input = session(8);
    input["messages"].as_array_mut().unwrap().extend(rows);
    let tail = |input: &Value| answer_to(input).iter().filter_map(Value::as_u64).collect::<Vec<_>>();
    assert_eq!(tail(&input), [0, 21], "without the file each is taken for an answer");
    input["transcript"] = file.path().to_str().unwrap().into();
    assert_eq!(tail(&input), [0, 17, 18, 19, 21]);
}

#[test]
fn the_words_behind_the_command_are_kept_in_view() {
    let mut input = session(8);
    let line = |number: usize| {
        format!("gauge g{:04x} of hall {}: read {} times\n", number * 7919 % 65_536, number % 17, number * 3)
    };
    for row in (2..16).step_by(2) {
        let lines: String = (0..120).map(|at| line(row * 100 + at)).collect();
        input["messages"][row]["toolResults"][0]["text"] = lines.into();
    }
    let wanted = line(1_460);
    let has_it = |input: &Value| {
        let messages = answer_to(input);
        assert_eq!(messages[0], 0, "the agent's own message");
        Value::from(messages).to_string().contains(wanted.trim_end())
    };
    assert!(!has_it(&input), "it would stay anyway");
    input["instructions"] = format!("Keep what was read of {} and of hall 3.", &wanted[..11]).into();
    assert!(has_it(&input));
}

#[test]
fn a_result_that_is_not_text_is_told() {
    let mut input = session(8);
    let rows = input["messages"].as_array_mut().unwrap();
    rows.extend(step("A picture.", &["picture"], ""));
    rows.last_mut().unwrap()["toolResults"][0]["result"] = json!({"type": "image", "file": {"base64": "aGk="}});
    let messages = answer_to(&input);
    assert!(messages.last().unwrap()["toolResults"][0]["text"].as_str().unwrap().starts_with("[not text, "));
}

#[test]
fn a_result_that_is_an_error_is_one_in_the_providers_form_too() {
    let check = |result: Value, expect: Value| {
        let entry = ConversationEntry::results(vec![serde_json::from_value(result).unwrap()]);
        assert_eq!(entry.wire()["content"], json!([expect]));
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
    check(&json!({"messages": [{"role": "user", "text": "Hello.", "toolUses": []}]}), "8 tokens fit");
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
    let earlier = |id: &str| json!({"tool_use_id": id, "text": "an earlier reading", "isError": false});
    let step = |text: &str, ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
        let results: Vec<Value> = ids.iter().map(|id| earlier(id)).collect();
        [
            json!({"role": "assistant", "text": text, "toolUses": calls, "handle": "h"}),
            json!({"role": "user", "text": "", "toolUses": [], "toolResults": results, "handle": "h"}),
        ]
    };
    // The newest step stands behind its own earlier listing, at 15 and 16.
    let newest = session(8)["messages"][16]["toolResults"][0]["text"].as_str().unwrap().to_owned();
    let check = |text: &str, ids: &[&str]| {
        let answer = answer_with(&step(text, ids), 15);
        let messages = answer["messages"].as_array().unwrap();
        assert_eq!(messages[messages.len() - 2..], [json!(17), result("call_7", &newest)]);
        assert!(!messages.contains(&json!(15)) && !messages.contains(&json!(16)));
        assert!(!answer.to_string().contains("an earlier reading"));
    };
    check("", &["call_7"]);
    check("", &["call_7", "call_7"]);
    // A part that does not stand again stays, as a message of its own.
    let answer = answer_with(&step("Look once more.", &["call_6", "call_7"]), 15);
    let texts = answer["messages"].as_array().unwrap().iter().filter(|piece| piece["text"] == "Look once more.");
    assert_eq!(texts.count(), 1, "{answer}");
    assert_eq!(answer.to_string().matches("call_7").count(), 1, "{answer}");
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
