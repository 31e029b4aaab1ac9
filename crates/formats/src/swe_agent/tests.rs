use crate::tests::check;

#[test]
fn tool_calls() {
    check(
        r#"{"environment": "env", "trajectory": [], "history": [
            {"role": "system", "content": "S", "agent": "main", "message_type": "system_prompt"},
            {"role": "user", "content": "a demonstration", "is_demo": true},
            {"role": "user", "content": [{"type": "text", "text": "issue"}]},
            {"role": "assistant", "content": "look", "thought": "look", "action": "ls", "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "S1"}],
             "tool_calls": [{"index": 1, "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}, "id": "t1", "type": "function"}]},
            {"role": "tool", "content": [{"type": "text", "text": "OBSERVATION:\nx"}], "tool_call_ids": ["t1"]},
            {"role": "assistant", "content": "no call", "action": ""},
            {"role": "user", "content": "Your output was not formatted correctly"},
            {"role": "tool", "content": "nobody asked"}]}"#,
        "swe-agent
        = env
        m0 system/instructions: S
        m1 user/injected: a demonstration
        m2 user/typed: issue
        m3 assistant/model: (think hm signed S1) ⏐ look ⏐ bash#t1 {\"command\": \"ls\"}
        m4 tool/tool: bash#t1 → OBSERVATION:↵x
        m5 assistant/model: no call
        m6 user/injected: Your output was not formatted correctly
        m7 tool/tool: ?# → nobody asked",
    );
}

#[test]
fn commands_in_plain_text() {
    check(
        r#"{"trajectory": [], "history": [
            {"role": "user", "content": "task"},
            {"role": "assistant", "content": "I ls.\n```\nls\n```", "thought": "I ls.", "action": "ls\n"},
            {"role": "user", "content": "a.py"},
            {"role": "assistant", "content": "now open", "action": "open a.py 3"},
            {"role": "user", "content": "text of a.py"},
            {"role": "assistant", "content": "", "action": "submit"}]}"#,
        "swe-agent
        = 0
        m0 user/typed: task
        m1 assistant/model: I ls.↵```↵ls↵``` {bash@10: \"ls\"}
        m2 user/tool-output (bash): a.py
        m3 assistant/model: now open
        m4 user/tool-output (open): text of a.py
        m5 assistant/model: submit {submit@0: \"submit\"}",
    );
}

#[test]
fn nothing_readable() {
    check(
        r#"{"trajectory": [], "history": [{"role": "user", "content": null}, 3]}"#,
        "swe-agent
        error: not a valid swe-agent session: no element of `history` has a role and content",
    );
}
