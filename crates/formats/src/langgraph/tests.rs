use crate::tests::check;

#[test]
fn messages() {
    check(
        r#"{"values": {"title": "t", "messages": [
            {"type": "system", "content": "S", "id": "s"},
            {"type": "human", "content": [{"type": "text", "text": "task"}, {"type": "image_url", "image_url": {"url": "http://i"}}], "id": "h"},
            {"type": "ai", "content": "", "id": "a", "additional_kwargs": {"reasoning_content": "hm"},
             "tool_calls": [{"id": "c1", "name": "web", "args": {"q": "x"}}], "invalid_tool_calls": [{"id": "c2", "name": "web", "args": "{\"q"}],
             "usage_metadata": {"input_tokens": 9, "output_tokens": 1, "input_token_details": {"cache_read": 2}}},
            {"type": "tool", "content": "found", "tool_call_id": "c1", "name": "web", "id": "t", "status": "success"},
            {"type": "tool", "content": [{"type": "text", "text": "bad"}], "tool_call_id": "c2", "status": "error"},
            {"type": "ai", "content": [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "c3"}], "name": "lead"},
            {"type": "remove", "id": "x"},
            {"type": "human", "content": "Here is a summary of the conversation to date:\n\n…"},
            {"type": "human", "content": "short", "additional_kwargs": {"lc_source": "summarization"}},
            {"type": "human", "content": "<system-reminder>"},
            {"type": "human", "content": "todo", "additional_kwargs": {"hide_from_ui": true}}]}, "metadata": {"thread_id": "th"}}"#,
        "langgraph
        = th
        s system/instructions: S
        h user/typed: task ⏐ < http://i>
        a assistant/model: (think hm) ⏐ web#c1 {\"q\":\"x\"} ⏐ web#c2 text \"{\\\"q\" [9/2/0→1]
        t tool/tool: web#c1 → found
        m4 tool/tool: web#c2 error → bad
        m5 assistant/model (lead): so
        m6 user/summary: Here is a summary of the conversation to date:↵↵…
        m7 user/summary: short
        m8 user/injected: <system-reminder>
        m9 user/injected: todo",
    );
}

#[test]
fn dumped_messages_and_wrong_types() {
    check(
        r#"{"messages": [{"type": "human", "data": {"content": "a"}}, {"type": "ai", "data": {"content": 3, "tool_calls": [1]}}, 4]}"#,
        "langgraph
        = 0
        m0 user/typed: a
        m1 assistant/model: 3 ⏐ # {}",
    );
    check(
        r#"{"values": {"messages": [{"type": "human", "content": ""}]}}"#,
        "langgraph
        error: not a valid langgraph session: no element of `values.messages` has a type and content",
    );
}
