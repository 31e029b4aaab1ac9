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

/// A conversation of today's events, of which the last is `more`.
fn conversation(more: &[&str]) -> Vec<String> {
    let action = |id: &str, call: &str, thought: &str| {
        format!(
            r#"{{"id": "{id}", "source": "agent", "kind": "ActionEvent", "thought": [{thought}], "tool_name": "terminal", "tool_call_id": "{call}",
            "tool_call": {{"id": "{call}", "name": "terminal", "arguments": "{{\"command\": \"{call}\"}}", "origin": "completion"}}, "llm_response_id": "r1"}}"#
        )
        .replace('\n', " ")
    };
    let first = [
        r#"{"id": "e0", "source": "environment", "kind": "ConversationStateUpdateEvent", "key": "stats", "value": {}}"#.to_owned(),
        r#"{"id": "e1", "source": "agent", "kind": "SystemPromptEvent", "system_prompt": {"type": "text", "text": "You are OpenHands."}, "tools": [{"a": 1}], "dynamic_context": {"type": "text", "text": "host h"}}"#.to_owned(),
        r#"{"id": "e2", "source": "user", "kind": "MessageEvent", "timestamp": "1970-01-01T00:00:01", "llm_message": {"role": "user", "content": [{"type": "text", "text": "list both"}, {"type": "image", "image_urls": ["http://i/1", "http://i/2"]}]}, "extended_content": [{"type": "text", "text": "<skill>"}]}"#.to_owned(),
        action("e3", "c1", r#"{"type": "text", "text": "I list."}"#),
        action("e4", "c2", ""),
        r#"{"id": "e5", "source": "environment", "kind": "ObservationEvent", "tool_name": "terminal", "tool_call_id": "c1", "action_id": "e3", "observation": {"kind": "TerminalObservation", "content": [{"type": "text", "text": "one"}], "metadata": {"exit_code": 0, "working_dir": "/w", "prefix": "", "suffix": ""}}, "extended_content": [{"type": "text", "text": "rule"}]}"#.to_owned(),
        r#"{"id": "e6", "source": "environment", "kind": "ObservationEvent", "tool_name": "terminal", "tool_call_id": "c2", "action_id": "e4", "observation": {"kind": "FileEditorObservation", "is_error": true, "content": [{"type": "text", "text": "two"}]}}"#.to_owned(),
    ];
    first.into_iter().chain(more.iter().map(|event| (*event).to_owned())).collect()
}

