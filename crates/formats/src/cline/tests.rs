use crate::tests::check;

#[test]
fn blocks() {
    check(
        r#"{"version": 1, "agent": "lead", "sessionId": "s1", "system_prompt": "S", "messages": [
            {"id": "u1", "role": "user", "ts": 5, "content": [{"type": "text", "text": "see"}, {"type": "file", "path": "a.ts", "content": "x"}]},
            {"id": "a1", "role": "assistant", "ts": 6, "content": [{"type": "thinking", "thinking": "hm", "signature": "SIG"}, {"type": "redacted_thinking", "data": "R"},
                {"type": "text", "text": "ok"}, {"type": "tool_use", "id": "t1", "name": "read", "input": {"p": 1}}],
             "metrics": {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4, "cacheWriteTokens": 1}},
            {"id": "u2", "role": "user", "content": [{"type": "text", "text": "<env>"},
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "text", "text": "a"}, {"query": "q", "result": "r"},
                 {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}]}]},
            {"id": "u3", "role": "user", "content": "plain"},
            {"id": "u4", "role": "user", "content": [{"type": "brand_new", "x": 1}]}]}"#,
        "cline
        = s1
        m0 system/instructions: S
        u1 user/typed @5: see ⏐ <file_content path=\"a.ts\">↵x↵</file_content>
        a1 assistant/model @6: (think hm signed SIG) ⏐ (think  signed R) ⏐ ok ⏐ read#t1 {\"p\":1} [10/4/1→2]
        u2 tool/tool: read#t1 error → a↵{\"query\":\"q\",\"result\":\"r\"}<image/png base64 AA>
        u2#2 user/injected: <env>
        u3 user/typed: plain
        u4 user/typed: opaque brand_new {\"type\":\"brand_new\",\"x\":1}",
    );
}

#[test]
fn files_of_both_compactions() {
    check(
        r#"{"agent": "lead", "sessionId": "s", "messages": [
            {"id": "c", "role": "user", "content": [{"type": "text", "text": "Context summary:"}], "metadata": {"kind": "compaction_summary"}},
            {"id": "u", "role": "user", "content": "hello"}]}"#,
        "cline
        = s
        c user/summary: Context summary:
        u user/typed: hello",
    );
    check(
        r#"{"agent": "lead", "sessionId": "s", "messages": [
            {"id": "u", "role": "user", "metadata": {"kind": "compaction"},
             "content": [{"type": "text", "text": "the task"}, {"type": "text", "text": "<SYSTEM_NOTICE>\ncompacted"}]}]}"#,
        "cline
        = s
        u user/typed: the task
        u#2 user/summary: <SYSTEM_NOTICE>↵compacted",
    );
}

#[test]
fn wrong_types_are_passed_over() {
    check(
        r#"{"agent": "a", "sessionId": "s", "system_prompt": 4, "messages": [{"role": "user", "content": [5, null, []]}, {"role": "assistant", "content": {"type": "tool_use"}}, {"role": 3}]}"#,
        "cline
        = s
        m0 user/typed: 5
        m1 assistant/model: # {}",
    );
    check(
        r#"{"agent": "a", "sessionId": "s", "system_prompt": "S", "messages": [{"role": "user"}]}"#,
        "cline
        error: not a valid cline session: no element of `messages` has a role and content",
    );
    // The session's own record next to its messages is not a session.
    check(
        r#"{"version": 1, "session_id": "s", "messages_path": "m.json"}"#,
        "\nerror: this is not a session in a known format (no reader fits)",
    );
}
