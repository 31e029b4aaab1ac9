use crate::tests::check;

#[test]
fn pieces_are_put_together() {
    check(
        r#"event: message_chunk
data: {"thread_id": "th", "id": "1", "role": "user", "content": "what?"}

event: tool_calls
data: {"agent": "coordinator", "id": "2", "role": "assistant", "tool_calls": [{"name": "handoff", "args": {"a": 1}, "id": ""}], "tool_call_chunks": [{"name": "handoff", "args": "{\"a\": 1}", "id": "", "index": 0}]}

event: message_chunk
data: {"agent": "researcher", "id": "3", "role": "assistant", "reasoning_content": "h"}

event: message_chunk
data: {"agent": "researcher", "id": "3", "role": "assistant", "content": "I ", "reasoning_content": "m"}

event: tool_calls
data: {"agent": "researcher", "id": "3", "role": "assistant", "tool_calls": [{"name": "web", "args": {}, "id": "c1"}], "tool_call_chunks": [{"name": "web", "args": "", "id": "c1", "index": 0}]}

event: tool_calls
data: {"id": "3", "tool_calls": [{"name": null, "args": {}}], "tool_call_chunks": [{"name": null, "args": "{\"q\": ", "id": null, "index": 0}]}

event: tool_calls
data: {"id": "3", "tool_calls": [{"name": "crawl", "args": {"u": 1}, "id": ""}], "tool_call_chunks": [{"name": "crawl", "args": "", "id": "", "index": 1}]}

event: tool_call_chunks
data: {"id": "3", "tool_call_chunks": [{"name": null, "args": "\"x\"}", "id": "", "index": 0}]}

event: message_chunk
data: {"id": "3", "content": "look.", "finish_reason": "tool_calls"}

event: tool_call_result
data: {"agent": "researcher", "id": "r1", "content": "found", "tool_call_id": "c1"}

event: tool_call_result
data: {"agent": "researcher", "id": "r2", "content": "page", "tool_call_id": ""}

event: message_chunk
data: {broken

event: unknown
data: {"id": "9", "content": "x"}

event: interrupt
data: {"id": "4", "role": "assistant",
data:  "content": "Please review."}"#,
        "deer-flow
        = th
        1 user/typed: what?
        2 assistant/model (coordinator): handoff# {\"a\": 1}
        3 assistant/model (researcher): (think hm) ⏐ I look. ⏐ web#c1 {\"q\": \"x\"} ⏐ crawl# {\"u\":1}
        r1 tool/tool: web#c1 → found
        r2 tool/tool: crawl# → page
        4 assistant/model: Please review.
        warning: line Some(35): passed over: key must be a string at line 1 column 3",
    );
}

#[test]
fn pieces_without_an_id_belong_to_the_message_before() {
    check(
        r#"event: message_chunk
data: {"id": "", "agent": "planner", "content": "a"}

event: message_chunk
data: {"id": "", "content": "b"}

event: tool_call_result
data: {"content": "r", "tool_call_id": "x"}

event: message_chunk
data: {"content": "c"}"#,
        "deer-flow
        = 0
        m0 assistant/model (planner): ab
        m1 tool/tool: ?#x → r
        m2 assistant/model: c",
    );
}

#[test]
fn nothing_readable() {
    check(
        "event: message_chunk\ndata: {\"id\": 4, \"content\": 5}\n\nevent: tool_calls\ndata: []\n",
        "deer-flow
        error: not a valid deer-flow session: no event of the stream holds a message",
    );
}
