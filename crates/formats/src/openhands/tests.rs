use crate::tests::check;

/// An event list from its events' inner JSON.
fn events(lines: &[&str]) -> String {
    format!("[{}]", lines.join(","))
}

const CALL_1: &str = r#""tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": "t1", "model_response": {"id": "r1",
    "choices": [{"message": {"content": "I run two.", "tool_calls": [
        {"id": "t1", "function": {"name": "execute_bash", "arguments": "{\"command\": \"ls\"}"}},
        {"id": "t2", "function": {"name": "think", "arguments": "{}"}},
        {"id": "t9", "function": {"name": "never", "arguments": "{}"}}]}}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1}}}"#;

#[test]
fn actions_of_one_response_are_one_turn() {
    let call_2 = CALL_1.replacen("\"t1\"", "\"t2\"", 1).replacen("execute_bash", "think", 1);
    let first =
        format!(r#"{{"id": 3, "source": "agent", "action": "run", "args": {{"thought": "I run two."}}, {CALL_1}}}"#);
    let first_out =
        format!(r#"{{"id": 4, "source": "agent", "observation": "run", "content": "a", "cause": 3, {CALL_1}}}"#);
    let second = format!(r#"{{"id": 5, "source": "agent", "action": "think", "args": {{"thought": "x"}}, {call_2}}}"#);
    let second_out = format!(
        r#"{{"id": 6, "source": "agent", "observation": "think", "content": "ok", "success": false, {call_2}}}"#
    );
    check(
        &events(&[
            r#"{"id": 0, "source": "agent", "action": "system", "args": {"content": "S", "tools": [{"a": 1}]}}"#,
            r#"{"id": 1, "source": "user", "timestamp": "1970-01-01T00:00:01.5", "action": "message", "args": {"content": "task", "image_urls": ["http://i"]}}"#,
            r#"{"id": 2, "source": "environment", "observation": "recall", "content": "silent"}"#,
            &first,
            &first_out,
            &second,
            &second_out,
            r#"{"id": 7, "source": "agent", "observation": "error", "content": "cannot read that"}"#,
            r#"{"id": 8, "source": "agent", "action": "message", "args": {"content": "done"}}"#,
            r#"{"id": 9, "source": "user", "action": "run", "args": {"command": "pwd"}}"#,
            r#"{"id": 10, "source": "user", "observation": "run", "content": "/w", "cause": 9}"#,
        ]),
        "openhands
        = 0 tools [{\"a\":1}]
        0 system/instructions: S
        1 user/typed @1500: task ⏐ < http://i>
        3 assistant/model: I run two. ⏐ execute_bash#t1 {\"command\": \"ls\"} ⏐ think#t2 {} [5/0/0→1]
        4 tool/tool: execute_bash#t1 → a
        6 tool/tool: think#t2 error → ok
        7 user/tool-output (error): cannot read that
        8 assistant/model: done
        9 user/injected: pwd
        10 user/tool-output (run): /w",
    );
}

#[test]
fn actions_without_a_response_and_condensations() {
    check(
        &events(&[
            r#"{"id": 1, "source": "user", "action": "message", "args": {"content": "task"}}"#,
            r#"{"id": 2, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "hm", "blocking": false}}"#,
            r#"{"id": 3, "source": "agent", "observation": "run", "content": "a", "cause": 2}"#,
            r#"{"id": 4, "source": "agent", "action": "run", "args": {"command": "cat a"}}"#,
            r#"{"id": 5, "source": "agent", "observation": "run", "content": "b", "cause": 4}"#,
            r#"{"id": 6, "source": "agent", "action": "condensation", "args": {"forgotten_event_ids": [2, 5], "summary": "listed"}}"#,
            r#"{"id": 7, "source": "agent", "action": "condensation", "args": {"forgotten_events_start_id": 4, "forgotten_events_end_id": 5}}"#,
        ]),
        "openhands
        = 0
        1 user/typed: task
        2 assistant/model: hm ⏐ run#event-2 {\"command\":\"ls\"}
        3 tool/tool: run#event-2 → a
        4 assistant/model: run#event-4 {\"command\":\"cat a\"}
        5 tool/tool: run#event-4 → b
        -- Recorded -2 -3 + 6 user/summary: listed
        -- Recorded -4 -5
        view: 1 6",
    );
}

#[test]
fn output_lines_and_wrong_types() {
    check(
        r#"{"instance_id": "i1", "history": [{"source": "user", "action": "message", "args": {"content": "a"}}]}
{"instance_id": "i2", "history": [[{"source": "user", "action": "message", "args": {"content": "b"}}, {"source": "agent", "observation": "null"}], 7, {"action": 3}]}
{"history": "none"}
{"history": [{"source": "agent", "action": "run", "args": 3, "tool_call_metadata": []}]}"#,
        "openhands
        = i1
        m0 user/typed: a
        = i2
        m0 user/typed: b
        = 3
        m0 assistant/model: run#event- {}
        warning: line None: session `2` holds no readable message",
    );
    check(
        r#"[{"source": "user", "action": "message", "args": null}]"#,
        "openhands
        error: not a valid openhands session: no session in it holds a readable message
        warning: line None: session `0` holds no readable message",
    );
}