const CONVERSATION: &str = "openhands
    = 0 tools [{\"a\":1}]
    e1 system/instructions: You are OpenHands. ⏐ host h
    e2 user/typed @1000: list both ⏐ < http://i/1> ⏐ < http://i/2>
    e2#2 user/injected @1000: <skill>
    e3 assistant/model: I list. ⏐ terminal#c1 {\"command\": \"c1\"} ⏐ terminal#c2 {\"command\": \"c2\"}
    e5 tool/tool: terminal#c1 → one↵[Current working directory: /w]↵[Command finished with exit code 0]↵rule
    e6 tool/tool: terminal#c2 error → [An error occurred during execution.]↵two";

#[test]
fn events_of_the_present_kinds() {
    let check_events = |more: &[&str], expect: &str| {
        let list = conversation(more);
        let expect = format!("{CONVERSATION}\n{expect}");
        check(&format!("[{}]", list.join(",")), &expect);
        check(&list.join("\n"), &expect);
        check(&format!(r#"{{"id": "conversation", "events": [{}]}}"#, list.join(",")), &expect);
    };
    check_events(&[], "");
    // both calls leave with their results; a summary without a place is not shown
    let condensed = r#""kind": "Condensation", "source": "environment", "forgotten_event_ids": ["e3", "e4", "e5", "e6"], "summary": "both listed""#;
    check_events(
        &[&format!(r#"{{"id": "e7", {condensed}, "summary_offset": 2}}"#)],
        "-- Recorded -e3 -e5 -e6 + e7 user/summary: both listed\nview: e1 e2 e2#2 e7",
    );
    check_events(&[&format!(r#"{{"id": "e7", {condensed}}}"#)], "-- Recorded -e3 -e5 -e6\nview: e1 e2 e2#2");
    // what is added to a message leaves with it
    check_events(
        &[r#"{"id": "e7", "kind": "Condensation", "source": "environment", "forgotten_event_ids": ["e2"]}"#],
        "-- Recorded -e2 -e2#2\nview: e1 e3 e5 e6",
    );
    // the words of other agents are not typed, and what a model thought stays thought
    check_events(
        &[
            r#"{"id": "e7", "kind": "MessageEvent", "source": "user", "sender": "planner", "llm_message": {"role": "user", "content": [{"type": "text", "text": "hurry"}]}}"#,
            r#"{"id": "e8", "kind": "MessageEvent", "source": "agent", "llm_response_id": "r2", "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "done"}], "responses_reasoning_item": {"summary": ["so"], "encrypted_content": "ENC"}}}"#,
            r#"{"id": "e9", "kind": "PauseEvent", "source": "user"}"#,
        ],
        "e7 user/injected: hurry\ne8 assistant/model: (think so signed ENC) ⏐ done",
    );
    let call = r#"{"id": "e7", "source": "agent", "kind": "ActionEvent", "thought": [], "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "SIG"}], "tool_name": "terminal", "tool_call_id": "c3", "tool_call": {"id": "c3", "name": "terminal", "arguments": "{}"}, "llm_response_id": "r2"}"#;
    check_events(
        &[
            call,
            r#"{"id": "e8", "kind": "AgentErrorEvent", "source": "agent", "tool_name": "terminal", "tool_call_id": "c3", "error": "no such tool"}"#,
        ],
        "e7 assistant/model: (think hm signed SIG) ⏐ terminal#c3 {}\ne8 tool/tool: terminal#c3 error → no such tool",
    );
    let rejected = r#"{"id": "e8", "kind": "UserRejectObservation", "source": "environment", "tool_name": "terminal", "tool_call_id": "c3", "action_id": "e7", "rejection_source": "user", "rejection_reason": "not in production"}"#;
    check_events(
        &[call, rejected],
        "e7 assistant/model: (think hm signed SIG) ⏐ terminal#c3 {}\ne8 tool/tool: terminal#c3 error → Action rejected: not in production",
    );
}

#[test]
#[allow(clippy::unwrap_used)]
fn what_a_person_says_through_a_rejection_is_typed() {
    let typed = |source: &str, reason: &str| {
        let rejected = format!(
            r#"{{"id": "e7", "kind": "UserRejectObservation", "source": "environment", "tool_name": "t", "tool_call_id": "c1", "rejection_source": "{source}", "rejection_reason": "{reason}"}}"#
        );
        let read = crate::tests::outcome(events(&[&rejected]).as_bytes()).sessions.unwrap();
        let block = &read[0].session.log()[0].blocks[0];
        block.typed.clone().unwrap()
    };
    assert_eq!(typed("user", "not now"), [(17..24).into()]);
    assert_eq!(typed("user", "User rejected the action"), []);
    assert_eq!(typed("hook", "not now"), []);
}

#[test]
fn events_of_a_branch_that_was_left_are_not_in_the_view() {
    let said = |id: &str, parent: &str| {
        format!(
            r#"{{"id": "{id}", "parent_id": "{parent}", "kind": "MessageEvent", "source": "user", "llm_message": {{"role": "user", "content": [{{"type": "text", "text": "{id}"}}]}}}}"#
        )
    };
    let state =
        r#"{"id": "s", "parent_id": "b", "kind": "ConversationStateUpdateEvent", "source": "environment"}"#.to_owned();
    let forget = r#"{"id": "f", "parent_id": "b", "kind": "Condensation", "source": "environment", "forgotten_event_ids": ["a"], "summary": "S", "summary_offset": 0}"#.to_owned();
    let all = |list: &[String]| format!("[{}]", list.join(","));
    let (a, b) = (said("a", "__root__"), said("b", "a"));
    check(
        &all(&[a.clone(), b.clone(), state, forget, said("c", "f"), said("d", "b")]),
        "openhands
        = 0
        a user/typed: a
        b user/typed: b
        -- Recorded -a + f user/summary: S
        c user/typed: c
        -- TakenBack -c
        d user/typed: d
        view: a b d",
    );
    check(
        &all(&[a, b, said("c", "__root__")]),
        "openhands
        = 0
        a user/typed: a
        b user/typed: b
        -- TakenBack -a -b
        c user/typed: c
        view: c",
    );
}
